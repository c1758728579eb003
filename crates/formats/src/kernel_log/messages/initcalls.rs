//! `initcall_debug`: `calling  SYMBOL @ TASK`, `initcall SYMBOL returned N after N usecs`.

use super::figure::Figure;
use super::rows::{cookie, named, parts, returned_after, row, track};
use super::{asynchronous, old_initcalls, Interpreter};
use crate::counts::counted;
use crate::evidence::spans::Row;
use crate::evidence::texts::Text;
use crate::evidence::{Evidence, Instant, Mark, Name, Problem, ProblemKind, SpanKind, Spans, Stamp};
use crate::kernel_log::bytes::{self, number, text, unpadded};
use memchr::memmem;

/// What is known about initcalls beside the open ones.
#[derive(Debug, Default)]
pub struct Initcalls {
    pub(super) level: Option<String>,
    /// The last task and its track.
    track: Option<(i64, Text)>,
    /// The names of functions by the keys of their symbols: the text of no bytes where it is not known yet.
    names: Vec<Text>,
    pub(super) last: Option<usize>,
    blacklisted: String,
    unpaired: Option<(u64, u64)>,
    /// Whether lines of `initcall_debug` were met.
    pub(super) debugged: bool,
    /// The key and the span of the last event of a beginning.
    pub(super) traced: Option<(Text, usize)>,
    /// Whether lengths in milliseconds were met.
    pub(super) in_millis: bool,
}

impl Initcalls {
    /// The track of a task: most calls are of the task of the call before.
    fn track(&mut self, task: i64, spans: &mut Spans) -> Text {
        match self.track {
            Some((known, track)) if known == task => track,
            _ => self.track.insert((task, track(task, spans))).1,
        }
    }

    /// The row of a call; its name is taken out of its symbol once.
    fn row(&mut self, symbol: &[u8], key: Text, spans: &mut Spans) -> Row {
        match self.names.get(key.place()) {
            Some(&name) if name != Text::EMPTY && self.level.is_none() => Row::new(SpanKind::Initcall, name),
            _ => {
                let row = row(symbol, self.level.as_deref(), spans);
                if row.level == Text::EMPTY {
                    self.names.resize(self.names.len().max(key.place() + 1), Text::EMPTY);
                    self.names[key.place()] = row.name;
                }
                row
            }
        }
    }

    /// The level of the initcalls from here on.
    pub fn level(&mut self, level: &[u8]) {
        self.level = Some(text(level));
    }

    /// The level of the initcalls here, where it is known.
    pub fn of_level(&self) -> Option<&str> {
        self.level.as_deref()
    }

    /// One returned whose beginning is not in the log.
    pub fn unpaired(&mut self, line: u64) {
        self.unpaired.get_or_insert((0, line)).0 += 1;
    }
}

/// Reads a `calling  ` line; no, if it is torn.
pub fn calling(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let rest = unpadded(&line[b"calling".len()..]);
    let Some(at) = rest.iter().rposition(|&byte| byte == b'@').filter(|&at| at > 1 && rest[at - 1] == b' ') else {
        return old_initcalls::calling(all, stamp, rest, evidence);
    };
    let symbol = &rest[..at - 1];
    if !named(symbol) {
        return false;
    }
    let Some((task, after)) = number(unpadded(&rest[at + 1..])) else { return false };
    if !after.trim_ascii_end().is_empty() {
        return false;
    }
    let spans = &mut evidence.spans;
    let key = all.pairs.key(symbol);
    all.initcalls.debugged = true;
    let traced = all.initcalls.traced.take_if(|(traced, _)| *traced == key);
    if let Some((_, span)) = traced.filter(|&(_, span)| all.pairs.opened(SpanKind::Initcall, symbol) == Some(span)) {
        // The event of this beginning was printed first.
        let track = all.initcalls.track(task, spans);
        if let Some(row) = spans.row_mut(span).filter(|row| row.track == Text::EMPTY) {
            row.track = track;
        }
        return true;
    }
    let mut row = match cookie(symbol) {
        Some((cookie, function)) => asynchronous::row(parts(function).0, cookie, spans),
        None => all.initcalls.row(symbol, key, spans),
    };
    row.track = all.initcalls.track(task, spans);
    row.set_start_ns(stamp.time_ns);
    all.pairs.open(row, key, task, stamp.line, spans);
    true
}

/// Reads an `initcall ` line; no, if it is torn.
pub fn returned(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let rest = &line[b"initcall ".len()..];
    if let Some(name) = rest.strip_suffix(b" blacklisted") {
        if !all.initcalls.blacklisted.is_empty() {
            all.initcalls.blacklisted.push(' ');
        }
        all.initcalls.blacklisted.push_str(&text(parts(name).0));
        return true;
    }
    let Some((symbol, value, us)) = bytes::returned(rest).filter(|(symbol, ..)| named(symbol)) else {
        if old_initcalls::returned(all, stamp, rest, evidence) {
            return true;
        }
        let Some(at) = memmem::rfind(rest, b" returned ") else { return false };
        let (symbol, rest) = (&rest[..at], &rest[at + b" returned ".len()..]);
        if let Some(warning) = rest.strip_prefix(b"with ") {
            return warned(all, symbol, warning, evidence);
        }
        let Some((cookie, function)) = cookie(symbol).filter(|_| named(symbol)) else { return false };
        return asynchronous::returned(all, stamp, (symbol, cookie, function), rest, evidence);
    };
    returned_after(all, stamp, symbol, (value, us.saturating_mul(1000), Figure::Micros), evidence);
    true
}

/// `initcall X returned with preemption imbalance`: a warning about the call that returned last.
fn warned(all: &mut Interpreter, symbol: &[u8], warning: &[u8], evidence: &mut Evidence) -> bool {
    let name = evidence.spans.texts.number(parts(symbol).0);
    let last = all.initcalls.last.filter(|&last| evidence.spans.row(last).is_some_and(|row| row.name == name));
    if let Some(last) = last {
        evidence.spans.add_attribute(last, "warning", warning.trim_ascii_end());
    }
    true
}

/// Says what cannot be said of one call.
pub fn finish(all: &mut Interpreter, evidence: &mut Evidence) {
    if !all.initcalls.blacklisted.is_empty() {
        let names = std::mem::take(&mut all.initcalls.blacklisted);
        evidence.facts.push((Name::Borrowed("kernel.initcalls_blacklisted"), names));
    }
    if let Some((count, line)) = all.initcalls.unpaired {
        let detail = counted(count, "# initcall[|s] returned whose beginning is not in the log");
        evidence.problems.push(Problem { kind: ProblemKind::Unpaired, detail, line: Some(line), lost: None });
        if all.torn.is_none() {
            ends_alone(count, evidence);
        }
    }
}

/// Some vendors' kernels print the end of long initcalls alone: the first that is shown need not be the first that ran.
/// *unpaired*: the initcalls without a beginning.
fn ends_alone(unpaired: u64, evidence: &mut Evidence) {
    let initcalls = || evidence.spans.iter().filter(|span| span.kind == SpanKind::Initcall);
    let first = initcalls().filter_map(|span| span.start_ns).min();
    if let Some(first) = first.filter(|_| initcalls().count() as u64 == unpaired) {
        let from = "the first initcall in the log, which has the ends of some alone: others may have run before it";
        evidence.marks.push(Instant::inferred(Mark::Initcalls, first, from));
    }
}
