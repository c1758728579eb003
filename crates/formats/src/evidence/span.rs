//! An interval: its kind, its length, and how reliable the length is.

use super::{Grade, Name, SpanKind};

/// An interval, as readers put it together; [`super::Spans`] keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is of.
    pub kind: SpanKind,
    /// Whose it is: the initcall's function without offsets, the device, the unit.
    pub name: String,
    /// The span it lies in, by its place in [`Evidence::spans`].
    pub parent: Option<usize>,
    /// What it ran on: `task 1`, `cpu 0`, `udev worker 312`, `systemd`; empty: unknown.
    pub track: Name,
    /// Of an initcall: `early`, `core`, ..., `module`.
    pub level: Option<Name>,
    /// When it began, if that is known.
    pub start_ns: Option<i64>,
    /// When it ended; none: it did not, or the end is unknown.
    pub end_ns: Option<i64>,
    /// How long it took by the best figure; none: it did not end, or the length is unknown. Not always `end_ns - start_ns`.
    pub duration_ns: Option<i64>,
    /// How reliable `duration_ns` is.
    pub grade: Grade,
    /// Why, for a person; empty only for [`Grade::Good`].
    pub reason: Name,
    /// What else is known: `module`, `returned`, `seqnum`, ... Keys are lower case with underscores; units in the key.
    pub attributes: Vec<(Name, String)>,
}

impl Span {
    /// A span of which only this is known; the rest is filled in by name.
    pub fn new(kind: SpanKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            parent: None,
            track: Name::Borrowed(""),
            level: None,
            start_ns: None,
            end_ns: None,
            duration_ns: None,
            grade: Grade::default(),
            reason: Name::Borrowed(""),
            attributes: Vec::new(),
        }
    }

    /// The same from one instant to another; the length is their difference.
    #[must_use]
    pub fn between(mut self, start_ns: i64, end_ns: i64) -> Self {
        self.start_ns = Some(start_ns);
        self.end_ns = Some(end_ns);
        self.duration_ns = Some(end_ns.saturating_sub(start_ns));
        self
    }

    /// The same with a lower trust.
    #[must_use]
    pub fn graded(mut self, grade: Grade, reason: impl Into<Name>) -> Self {
        self.grade = grade;
        self.reason = reason.into();
        self
    }

    /// The same with one more attribute.
    #[must_use]
    pub fn with(mut self, key: impl Into<Name>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }
}
