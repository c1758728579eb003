//! Where everything stands in a trace.dat: versions 6 and 7.

use super::ring_buffer::Machine;
use crate::counts::counted;
use crate::FormatError;
use std::io::Read;

pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// What one compressed piece may grow to.
const MOST_UNPACKED: u64 = 1 << 30;

/// The parts of a file.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) machine: Machine,
    pub(crate) version: u32,
    /// Format files of events, one after the other.
    pub(crate) formats: Vec<String>,
    pub(crate) kallsyms: Vec<u8>,
    pub(crate) commands: Vec<u8>,
    /// Name of the clock, with the content of `trace_clock` for one that has no name here.
    pub(crate) clock: String,
    /// The `stats` of each processor.
    pub(crate) stats: Vec<String>,
    pub(crate) system: Option<String>,
    /// Processor and pages.
    pub(crate) buffers: Vec<(u32, Vec<u8>)>,
    /// What could not be read.
    pub(crate) missing: Vec<String>,
}

/// A place in bytes; everything it reads may be missing.
struct Cursor<'b> {
    machine: Machine,
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    fn number(&mut self, size: usize) -> Option<u64> {
        let number = self.machine.number(self.bytes, self.at, size)?;
        self.at += size;
        Some(number)
    }

    fn take(&mut self, length: u64) -> Option<&'b [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn text(&mut self) -> Option<String> {
        let rest = self.bytes.get(self.at..)?;
        let end = memchr::memchr(0, rest)?;
        self.at += end + 1;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    fn sized(&mut self, size: usize) -> Option<&'b [u8]> {
        let length = self.number(size)?;
        self.take(length)
    }
}

/// Reads what a file is made of.
pub(crate) fn parts(bytes: &[u8], title: &'static str) -> Result<Parts, FormatError> {
    let cut = || FormatError::NotThis { format: title, what: "its header is cut off".to_owned() };
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| FormatError::NotThis { format: title, what: "it does not begin as one".to_owned() })?;
    let machine = Machine { big_endian: false, page: 4096, long: 8 };
    let mut cursor = Cursor { machine, bytes, at: bytes.len() - rest.len() };
    let version = cursor.text().ok_or_else(cut)?;
    let number: u32 = version.trim().parse().unwrap_or(0);
    if !matches!(number, 6 | 7) {
        return Err(FormatError::Version { format: title, version });
    }
    cursor.machine.big_endian = cursor.number(1).ok_or_else(cut)? == 1;
    let long = cursor.number(1).ok_or_else(cut)? as usize;
    let page = cursor.number(4).ok_or_else(cut)? as usize;
    if !matches!(long, 4 | 8) || !(64..=1 << 24).contains(&page) {
        let what = format!("its pages have {page} bytes and its numbers {long}");
        return Err(FormatError::NotThis { format: title, what });
    }
    (cursor.machine.long, cursor.machine.page) = (long, page);
    let mut parts = Parts {
        machine: cursor.machine,
        version: number,
        formats: Vec::new(),
        kallsyms: Vec::new(),
        commands: Vec::new(),
        clock: String::new(),
        stats: Vec::new(),
        system: None,
        buffers: Vec::new(),
        missing: Vec::new(),
    };
    let whole = if number == 6 { six(&mut cursor, &mut parts) } else { seven(&mut cursor, &mut parts, title)? };
    if whole.is_none() {
        parts.missing.push("the file ends before its parts do".to_owned());
    }
    Ok(parts)
}

fn header_page(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    for name in [&b"header_page\0"[..], b"header_event\0"] {
        (cursor.take(name.len() as u64)? == name).then_some(())?;
        let text = String::from_utf8_lossy(cursor.sized(8)?);
        // The kernel's own `long`: the size of the field `commit`.
        if let Some(commit) = text.lines().find(|line| line.contains(" commit;")) {
            let size = commit.split("size:").nth(1).and_then(|rest| rest.split(';').next()?.trim().parse().ok());
            parts.machine.long = size.filter(|size| matches!(size, 4 | 8)).unwrap_or(parts.machine.long);
        }
    }
    Some(())
}

fn ftrace_formats(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    for _ in 0..cursor.number(4)? {
        parts.formats.push(String::from_utf8_lossy(cursor.sized(8)?).into_owned());
    }
    Some(())
}

fn event_formats(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    for _ in 0..cursor.number(4)? {
        cursor.text()?;
        for _ in 0..cursor.number(4)? {
            parts.formats.push(String::from_utf8_lossy(cursor.sized(8)?).into_owned());
        }
    }
    Some(())
}

fn option(id: u64, data: &[u8], parts: &mut Parts) {
    let text = || String::from_utf8_lossy(data).trim_end_matches(['\0', '\n', ' ']).to_owned();
    match id {
        2 => parts.stats.push(text()),
        4 => parts.clock = chosen_clock(&text()),
        5 => parts.system = Some(text()),
        _ => {}
    }
}

/// The clock in brackets of `[local] global counter`.
fn chosen_clock(text: &str) -> String {
    let chosen = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    chosen.unwrap_or(if text.contains(' ') { "" } else { text }).to_owned()
}

fn six(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    header_page(cursor, parts)?;
    ftrace_formats(cursor, parts)?;
    event_formats(cursor, parts)?;
    parts.kallsyms = cursor.sized(4)?.to_vec();
    cursor.sized(4)?;
    parts.commands = cursor.sized(8)?.to_vec();
    let cpus = cursor.number(4)?;
    loop {
        let name = cursor.take(10)?;
        match name {
            b"options  \0" => loop {
                let id = cursor.number(2)?;
                if id == 0 {
                    break;
                }
                let data = cursor.sized(4)?;
                option(id, data, parts);
            },
            b"flyrecord\0" => break,
            other => {
                let what = format!("a part `{}`", String::from_utf8_lossy(other).trim_end_matches('\0'));
                parts.missing.push(what);
                return Some(());
            }
        }
    }
    for cpu in 0..cpus {
        let (offset, size) = (cursor.number(8)?, cursor.number(8)?);
        pages(cursor.bytes, cpu as u32, offset, size, parts);
    }
    Some(())
}

// The pages of a processor, as far as they are there.
fn pages(bytes: &[u8], cpu: u32, offset: u64, size: u64, parts: &mut Parts) {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let end = start.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(bytes.len());
    if ((end - start) as u64) < size {
        parts.missing.push(format!("{}{cpu}", counted(size - (end - start) as u64, "# byte[|s] of processor ")));
    }
    if end > start {
        parts.buffers.push((cpu, bytes[start..end].to_vec()));
    }
}

/// The content of a section: its header is read and passed, and it is unpacked.
fn section(cursor: &mut Cursor<'_>, packing: &str) -> Option<Vec<u8>> {
    cursor.number(2)?;
    let packed = cursor.number(2)? & 1 == 1;
    cursor.number(4)?;
    let size = cursor.number(8)?;
    if !packed {
        return Some(cursor.take(size)?.to_vec());
    }
    chunk(cursor, packing)
}

fn chunk(cursor: &mut Cursor<'_>, packing: &str) -> Option<Vec<u8>> {
    let (packed, unpacked) = (cursor.number(4)?, cursor.number(4)?);
    let data = cursor.take(packed)?;
    if packing != "zstd" || unpacked > MOST_UNPACKED {
        return None;
    }
    let mut content = Vec::new();
    // What is damaged gives what there is before the damage.
    let _ = zstd::stream::Decoder::new(data).ok()?.take(unpacked).read_to_end(&mut content);
    Some(content)
}

fn seven(cursor: &mut Cursor<'_>, parts: &mut Parts, title: &'static str) -> Result<Option<()>, FormatError> {
    let (Some(packing), Some(_)) = (cursor.text(), cursor.text()) else { return Ok(None) };
    if !matches!(packing.as_str(), "none" | "zstd") {
        return Err(FormatError::Version { format: title, version: format!("7 compressed by {packing}") });
    }
    let Some(mut next) = cursor.number(8) else { return Ok(None) };
    let mut whole = Some(());
    let mut buffers = Vec::new();
    // Options are chained; each chain is shorter than this.
    for _ in 0..1000 {
        if next == 0 {
            break;
        }
        cursor.at = usize::try_from(next).unwrap_or(usize::MAX);
        next = 0;
        let Some(content) = section(cursor, &packing) else {
            whole = None;
            break;
        };
        let mut options = Cursor { machine: cursor.machine, bytes: &content, at: 0 };
        while let (Some(id), Some(data)) = (options.number(2), options.sized(4)) {
            let mut inner = Cursor { machine: cursor.machine, bytes: data, at: 0 };
            match id {
                0 => {
                    next = inner.number(8).unwrap_or(0);
                    break;
                }
                3 => buffers.push(data.to_vec()),
                16..=21 => {
                    let read = inner.number(8).and_then(|offset| {
                        cursor.at = usize::try_from(offset).ok()?;
                        part(id, &section(cursor, &packing)?, parts)
                    });
                    whole = whole.and(read);
                }
                _ => option(id, data, parts),
            }
        }
    }
    for data in buffers {
        whole = whole.and(buffer(cursor, &data, &packing, parts));
    }
    Ok(whole)
}

fn part(id: u64, content: &[u8], parts: &mut Parts) -> Option<()> {
    let mut cursor = Cursor { machine: parts.machine, bytes: content, at: 0 };
    match id {
        16 => header_page(&mut cursor, parts),
        17 => ftrace_formats(&mut cursor, parts),
        18 => event_formats(&mut cursor, parts),
        19 => {
            parts.kallsyms = cursor.sized(4)?.to_vec();
            Some(())
        }
        21 => {
            parts.commands = cursor.sized(8)?.to_vec();
            Some(())
        }
        _ => Some(()),
    }
}

fn buffer(file: &mut Cursor<'_>, data: &[u8], packing: &str, parts: &mut Parts) -> Option<()> {
    let mut cursor = Cursor { machine: file.machine, bytes: data, at: 0 };
    let start = cursor.number(8)?;
    let name = cursor.text()?;
    let clock = cursor.text()?;
    if !name.is_empty() {
        parts.missing.push(format!("the instance `{name}`"));
        return Some(());
    }
    parts.clock = clock;
    let page = cursor.number(4)? as usize;
    if (64..=1 << 24).contains(&page) {
        parts.machine.page = page;
    }
    let cpus = cursor.number(4)?;
    file.at = usize::try_from(start).ok()?;
    file.number(2)?;
    let packed = file.number(2)? & 1 == 1;
    for _ in 0..cpus {
        let (cpu, offset, size) = (cursor.number(4)? as u32, cursor.number(8)?, cursor.number(8)?);
        if !packed {
            pages(file.bytes, cpu, offset, size, parts);
            continue;
        }
        if size == 0 {
            continue;
        }
        file.at = usize::try_from(offset).ok()?;
        let mut pages = Vec::new();
        let chunks = file.number(4)?;
        for _ in 0..chunks {
            let Some(content) = chunk(file, packing).filter(|_| (pages.len() as u64) < MOST_UNPACKED) else {
                parts.missing.push(format!("pages of processor {cpu}"));
                break;
            };
            pages.extend_from_slice(&content);
        }
        parts.buffers.push((cpu, pages));
    }
    Some(())
}
