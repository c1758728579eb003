//! Opening a record, and finding its reader.

use firstlight_formats::evidence::Evidence;
use firstlight_formats::format::{Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{by_name, recognise, READERS};
use firstlight_formats::FormatError;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

const BUFFER_BYTES: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A record to be read.
#[derive(Debug, Clone)]
pub struct Record {
    /// Where its bytes are, uncompressed.
    pub path: PathBuf,
    /// What it is called in the bundle, below `raw/`.
    pub file: String,
    /// Its name as given, with the folders inside an archive.
    pub name: String,
    /// The format to read it as; none: by its content.
    pub forced: Option<String>,
}

/// A record that was read, or why it was not.
#[derive(Debug)]
pub struct Read {
    /// What it is called in the bundle, below `raw/`.
    pub file: String,
    /// What it says, part by part and boot by boot.
    pub outcome: Result<Vec<Evidence>, FormatError>,
}

impl Record {
    /// Reads it once, front to back.
    pub fn read(&self) -> Read {
        Read { file: self.file.clone(), outcome: self.evidence() }
    }

    fn evidence(&self) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = BufReader::with_capacity(BUFFER_BYTES, File::open(&self.path)?);
        // An editor's or a shell's sign that a text is UTF-8 is no part of its first line.
        if bytes.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
            bytes.consume(BYTE_ORDER_MARK.len());
        }
        let format = match &self.forced {
            Some(name) => by_name(name).ok_or_else(|| FormatError::UnknownFormat(name.clone()))?,
            None => {
                let head = bytes.fill_buf()?;
                let head = head.get(..HEAD_BYTES).unwrap_or(head);
                recognise(&Head { name: &self.name, bytes: head })?
            }
        };
        format.read(Input { name: &self.name, bytes: &mut bytes, nested: &READERS })
    }
}
