//! Spans of several pieces as rows of one table: what two records tell of one thing becomes one row.

use crate::partners::partners;
use crate::unite::unite;
use crate::{Contradiction, Piece};
use firstlight_formats::evidence::{Attributes, Grade, SpanKind, SpanRef, Spans};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// What is told of a row beside what the record says that won.
#[derive(Debug, Clone, Default)]
pub struct Others<'a> {
    /// The other pieces that tell the same.
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
    /// How far it can be believed.
    pub grade: Grade,
    /// Why.
    pub reason: Cow<'a, str>,
    /// What others tell of it: there may be millions of rows, and of most there is nothing.
    others: Option<Box<Others<'a>>>,
}

impl<'a> Row<'a> {
    /// Whose it is.
    pub fn name(&self) -> &'a str {
        self.spans.get(self.place).map_or("", |span| span.name)
    }

    /// The other pieces that tell the same.
    pub fn also(&self) -> &[usize] {
        self.others.as_ref().map_or(&[], |others| &others.also)
    }

    /// Attributes beside those of the winner.
    pub fn more(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        self.others.as_ref().map_or(&[], |others| &others.more)
    }

    /// Both, to be added to.
    pub fn others_mut(&mut self) -> &mut Others<'a> {
        self.others.get_or_insert_default()
    }

    /// What the winner's record says of it beside.
    pub fn attributes(&self) -> Option<Attributes<'a>> {
        self.spans.get(self.place).map(|span| span.attributes)
    }
}

/// The rows of all pieces, the first piece's first, and where the pieces exclude one another.
pub fn rows<'a>(pieces: &[Piece<'a>], contradictions: &mut Vec<Contradiction>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(pieces.iter().map(|piece| piece.evidence.spans.len()).sum());
    let several = pieces.iter().filter(|piece| !piece.evidence.spans.is_empty()).count() > 1;
    let mut index: FxHashMap<(SpanKind, &str), Vec<usize>> = FxHashMap::default();
    for (number, piece) in pieces.iter().enumerate() {
        let first = rows.len();
        let mut moved: Vec<usize> = (first..first + piece.evidence.spans.len()).collect();
        let partners = if several { partners(piece, &rows, &index, pieces) } else { FxHashMap::default() };
        let mut next = first;
        let mut called: Vec<(SpanKind, &str, usize)> = Vec::new();
        for (place, span) in piece.evidence.spans.iter().enumerate() {
            let row = row_of(place, span, number, piece);
            match partners.get(&place).and_then(|partner| Some((*partner, rows.get_mut(*partner)?))) {
                Some((partner, known)) => {
                    // A row that has several names is found by each of them.
                    if known.name() != span.name {
                        called.extend([(span.kind, known.name(), partner), (span.kind, span.name, partner)]);
                    }
                    unite(known, row, pieces, contradictions);
                    put(&mut moved, place, partner);
                }
                None => {
                    put(&mut moved, place, next);
                    next += 1;
                    rows.push(row);
                }
            }
        }
        // Parents are places in the piece; they become rows. A row that was united keeps the parent that it had.
        for (place, span) in piece.evidence.spans.iter().enumerate() {
            let parent = span.parent.and_then(|parent| moved.get(parent).copied());
            let own = moved.get(place).copied();
            if let (Some(parent), Some(row)) = (parent, own.and_then(|own| rows.get_mut(own))) {
                if row.parent.is_none() && Some(parent) != own {
                    row.parent = Some(parent);
                }
            }
        }
        if several {
            for (number, row) in rows.iter().enumerate().skip(first).filter(|(_, row)| merges(row.kind)) {
                index.entry((row.kind, row.name())).or_default().push(number);
            }
            for (kind, name, number) in called.into_iter().filter(|(kind, ..)| merges(*kind)) {
                let there = index.entry((kind, name)).or_default();
                if !there.contains(&number) {
                    there.push(number);
                }
            }
        }
    }
    rows
}

fn put(moved: &mut [usize], place: usize, row: usize) {
    if let Some(slot) = moved.get_mut(place) {
        *slot = row;
    }
}

pub(crate) fn merges(kind: SpanKind) -> bool {
    !matches!(kind, SpanKind::Phase | SpanKind::Function | SpanKind::Event | SpanKind::Console | SpanKind::AsyncWait)
}

pub(crate) fn row_of<'a>(place: usize, span: SpanRef<'a>, piece: usize, of: &Piece<'a>) -> Row<'a> {
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
    if of.line.is_none() {
        for (key, ns) in [("own_start_ns", span.start_ns), ("own_end_ns", span.end_ns)] {
            if let Some(ns) = ns {
                row.others_mut().more.push((Cow::Borrowed(key), Cow::Owned(ns.to_string())));
            }
        }
    }
    row
}
