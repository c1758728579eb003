//! Spans of several pieces as rows of one table: what two records tell of one thing becomes one row.

use crate::align::seconds;
use crate::printing::{both_kinds, together, told_by_both};
use crate::trust::{compare, remove, witness, Verdict};
use crate::{Contradiction, Piece};
use firstlight_formats::evidence::{Attributes, Grade, SpanKind, SpanRef, Spans};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Spans of one thing in two records lie no further apart than this and what the fit leaves open.
const SAME_THING_NS: i64 = 2_000_000;

/// So many starts of one unit are looked through for what a record tells of them once more.
const SAID_AGAIN: usize = 16;

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
            let row = row_of(place, span, number, piece);
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

fn row_of<'a>(place: usize, span: SpanRef<'a>, piece: usize, of: &Piece<'a>) -> Row<'a> {
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
        if by_name(what.0) {
            pair_by_name(&places, &known, span, rows, (piece, apart(piece, pieces)), &mut partners);
            continue;
        }
        let untimed =
            places.iter().all(|place| ours(*place).is_none()) || known.iter().all(|row| theirs(*row).is_none());
        if untimed {
            // Without instants only what is there once on both sides is the same thing for certain.
            if let ([place], [row]) = (places.as_slice(), known.as_slice()) {
                partners.insert(*place, *row);
            }
            continue;
        }
        let apart = apart(piece, pieces);
        pair(
            &sorted(&places, |place| ends(span(place)?, piece)),
            &sorted(&known, |row| ends_of(rows.get(row)?)),
            apart,
            &mut partners,
        );
    }
    misnamed(piece, rows, pieces, &mut partners);
    partners
}

/// Initcalls of modules that the log and the tracer give other names: the tracer looks its names up when it is read, and
/// then the code of a module's initcall is long freed. One task runs one of them at a time.
fn misnamed(piece: &Piece<'_>, rows: &[Row<'_>], pieces: &[Piece<'_>], partners: &mut FxHashMap<usize, usize>) {
    let taken: FxHashSet<usize> = partners.values().copied().collect();
    let mut tasks: FxHashMap<&str, Vec<Interval>> = FxHashMap::default();
    let module = |kind: SpanKind, level: Option<&str>| kind == SpanKind::Initcall && level == Some("module");
    for (number, row) in
        rows.iter().enumerate().filter(|(number, row)| module(row.kind, row.level) && !taken.contains(number))
    {
        if let (Some(start), Some(end), false) = (row.start_ns, row.end_ns, row.track.is_empty()) {
            tasks.entry(row.track).or_default().push(((start, end), number));
        }
    }
    if tasks.is_empty() {
        return;
    }
    for (place, span) in piece.evidence.spans.iter().enumerate().filter(|(_, span)| module(span.kind, span.level)) {
        if partners.contains_key(&place) {
            continue;
        }
        let Some((Some(start), Some(end))) = ends(span, piece) else { continue };
        let Some(known) = tasks.get_mut(span.track) else { continue };
        let common = |one: (i64, i64)| one.1.min(end).saturating_sub(one.0.max(start));
        let most = |(ends, row): &Interval| (common(*ends) > 0).then_some((common(*ends), *row));
        let best = known.iter().filter_map(most).max();
        let Some((shared, row)) = best else { continue };
        let number = pieces.iter().position(|one| std::ptr::eq(one.evidence, piece.evidence)).unwrap_or(usize::MAX);
        let Some(partner) =
            rows.get(row).filter(|partner| both_kinds(partner, &row_of(place, span, number, piece), pieces))
        else {
            continue;
        };
        // The log's line before, the tracer's begin, the log's line behind, the tracer's end: or else mostly one time.
        let (known_start, known_end) = (partner.start_ns.unwrap_or(start), partner.end_ns.unwrap_or(end));
        let shorter = known_end.saturating_sub(known_start).min(end.saturating_sub(start));
        let ordered = known_start.min(start) == known_start && known_end.min(end) == known_end
            || known_start.max(start) == known_start && known_end.max(end) == known_end;
        if ordered || shared.saturating_mul(2) >= shorter {
            known.retain(|(_, number)| *number != row);
            partners.insert(place, row);
        }
    }
}

/// Begin, end, and the number of a row.
type Interval = ((i64, i64), usize);
/// How far what two pieces tell of one thing may lie apart.
fn apart(piece: &Piece<'_>, pieces: &[Piece<'_>]) -> i64 {
    let open = piece.uncertainty_ns.max(pieces.iter().map(|piece| piece.uncertainty_ns).max().unwrap_or(0));
    SAME_THING_NS.saturating_add(open.saturating_mul(3))
}

/// Of a unit there is one, whatever its records say of its times: they see the same start, stamped at different ends of a
/// busy machine.
fn by_name(kind: SpanKind) -> bool {
    matches!(kind, SpanKind::Unit | SpanKind::UnitActive)
}

/// Pairs the starts of one unit: those that lie close, then the others in order from the latest on, which is the one that
/// systemd itself remembers.
fn pair_by_name<'p>(
    places: &[usize],
    known: &[usize],
    span: impl Fn(usize) -> Option<SpanRef<'p>>,
    rows: &[Row<'_>],
    (piece, apart): (&Piece<'_>, i64),
    partners: &mut FxHashMap<usize, usize>,
) {
    let ours = sorted(places, |place| ends(span(place)?, piece));
    let theirs = sorted(known, |row| ends_of(rows.get(row)?));
    let mut close = FxHashMap::default();
    pair(&ours, &theirs, apart, &mut close);
    let taken: FxHashSet<usize> = close.values().copied().collect();
    let mut in_order: Vec<usize> = ours.iter().map(|(_, place)| *place).collect();
    in_order.extend(places.iter().filter(|place| span(**place).and_then(|span| ends(span, piece)).is_none()));
    let mut there: Vec<usize> = theirs.iter().map(|(_, row)| *row).collect();
    there.extend(known.iter().filter(|row| rows.get(**row).and_then(ends_of).is_none()));
    let left = in_order.into_iter().rev().filter(|place| !close.contains_key(place));
    let mut rest: Vec<(usize, usize)> = left.zip(there.into_iter().rev().filter(|row| !taken.contains(row))).collect();
    partners.extend(close);
    partners.extend(rest.drain(..));
    // What a record tells once more of a start (that its target was reached, beside its bar) is no further start.
    for (_, place) in ours.into_iter().take(SAID_AGAIN) {
        let mut again = FxHashMap::default();
        if let Some(of) = span(place).and_then(|span| ends(span, piece)).filter(|_| !partners.contains_key(&place)) {
            pair(&[(of, place)], &theirs, apart, &mut again);
        }
        partners.extend(again);
    }
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

/// Pairs two lists in order of time: two of which begin or end lie close, or that overlap, are one thing.
///
/// What overlaps goes before what only lies close: another of the same name may have run shortly before.
fn pair(ours: &[(Ends, usize)], theirs: &[(Ends, usize)], apart: i64, partners: &mut FxHashMap<usize, usize>) {
    let close = |one: Option<i64>, two: Option<i64>| {
        one.zip(two).is_some_and(|(one, two)| one.saturating_sub(two).saturating_abs() <= apart)
    };
    let (mut mine, mut known) = (0, 0);
    while let (Some((our, place)), Some((their, row))) = (ours.get(mine), theirs.get(known)) {
        let overlap = common(*our, *their);
        if overlap || close(our.0, their.0) || close(our.1, their.1) {
            if !overlap && ours.get(mine + 1).is_some_and(|(next, _)| common(*next, *their)) {
                mine += 1;
            } else if !overlap && theirs.get(known + 1).is_some_and(|(next, _)| common(*our, *next)) {
                known += 1;
            } else {
                partners.insert(*place, *row);
                mine += 1;
                known += 1;
            }
        } else if our.1.or(our.0) <= their.1.or(their.0) {
            mine += 1;
        } else {
            known += 1;
        }
    }
}

/// Whether two intervals of which both ends are known have some time in common.
fn common(one: Ends, two: Ends) -> bool {
    let ((Some(one_start), Some(one_end)), (Some(two_start), Some(two_end))) = (one, two) else { return false };
    one_start.max(two_start) < one_end.min(two_end)
}

/// Makes one row of two that tell of the same thing: the better grade wins, the other fills what it lacks.
fn unite<'a>(known: &mut Row<'a>, mut other: Row<'a>, pieces: &[Piece<'a>], contradictions: &mut Vec<Contradiction>) {
    if known.piece == other.piece {
        return;
    }
    let told = together(known, &other, pieces);
    // Where log and tracer were put together, another copy of one of them has nothing to add to the figure.
    let settled = told.is_none() && told_by_both(known, pieces);
    let verdict = if settled { Verdict::Unknown } else { judge(known, &other, pieces) };
    let better = other.grade < known.grade && other.duration_ns.is_some() && !settled && known.name() == other.name();
    let (ours, theirs) = (distance(known, pieces), distance(&other, pieces));
    let better = match ours.cmp(&theirs) {
        Ordering::Less => known.duration_ns.is_none() && other.duration_ns.is_some(),
        Ordering::Equal => better || known.duration_ns.is_none(),
        Ordering::Greater => other.duration_ns.is_some() || known.duration_ns.is_none(),
    };
    if told.as_ref().map_or(better, |told| !told.known_is_log) {
        other.parent = known.parent;
        other.also = std::mem::take(&mut known.also);
        std::mem::swap(known, &mut other);
    }
    known.also.push(other.piece);
    known.also.append(&mut other.also);
    if known.track.is_empty() {
        known.track = other.track;
    }
    if known.name() != other.name() {
        known.more.push((Cow::Borrowed("also_called"), Cow::Borrowed(other.name())));
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
    if let Some(told) = told {
        if let Some((start, end)) = told.instants {
            (known.start_ns, known.end_ns) = (Some(start), Some(end));
        }
        (known.duration_ns, known.grade, known.reason) = (Some(told.duration_ns), told.grade, told.reason);
        return;
    }
    let file = |row: &Row<'_>| pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
    match verdict {
        Verdict::Agree if known.grade <= Grade::Good => {
            known.grade = Grade::Exact;
            known.reason = Cow::Borrowed("two independent records agree within their steps");
        }
        Verdict::Contradict if ours != theirs => {
            // Who measured it is believed; who heard of it is quoted.
            let (ours, theirs) = (known.duration_ns.unwrap_or(0), other.duration_ns.unwrap_or(0));
            known.reason = Cow::Owned(format!("systemd's own figure; by {} {}", file(&other), seconds(theirs)));
            contradictions.push(Contradiction {
                what: format!("how long {} `{}` took", known.kind.name(), known.name()),
                statements: vec![(file(known), seconds(ours)), (file(&other), seconds(theirs))],
            });
        }
        Verdict::Contradict => {
            let (ours, theirs) = (known.duration_ns.unwrap_or(0), other.duration_ns.unwrap_or(0));
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

/// How far the record of a row is from who knows.
fn distance(row: &Row<'_>, pieces: &[Piece<'_>]) -> u8 {
    pieces.get(row.piece).map_or(0, |piece| remove(row.kind, piece.evidence))
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
