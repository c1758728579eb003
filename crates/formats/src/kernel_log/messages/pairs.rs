//! What began and is still open: calls that wait for their return.

use super::trust::Trust;
use crate::evidence::spans::Row;
use crate::evidence::texts::{Text, Texts};
use crate::evidence::{Evidence, Grade, ProblemKind, SpanKind, Spans};

/// More calls than this are never open at once in a boot; beyond it the oldest is given up.
const OPEN: usize = 256;

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
        self.open.push(Open { kind: row.kind, key, task, span: number, begun: self.begun, line });
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

    /// Leaves what is still open as it is, and says so.
    pub fn finish(&mut self, evidence: &mut Evidence) {
        self.lost.extend(self.open.iter().map(|open| (open.span, open.line)));
        let Some(&(first, line)) = self.lost.first() else { return };
        for &(span, _) in &self.lost {
            if let Some((row, texts)) = evidence.spans.row_and_texts(span) {
                row.grade = Grade::Unknown;
                row.reason = texts.number(b"it had not ended when the log did");
            }
        }
        let name = evidence.spans.get(first).map_or("", |span| span.name);
        let detail = format!("{} calls have no end, `{name}` the first of them", self.lost.len());
        evidence.problem(ProblemKind::Unfinished, Some(line), detail);
    }
}

/// Ends an open span, or makes one that has only its end; its length is judged later.
pub fn end(
    closed: Option<Closed>,
    lone: impl FnOnce(&mut Spans) -> Row,
    (end_ns, length_ns): (Option<i64>, i64),
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
    trust.measured(span, moved, paired);
    span
}
