//! The console, read where QEMU writes it.
//!
//! QEMU writes a byte to the console's file while it executes the guest's `out`, so reading the file right after one
//! gives each line its exact instant, and lets a pattern end the recording at an exact one.

use regex::Regex;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

// Longer lines are matched by their beginning.
const LONGEST_LINE: usize = 4096;

/// What a look at the console found.
#[derive(Debug, Default)]
pub struct Seen {
    /// Offsets of the lines that began.
    pub lines: Vec<u64>,
    /// The line that the pattern matched.
    pub ready: Option<String>,
}

/// The console's file, as far as it was read.
pub struct Console {
    file: Option<File>,
    path: Option<std::path::PathBuf>,
    offset: u64,
    line: Vec<u8>,
    at_start: bool,
    pattern: Option<Regex>,
}

impl Console {
    /// QEMU may create the file after the plugin is loaded, so it is opened at the first look.
    pub fn new(path: Option<&Path>, pattern: Option<Regex>) -> Self {
        Self { file: None, path: path.map(Path::to_owned), offset: 0, line: Vec::new(), at_start: true, pattern }
    }

    /// Reads what came since the last look.
    pub fn look(&mut self) -> Seen {
        let mut seen = Seen::default();
        if self.file.is_none() {
            self.file = self.path.take().and_then(|path| File::open(path).ok());
        }
        let Some(file) = &self.file else { return seen };
        let mut buffer = [0_u8; 256];
        while let Ok(length @ 1..) = file.read_at(&mut buffer, self.offset) {
            for byte in &buffer[..length] {
                if self.at_start {
                    seen.lines.push(self.offset);
                    self.line.clear();
                }
                self.at_start = *byte == b'\n';
                if self.line.len() < LONGEST_LINE && !matches!(byte, b'\n' | b'\r') {
                    self.line.push(*byte);
                }
                self.offset += 1;
                if seen.ready.is_none() {
                    seen.ready = matching(self.pattern.as_ref(), &self.line);
                }
            }
            if length < buffer.len() {
                break;
            }
        }
        seen
    }
}

fn matching(pattern: Option<&Regex>, line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    pattern.filter(|pattern| pattern.is_match(&text)).map(|_| text.clone().into_owned())
}
