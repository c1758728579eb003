//! The lines of all pieces as one log, in order of time, what several records hold once.

use crate::{AlignedRecord, MergeError};
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::ArrayRef;
use firstlight_formats::evidence::{Caller, Clock, Evidence, Stamp};
use firstlight_schema::table::{TableWriter, BATCH_ROWS};
use firstlight_schema::Channel;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// Copies of one line, stamped by one kernel, differ by their rounding only.
const SAME_STAMP_NS: i64 = 2_000;
/// However late a console is, what it prints later than this is another line.
const LATEST_COPY_NS: i64 = 2_000_000_000;

/// What the log table holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Lines in the table.
    pub lines: u64,
    /// Lines that another record held as well.
    pub copies: u64,
}

/// Writes the table.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(pieces: &[AlignedRecord<'_>], bundle: &Path) -> Result<Written, MergeError> {
    let with_lines: Vec<usize> = (0..pieces.len())
        .filter(|number| pieces.get(*number).is_some_and(|piece| !piece.evidence.log.is_empty()))
        .collect();
    let copies = if with_lines.len() > 1 { Copies::find(pieces, &with_lines) } else { Copies::default() };
    let mut heads: Vec<Cursor<'_>> =
        with_lines.iter().filter_map(|number| Some(Cursor::new(*number, pieces.get(*number)?))).collect();
    let mut rows = Rows::new(bundle)?;
    let mut written = Written::default();
    // A few records at most: looking at each head beats a heap.
    while let Some(head) = heads.iter_mut().filter(|head| head.current.is_some()).min_by_key(|head| head.key) {
        let Some((stamp, text)) = head.current else { break };
        let at = (head.piece_number, head.index);
        if copies.dropped.contains(&at) {
            written.copies += 1;
        } else {
            let other = copies
                .of
                .get(&at)
                .and_then(|(piece, index)| pieces.get(*piece).and_then(|piece| piece.evidence.log.get(*index)));
            rows.line(stamp, head, text, other.map(|(stamp, _)| stamp))?;
            written.lines += 1;
        }
        head.step();
    }
    rows.close()?;
    Ok(written)
}

struct Cursor<'a> {
    piece_number: usize,
    piece: &'a AlignedRecord<'a>,
    index: usize,
    current: Option<(Stamp, &'a str)>,
    placed: Option<i64>,
    key: i64,
    channel: Option<Channel>,
}

impl<'a> Cursor<'a> {
    fn new(piece_number: usize, piece: &'a AlignedRecord<'a>) -> Self {
        let channel = channel(piece.evidence);
        let mut cursor = Self { piece_number, piece, index: 0, current: None, placed: None, key: i64::MIN, channel };
        cursor.look();
        cursor
    }

    fn step(&mut self) {
        self.index += 1;
        self.look();
    }

    /// A line without a time, or with an earlier one, stays behind the line before it.
    fn look(&mut self) {
        self.current = self.piece.evidence.log.get(self.index);
        self.placed = self.current.and_then(|(stamp, _)| placed(self.piece, &stamp));
        self.key = self.placed.map_or(self.key, |at| at.max(self.key));
    }
}

/// The instant of a line on the boot's clock: by its own stamp, else by when it was received.
pub fn placed(piece: &AlignedRecord<'_>, stamp: &Stamp) -> Option<i64> {
    match (stamp.time_ns, piece.line) {
        (Some(at), Some(line)) => Some(line.at(at)),
        (None, Some(line)) if piece.evidence.clock == Clock::Host => stamp.host_ns.map(|at| line.at(at)),
        (None, Some(_)) => Some(piece.host?.at(stamp.host_ns?)),
        _ => None,
    }
}

/// What the lines of a record went through: of these, the kernel's console shows what went through printk. None: what the kernel
/// stamped went through printk, the rest only through a console.
fn channel(evidence: &Evidence) -> Option<Channel> {
    evidence.traits.channel.or((evidence.clock == Clock::Untimed).then_some(Channel::Printk))
}

/// Whether another log holds what lies before the first line of a piece: it has that line too, begins earlier, and has lost nothing.
pub fn goes_back_beyond(other: &AlignedRecord<'_>, piece: &AlignedRecord<'_>) -> bool {
    if std::ptr::eq(other.evidence, piece.evidence) || other.evidence.problems.iter().any(|told| told.kind.loses()) {
        return false;
    }
    let Some((first, text)) = timed(piece).next() else { return false };
    let reach = apart(piece).max(apart(other)).max(SAME_STAMP_NS);
    let same = |(at, line): (i64, &str)| line == text && at.saturating_sub(first).saturating_abs() <= reach;
    timed(other).next().is_some_and(|(begins, _)| begins.saturating_add(reach) < first) && timed(other).any(same)
}

/// The lines that have an instant on the boot's clock.
fn timed<'a>(piece: &'a AlignedRecord<'a>) -> impl Iterator<Item = (i64, &'a str)> {
    piece.evidence.log.iter().filter_map(|(stamp, text)| Some((placed(piece, &stamp)?, text.trim())))
}

#[derive(Default)]
struct Copies {
    /// Lines that an earlier piece holds too.
    dropped: FxHashSet<(usize, usize)>,
    /// For a line that stays, one of its copies.
    of: FxHashMap<(usize, usize), (usize, usize)>,
}

impl Copies {
    fn find(pieces: &[AlignedRecord<'_>], with_lines: &[usize]) -> Self {
        let mut copies = Self::default();
        let widest = with_lines.iter().filter_map(|number| pieces.get(*number)).map(apart).max().unwrap_or(1);
        let mut seen: FxHashMap<(u64, i64), (i64, usize, usize)> = FxHashMap::default();
        for (order, number) in with_lines.iter().enumerate() {
            let Some(piece) = pieces.get(*number) else { continue };
            let reach = apart(piece);
            let mut fresh = Vec::new();
            for (index, (stamp, text)) in piece.evidence.log.iter().enumerate() {
                let Some(at) = placed(piece, &stamp) else { continue };
                let (text, slot) = (hash(text.trim()), at.div_euclid(widest));
                let known = [slot, slot.saturating_sub(1), slot.saturating_add(1)]
                    .into_iter()
                    .filter_map(|slot| seen.get(&(text, slot)))
                    .find(|(there, _, _)| there.saturating_sub(at).saturating_abs() <= reach.max(SAME_STAMP_NS));
                match known {
                    Some((_, piece, line)) if order > 0 => {
                        copies.dropped.insert((*number, index));
                        copies.of.entry((*piece, *line)).or_insert((*number, index));
                    }
                    _ => fresh.push(((text, slot), (at, *number, index))),
                }
            }
            for (key, value) in fresh {
                seen.entry(key).or_insert(value);
            }
        }
        copies
    }
}

fn apart(piece: &AlignedRecord<'_>) -> i64 {
    match piece.evidence.clock {
        Clock::Host => piece.uncertainty_ns.saturating_mul(2).clamp(SAME_STAMP_NS, LATEST_COPY_NS),
        _ => {
            // A clock of whole seconds rounds its copies by so much.
            let step_ns = piece.evidence.step_ns.min(LATEST_COPY_NS);
            piece.uncertainty_ns.saturating_mul(3).max(step_ns).clamp(SAME_STAMP_NS, step_ns.max(10_000_000))
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

struct Rows {
    table: TableWriter,
    count: usize,
    line: Int64Builder,
    time: Int64Builder,
    source: StringBuilder,
    text: StringBuilder,
    host: Int64Builder,
    level: Int64Builder,
    caller: StringBuilder,
    channel: StringBuilder,
}

impl Rows {
    fn new(bundle: &Path) -> Result<Self, MergeError> {
        Ok(Self {
            table: TableWriter::create("log", bundle)?,
            count: 0,
            line: Int64Builder::new(),
            time: Int64Builder::new(),
            source: StringBuilder::new(),
            text: StringBuilder::new(),
            host: Int64Builder::new(),
            level: Int64Builder::new(),
            caller: StringBuilder::new(),
            channel: StringBuilder::new(),
        })
    }

    fn line(&mut self, stamp: Stamp, head: &Cursor<'_>, text: &str, other: Option<Stamp>) -> Result<(), MergeError> {
        self.line.append_value(i64::try_from(stamp.line).unwrap_or(i64::MAX));
        self.time.append_option(head.placed);
        self.source.append_value(head.piece.file);
        self.text.append_value(text);
        self.host.append_option(stamp.host_ns.or(other.and_then(|other| other.host_ns)));
        self.level.append_option(stamp.level.or(other.and_then(|other| other.level)).map(i64::from));
        match stamp.caller.or(other.and_then(|other| other.caller)) {
            Some(caller) => {
                // A builder of text takes what is written and cannot fail.
                let _ = match caller {
                    Caller::Task(task) => write!(self.caller, "T{task}"),
                    Caller::Cpu(cpu) => write!(self.caller, "C{cpu}"),
                };
                self.caller.append_value("");
            }
            None => self.caller.append_null(),
        }
        let by_its_stamp = if stamp.time_ns.is_some() { Channel::Printk } else { Channel::Console };
        self.channel.append_value(head.channel.unwrap_or(by_its_stamp).name());
        self.count += 1;
        // The texts of a batch must fit 32-bit offsets.
        if self.count >= BATCH_ROWS || self.text.values_slice().len() > (1 << 28) {
            self.batch()?;
        }
        Ok(())
    }

    fn batch(&mut self) -> Result<(), MergeError> {
        self.count = 0;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.line.finish()),
            Arc::new(self.time.finish()),
            Arc::new(self.source.finish()),
            Arc::new(self.text.finish()),
            Arc::new(self.host.finish()),
            Arc::new(self.level.finish()),
            Arc::new(self.caller.finish()),
            Arc::new(self.channel.finish()),
        ];
        Ok(self.table.batch(arrays)?)
    }

    fn close(mut self) -> Result<(), MergeError> {
        if self.count > 0 {
            self.batch()?;
        }
        Ok(self.table.close()?)
    }
}
