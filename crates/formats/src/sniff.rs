//! Which reader a record belongs to.

use crate::format::{Format, Head, Likelihood};
use crate::kernel_log::dates;
use crate::lines::Lines;
use crate::systemd::months::foreign;
use crate::FormatError;
use memchr::{memchr2, memmem};

/// The reader that is surest of a record; of equally sure ones the first.
///
/// # Errors
///
/// [`FormatError::Unrecognised`], which says what the bytes look like.
pub fn recognise(
    formats: impl Iterator<Item = &'static dyn Format> + Clone,
    head: &Head<'_>,
) -> Result<&'static dyn Format, FormatError> {
    if head.bytes.is_empty() {
        return Err(FormatError::Unrecognised("it is empty".to_owned()));
    }
    if in_utf16(head.bytes) {
        return Err(FormatError::Unrecognised(look(head.bytes)));
    }
    // The readers see lines without escapes and returns, and so do their signs.
    let found = as_lines(head.bytes).and_then(|bytes| surest(formats.clone(), &Head { bytes: &bytes, ..*head }));
    let found = found.or_else(|| surest(formats, head));
    found.map(|(format, _)| format).ok_or_else(|| FormatError::Unrecognised(look(head.bytes)))
}

/// The reader that is surest, and how sure it is.
pub fn surest(
    formats: impl Iterator<Item = &'static dyn Format>,
    head: &Head<'_>,
) -> Option<(&'static dyn Format, Likelihood)> {
    let mut best: Option<(&'static dyn Format, Likelihood)> = None;
    for format in formats {
        let likelihood = format.likelihood(head);
        if likelihood > best.map_or(Likelihood::No, |(_, likelihood)| likelihood) {
            best = Some((format, likelihood));
        }
    }
    best
}

/// The lines as readers get them, where they are not as they stand in the file.
fn as_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    memchr2(b'\r', 0x1b, bytes).or_else(|| memmem::find(bytes, "\u{a0}".as_bytes()))?;
    let (mut rest, mut text) = (bytes, Vec::with_capacity(bytes.len()));
    let mut lines = Lines::new(&mut rest);
    while let Ok(Some(line)) = lines.next_line() {
        text.extend_from_slice(line.bytes);
        text.push(b'\n');
    }
    Some(text)
}

fn in_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

const SIGNATURES: [(&[u8], &str); 14] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a RIFF file (picture, sound or film)"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "an ELF program"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"\xfd7zXZ", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"BZh", "compressed by bzip2"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PERFILE2", "a recording of perf"),
    (b"PAR1", "a Parquet table"),
];

fn look(bytes: &[u8]) -> String {
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return format!("it is {what}");
    }
    if in_utf16(bytes) {
        return "it is text in UTF-16, as PowerShell's `>` writes it; make it UTF-8: \
                `iconv -f UTF-16 -t UTF-8 FILE > NEW`"
            .to_owned();
    }
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let columns = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(3);
    if columns.eq([b"NAME".as_slice(), b"ACTIVATED", b"ACTIVATING"]) {
        return "it is the table of `systemd-analyze plot --table`, whose times are rounded; \
                `systemd-analyze plot --json=short` prints what is read"
            .to_owned();
    }
    if let Some(month) = bytes.split(|&byte| byte == b'\n').take(8).find_map(unknown_month) {
        return format!(
            "its lines have dates whose month `{month}` is of no known language; `LC_ALL=C journalctl` writes English ones"
        );
    }
    let control = bytes.iter().filter(|&&byte| byte < 9 || (14..32).contains(&byte) && byte != 27).count();
    let odd = control + String::from_utf8_lossy(bytes).matches(char::REPLACEMENT_CHARACTER).count();
    if odd * 20 > bytes.len() {
        return "it is binary data of no known kind".to_owned();
    }
    "it is text, but none of its lines has the shape of a known boot record".to_owned()
}

/// The first word of `WORD 30 10:00:06 `, where it is not a known month.
fn unknown_month(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (word, day, time) = (words.next()?, words.next()?, words.next()?);
    let dated = day.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day)) && dates::clock(time.as_bytes()).is_some();
    let named = word.chars().count() <= 10 && word.chars().any(char::is_alphabetic);
    (dated && named && dates::of_syslog(line.as_bytes()).is_none() && foreign(word).is_none()).then(|| word.to_owned())
}
