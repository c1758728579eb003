//! Spans as they are looked at.

use super::spans::{Row, NONE};
use super::texts::Text;
use super::{Grade, Name, Span, SpanKind, Spans};
use std::fmt;

impl Spans {
    /// One of them.
    pub fn get(&self, place: usize) -> Option<SpanRef<'_>> {
        self.row(place).map(|row| self.shown(row))
    }

    fn shown(&self, row: &Row) -> SpanRef<'_> {
        let text = |of: Text| self.texts.get(of);
        SpanRef {
            kind: row.kind,
            name: text(row.name),
            parent: row.parent(),
            track: text(row.track),
            level: (row.level != Text::EMPTY).then(|| text(row.level)),
            start_ns: row.start_ns(),
            end_ns: row.end_ns(),
            duration_ns: row.duration_ns(),
            grade: row.grade,
            reason: text(row.reason),
            attributes: Attributes { of: self, first: row.first_attribute },
        }
    }

    /// All of them in their order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { of: self, next: 0 }
    }

    /// Makes another span of one.
    pub fn change(&mut self, place: usize, change: impl FnOnce(Span) -> Span) {
        let Some(span) = self.get(place).map(SpanRef::to_span) else { return };
        let changed = self.packed(change(span));
        if let Some(row) = self.row_mut(place) {
            *row = changed;
        }
    }

    /// Appends those of another piece; their parents stay their parents.
    pub fn append(&mut self, others: &Self) {
        let base = self.len();
        self.extend(others.iter().map(|span| {
            let parent = span.parent.and_then(|parent| parent.checked_add(base));
            Span { parent, ..span.to_span() }
        }));
    }
}

impl<'a> IntoIterator for &'a Spans {
    type Item = SpanRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl PartialEq for Spans {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Spans {}

/// The spans of a piece of evidence, one after the other.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    pub(super) of: &'a Spans,
    pub(super) next: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = SpanRef<'a>;

    fn next(&mut self) -> Option<SpanRef<'a>> {
        let span = self.of.get(self.next)?;
        self.next += 1;
        Some(span)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.of.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// A span as it is looked at: the fields of [`Span`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanRef<'a> {
    /// What it is of.
    pub kind: SpanKind,
    /// Whose it is.
    pub name: &'a str,
    /// The span it lies in, by its place.
    pub parent: Option<usize>,
    /// What it ran on; empty: unknown.
    pub track: &'a str,
    /// Of an initcall.
    pub level: Option<&'a str>,
    /// When it began, if that is known.
    pub start_ns: Option<i64>,
    /// When it ended, if that is known.
    pub end_ns: Option<i64>,
    /// How long it took by the best figure.
    pub duration_ns: Option<i64>,
    /// How reliable `duration_ns` is.
    pub grade: Grade,
    /// Why, for a person; empty only for [`Grade::Good`].
    pub reason: &'a str,
    /// What else is known.
    pub attributes: Attributes<'a>,
}

impl SpanRef<'_> {
    /// A copy that can be changed.
    pub fn to_span(self) -> Span {
        Span {
            kind: self.kind,
            name: self.name.to_owned(),
            parent: self.parent,
            track: Name::Owned(self.track.to_owned()),
            level: self.level.map(|level| Name::Owned(level.to_owned())),
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            duration_ns: self.duration_ns,
            grade: self.grade,
            reason: Name::Owned(self.reason.to_owned()),
            attributes: self
                .attributes
                .iter()
                .map(|(key, value)| (Name::Owned(key.to_owned()), value.to_owned()))
                .collect(),
        }
    }
}

/// What else is known of a span.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    pub(super) of: &'a Spans,
    pub(super) first: u32,
}

impl<'a> Attributes<'a> {
    /// Key and value of each, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let (of, first) = (self.of, self.first);
        let attribute = move |place: u32| of.attributes.get(place as usize);
        std::iter::successors(attribute(first), move |last| attribute(last.next))
            .map(move |attribute| (of.texts.get(attribute.key), of.texts.get(attribute.value)))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for Attributes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Attributes<'_> {}
