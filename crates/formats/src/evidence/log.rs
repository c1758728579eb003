//! The lines of a record.

use super::chunks::Chunks;
use super::text_arena::{number, Place, TextArena};

/// The lines of a log: columns, with their texts in pieces, because there may be millions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// The texts, each of which is UTF-8.
    texts: TextArena,
    rows: Chunks<Row>,
    /// Where every [`STRIDE`]th line begins.
    begins: Vec<Place>,
    /// Bits 0 to 1: the kind of caller; 2 to 5: the level; the rest: which caller. Only where a line has one of them.
    who: Vec<u32>,
    /// Only where a line has one.
    hosts: Vec<i64>,
}

/// So many lines are passed at most to find where one begins.
const STRIDE: usize = 32;

/// A line beside its text, packed: much of the memory that reading a log takes is this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    time_ns: i64,
    length: u32,
    line: u32,
}

/// What stands for a caller whose number does not fit: none on Linux, whose tasks end at 2^22.
const CALLERS: u32 = (1 << 26) - 1;

/// What stands for no time, and for no level.
const NO_TIME: i64 = i64::MIN;
const NO_LEVEL: u8 = 15;
const NOBODY: u32 = (NO_LEVEL as u32) << 2;

/// What is known of a line beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its number in the record, from 1.
    pub line: u64,
    /// When it was stored, in the evidence's clock.
    pub time_ns: Option<i64>,
    /// When the capturing machine received it, on that machine's clock from the record's own origin.
    pub host_ns: Option<i64>,
    /// The kernel's level, 0 to 7.
    pub level: Option<u8>,
    /// Who said it.
    pub caller: Option<Caller>,
}

/// `PRINTK_CALLER`: who printed a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A task, by its number.
    Task(u32),
    /// An interrupt, by its processor.
    Cpu(u32),
}

impl Log {
    /// Appends a line; bytes that are not UTF-8 are replaced. Tells whether any were.
    #[inline]
    pub fn push(&mut self, stamp: Stamp, text: &[u8]) -> bool {
        let lossy;
        let replaced = !is_ascii(text) && std::str::from_utf8(text).is_err();
        let text = if replaced {
            lossy = String::from_utf8_lossy(text).into_owned();
            lossy.as_bytes()
        } else {
            text
        };
        if self.rows.len() % STRIDE == 0 {
            self.begins.push(self.texts.end());
        }
        self.texts.push(text);
        let plain = stamp.host_ns.is_none() && stamp.level.is_none() && stamp.caller.is_none();
        if !plain || !self.hosts.is_empty() || !self.who.is_empty() {
            column(&mut self.hosts, self.rows.len(), stamp.host_ns.unwrap_or(NO_TIME), NO_TIME);
            column(&mut self.who, self.rows.len(), who(&stamp), NOBODY);
        }
        self.rows.push(Row {
            time_ns: stamp.time_ns.unwrap_or(NO_TIME),
            length: number(text.len()),
            line: u32::try_from(stamp.line).unwrap_or(u32::MAX),
        });
        replaced
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One line.
    pub fn get(&self, index: usize) -> Option<(Stamp, &str)> {
        let row = self.rows.get(index)?;
        let mut place = *self.begins.get(index / STRIDE)?;
        for before in (index - index % STRIDE)..index {
            place = self.texts.after(place, self.rows.get(before)?.length).1;
        }
        self.line(index, row, self.texts.after(place, row.length))
    }

    /// When a line was stored.
    pub fn time_ns(&self, index: usize) -> Option<i64> {
        self.rows.get(index).map(|row| row.time_ns).filter(|&time| time != NO_TIME)
    }

    /// Changes when a line was stored, once it is known that its stamp was of another clock.
    pub fn set_time_ns(&mut self, index: usize, time_ns: Option<i64>) {
        if let Some(row) = self.rows.get_mut(index) {
            row.time_ns = time_ns.unwrap_or(NO_TIME);
        }
    }

    fn line(&self, index: usize, row: &Row, lies: (Place, Place)) -> Option<(Stamp, &str)> {
        let who = self.who.get(index).copied().unwrap_or(NOBODY);
        let stamp = Stamp {
            line: u64::from(row.line),
            time_ns: Some(row.time_ns).filter(|&time| time != NO_TIME),
            host_ns: self.hosts.get(index).copied().filter(|&host| host != NO_TIME),
            level: Some((who >> 2 & 15) as u8).filter(|&level| level != NO_LEVEL),
            caller: match who & 3 {
                1 => Some(Caller::Task(who >> 6)),
                2 => Some(Caller::Cpu(who >> 6)),
                _ => None,
            },
        };
        Some((stamp, self.texts.text(lies)?))
    }

    /// All lines in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stamp, &str)> + '_ {
        let mut end = Place::default();
        self.rows.iter().enumerate().filter_map(move |(index, row)| {
            let lies = self.texts.after(end, row.length);
            end = lies.1;
            self.line(index, row, lies)
        })
    }
}

/// Appends to a column that is only there once a line has something else than `nothing` in it.
fn column<T: Copy + PartialEq>(column: &mut Vec<T>, before: usize, value: T, nothing: T) {
    if value != nothing && column.is_empty() {
        column.resize(before, nothing);
    }
    if value != nothing || !column.is_empty() {
        column.push(value);
    }
}

/// Whether all bytes are ASCII: eight at a time, the last of them twice, because most lines are short.
#[inline]
fn is_ascii(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<8>() else { return text.is_ascii() };
    let mut all = u64::from_le_bytes(*last);
    for eight in text.chunks_exact(8) {
        all |= u64::from_le_bytes(eight.try_into().unwrap_or_default());
    }
    all & 0x8080_8080_8080_8080 == 0
}

fn who(stamp: &Stamp) -> u32 {
    let (kind, number) = match stamp.caller {
        None => (0, 0),
        Some(Caller::Task(task)) => (1, task),
        Some(Caller::Cpu(cpu)) => (2, cpu),
    };
    kind | u32::from(stamp.level.unwrap_or(NO_LEVEL).min(NO_LEVEL)) << 2 | number.min(CALLERS) << 6
}

#[cfg(test)]
mod tests {
    use super::super::text_arena::PIECE_BYTES;
    use super::*;

    #[test]
    fn lines_of_every_length_come_back() {
        let mut log = Log::default();
        let text = |number: usize| match number % 7 {
            0 => String::new(),
            1 => "x".repeat(PIECE_BYTES - 1 + number % 3),
            kind => format!("gizmo {number} ").repeat(kind * 40) + "µ",
        };
        let stamp = |number: usize| Stamp {
            line: number as u64 + 1,
            time_ns: (number % 5 > 0).then_some(number as i64),
            host_ns: (number > 60).then_some(7),
            level: (number > 80).then_some(6),
            caller: (number % 9 == 8).then_some(Caller::Cpu(3)),
        };
        for number in 0..300 {
            assert!(!log.push(stamp(number), text(number).as_bytes()));
            assert_eq!(log.get(number), Some((stamp(number), text(number).as_str())));
        }
        assert!(log.push(stamp(300), b"giz\xffmo"));
        assert_eq!(log.get(300).map(|(_, text)| text), Some("giz\u{fffd}mo"));
        for (number, line) in log.iter().enumerate().take(300) {
            assert_eq!(line, (stamp(number), text(number).as_str()));
            assert_eq!(log.get(number), Some(line));
        }
        assert_eq!((log.iter().count(), log.get(301)), (301, None));
    }
}
