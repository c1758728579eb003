//! Loading kernel modules, in the order that the host computed, with the parameters that the kernel's command line has for them.

use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::system::finit_module;

use crate::error::{Context, Result};

/// Loads every module. One that is there already is as good as loaded.
pub fn load_all(paths: &[PathBuf]) -> Result<()> {
    let line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    paths.iter().try_for_each(|path| load(path, &line))
}

fn load(path: &Path, line: &str) -> Result<()> {
    let file = File::open(path).context("open", path)?;
    match finit_module(&file, &parameters(path, line), 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error).context("load", path),
    }
}

/// What `modprobe` takes from the kernel's command line: of each `MODULE.PARAMETER=VALUE` the part behind the point.
fn parameters(path: &Path, line: &str) -> CString {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().replace('-', "_")).unwrap_or_default();
    // The host numbers the files.
    let name = stem.trim_start_matches(|sign: char| sign.is_ascii_digit()).trim_start_matches('_');
    let own = line.split_whitespace().filter_map(|word| {
        let (module, parameter) = word.split_once('.')?;
        (module.replace('-', "_") == name).then_some(parameter)
    });
    CString::new(own.collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_gets_the_parameters_that_the_command_line_has_for_it() {
        let line = "console=ttyS0 virtio_blk.queue_depth=1 ext4.x=2 virtio-blk.num_request_queues=1 quiet\n";
        let of = |path: &str| parameters(Path::new(path), line).into_string().unwrap();
        assert_eq!(of("/firstlight/modules/04-virtio_blk.ko"), "queue_depth=1 num_request_queues=1");
        assert_eq!(of("/firstlight/modules/05-ext4.ko"), "x=2");
        assert_eq!(of("/firstlight/modules/06-mbcache.ko"), "");
    }

    #[test]
    fn a_missing_module_is_named() {
        let error = load_all(&[PathBuf::from("/no/such/module.ko")]).unwrap_err();
        assert!(error.to_string().starts_with("cannot open `/no/such/module.ko`:"), "{error}");
    }
}
