//! Many intervals in little room: their texts are kept once each, beside rows of numbers.

use super::chunks::Chunks;
use super::texts::{Text, Texts};
use super::{Grade, Span, SpanKind};

/// What stands for no time, no span and no attribute.
const NO_TIME: i64 = i64::MIN;
pub(super) const NONE: u32 = u32::MAX;

/// The spans of a piece of evidence, in the order in which they were found.
///
/// ```
/// use firstlight_formats::evidence::{Span, SpanKind, Spans};
/// let mut spans = Spans::default();
/// spans.push(Span::new(SpanKind::Initcall, "gizmo_init").between(1_000, 3_000).with("returned", "-19"));
/// let span = spans.get(0).unwrap();
/// assert_eq!((span.name, span.duration_ns), ("gizmo_init", Some(2_000)));
/// assert_eq!(span.attributes.iter().collect::<Vec<_>>(), [("returned", "-19")]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Spans {
    rows: Chunks<Row>,
    pub(crate) texts: Texts,
    pub(super) attributes: Chunks<Attribute>,
}

/// A span as it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) kind: SpanKind,
    pub(crate) grade: Grade,
    pub(crate) name: Text,
    pub(crate) track: Text,
    /// [`Text::EMPTY`]: none.
    pub(crate) level: Text,
    pub(crate) reason: Text,
    parent: u32,
    pub(super) first_attribute: u32,
    start_ns: i64,
    end_ns: i64,
    duration_ns: i64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Attribute {
    pub(super) key: Text,
    pub(super) value: Text,
    pub(super) next: u32,
}

fn time(ns: i64) -> Option<i64> {
    (ns != NO_TIME).then_some(ns)
}

fn place(of: Option<usize>) -> u32 {
    of.and_then(|of| u32::try_from(of).ok()).unwrap_or(NONE)
}

impl Row {
    pub(crate) fn new(kind: SpanKind, name: Text) -> Self {
        Self {
            kind,
            grade: Grade::default(),
            name,
            track: Text::EMPTY,
            level: Text::EMPTY,
            reason: Text::EMPTY,
            parent: NONE,
            first_attribute: NONE,
            start_ns: NO_TIME,
            end_ns: NO_TIME,
            duration_ns: NO_TIME,
        }
    }

    pub(crate) fn parent(&self) -> Option<usize> {
        (self.parent != NONE).then_some(self.parent as usize)
    }

    pub(crate) fn set_parent(&mut self, parent: Option<usize>) {
        self.parent = place(parent);
    }

    pub(crate) fn start_ns(&self) -> Option<i64> {
        time(self.start_ns)
    }

    pub(crate) fn set_start_ns(&mut self, ns: Option<i64>) {
        self.start_ns = ns.unwrap_or(NO_TIME);
    }

    pub(crate) fn end_ns(&self) -> Option<i64> {
        time(self.end_ns)
    }

    pub(crate) fn set_end_ns(&mut self, ns: Option<i64>) {
        self.end_ns = ns.unwrap_or(NO_TIME);
    }

    pub(crate) fn duration_ns(&self) -> Option<i64> {
        time(self.duration_ns)
    }

    pub(crate) fn set_duration_ns(&mut self, ns: Option<i64>) {
        self.duration_ns = ns.unwrap_or(NO_TIME);
    }
}

impl Spans {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends one.
    pub fn push(&mut self, span: Span) {
        let row = self.packed(span);
        self.rows.push(row);
    }

    pub(super) fn packed(&mut self, span: Span) -> Row {
        let mut row = Row::new(span.kind, self.texts.number(span.name.as_bytes()));
        row.grade = span.grade;
        row.track = self.texts.number(span.track.as_bytes());
        row.level = span.level.map_or(Text::EMPTY, |level| self.texts.number(level.as_bytes()));
        row.reason = self.texts.number(span.reason.as_bytes());
        row.set_parent(span.parent);
        row.set_start_ns(span.start_ns);
        row.set_end_ns(span.end_ns);
        row.set_duration_ns(span.duration_ns);
        // From the last to the first, so that each knows the next.
        for (key, value) in span.attributes.into_iter().rev() {
            let value = self.texts.number(value.as_bytes());
            row.first_attribute = self.attribute(&key, value, row.first_attribute);
        }
        row
    }

    fn attribute(&mut self, key: &str, value: Text, next: u32) -> u32 {
        let attribute = Attribute { key: self.texts.number(key.as_bytes()), value, next };
        let place = place(Some(self.attributes.len()));
        self.attributes.push(attribute);
        place
    }

    pub(crate) fn push_row(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place)
    }

    pub(crate) fn row_mut(&mut self, place: usize) -> Option<&mut Row> {
        self.rows.get_mut(place)
    }

    /// A row and the texts it may be given.
    pub(crate) fn row_and_texts(&mut self, place: usize) -> Option<(&mut Row, &mut Texts)> {
        Some((self.rows.get_mut(place)?, &mut self.texts))
    }

    /// Gives a span one more attribute.
    pub(crate) fn add_attribute(&mut self, place: usize, key: &str, value: &[u8]) {
        if let Some(mut row) = self.rows.get(place).copied() {
            self.attach(&mut row, key, value);
            if let Some(slot) = self.rows.get_mut(place) {
                *slot = row;
            }
        }
    }

    /// Gives a row that may not yet be among the others one more attribute.
    pub(crate) fn attach(&mut self, row: &mut Row, key: &str, value: &[u8]) {
        let value = self.texts.number(value);
        self.attach_text(row, key, value);
    }

    /// The same with a value that is there already.
    pub(crate) fn attach_text(&mut self, row: &mut Row, key: &str, value: Text) {
        let (mut last, mut next) = (NONE, row.first_attribute);
        while let Some(attribute) = self.attributes.get(next as usize) {
            (last, next) = (next, attribute.next);
        }
        let added = self.attribute(key, value, NONE);
        match self.attributes.get_mut(last as usize) {
            Some(last) => last.next = added,
            None => row.first_attribute = added,
        }
    }
}

impl Extend<Span> for Spans {
    fn extend<T: IntoIterator<Item = Span>>(&mut self, spans: T) {
        spans.into_iter().for_each(|span| self.push(span));
    }
}

impl From<Vec<Span>> for Spans {
    fn from(all: Vec<Span>) -> Self {
        let mut spans = Self::default();
        spans.extend(all);
        spans
    }
}
