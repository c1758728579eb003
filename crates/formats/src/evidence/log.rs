//! The lines of a record.

/// So much text is gathered before it is looked at whether it is UTF-8: at once that takes a tenth of line by line.
const GATHERED_BYTES: usize = 32 << 10;

/// The lines of a log: columns, with all texts in one buffer, because there may be millions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    text: String,
    /// What comes after `text` and is known to be UTF-8 line by line.
    gathered: Vec<u8>,
    rows: Vec<Row>,
    /// Only where a line has one.
    hosts: Vec<i64>,
}

/// A line beside its text, packed: much of the memory that reading a log takes is this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    end: usize,
    time_ns: i64,
    line: u32,
    /// Bits 0 to 1: the kind of caller; 2 to 5: the level; the rest: which caller.
    who: u32,
}

/// What stands for a caller whose number does not fit: none on Linux, whose tasks end at 2^22.
const CALLERS: u32 = (1 << 26) - 1;

/// What stands for no time, and for no level.
const NO_TIME: i64 = i64::MIN;
const NO_LEVEL: u8 = 15;

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
    pub fn push(&mut self, stamp: Stamp, text: &[u8]) -> bool {
        let replaced = !text.is_ascii() && std::str::from_utf8(text).is_err();
        if replaced {
            self.gathered.extend_from_slice(String::from_utf8_lossy(text).as_bytes());
        } else {
            self.gathered.extend_from_slice(text);
        }
        if stamp.host_ns.is_some() && self.hosts.is_empty() {
            self.hosts.resize(self.rows.len(), NO_TIME);
        }
        if stamp.host_ns.is_some() || !self.hosts.is_empty() {
            self.hosts.push(stamp.host_ns.unwrap_or(NO_TIME));
        }
        let (caller, who) = match stamp.caller {
            None => (0, 0),
            Some(Caller::Task(task)) => (1, task),
            Some(Caller::Cpu(cpu)) => (2, cpu),
        };
        self.rows.push(Row {
            end: self.text.len() + self.gathered.len(),
            time_ns: stamp.time_ns.unwrap_or(NO_TIME),
            line: u32::try_from(stamp.line).unwrap_or(u32::MAX),
            who: caller | u32::from(stamp.level.unwrap_or(NO_LEVEL).min(NO_LEVEL)) << 2 | who.min(CALLERS) << 6,
        });
        if self.gathered.len() >= GATHERED_BYTES {
            self.settle();
        }
        replaced
    }

    #[cold]
    fn settle(&mut self) {
        // Every line is UTF-8 by itself, and so are all together.
        if let Ok(text) = std::str::from_utf8(&self.gathered) {
            self.text.push_str(text);
        }
        self.gathered.clear();
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
        let start = index.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |before| before.end);
        let stamp = Stamp {
            line: u64::from(row.line),
            time_ns: Some(row.time_ns).filter(|&time| time != NO_TIME),
            host_ns: self.hosts.get(index).copied().filter(|&host| host != NO_TIME),
            level: Some((row.who >> 2 & 15) as u8).filter(|&level| level != NO_LEVEL),
            caller: match row.who & 3 {
                1 => Some(Caller::Task(row.who >> 6)),
                2 => Some(Caller::Cpu(row.who >> 6)),
                _ => None,
            },
        };
        Some((stamp, self.text(start, row.end)?))
    }

    fn text(&self, start: usize, end: usize) -> Option<&str> {
        match start.checked_sub(self.text.len()) {
            Some(from) => std::str::from_utf8(self.gathered.get(from..end.checked_sub(self.text.len())?)?).ok(),
            None => self.text.get(start..end),
        }
    }

    /// All lines in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stamp, &str)> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
