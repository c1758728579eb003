//! A walk over a tree as gnulib's fts does it for chgrp, with or without one extra stat per directory.

use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{chownat, fstat, openat, statat, AtFlags, FileType, Gid, Mode, RawDir, CWD};

use crate::error::{Context, Error, Result};
use crate::tree::DIRECTORY;

/// As large as the C library's for `readdir`.
const LISTING_BYTES: usize = 32 * 1024;

/// How to walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// One more stat of each directory by its name, right after it was opened.
    stat_again: bool,
    /// Give everything to this group, when the walk leaves it.
    group: Option<Gid>,
}

impl Manner {
    /// Reads `stat-again` and `group=GID`.
    pub fn parse(words: &[OsString]) -> Result<Self> {
        words.iter().try_fold(Self::default(), |manner, word| {
            let word = word.to_string_lossy();
            match word.strip_prefix("group=").map(str::parse) {
                Some(Ok(gid)) => Ok(Self { group: Some(Gid::from_raw(gid)), ..manner }),
                None if word == "stat-again" => Ok(Self { stat_again: true, ..manner }),
                _ => Err(Error::Word(word.escape_debug().to_string())),
            }
        })
    }
}

/// What a walk came across.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Directories, the top one included.
    pub directories: u64,
    /// Everything else.
    pub others: u64,
}

/// Walks a tree: for each directory one stat before it is opened, one by its descriptor (as `fdopendir` makes it),
/// listings until they are empty, and what the manner adds.
pub fn walk(top: &Path, manner: Manner) -> Result<Seen> {
    let mut walker = Walker { manner, seen: Seen::default(), listing: Vec::with_capacity(LISTING_BYTES) };
    statat(CWD, top, AtFlags::SYMLINK_NOFOLLOW).context("look at", top)?;
    let name = CString::new(top.as_os_str().as_encoded_bytes())
        .map_err(|_| Error::Word(top.display().to_string().escape_debug().to_string()))?;
    walker.directory(CWD, &name).context("walk", top)?;
    Ok(walker.seen)
}

struct Walker {
    manner: Manner,
    seen: Seen,
    listing: Vec<u8>,
}

impl Walker {
    fn directory(&mut self, parent: BorrowedFd<'_>, name: &CString) -> rustix::io::Result<()> {
        self.seen.directories += 1;
        let opened = openat(parent, name, DIRECTORY, Mode::empty())?;
        fstat(&opened)?;
        if self.manner.stat_again {
            statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        for entry in self.entries(opened.as_fd())? {
            if FileType::from_raw_mode(statat(&opened, &entry, AtFlags::SYMLINK_NOFOLLOW)?.st_mode).is_dir() {
                self.directory(opened.as_fd(), &entry)?;
            } else {
                self.seen.others += 1;
                self.leave(opened.as_fd(), &entry)?;
            }
        }
        self.leave(parent, name)
    }

    fn leave(&self, parent: BorrowedFd<'_>, name: &CString) -> rustix::io::Result<()> {
        match self.manner.group {
            Some(group) => chownat(parent, name, None, Some(group), AtFlags::SYMLINK_NOFOLLOW),
            None => Ok(()),
        }
    }

    fn entries(&mut self, directory: BorrowedFd<'_>) -> rustix::io::Result<Vec<CString>> {
        let mut found = Vec::new();
        let mut listing = RawDir::new(directory, self.listing.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                found.push(entry.file_name().to_owned());
            }
        }
        Ok(found)
    }
}
