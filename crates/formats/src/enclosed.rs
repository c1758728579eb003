//! Records that stand within something else: in the middle of a long file, quoted in a mail, in a web page, in a JSON string.

use crate::format::{Format, Head, Likelihood, HEAD_BYTES};
use crate::kernel_log::printk::looks;
use crate::kernel_log::{boot_messages, unstamped_lines};
use crate::sniff::surest;
use memchr::memmem;

/// So many messages that every boot has make a record of lines without stamps.
const BARE: usize = 3;

/// What a record stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enclosure {
    /// Other lines before it.
    Lines,
    /// `> ` or a number before each line, fences around it, or indented.
    Quotes,
    /// Tags, with characters as entities.
    Html,
    /// The text of strings.
    Json,
}

impl Enclosure {
    /// What a message calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Lines => "other lines",
            Self::Quotes => "quotes, fences or numbered lines",
            Self::Html => "a web page",
            Self::Json => "strings of JSON",
        }
    }

    /// The text without it; none where there is none of it. Lines keep their numbers, except in JSON.
    pub fn opened(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Lines => None,
            Self::Quotes => quoted(bytes),
            Self::Html => page(bytes),
            Self::Json => strings(bytes),
        }
    }
}

/// A record within something else.
pub struct Enclosed {
    /// What reads it.
    pub format: &'static dyn Format,
    /// Its text.
    pub bytes: Vec<u8>,
    /// What it stands in.
    pub within: Enclosure,
    /// So many lines before it are of no known format, and are left out.
    pub skipped: u64,
}

/// The record in a text of which the beginning is of no known format.
///
/// ```
/// use firstlight_formats::enclosed::{enclosed, Enclosure};
/// use firstlight_formats::registry::formats;
/// let mail = "On Monday somebody wrote:\n> > [    0.000000] Linux version 6.1.0\n> > [    1.000000] a: b\n> > [    1.100000] c: d\n";
/// let found = enclosed(formats(), "mail.txt", mail.as_bytes()).unwrap();
/// assert_eq!((found.format.name(), found.within), ("serial", Enclosure::Quotes));
/// let json = r#"{"id": 7, "log": "[    0.000000] Linux version 6.1.0\n[    1.000000] a: b\n[    1.100000] c: d\n"}"#;
/// assert_eq!(enclosed(formats(), "job.json", json.as_bytes()).unwrap().within, Enclosure::Json);
/// let numbered = "    1\t[    0.000000] Linux version 6.1.0\n    2\t[    1.000000] a: b\n    3\t[    1.100000] c: d\n";
/// assert_eq!(enclosed(formats(), "cat-n.txt", numbered.as_bytes()).unwrap().within, Enclosure::Quotes);
/// assert!(enclosed(formats(), "notes.txt", b"> nothing of a boot\n").is_none());
/// ```
pub fn enclosed(
    formats: impl Iterator<Item = &'static dyn Format> + Clone,
    name: &str,
    bytes: &[u8],
) -> Option<Enclosed> {
    let opened = [Enclosure::Html, Enclosure::Json, Enclosure::Quotes]
        .into_iter()
        .filter_map(|within| Some((within, within.opened(bytes)?)));
    let all = opened.chain(std::iter::once_with(|| (Enclosure::Lines, bytes.to_vec())));
    all.into_iter().find_map(|(within, bytes)| anywhere(formats.clone(), name, bytes, within))
}

/// The first of the windows through a text in which a reader is sure.
fn anywhere(
    formats: impl Iterator<Item = &'static dyn Format> + Clone,
    name: &str,
    bytes: Vec<u8>,
    within: Enclosure,
) -> Option<Enclosed> {
    let sure = |start: usize| {
        let window = bytes.get(start..bytes.len().min(start + HEAD_BYTES))?;
        let head = Head { name, bytes: window };
        let (format, likelihood) = surest(formats.clone(), &head)?;
        // A console without stamps is known by what every boot says; elsewhere that may be a report about a system.
        let bare = || within != Enclosure::Lines && looks(&head).boot >= BARE;
        (likelihood >= Likelihood::Likely || likelihood == Likelihood::Possible && bare()).then_some((format, start))
    };
    // Where a kernel begins, however little there is of it; else the first window that is mostly of one format. A window begins
    // with a line; a line that is longer than half of one is passed.
    let next = |start: &usize| {
        let half = start + HEAD_BYTES / 2;
        Some(half + memchr::memchr(b'\n', bytes.get(half..)?)? + 1)
    };
    let mut starts = first_of_a_kernel(&bytes).into_iter().chain(std::iter::successors(Some(0), next));
    let (format, start) = starts.find_map(sure)?;
    // On a console everything before the kernel belongs to it.
    let serial = formats.clone().find(|format| format.name() == "serial").filter(|_| format.name() == "printk");
    if let Some(serial) = serial.or(Some(format).filter(|format| format.name() == "serial")) {
        return Some(Enclosed { format: serial, bytes, within, skipped: 0 });
    }
    let skipped = memchr::memchr_iter(b'\n', &bytes[..start]).count() as u64;
    Some(Enclosed { format, bytes: bytes[start..].to_vec(), within, skipped })
}

/// Where the first line of a kernel begins.
fn first_of_a_kernel(bytes: &[u8]) -> Option<usize> {
    let at =
        memmem::find(bytes, b"Linux version ").or_else(|| memmem::find(bytes, b"Booting Linux on physical CPU"))?;
    Some(memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1))
}

/// Without `> `, numbers and the like before lines, and without fences.
fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut any = false;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut rest = unnumbered(line).unwrap_or(line);
        while let Some(after) =
            rest.trim_ascii_start().strip_prefix(b">").or(rest.trim_ascii_start().strip_prefix(b"|"))
        {
            rest = after;
        }
        let unpadded = rest.trim_ascii_start();
        if unpadded.starts_with(b"```") || unpadded.starts_with(b"~~~") {
            rest = b"\n";
        } else if rest.len() < line.len() || unpadded.starts_with(b"[") {
            rest = if unpadded.is_empty() { b"\n" } else { unpadded };
        }
        any |= rest.len() < line.len();
        text.extend_from_slice(rest);
    }
    any.then_some(text)
}

/// A line that begins with a stamp or a level, without its number as `cat -n`, `grep -n` and viewers of logs print it.
fn unnumbered(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = line.split_at(digits);
    let after =
        rest.first().filter(|byte| matches!(byte, b':' | b'|' | b' ' | b'\t')).filter(|_| !number.is_empty())?;
    let text = rest.strip_prefix(&[*after])?.trim_ascii_start();
    let stamped = text.strip_prefix(b"[").or(text.strip_prefix(b"<"))?.trim_ascii_start();
    stamped.first().filter(|byte| byte.is_ascii_digit()).map(|_| text)
}

/// The text of a page: what a trace viewer holds as data, else what is preformatted, else everything but the tags.
fn page(bytes: &[u8]) -> Option<Vec<u8>> {
    let head = bytes.get(..bytes.len().min(4096))?.to_ascii_lowercase();
    if !["<html", "<!doctype html", "<pre", "<body"].iter().any(|tag| memmem::find(&head, tag.as_bytes()).is_some()) {
        return None;
    }
    let data = memmem::find(bytes, b"class=\"trace-data\"");
    let pre = || memmem::find(bytes, b"<pre");
    let begin = data.or_else(pre).unwrap_or(0);
    let end_tag: &[u8] = if data.is_some() { b"</script" } else { b"</pre" };
    let mut text: Vec<u8> = bytes[..begin].iter().copied().filter(|&byte| byte == b'\n').collect();
    let mut rest = &bytes[begin..];
    // The tag itself.
    rest = memchr::memchr(b'>', rest).map_or(rest, |at| &rest[at + 1..]);
    let end = memmem::find(rest, end_tag).filter(|_| begin > 0).unwrap_or(rest.len());
    rest = &rest[..end];
    if data.is_some() {
        text.extend_from_slice(rest);
        return Some(text);
    }
    while let Some(at) = memchr::memchr2(b'<', b'&', rest) {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let tag = || memchr::memchr(b'>', &rest[..rest.len().min(512)]).filter(|_| is_tag(rest));
        rest = if let Some((length, character)) = entity(rest) {
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            &rest[length..]
        } else if let Some(end) = tag() {
            &rest[end + 1..]
        } else {
            text.extend(rest.first());
            &rest[1..]
        };
    }
    text.extend_from_slice(rest);
    Some(text)
}

const ENTITIES: [(&[u8], char); 6] =
    [(b"&lt;", '<'), (b"&gt;", '>'), (b"&amp;", '&'), (b"&quot;", '"'), (b"&apos;", '\''), (b"&nbsp;", ' ')];

/// The character that an entity stands for, by its name or as `&#39;` or `&#x27;`, and how long it is.
fn entity(rest: &[u8]) -> Option<(usize, char)> {
    if let Some((name, character)) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((name.len(), *character));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let end = digits.iter().take(9).position(|&byte| byte == b';')?;
    let digits = std::str::from_utf8(&digits[..end]).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some((end + 3, char::from_u32(code.ok()?)?))
}

fn is_tag(rest: &[u8]) -> bool {
    rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!'))
}

/// The text of all strings that are values, each on lines of its own.
fn strings(bytes: &[u8]) -> Option<Vec<u8>> {
    let inside = bytes.trim_ascii_start().strip_prefix(b"{").or(bytes.trim_ascii_start().strip_prefix(b"["))?;
    // A line of a log begins with a bracket, too.
    if !matches!(inside.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
        return None;
    }
    let (mut text, mut rest, mut any) = (Vec::new(), bytes, false);
    while let Some(at) = memchr::memchr(b'"', rest) {
        rest = &rest[at + 1..];
        let begun = text.len();
        loop {
            let Some(at) = memchr::memchr2(b'"', b'\\', rest) else {
                text.extend_from_slice(rest);
                return any.then_some(text);
            };
            text.extend_from_slice(&rest[..at]);
            if rest[at] == b'"' {
                rest = &rest[at + 1..];
                break;
            }
            let (length, character) = escaped(&rest[at + 1..]);
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(at + 1 + length..).unwrap_or_default();
        }
        if rest.trim_ascii_start().starts_with(b":") {
            text.truncate(begun);
        } else {
            any = true;
            text.push(b'\n');
        }
    }
    any.then_some(text)
}

/// What stands after a backslash: how long it is, and what it means.
fn escaped(rest: &[u8]) -> (usize, char) {
    match rest.first() {
        Some(b'n') => (1, '\n'),
        Some(b't') => (1, '\t'),
        Some(b'r') => (1, '\r'),
        Some(b'u') => {
            let digits = rest.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            (5, code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        Some(byte) => (1, char::from(*byte)),
        None => (0, '\\'),
    }
}

/// What a text is that holds no record: for a message.
pub fn what_it_holds(bytes: &[u8]) -> Option<String> {
    let lines = || bytes.split(|&byte| byte == b'\n').zip(1_u64..);
    let loader = lines().find_map(|(line, number)| match unstamped_lines::sign(line)? {
        unstamped_lines::Sign::Banner(name) => Some((name, number)),
        _ => None,
    });
    if let Some((name, line)) = loader {
        return Some(format!("it holds the output of a boot loader ({name}, line {line}), and no line of a kernel"));
    }
    let kind = match (page(bytes), strings(bytes)) {
        (Some(_), _) => "a web page",
        (_, Some(_)) => "JSON",
        _ => return messages(bytes),
    };
    Some(format!("it is {kind}, and no boot record is in it"))
}

fn messages(bytes: &[u8]) -> Option<String> {
    let (number, line) = (1_u64..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .find(|(_, line)| boot_messages::is_boot_message(crate::kernel_log::prefix::parse(line.trim_ascii()).text))?;
    let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).trim().to_owned();
    Some(format!("it holds a message of a kernel (line {number}: `{shown}`), and too few of them to read a boot"))
}
