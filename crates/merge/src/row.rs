//! A row of the table of spans, before it is written.

use crate::AlignedRecord;
use firstlight_formats::evidence::{Attributes, Grade, SpanKind, SpanRef, Spans};
use firstlight_schema::ReasonCode;
use std::borrow::Cow;

/// What is known of a row in addition to the record that won.
#[derive(Debug, Clone, Default)]
pub struct Others<'a> {
    /// The other records that have the same row.
    pub also: Vec<usize>,
    /// Attributes of the others, and of the merge.
    pub more: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// One row to be.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The spans among which the one is that won, and its place.
    spans: &'a Spans,
    place: usize,
    /// What it is of.
    pub kind: SpanKind,
    /// The piece it is of.
    pub piece: usize,
    /// The row it lies in, by its place among the rows.
    pub parent: Option<usize>,
    /// What it ran on.
    pub track: &'a str,
    /// Of an initcall.
    pub level: Option<&'a str>,
    /// On the boot's clock.
    pub start_ns: Option<i64>,
    /// On the boot's clock.
    pub end_ns: Option<i64>,
    /// The best figure.
    pub duration_ns: Option<i64>,
    /// How reliable it is.
    pub grade: Grade,
    /// Why.
    pub reason: Cow<'a, str>,
    /// What other records add. Most of the rows, which may be millions, have none.
    others: Option<Box<Others<'a>>>,
}

impl<'a> Row<'a> {
    /// Whose it is.
    pub fn name(&self) -> &'a str {
        self.spans.get(self.place).map_or("", |span| span.name)
    }

    /// The other records that have the same row.
    pub fn also(&self) -> &[usize] {
        self.others.as_ref().map_or(&[], |others| &others.also)
    }

    /// Attributes in addition to those of the winner.
    pub fn more(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        self.others.as_ref().map_or(&[], |others| &others.more)
    }

    /// Both, to be added to.
    pub fn others_mut(&mut self) -> &mut Others<'a> {
        self.others.get_or_insert_default()
    }

    /// Further attributes from the winner's record.
    pub fn attributes(&self) -> Option<Attributes<'a>> {
        self.spans.get(self.place).map(|span| span.attributes)
    }
}

/// Whether spans of a kind in two records become one row.
pub fn merges(kind: SpanKind) -> bool {
    !matches!(
        kind,
        SpanKind::Phase
            | SpanKind::Function
            | SpanKind::Event
            | SpanKind::SystemCall
            | SpanKind::Console
            | SpanKind::AsyncWait
    )
}

/// The row of a span.
pub fn row_of<'a>(place: usize, span: SpanRef<'a>, piece: usize, of: &AlignedRecord<'a>) -> Row<'a> {
    let at = |ns: Option<i64>| Some(of.line?.at(ns?));
    let mut row = Row {
        spans: &of.evidence.spans,
        place,
        kind: span.kind,
        piece,
        parent: None,
        track: span.track,
        level: span.level,
        start_ns: at(span.start_ns),
        end_ns: at(span.end_ns),
        duration_ns: span.duration_ns.map(|length| of.line.map_or(length, |line| line.length(length))),
        grade: span.grade,
        reason: Cow::Borrowed(span.reason),
        others: None,
    };
    if of.doubted.own && row.duration_ns.is_some() {
        row.grade = row.grade.max(Grade::Doubtful);
        row.reason = ReasonCode::ClockImpossible.into();
    }
    if of.line.is_none() {
        for (key, ns) in [("own_start_ns", span.start_ns), ("own_end_ns", span.end_ns)] {
            if let Some(ns) = ns {
                row.others_mut().more.push((Cow::Borrowed(key), Cow::Owned(ns.to_string())));
            }
        }
    }
    row
}
