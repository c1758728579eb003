//! What began and is still open: calls that wait for their return.

use super::figure::Figure;
use super::trust::Trust;
use crate::counts::counted;
use crate::evidence::spans::Row;
use crate::evidence::texts::{Text, Texts};
use crate::evidence::{Evidence, Grade, Mark, Problem, ProblemKind, SpanKind, Spans};
use firstlight_schema::ReasonCode;
use std::collections::BTreeMap;

/// More calls than this are never open at once in a boot; beyond it the oldest is given up.
const OPEN: usize = 256;
/// A log may end while something short runs.
const LONG_OPEN: i64 = 1_000_000;
/// Marks that no boot reaches before its built-in initcalls have returned.
const AFTER_INITCALLS: [Mark; 4] = [Mark::FreeInitMemory, Mark::WriteProtect, Mark::UserStart, Mark::SystemdStart];

#[derive(Debug)]
struct Open {
    kind: SpanKind,
    /// What the returning line repeats, byte by byte.
    key: Text,
    task: i64,
    span: usize,
    /// How many initcalls had begun, this one among them.
    begun: u64,
    line: u64,
    /// Its task went on to another initcall, then: it returned before, and its last line is lost.
    passed: Option<Option<i64>>,
}

/// The open calls of a boot, the last one last.
#[derive(Debug, Default)]
pub struct Pairs {
    open: Vec<Open>,
    keys: Texts,
    begun: u64,
    lost: Vec<(usize, u64)>,
}

/// A call that was found again.
pub struct Closed {
    pub span: usize,
    pub moved: bool,
}

impl Pairs {
    /// The number of what a returning line repeats.
    pub fn key(&mut self, symbol: &[u8]) -> Text {
        self.keys.number(symbol)
    }

    /// Opens a call as the next span of the evidence.
    pub fn open(&mut self, mut row: Row, key: Text, task: i64, line: u64, spans: &mut Spans) {
        self.begun += u64::from(row.kind == SpanKind::Initcall);
        row.set_parent(self.innermost(task));
        if self.open.len() >= OPEN {
            let given_up = self.open.remove(0);
            self.lost.push((given_up.span, given_up.line));
        }
        let number = spans.len();
        if row.kind == SpanKind::Initcall {
            // Those of the task before its last one were passed when that one began.
            let of_task = |open: &&mut Open| open.task == task && open.kind == SpanKind::Initcall;
            if let Some(last) = self.open.iter_mut().rev().find(of_task) {
                last.passed.get_or_insert(row.start_ns());
            }
        }
        self.open.push(Open { kind: row.kind, key, task, span: number, begun: self.begun, line, passed: None });
        spans.push_row(row);
    }

    /// Closes the last call of this key: of the given task if there is one, else of any.
    pub fn close(&mut self, kind: SpanKind, key: &[u8], task: Option<i64>) -> Option<Closed> {
        let same = |open: &Open| open.kind == kind && self.keys.get(open.key).as_bytes() == key;
        let of_task = task.and_then(|task| self.open.iter().rposition(|open| same(open) && open.task == task));
        let at = of_task.or_else(|| self.open.iter().rposition(same))?;
        let open = self.open.remove(at);
        // The kernel keeps one start for all initcalls: the next one moves it.
        let moved = kind == SpanKind::Initcall && self.begun > open.begun;
        Some(Closed { span: open.span, moved })
    }

    /// The span of the last open call of this key.
    pub fn opened(&self, kind: SpanKind, key: &[u8]) -> Option<usize> {
        let mut open = self.open.iter().rev();
        open.find(|open| open.kind == kind && self.keys.get(open.key).as_bytes() == key).map(|open| open.span)
    }

    /// The innermost open call of a task.
    pub fn innermost(&self, task: i64) -> Option<usize> {
        self.open.iter().rev().find(|open| open.task == task && open.kind != SpanKind::AsyncWait).map(|open| open.span)
    }

    /// The one call that is open, if it is only one.
    pub fn only(&self) -> Option<usize> {
        match self.open.as_slice() {
            [open] if open.kind == SpanKind::Initcall => Some(open.span),
            _ => None,
        }
    }

    /// Says of what is still open that it never ended, or that its end is lost. *last_ns*: the last stamp of the log;
    /// *torn*: lines of calls are torn, so that an end may be lost; *dropped*: the console dropped messages.
    pub fn finish(&mut self, last_ns: Option<i64>, (torn, dropped): (bool, bool), evidence: &mut Evidence) {
        let booted = evidence.marks.iter().filter(|mark| AFTER_INITCALLS.contains(&mark.mark));
        let booted: Vec<i64> = booted.map(|mark| mark.time_ns).collect();
        let mut returned_by: BTreeMap<usize, Option<i64>> = BTreeMap::new();
        for open in std::mem::take(&mut self.open) {
            let Some(start) = evidence.spans.row(open.span).and_then(Row::start_ns) else {
                self.lost.push((open.span, open.line));
                continue;
            };
            if open.kind == SpanKind::Initcall {
                // It returned, at the latest when its task began the next, or the boot came to what follows them all.
                let after = booted.iter().copied().filter(|&booted| open.task == 1 && booted >= start).min();
                if open.passed.is_some() || after.is_some() {
                    // A module may ask for another one, and end after it.
                    let alone = evidence.spans.get(open.span).is_some_and(|span| span.level != Some("module"));
                    let next = open.passed.flatten().filter(|&next| alone && next >= start);
                    returned_by.insert(open.span, next.or(after));
                    self.lost.push((open.span, open.line));
                    continue;
                }
            }
            let initcall = open.kind == SpanKind::Initcall;
            let returned = torn && open.task != 1;
            match last_ns.map(|last| last.saturating_sub(start)).filter(|least| *least >= LONG_OPEN) {
                Some(least) if initcall && !returned => never_returned(&open, least, evidence),
                _ => self.lost.push((open.span, open.line)),
            }
        }
        let Some(&(first, line)) = self.lost.first() else { return };
        for &(span, _) in &self.lost {
            if let Some((row, texts)) = evidence.spans.row_and_texts(span) {
                row.grade = Grade::Unknown;
                row.reason = texts.number(ReasonCode::NotEndedInLog.text().as_bytes());
            }
        }
        let spans = &mut evidence.spans;
        for at in 0..if returned_by.is_empty() { 0 } else { spans.len() } {
            // What was taken to lie in such a call, because that seemed open, lies where it does.
            let ended = |parent, start| returned_by.get(&parent).copied().flatten().is_some_and(|by: i64| start >= by);
            let Some((mut parent, Some(start))) = spans.row(at).map(|row| (row.parent(), row.start_ns())) else {
                continue;
            };
            while let Some(above) = parent.filter(|&parent| ended(parent, start)) {
                parent = spans.row(above).and_then(Row::parent).filter(|&next| next < above);
            }
            if let Some(row) = spans.row_mut(at) {
                row.set_parent(parent);
            }
        }
        if !returned_by.is_empty() && !dropped {
            let lost = returned_by.len() as u64;
            let detail =
                counted(lost, "# initcall[|s] returned, and [its last line is|their last lines are] not there");
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: Some(line), lost: Some(lost) });
        }
        for (span, by) in returned_by {
            let Some((row, texts)) = evidence.spans.row_and_texts(span) else { continue };
            let reason = match by.zip(row.start_ns()) {
                Some((by, start)) => {
                    row.set_end_ns(Some(by));
                    row.set_duration_ns(Some(by.saturating_sub(start)));
                    row.grade = Grade::Bounded;
                    if dropped {
                        ReasonCode::LastLineDroppedUntil
                    } else {
                        ReasonCode::LastLineLostUntil
                    }
                }
                None if dropped => ReasonCode::LastLineDropped,
                None => ReasonCode::LastLineLost,
            };
            row.reason = texts.number(reason.text().as_bytes());
        }
        let name = evidence.spans.get(first).map_or("", |span| span.name);
        let detail =
            format!("{}, `{name}` the first of them", counted(self.lost.len(), "# call[|s] [has|have] no end"));
        evidence.problem(ProblemKind::Unfinished, Some(line), detail);
    }
}

/// The log went on without it: the span stays open, and what is known of its length is a bound.
fn never_returned(open: &Open, least: i64, evidence: &mut Evidence) {
    if let Some((row, texts)) = evidence.spans.row_and_texts(open.span) {
        row.set_duration_ns(Some(least));
        row.grade = Grade::Bounded;
        row.reason = texts.number(ReasonCode::NeverReturnedInLog.text().as_bytes());
    }
    let seconds = |ns: i64| ns as f64 / 1e9;
    let Some(span) = evidence.spans.get(open.span) else { return };
    let start = seconds(span.start_ns.unwrap_or_default());
    let detail = format!(
        "initcall `{}`, which {} began at {start:.6} s, never returned: the log goes on for {:.6} s",
        span.name,
        span.track,
        seconds(least)
    );
    evidence.problems.push(Problem { kind: ProblemKind::NeverReturned, detail, line: Some(open.line), lost: Some(0) });
}

/// Ends an open span, or makes one that has only its end; its length is judged later.
pub fn end(
    closed: Option<Closed>,
    lone: impl FnOnce(&mut Spans) -> Row,
    (end_ns, length_ns, figure): (Option<i64>, i64, Figure),
    trust: &mut Trust,
    spans: &mut Spans,
) -> usize {
    let (span, moved, paired) = match closed {
        Some(closed) => (closed.span, closed.moved, true),
        None => {
            let mut row = lone(spans);
            row.set_start_ns(end_ns.map(|end| end.saturating_sub(length_ns)));
            spans.push_row(row);
            (spans.len() - 1, false, false)
        }
    };
    if let Some(row) = spans.row_mut(span) {
        row.set_end_ns(end_ns);
        row.set_duration_ns(Some(length_ns));
    }
    trust.measured(span, moved, paired, figure);
    span
}
