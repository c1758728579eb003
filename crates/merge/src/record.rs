//! Opening a record, and finding its reader.

use firstlight_formats::about::Origin;
use firstlight_formats::counts::counted;
use firstlight_formats::enclosed::{enclosed, what_it_holds, Enclosure};
use firstlight_formats::evidence::{Evidence, ProblemKind};
use firstlight_formats::format::{Format, Head, Input, Likelihood, HEAD_BYTES};
use firstlight_formats::registry::{by_name, formats, recognise, READERS};
use firstlight_formats::sniff::surest;
use firstlight_formats::FormatError;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::PathBuf;

const BUFFER_BYTES: usize = 1 << 20;
/// A larger file is recognised by its beginning alone.
const WITHIN_BYTES: u64 = 256 << 20;
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
        let mut bytes: Box<dyn BufRead> = Box::new(BufReader::with_capacity(BUFFER_BYTES, File::open(&self.path)?));
        if ends_by_returns(bytes.fill_buf()?) {
            if let Some(text) = self.text()? {
                bytes = Box::new(Cursor::new(text));
            }
        }
        // An editor's or a shell's sign that a text is UTF-8 is not part of its first line.
        if bytes.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
            bytes.consume(BYTE_ORDER_MARK.len());
        }
        let read = |format: &dyn Format, bytes: &mut dyn BufRead| {
            format.read(Input { name: &self.name, bytes, nested: &READERS })
        };
        if let Some(name) = &self.forced {
            let format = by_name(name).ok_or_else(|| FormatError::UnknownFormat(name.clone()))?;
            return read(format, &mut *bytes);
        }
        let head = bytes.fill_buf()?;
        let head = Head { name: &self.name, bytes: head.get(..HEAD_BYTES).unwrap_or(head) };
        // A page or a document of JSON may have lines of a log in it: it is not a log itself.
        let page = Enclosure::Html.is_document(head.bytes);
        let document = page || Enclosure::Json.is_document(head.bytes);
        let sure = surest(formats(), &head).is_some_and(|(format, likelihood)| {
            let log = format.about().traits.origin == Origin::KernelLog;
            likelihood == Likelihood::Certain && !(page && log) || (likelihood == Likelihood::Likely && !log)
        });
        if document && !sure {
            if let Some(found) = self.enclosed()? {
                return Ok(found);
            }
        }
        match recognise(&head).and_then(|format| read(format, &mut *bytes)) {
            Err(refused @ (FormatError::Unrecognised(_) | FormatError::NotThis { .. })) => match self.enclosed()? {
                Some(found) => Ok(found),
                None => Err(self.explained(refused)),
            },
            read => read,
        }
    }

    /// The text of a file that is not too large for it.
    fn text(&self) -> std::io::Result<Option<Vec<u8>>> {
        if std::fs::metadata(&self.path)?.len() > WITHIN_BYTES {
            return Ok(None);
        }
        let mut bytes = std::fs::read(&self.path)?;
        if ends_by_returns(&bytes) {
            bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(Some(bytes).filter(|bytes| !bytes.get(..HEAD_BYTES).unwrap_or(bytes).contains(&0)))
    }

    /// The record within a file whose beginning is none.
    fn enclosed(&self) -> Result<Option<Vec<Evidence>>, FormatError> {
        let Some(found) = self.text()?.and_then(|bytes| enclosed(formats(), &self.name, &bytes)) else {
            return Ok(None);
        };
        let mut text: &[u8] = &found.bytes;
        let Ok(mut read) = found.format.read(Input { name: &self.name, bytes: &mut text, nested: &READERS }) else {
            return Ok(None);
        };
        let detail = match found.within {
            Enclosure::Lines if found.skipped == 0 => None,
            Enclosure::Lines => {
                let what = "# line[|s] before the record [is|are] of no known format, and [is|are] left out";
                Some((ProblemKind::Unrecognised, counted(found.skipped, what)))
            }
            within => {
                let detail =
                    format!("the record was read out of {}: only what is around it is left out", within.title());
                Some((ProblemKind::Embedded, detail))
            }
        };
        if let (Some(first), Some((kind, detail))) = (read.first_mut(), detail) {
            first.problem(kind, None, detail);
        }
        Ok(Some(read))
    }

    /// A refusal that says what the file holds.
    fn explained(&self, refused: FormatError) -> FormatError {
        let textual = matches!(&refused, FormatError::Unrecognised(what) if what.starts_with("it is text"));
        let bytes = self.text().ok().flatten().filter(|_| textual);
        bytes.and_then(|bytes| what_it_holds(&bytes)).map_or(refused, FormatError::Unrecognised)
    }
}

/// Whether lines end with carriage returns alone, as terminals save them that do not know the system's.
fn ends_by_returns(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    !head.contains(&b'\n') && head.iter().filter(|&&byte| byte == b'\r').take(3).count() == 3
}
