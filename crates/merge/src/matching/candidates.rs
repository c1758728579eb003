//! Finds for each span of a record the row of the earlier records for the same thing.

use super::aliases::{misnamed, named_by_path, numbered};
use crate::row::{merges, Row};
use crate::row_interval::{common, ends, ends_of, instants, Ends};
use crate::AlignedRecord;
use firstlight_formats::evidence::{SpanKind, SpanRef};
use rustc_hash::{FxHashMap, FxHashSet};

/// Spans of one thing in two records lie no further apart than this and what the fit leaves open.
const SAME_THING_NS: i64 = 2_000_000;

/// At most this many starts of one unit are searched for a repeated report.
const SAID_AGAIN: usize = 16;

/// For spans of a piece, by their place, the rows of earlier pieces that are of the same thing.
pub fn partners(
    piece: &AlignedRecord<'_>,
    rows: &[Row<'_>],
    index: &FxHashMap<(SpanKind, &str), Vec<usize>>,
    pieces: &[AlignedRecord<'_>],
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
    numbered(piece, rows, &mut partners);
    named_by_path(piece, rows, &mut partners);
    partners
}

/// How far two records' instants of the same thing may lie apart.
fn apart(piece: &AlignedRecord<'_>, pieces: &[AlignedRecord<'_>]) -> i64 {
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
    (piece, apart): (&AlignedRecord<'_>, i64),
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
    // A second report of a start (its target was reached, in addition to its bar) is not another start.
    for (_, place) in ours.into_iter().take(SAID_AGAIN) {
        let mut again = FxHashMap::default();
        if let Some(of) = span(place).and_then(|span| ends(span, piece)).filter(|_| !partners.contains_key(&place)) {
            pair(&[(of, place)], &theirs, apart, &mut again);
        }
        partners.extend(again);
    }
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
