//! The console, read where QEMU writes it: a pattern ends the count at the same instant as the recording.

use regex::Regex;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Longer lines are matched by their beginning.
const LONGEST_LINE: usize = 4096;

/// The console's file, as far as it was read.
#[derive(Debug, Default)]
pub struct Console {
    path: Option<PathBuf>,
    file: Option<File>,
    offset: u64,
    line: Vec<u8>,
    ended: bool,
    pattern: Option<Regex>,
}

impl Console {
    /// QEMU may create the file after the plugin is loaded, so it is opened at the first look.
    pub fn new(path: Option<&Path>, pattern: Option<Regex>) -> Self {
        Self { path: path.map(Path::to_owned), pattern, ..Self::default() }
    }

    /// Reads what came since the last look; true once a line matched.
    pub fn look(&mut self) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        if self.file.is_none() {
            self.file = self.path.as_ref().and_then(|path| File::open(path).ok());
        }
        let Some(file) = &self.file else { return false };
        let mut buffer = [0_u8; 256];
        let mut found = false;
        while let Ok(length @ 1..) = file.read_at(&mut buffer, self.offset) {
            for byte in &buffer[..length] {
                if std::mem::replace(&mut self.ended, *byte == b'\n') {
                    self.line.clear();
                }
                if self.line.len() < LONGEST_LINE && !matches!(byte, b'\n' | b'\r') {
                    self.line.push(*byte);
                }
                found = found || pattern.is_match(&String::from_utf8_lossy(&self.line));
            }
            self.offset += length as u64;
        }
        found
    }
}
