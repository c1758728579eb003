//! Makes a tree of empty directories.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{mkdirat, open, openat, Mode, OFlags};

use crate::error::{Context, Result};
use crate::shape::Shape;

/// How directories are opened here, and by the walk: as tools that walk trees do.
pub const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Makes the tree with its top at `path`, which must not be there. Directories are called by their numbers, and made in
/// the order of a walk.
pub fn build(path: &Path, shape: &Shape) -> Result<()> {
    let mode = Mode::from_raw_mode(0o755);
    rustix::fs::mkdir(path, mode).context("create", path)?;
    let top = open(path, DIRECTORY, Mode::empty()).context("open", path)?;
    fill(top.as_fd(), &shape.0).context("fill", path)
}

fn fill(directory: BorrowedFd<'_>, levels: &[u32]) -> rustix::io::Result<()> {
    let Some((count, below)) = levels.split_first() else {
        return Ok(());
    };
    for number in 0..*count {
        let name = number.to_string();
        mkdirat(directory, name.as_str(), Mode::from_raw_mode(0o755))?;
        if !below.is_empty() {
            fill(openat(directory, name.as_str(), DIRECTORY, Mode::empty())?.as_fd(), below)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{walk, Manner};

    #[test]
    fn a_walk_finds_what_was_built_with_and_without_the_further_stat() {
        let path = std::env::temp_dir().join(format!("firstlight-tree-{}", std::process::id()));
        let shape = Shape::parse("4x3x2").unwrap();
        build(&path, &shape).unwrap();
        std::fs::write(path.join("2/1/file"), "").unwrap();
        for words in [vec![], vec!["stat-again".into()]] {
            let seen = walk(&path, Manner::parse(&words).unwrap()).unwrap();
            assert_eq!((seen.directories, seen.others), (shape.directories(), 1));
        }
        assert!(build(&path, &shape).unwrap_err().to_string().contains("cannot create"));
        std::fs::remove_dir_all(&path).unwrap();
    }
}
