//! System calls, as records show them: each becomes a span of its own.

use crate::evidence::{Evidence, Grade, Name, ProblemKind, Span, SpanKind};
use firstlight_schema::ReasonCode;

/// Calls that are kept at most; the rest is counted.
const MOST: usize = 1_000_000;

/// One call.
#[derive(Debug, Default)]
pub(super) struct TracedCall {
    /// Its name.
    pub(super) name: String,
    /// The task that made it; none: unknown.
    pub(super) task: Option<u32>,
    /// The process of that task.
    pub(super) process: Option<u32>,
    /// When it began.
    pub(super) start_ns: Option<i64>,
    /// When it ended.
    pub(super) end_ns: Option<i64>,
    /// The path that it works on.
    pub(super) path: Option<String>,
    /// What it returned; negative: the number of an error.
    pub(super) result: Option<i64>,
    /// The error that it returned, by its name.
    pub(super) error: Option<String>,
}

/// The calls of a record, in the order in which they ended.
#[derive(Debug, Default)]
pub(super) struct TracedCalls {
    kept: Vec<Span>,
    more: u64,
}

impl TracedCalls {
    /// Takes a call; *grade* and *reason* are of its length.
    pub(super) fn push(&mut self, call: TracedCall, grade: Grade, reason: impl Into<Name>) {
        if self.kept.len() >= MOST {
            self.more += 1;
            return;
        }
        let mut span = Span::new(SpanKind::SystemCall, call.name);
        if let Some(task) = call.task {
            span.track = Name::Owned(format!("task {task}"));
        }
        // A damaged stamp may put the end before the begin: then the end is not known.
        let end_ns = call.end_ns.filter(|end| call.start_ns.is_none_or(|start| start <= *end));
        (span.start_ns, span.end_ns) = (call.start_ns, end_ns);
        if let (Some(start), Some(end)) = (call.start_ns, end_ns) {
            span = span.between(start, end);
        }
        span = match end_ns == call.end_ns {
            true => span.graded(grade, reason),
            false => span.graded(Grade::Unknown, ReasonCode::EndMissingInLog),
        };
        let texts = [
            ("pid", call.process.map(|process| process.to_string())),
            ("path", call.path),
            ("result", call.result.map(|result| result.to_string())),
            ("error", call.error),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                span = span.with(key, value);
            }
        }
        self.kept.push(span);
    }

    /// Adds the calls as spans.
    pub(super) fn finish(self, evidence: &mut Evidence) {
        for span in self.kept {
            evidence.spans.push(span);
        }
        if self.more > 0 {
            let detail = format!("{} system calls beyond {MOST} are left out", self.more);
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
    }
}
