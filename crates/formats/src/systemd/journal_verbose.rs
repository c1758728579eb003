//! `journalctl -o verbose`: a line with the cursor for each entry, its fields below.

use super::journal::{Entry, Field, Journal};
use super::journal_json::finish;
use crate::about::{About, Stamps, Traits};
use crate::evidence::{Evidence, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads the journal with all its fields as text.
pub struct JournalVerbose;

/// Further lines of a value stand below it, indented deeper than a field.
const INDENT: &str = "    ";

impl Format for JournalVerbose {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::JournalVerbose, Traits { stamps: Stamps::Sent, ..Traits::JOURNAL }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let entries = text.lines().take(400).filter(|line| cursor(line).is_some()).count();
        let fields = text.lines().take(400).filter(|line| field(line).is_some()).count();
        match (entries, fields) {
            (0, _) | (_, 0) => Likelihood::No,
            _ => Likelihood::Certain,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut journal = Journal::default();
        let mut lines = Lines::new(input.bytes);
        let (mut entry, mut begins) = (Entry::default(), 0_u64);
        let mut open: Option<(Field, Vec<u8>)> = None;
        let mut unparsed = Unparsed::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if let Some(begun) = cursor(&text) {
                if let Some((field, value)) = open.take() {
                    entry.set(field, value);
                }
                if !entry.is_empty() {
                    journal.add(&std::mem::take(&mut entry), begins);
                }
                (entry, begins) = (begun, line.number);
            } else if let Some((name, value)) = field(&text) {
                if let Some((field, value)) = open.take() {
                    entry.set(field, value);
                }
                open = Field::named(name).map(|field| (field, value.as_bytes().to_vec()));
            } else if text.starts_with(INDENT) {
                if let Some((_, value)) = open.as_mut().filter(|(_, value)| value.len() < crate::lines::LINE_BYTES) {
                    value.push(b'\n');
                    value.extend_from_slice(text.trim_start().as_bytes());
                }
            } else if !text.is_empty() && !text.starts_with("-- ") {
                unparsed.add(line.number);
            }
        }
        if let Some((field, value)) = open {
            entry.set(field, value);
        }
        if !entry.is_empty() {
            journal.add(&entry, begins);
        }
        let problems = lines.problems();
        finish(journal, unparsed, problems, self.about())
    }
}

/// `DATE [s=...;i=1;b=BOOT;m=MONOTONIC;t=REALTIME;x=...]`, the two times as hexadecimal microseconds.
fn cursor(line: &str) -> Option<Entry> {
    if line.starts_with(' ') {
        return None;
    }
    let (_, inside) = line.strip_suffix(']')?.rsplit_once(" [")?;
    let of = |key: &str| inside.split(';').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
    let time = |key: &str| u64::from_str_radix(of(key)?, 16).ok().map(|us| us.to_string().into_bytes());
    let (monotonic, realtime) = (time("m")?, time("t")?);
    let mut entry = Entry::default();
    entry.set(Field::BootId, of("b")?.as_bytes().to_vec());
    entry.set(Field::Monotonic, monotonic);
    entry.set(Field::Realtime, realtime);
    Some(entry)
}

/// `    KEY=VALUE`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(INDENT)?.split_once('=')?;
    let known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (!name.is_empty() && name.bytes().all(known)).then_some((name, value))
}
