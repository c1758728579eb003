//! `journalctl -o export`: fields of text, and binary ones with their length before them.

use super::journal::{Entry, Field, Journal};
use super::journal_json::finish;
use crate::about::{About, Stamps, Traits};
use crate::evidence::{Evidence, Problem, ProblemKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use std::io::{BufRead, Read};

/// Reads the journal in its export format.
pub struct JournalExport;

/// What is kept of a field; the rest of it is skipped.
const MOST_BYTES: usize = 1 << 20;

impl Format for JournalExport {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::JournalExport, Traits { stamps: Stamps::Sent, ..Traits::JOURNAL }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let starts = |key: &str| {
            head.bytes.starts_with(key.as_bytes())
                || memchr::memmem::find(head.bytes, format!("\n{key}").as_bytes()).is_some()
        };
        match (starts("__REALTIME_TIMESTAMP="), starts("__CURSOR=") || starts("_BOOT_ID=")) {
            (true, true) => Likelihood::Certain,
            (true, false) => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut journal = Journal::default();
        let mut bytes = input.bytes;
        let (mut entry, mut entry_line, mut line) = (Entry::default(), 1_u64, 0_u64);
        let (mut unparsed, mut problems) = (Unparsed::default(), Vec::new());
        loop {
            line += 1;
            let (text, ended) = read_line(&mut bytes)?;
            if text.is_empty() {
                if !entry.is_empty() {
                    journal.add(&std::mem::take(&mut entry), entry_line);
                }
                if !ended {
                    break;
                }
                entry_line = line + 1;
                continue;
            }
            if !ended {
                let detail = "the last field has no end: the record may have been cut off".to_owned();
                problems.push(Problem { kind: ProblemKind::Cut, detail, line: Some(line), lost: None });
            }
            let split = memchr::memchr(b'=', &text);
            let name = text.get(..split.unwrap_or(text.len())).unwrap_or_default();
            let name = std::str::from_utf8(name).ok().filter(|name| is_name(name));
            match (name, split) {
                (Some(name), Some(split)) => {
                    if let Some(field) = Field::named(name) {
                        entry.set(field, text.get(split + 1..).unwrap_or_default().to_vec());
                    }
                }
                (Some(name), None) => match binary(&mut bytes)? {
                    Some(value) => {
                        line += value.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
                        if let Some(field) = Field::named(name) {
                            entry.set(field, value);
                        }
                    }
                    None => {
                        let detail = format!("the binary field {name} is cut off");
                        problems.push(Problem { kind: ProblemKind::Cut, detail, line: Some(line), lost: None });
                    }
                },
                _ => unparsed.add(line),
            }
        }
        finish(journal, unparsed, problems, self.about())
    }
}

/// Capitals, digits and underscores.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A line without its end, at most [`MOST_BYTES`] of it; and whether it had an end.
fn read_line(bytes: &mut &mut dyn BufRead) -> Result<(Vec<u8>, bool), FormatError> {
    let mut line = Vec::new();
    loop {
        let buffer = bytes.fill_buf()?;
        if buffer.is_empty() {
            return Ok((line, false));
        }
        let end = memchr::memchr(b'\n', buffer);
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
        let kept = part.len().min(MOST_BYTES.saturating_sub(line.len()));
        line.extend_from_slice(part.get(..kept).unwrap_or(part));
        let used = part.len() + usize::from(end.is_some());
        bytes.consume(used);
        if end.is_some() {
            return Ok((line, true));
        }
    }
}

/// A length in eight bytes, the lowest first, so many bytes, and a line end; none where it is cut off.
fn binary(bytes: &mut &mut dyn BufRead) -> Result<Option<Vec<u8>>, FormatError> {
    let mut length = Vec::with_capacity(8);
    bytes.by_ref().take(8).read_to_end(&mut length)?;
    let Ok(length) = <[u8; 8]>::try_from(length) else { return Ok(None) };
    let length = u64::from_le_bytes(length);
    let mut value = Vec::new();
    let kept = length.min(MOST_BYTES as u64);
    bytes.by_ref().take(kept).read_to_end(&mut value)?;
    if (value.len() as u64) < kept {
        return Ok(None);
    }
    let skipped = std::io::copy(&mut bytes.by_ref().take(length - kept), &mut std::io::sink())?;
    if skipped < length - kept {
        return Ok(None);
    }
    let mut end = Vec::with_capacity(1);
    bytes.by_ref().take(1).read_to_end(&mut end)?;
    Ok(Some(value))
}
