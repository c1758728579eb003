//! Loading kernel modules, in the order that the host computed.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::system::finit_module;

use crate::error::{Context, Result};

/// Loads every module. One that is there already is as good as loaded.
pub fn load_all(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| load(path))
}

fn load(path: &Path) -> Result<()> {
    let file = File::open(path).context("open", path)?;
    match finit_module(&file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error).context("load", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_module_is_named() {
        let error = load_all(&[PathBuf::from("/no/such/module.ko")]).unwrap_err();
        assert!(error.to_string().starts_with("cannot open `/no/such/module.ko`:"), "{error}");
    }
}
