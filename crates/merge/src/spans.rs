//! Spans of several pieces as rows of one table: what two records tell of one thing becomes one row.

use crate::align::seconds;
use crate::trust::{compare, witness, Verdict};
use crate::{Contradiction, Piece};
use firstlight_formats::evidence::{Attributes, Grade, SpanKind, SpanRef, Spans};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Spans of one thing in two records lie no further apart than this and what the fit leaves open.
const SAME_THING_NS: i64 = 2_000_000;

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
    /// The other pieces that tell the same.
    pub also: Vec<usize>,
    /// Attributes beside those of the winner: of the others, and of the merge.
    pub more: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Row<'a> {
    /// Whose it is.
    pub fn name(&self) -> &'a str {
        self.spans.get(self.place).map_or("", |span| span.name)
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
        for (place, span) in piece.evidence.spans.iter().enumerate() {
            let row = row(place, span, number, piece);
            match partners.get(&place).and_then(|partner| Some((*partner, rows.get_mut(*partner)?))) {
                Some((partner, known)) => {
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
        }
    }
    rows
}

fn put(moved: &mut [usize], place: usize, row: usize) {
    if let Some(slot) = moved.get_mut(place) {
        *slot = row;
    }
}

fn merges(kind: SpanKind) -> bool {
    !matches!(kind, SpanKind::Phase | SpanKind::Function | SpanKind::Event | SpanKind::Console | SpanKind::AsyncWait)
}

fn row<'a>(place: usize, span: SpanRef<'a>, piece: usize, of: &Piece<'a>) -> Row<'a> {
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
        also: Vec::new(),
        more: Vec::new(),
    };
    if of.line.is_none() {
        for (key, ns) in [("own_start_ns", span.start_ns), ("own_end_ns", span.end_ns)] {
            if let Some(ns) = ns {
                row.more.push((Cow::Borrowed(key), Cow::Owned(ns.to_string())));
            }
        }
    }
    row
}

/// For spans of a piece, by their place, the rows of earlier pieces that are of the same thing.
fn partners(
    piece: &Piece<'_>,
    rows: &[Row<'_>],
    index: &FxHashMap<(SpanKind, &str), Vec<usize>>,
    pieces: &[Piece<'_>],
) -> FxHashMap<usize, usize> {
    let mut groups: FxHashMap<(SpanKind, &str), Vec<usize>> = FxHashMap::default();
    for (place, span) in piece.evidence.spans.iter().enumerate() {
        let what = (span.kind, span.name);
        if merges(span.kind) && index.contains_key(&what) {
            groups.entry(what).or_default().push(place);
        }
    }
    let mut partners = FxHashMap::default();
    for (what, places) in groups {
        let known: Vec<usize> = index.get(&what).into_iter().flatten().copied().collect();
        let span = |place: usize| piece.evidence.spans.get(place);
        let ours = |place: usize| span(place).and_then(|span| instants(piece, span));
        let theirs = |row: usize| {
            rows.get(row).and_then(|row| Some((row.start_ns?, row.end_ns)).or(row.end_ns.map(|end| (end, None))))
        };
        let untimed =
            places.iter().all(|place| ours(*place).is_none()) || known.iter().all(|row| theirs(*row).is_none());
        if untimed {
            // Without instants only what is there once on both sides is the same thing for certain.
            if let ([place], [row]) = (places.as_slice(), known.as_slice()) {
                partners.insert(*place, *row);
            }
            continue;
        }
        let open = piece.uncertainty_ns.max(pieces.iter().map(|piece| piece.uncertainty_ns).max().unwrap_or(0));
        let apart = SAME_THING_NS.saturating_add(open.saturating_mul(3));
        pair(
            &sorted(&places, |place| ends(span(place)?, piece)),
            &sorted(&known, |row| ends_of(rows.get(row)?)),
            apart,
            &mut partners,
        );
    }
    partners
}

type Ends = (Option<i64>, Option<i64>);

fn instants(piece: &Piece<'_>, span: SpanRef<'_>) -> Option<i64> {
    let (start, end) = ends(span, piece)?;
    start.or(end)
}

fn ends(span: SpanRef<'_>, piece: &Piece<'_>) -> Option<Ends> {
    let line = piece.line?;
    let ends = (span.start_ns.map(|at| line.at(at)), span.end_ns.map(|at| line.at(at)));
    (ends != (None, None)).then_some(ends)
}

fn ends_of(row: &Row<'_>) -> Option<Ends> {
    let ends = (row.start_ns, row.end_ns);
    (ends != (None, None)).then_some(ends)
}

fn sorted(of: &[usize], ends: impl Fn(usize) -> Option<Ends>) -> Vec<(Ends, usize)> {
    let mut sorted: Vec<(Ends, usize)> = of.iter().filter_map(|number| Some((ends(*number)?, *number))).collect();
    sorted.sort_unstable_by_key(|((start, end), number)| (end.or(*start), *number));
    sorted
}

/// Pairs two lists in order of time: two of which begin or end lie close are one thing.
fn pair(ours: &[(Ends, usize)], theirs: &[(Ends, usize)], apart: i64, partners: &mut FxHashMap<usize, usize>) {
    let close = |one: Option<i64>, two: Option<i64>| {
        one.zip(two).is_some_and(|(one, two)| one.saturating_sub(two).saturating_abs() <= apart)
    };
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    while let (Some(((start, end), place)), Some(((known_start, known_end), row))) = (ours.peek(), theirs.peek()) {
        if close(*start, *known_start) || close(*end, *known_end) {
            partners.insert(*place, *row);
            ours.next();
            theirs.next();
        } else if end.or(*start) <= known_end.or(*known_start) {
            ours.next();
        } else {
            theirs.next();
        }
    }
}

/// Makes one row of two that tell of the same thing: the better grade wins, the other fills what it lacks.
fn unite<'a>(known: &mut Row<'a>, mut other: Row<'a>, pieces: &[Piece<'a>], contradictions: &mut Vec<Contradiction>) {
    if known.piece == other.piece {
        return;
    }
    let verdict = judge(known, &other, pieces);
    if other.grade < known.grade && other.duration_ns.is_some() || known.duration_ns.is_none() {
        other.parent = known.parent;
        other.also = std::mem::take(&mut known.also);
        std::mem::swap(known, &mut other);
    }
    known.also.push(other.piece);
    known.also.append(&mut other.also);
    if known.track.is_empty() {
        known.track = other.track;
    }
    known.level = known.level.or(other.level);
    // Begin and end stay those of one record where it has both.
    if known.start_ns.is_none() || known.end_ns.is_none() {
        if other.start_ns.is_some() && other.end_ns.is_some() {
            (known.start_ns, known.end_ns) = (other.start_ns, other.end_ns);
        } else {
            known.start_ns = known.start_ns.or(other.start_ns);
            known.end_ns = known.end_ns.or(other.end_ns);
        }
    }
    known.duration_ns = known.duration_ns.or(other.duration_ns);
    let own = other
        .attributes()
        .into_iter()
        .flat_map(|all| all.iter())
        .map(|(key, value)| (Cow::Borrowed(key), Cow::Borrowed(value)));
    for (key, value) in own.chain(std::mem::take(&mut other.more)) {
        let known_keys = known.attributes().into_iter().flat_map(|all| all.iter()).map(|(there, _)| there);
        if !known_keys.chain(known.more.iter().map(|(there, _)| there.as_ref())).any(|there| there == key) {
            known.more.push((key, value));
        }
    }
    match verdict {
        Verdict::Agree if known.grade <= Grade::Good => {
            known.grade = Grade::Exact;
            known.reason = Cow::Borrowed("two independent records agree within their steps");
        }
        Verdict::Contradict => {
            let (ours, theirs) = (known.duration_ns.unwrap_or(0), other.duration_ns.unwrap_or(0));
            let file = |row: &Row<'_>| pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
            known.grade = known.grade.max(Grade::Doubtful);
            known.reason = Cow::Owned(format!("{} says {}", file(&other), seconds(theirs)));
            contradictions.push(Contradiction {
                what: format!("how long {} `{}` took", known.kind.name(), known.name()),
                statements: vec![(file(known), seconds(ours)), (file(&other), seconds(theirs))],
            });
        }
        _ => {}
    }
}

fn judge(known: &Row<'_>, other: &Row<'_>, pieces: &[Piece<'_>]) -> Verdict {
    let (Some(ours), Some(theirs)) = (known.duration_ns, other.duration_ns) else { return Verdict::Unknown };
    let (Some(one), Some(two)) = (pieces.get(known.piece), pieces.get(other.piece)) else { return Verdict::Unknown };
    if known.grade > Grade::Coarse || other.grade > Grade::Coarse {
        return Verdict::Unknown;
    }
    let kind = known.kind;
    let independent = witness(kind, one.evidence) != witness(kind, two.evidence);
    compare((ours, one.evidence.step_ns), (theirs, two.evidence.step_ns), independent)
}
