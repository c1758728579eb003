//! Records that stand within something else: in the middle of a long file, quoted in a mail, in a web page, in a JSON string.

mod fronts;
mod json_strings;
mod page;
mod quotes;

use crate::counts::counted;
use crate::firmware::loader_stages;
use crate::format::{Format, Head, Likelihood, HEAD_BYTES};
use crate::kernel_log::printk::looks;
use crate::kernel_log::{boot_messages, prefix, unstamped_lines};
use crate::lines::with_blanks;
use crate::sniff::surest;
use firstlight_schema::FormatName;
use fronts::without_fronts;
use json_strings::strings;
use memchr::memmem;
use quotes::quoted;
use std::borrow::Cow;

/// So many messages that every boot has make a record of lines without stamps.
const BARE: usize = 3;

/// What a record stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enclosure {
    /// Other lines before it.
    Lines,
    /// `> ` or a number before each line, fences around it, or indented.
    Quotes,
    /// Whatever another program puts in front of each line: a file's name, a speaker, columns.
    Fronts,
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
            Self::Fronts => "lines with other text in front",
            Self::Html => "a web page",
            Self::Json => "strings of JSON",
        }
    }

    /// Whether a text begins as such a document: lines of a log may stand in it, and it is not a log itself.
    pub fn is_document(self, bytes: &[u8]) -> bool {
        match self {
            Self::Lines | Self::Quotes | Self::Fronts => false,
            Self::Html => page::is_page(bytes),
            Self::Json => strings(bytes).is_some(),
        }
    }

    /// The texts without it that may hold a record, the likeliest first; none where there is none of it. Only lines in quotes keep
    /// their numbers.
    fn opened(self, bytes: &[u8]) -> Vec<Vec<u8>> {
        match self {
            Self::Lines => vec![bytes.to_vec()],
            Self::Quotes => quoted(bytes).into_iter().collect(),
            Self::Fronts => without_fronts(bytes).into_iter().collect(),
            // Viewers number the lines, and archives of mail quote them.
            Self::Html => page::texts(bytes)
                .into_iter()
                .flat_map(|text| {
                    let text = with_blanks(&text).into_owned();
                    let unquoted = quoted(&text);
                    std::iter::once(text).chain(unquoted)
                })
                .collect(),
            Self::Json => strings(bytes).into_iter().collect(),
        }
    }
}

/// A line of text with the characters that its entities stand for, as a part of a page has them that was copied.
pub(crate) fn with_characters(text: &str) -> Cow<'_, str> {
    if !text.contains("&#") && !text.contains("&nbsp;") {
        return Cow::Borrowed(text);
    }
    let (mut rest, mut out) = (text, String::with_capacity(text.len()));
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (length, character) = page::entity(&rest.as_bytes()[at..]).unwrap_or((1, '&'));
        out.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
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
/// let searched = "a.log:1:[    0.000000] Linux version 6.1.0\na.log:2:[    1.000000] a: b\na.log:3:[    1.100000] c: d\n";
/// assert_eq!(enclosed(formats(), "grep.txt", searched.as_bytes()).unwrap().within, Enclosure::Fronts);
/// assert!(enclosed(formats(), "notes.txt", b"> nothing of a boot\n").is_none());
/// ```
pub fn enclosed(
    formats: impl Iterator<Item = &'static dyn Format> + Clone,
    name: &str,
    bytes: &[u8],
) -> Option<Enclosed> {
    let plain = with_blanks(bytes);
    [Enclosure::Html, Enclosure::Json, Enclosure::Quotes, Enclosure::Fronts, Enclosure::Lines]
        .into_iter()
        .flat_map(|within| within.opened(&plain).into_iter().map(move |text| (within, text)))
        .find_map(|(within, text)| anywhere(formats.clone(), name, text, within))
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
    let stamped = || {
        let start =
            Some(&bytes).filter(|_| within == Enclosure::Lines).and_then(|bytes| stamped_behind_a_loader(bytes))?;
        Some((formats.clone().find(is_printk)?, start))
    };
    let (format, start) = starts.find_map(sure).or_else(stamped)?;
    // On a console everything before the kernel belongs to it.
    let console = match format.name() {
        "printk" => true,
        name if name == FormatName::LoaderStages.name() => loader_stages::holds_kernel(&bytes),
        _ => false,
    };
    let serial = formats.clone().find(|format| format.name() == "serial").filter(|_| console);
    if let Some(serial) = serial.or(Some(format).filter(|format| format.name() == "serial")) {
        return Some(Enclosed { format: serial, bytes, within, skipped: 0 });
    }
    let skipped = memchr::memchr_iter(b'\n', &bytes[..start]).count() as u64;
    Some(Enclosed { format, bytes: bytes[start..].to_vec(), within, skipped })
}

/// Whether a line begins with a kernel's stamp.
fn is_stamped(line: &[u8]) -> bool {
    prefix::inner_stamp(line, 0).is_some_and(|(at, _)| at == 0)
}

fn is_printk(format: &&'static dyn Format) -> bool {
    format.name() == "printk"
}

/// So many lines with a kernel's stamp in a row are a kernel's.
const IN_A_ROW: usize = 8;

/// Where a kernel's stamps begin behind the name of a loader: its first lines are missing, and what a loader or userspace prints
/// may be more than what the kernel does.
fn stamped_behind_a_loader(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut start, mut loader, mut row) = (0, 0, false, 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        loader |= matches!(unstamped_lines::sign(line.trim_ascii_end()), Some(unstamped_lines::Sign::Banner(_)));
        if row == 0 {
            start = at;
        }
        at += line.len();
        row = if loader && is_stamped(line) { row + 1 } else { 0 };
        if row == IN_A_ROW {
            return Some(start);
        }
    }
    None
}

/// Where the first line of a kernel begins.
fn first_of_a_kernel(bytes: &[u8]) -> Option<usize> {
    let at =
        memmem::find(bytes, b"Linux version ").or_else(|| memmem::find(bytes, b"Booting Linux on physical CPU"))?;
    Some(memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1))
}

/// What a text is that holds no record: for a message.
pub fn what_it_holds(bytes: &[u8]) -> Option<String> {
    let lines = || bytes.split(|&byte| byte == b'\n').zip(1_u64..);
    let loader = lines().find_map(|(line, number)| match unstamped_lines::sign(line)? {
        unstamped_lines::Sign::Banner(name) => Some((name, number)),
        _ => None,
    });
    if let Some((name, line)) = loader {
        let stamped = lines().filter(|(line, _)| is_stamped(line)).count();
        let kernel = match stamped {
            0 => "no line of a kernel".to_owned(),
            _ => counted(stamped as u64, "# line[|s] with a kernel's stamp, too few to read a boot"),
        };
        return Some(format!("it holds the output of a boot loader ({name}, line {line}), and {kernel}"));
    }
    let kind = match [Enclosure::Html, Enclosure::Json].map(|kind| kind.is_document(bytes)) {
        [true, _] => "a web page",
        [_, true] => "JSON",
        _ => return messages(bytes),
    };
    Some(format!("it is {kind}, and no boot record is in it"))
}

fn messages(bytes: &[u8]) -> Option<String> {
    let of_a_boot = |line: &[u8]| boot_messages::is_boot_message(prefix::parse(line.trim_ascii()).text);
    let (number, line) = (1_u64..).zip(bytes.split(|&byte| byte == b'\n')).find(|(_, line)| {
        // Something may stand in front of the kernel's stamp.
        of_a_boot(line) || prefix::inner_stamp(line, 0).is_some_and(|(at, _)| of_a_boot(&line[at..]))
    })?;
    let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).trim().to_owned();
    Some(format!("it holds a message of a kernel (line {number}: `{shown}`), and too few of them to read a boot"))
}
