//! What a record says, in its own clock, with what is wrong with it.
//!
//! A reader fills these; nothing here is aligned, merged or judged against another record.

mod calls;
pub(crate) mod chunks;
mod log;
mod problem;
mod span;
mod span_ref;
pub(crate) mod spans;
mod text_arena;
pub(crate) mod texts;

pub use calls::{CallNode, Calls, KdRow};
pub use log::{Caller, Log, Stamp};
pub use problem::Problem;
pub(crate) use problem::Unparsed;
pub use span::Span;
pub use span_ref::{Attributes, Iter, SpanRef};
pub use spans::Spans;

use crate::about::{About, Traits};
pub use firstlight_schema::{Clock, Grade, LinkKind, Mark, ProblemKind, SpanKind, Stage};
use std::borrow::Cow;

/// Text that is mostly one of a few constants.
pub type Name = Cow<'static, str>;

/// When a mark was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instant {
    /// Which mark.
    pub mark: Mark,
    /// When.
    pub time_ns: i64,
    /// The line, variable or function that it comes from.
    pub detail: String,
}

/// So begins the detail of a mark that no record has, and that is inferred from others.
pub const INFERRED: &str = "inferred: ";

impl Instant {
    /// A mark that no line has: what it is inferred from stands in its detail.
    pub fn inferred(mark: Mark, time_ns: i64, from: impl std::fmt::Display) -> Self {
        Self { mark, time_ns, detail: format!("{INFERRED}{from}") }
    }
}

/// A figure that changes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Its name with its unit: `cpu_user_ns`, `disk_read_bytes`.
    pub name: Name,
    /// When.
    pub time_ns: i64,
    /// Its value then.
    pub value: i64,
}

/// One thing waiting for another, for the critical path. Spans are named, because they may be of other records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// How it waits.
    pub kind: LinkKind,
    /// What waits.
    pub from: (SpanKind, String),
    /// What it waits for.
    pub to: (SpanKind, String),
}

/// What one record, or one part of it, says about one boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The format it was read as.
    pub format: &'static About,
    /// What merging must know of it; parts of one record may differ.
    pub traits: Traits,
    /// The part of the record: a section, a file in an archive; empty for the whole.
    pub part: String,
    /// Which boot of the record, from 0; parts of one boot have the same number.
    pub boot: u32,
    /// The line at which this boot begins in the record.
    pub first_line: u64,
    /// The clock of every time here.
    pub clock: Clock,
    /// The smallest step of the clock, as the record shows it; 0: unknown.
    pub step_ns: i64,
    /// The first and the last stamp, where the record has more of them than marks, spans and lines show.
    pub extent_ns: Option<(i64, i64)>,
    /// Named instants.
    pub marks: Vec<Instant>,
    /// Named instants that only the capturing machine's clock has, on that clock ([`Stamp::host_ns`]).
    pub host_marks: Vec<Instant>,
    /// Intervals.
    pub spans: Spans,
    /// Lines of text.
    pub log: Log,
    /// What is true of the system; names as in the bundle.
    pub facts: Vec<(Name, String)>,
    /// Figures over time.
    pub counters: Vec<Counter>,
    /// Functions by call path.
    pub calls: Option<Calls>,
    /// The kd table, where the record is one, or is a log that kd reads.
    pub kd: Vec<KdRow>,
    /// What waits for what.
    pub links: Vec<Link>,
    /// Lines or records of the format that were understood; with [`Problem::lost`] it gives the completeness.
    pub understood: u64,
    /// Lines or records that were not.
    pub not_understood: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Evidence {
    /// Empty evidence of a format.
    pub fn of(format: &'static About, clock: Clock) -> Self {
        Self { format, traits: format.traits, clock, ..Self::default() }
    }

    /// Notes a problem.
    pub fn problem(&mut self, kind: ProblemKind, line: Option<u64>, detail: impl Into<String>) {
        self.problems.push(Problem { kind, detail: detail.into(), line, lost: None });
    }
}
