//! Single system calls on a path, by name, to find those that trigger an automount.

use std::path::Path;

use rustix::fs::{self, AtFlags, Mode, OFlags, RawDir, StatxFlags, CWD};

use crate::error::{Context, Error, Result};

/// Makes one call. The first thing that this program does with the path is the call itself.
pub fn call(name: &str, path: &Path) -> Result<()> {
    make(name, path).map_or_else(
        || Err(Error::Word(name.escape_debug().to_string())),
        |made| made.context("make the call on", path),
    )
}

fn make(name: &str, path: &Path) -> Option<rustix::io::Result<()>> {
    let nothing = Mode::empty();
    Some(match name {
        // What a program costs that does nothing.
        "nothing" => Ok(()),
        "stat" => fs::stat(path).map(drop),
        "lstat" => fs::lstat(path).map(drop),
        "fstatat" => fs::statat(CWD, path, AtFlags::empty()).map(drop),
        "statx" => fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS).map(drop),
        "statx-no-automount" => fs::statx(CWD, path, AtFlags::NO_AUTOMOUNT, StatxFlags::BASIC_STATS).map(drop),
        "statx-nofollow" => fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).map(drop),
        "statfs" => fs::statfs(path).map(drop),
        "access" => fs::access(path, fs::Access::EXISTS),
        "readlink" => ignore(fs::readlink(path, Vec::new()).map(drop), rustix::io::Errno::INVAL),
        "listxattr" => fs::listxattr(path, &mut [0_u8; 256]).map(drop),
        "chown" => fs::chownat(CWD, path, None, None, AtFlags::empty()),
        "lchown" => fs::chownat(CWD, path, None, None, AtFlags::SYMLINK_NOFOLLOW),
        "chmod" => fs::chmod(path, Mode::from_raw_mode(0o755)),
        "open-path" => fs::open(path, OFlags::PATH | OFlags::CLOEXEC, nothing).map(drop),
        "open" => fs::open(path, OFlags::CLOEXEC, nothing).map(drop),
        "opendir" => fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, nothing).map(drop),
        "readdir" => list(path),
        "chdir" => rustix::process::chdir(path),
        "inotify" => fs::inotify::init(fs::inotify::CreateFlags::CLOEXEC)
            .and_then(|watch| fs::inotify::add_watch(watch, path, fs::inotify::WatchFlags::CREATE))
            .map(drop),
        // The parent's listing, and what lies below: neither names the path itself last.
        "readdir-parent" => list(path.parent().unwrap_or(path)),
        "lstat-below" => ignore(fs::lstat(path.join("below")).map(drop), rustix::io::Errno::NOENT),
        _ => return None,
    })
}

fn list(path: &Path) -> rustix::io::Result<()> {
    let opened = fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut buffer = Vec::with_capacity(4096);
    let mut listing = RawDir::new(opened, buffer.spare_capacity_mut());
    while let Some(entry) = listing.next() {
        entry?;
    }
    Ok(())
}

/// What is expected where the call reached its end.
fn ignore(made: rustix::io::Result<()>, expected: rustix::io::Errno) -> rustix::io::Result<()> {
    match made {
        Err(error) if error == expected => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_made_by_name_and_an_unknown_one_is_named() {
        let folder = std::env::temp_dir();
        for name in
            ["nothing", "stat", "lstat", "statx", "statx-no-automount", "readlink", "readdir", "lstat-below", "inotify"]
        {
            call(name, &folder).unwrap();
        }
        assert!(call("fork", &folder).unwrap_err().to_string().contains("`fork` is not known"));
        assert!(call("stat", Path::new("/nowhere")).unwrap_err().to_string().contains("cannot make the call"));
    }
}
