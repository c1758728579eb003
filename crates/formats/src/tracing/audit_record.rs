//! One record of the kernel's audit: its kind, its instant, and its fields.

use crate::kernel_log::bytes::seconds;
use crate::kernel_log::dates;
use memchr::memmem;

/// A record: `type=SYSCALL msg=audit(1577836800.123:45): FIELDS`.
pub(super) struct Record<'l> {
    pub(super) kind: &'l str,
    pub(super) time_ns: Option<i64>,
    pub(super) serial: u64,
    pub(super) fields: &'l [u8],
}

/// Splits a line.
pub(super) fn parse(line: &[u8]) -> Option<Record<'_>> {
    let start = memmem::find(line, b"type=").filter(|at| *at == 0 || line.starts_with(b"node="))?;
    let rest = line.get(start + 5..)?;
    let (kind, rest) = rest.split_at(memchr::memchr(b' ', rest)?);
    let rest = rest.strip_prefix(b" msg=audit(")?;
    let close = memchr::memchr(b')', rest)?;
    let colon = memchr::memrchr(b':', rest.get(..close)?)?;
    let serial = std::str::from_utf8(rest.get(colon + 1..close)?).ok()?.parse().ok()?;
    let stamp = rest.get(..colon)?;
    let time_ns = seconds(stamp).filter(|(_, after)| after.is_empty()).map(|(time, _)| time).or_else(|| dated(stamp));
    let fields = rest.get(close + 1..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii();
    // What auditd has looked up itself stands behind a separator.
    let fields = fields.split(|byte| *byte == 0x1d).next().unwrap_or_default();
    Some(Record { kind: std::str::from_utf8(kind).ok()?, time_ns, serial, fields })
}

/// `01/31/20 10:00:00.123`, as `ausearch -i` writes it.
fn dated(stamp: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(stamp).ok()?;
    let (date, time) = text.split_once(' ')?;
    let mut parts = date.split('/').map(|part| part.parse::<i64>().ok());
    let (month, day, year) = (parts.next()??, parts.next()??, parts.next()??);
    let (time, _) = dates::clock(time.as_bytes())?;
    dates::instant(if year < 100 { 2000 + year } else { year }, month, day, time)
}

/// The value of a field: a word, a text in quotes, or such a text in hexadecimal digits.
pub(super) fn text(fields: &[u8], key: &str) -> Option<String> {
    let mut from = 0;
    loop {
        let at = from + memmem::find(fields.get(from..)?, key.as_bytes())?;
        from = at + 1;
        let begins = at == 0 || fields.get(at - 1) == Some(&b' ');
        let Some(value) = fields.get(at + key.len()..)?.strip_prefix(b"=").filter(|_| begins) else { continue };
        if let Some(inside) = value.strip_prefix(b"\"") {
            let end = memchr::memchr(b'"', inside).unwrap_or(inside.len());
            return Some(String::from_utf8_lossy(&inside[..end]).into_owned());
        }
        let word = value.split(|byte| *byte == b' ').next().unwrap_or_default();
        let untrusted = matches!(key, "comm" | "exe" | "cwd" | "name") || (key.starts_with('a') && is_argument(fields));
        if untrusted && word.len() >= 2 {
            if let Some(bytes) = of_hex(word) {
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        return Some(String::from_utf8_lossy(word).into_owned());
    }
}

/// The arguments of a command line are texts; those of a call are numbers.
fn is_argument(fields: &[u8]) -> bool {
    fields.starts_with(b"argc=")
}

fn of_hex(word: &[u8]) -> Option<Vec<u8>> {
    // The kernel writes capital digits.
    let digit =
        |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_lowercase()).map(|digit| digit as u8);
    word.chunks(2).map(|pair| Some((digit(*pair.first()?)? << 4) | digit(*pair.get(1)?)?)).collect()
}
