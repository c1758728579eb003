//! Merges the rows of two records that describe the same thing.

use crate::grades::{compare, distance, origin, Agreement, STAMPED, STAMPS_APART_NS};
use crate::initcall_events::{reported_by_both, together};
use crate::row::Row;
use crate::text::seconds;
use crate::{AlignedRecord, Contradiction};
use firstlight_formats::evidence::{Grade, SpanKind};
use firstlight_schema::{Reason, ReasonCode};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Makes one row of two rows for the same thing. The better grade wins; the other row fills in missing values.
pub fn unite<'a>(
    known: &mut Row<'a>,
    mut other: Row<'a>,
    pieces: &[AlignedRecord<'a>],
    contradictions: &mut Vec<Contradiction>,
) {
    if known.piece == other.piece {
        return;
    }
    began_apart(known, &other, pieces, contradictions);
    let told = together(known, &other, pieces);
    // Where log and tracer were put together, another copy of one of them has nothing to add to the figure.
    let settled = told.is_none() && reported_by_both(known, pieces);
    let verdict = if settled { Agreement::Unknown } else { judge(known, &other, pieces) };
    let better = other.grade < known.grade && other.duration_ns.is_some() && !settled && known.name() == other.name();
    let (ours, theirs) = (distance_of(known, pieces), distance_of(&other, pieces));
    // The path says which of all devices of a name it is.
    let by_path = (known.kind == SpanKind::Uevent && known.name() != other.name())
        .then(|| other.name().contains('/') && !known.name().contains('/') && other.duration_ns.is_some());
    let better = match ours.cmp(&theirs) {
        Ordering::Less => known.duration_ns.is_none() && other.duration_ns.is_some(),
        Ordering::Equal => by_path.unwrap_or(better) || known.duration_ns.is_none(),
        Ordering::Greater => other.duration_ns.is_some() || known.duration_ns.is_none(),
    };
    if told.as_ref().map_or(better, |told| !told.known_is_log) {
        other.parent = known.parent;
        other.others_mut().also = std::mem::take(&mut known.others_mut().also);
        std::mem::swap(known, &mut other);
    }
    let mut others = std::mem::take(other.others_mut());
    known.others_mut().also.push(other.piece);
    known.others_mut().also.append(&mut others.also);
    if known.track.is_empty() {
        known.track = other.track;
    }
    if known.name() != other.name() {
        known.others_mut().more.push((Cow::Borrowed("also_called"), Cow::Borrowed(other.name())));
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
    let file = |row: &Row<'_>| pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
    let own = other
        .attributes()
        .into_iter()
        .flat_map(|all| all.iter())
        .map(|(key, value)| (Cow::Borrowed(key), Cow::Borrowed(value)));
    for (key, value) in own.chain(others.more) {
        match attribute(known, &key) {
            None => known.others_mut().more.push((key, value)),
            Some(there) if key == "returned" && there != value => contradictions.push(Contradiction {
                what: format!("what {} `{}` returned", known.kind.name(), known.name()),
                statements: vec![(file(known), there.to_owned()), (file(&other), value.into_owned())],
            }),
            Some(_) => {}
        }
    }
    if let Some(told) = told {
        if let Some((start, end)) = told.instants {
            (known.start_ns, known.end_ns) = (Some(start), Some(end));
        }
        (known.duration_ns, known.grade, known.reason) = (Some(told.duration_ns), told.grade, told.reason);
        return;
    }
    match verdict {
        Agreement::Agree if known.grade <= Grade::Good => {
            known.grade = Grade::Exact;
            known.reason = ReasonCode::RecordsAgree.into();
        }
        Agreement::Contradict => {
            let length = |row: &Row<'_>| seconds(row.duration_ns.unwrap_or(0));
            let (by, told) = (file(&other), length(&other));
            contradictions.push(Contradiction {
                what: format!("how long {} `{}` took", known.kind.name(), known.name()),
                statements: vec![(file(known), length(known)), (by.clone(), told.clone())],
            });
            if ours == theirs {
                known.grade = known.grade.max(Grade::Doubtful);
                known.reason = Reason::of(ReasonCode::RecordDisagrees).with("record", by).with("length", told).into();
            } else {
                // The record that measured the length decides; the other record's figure is quoted.
                known.reason = Reason::of(ReasonCode::SystemdFigure).with("record", by).with("length", told).into();
            }
        }
        _ => {}
    }
}

fn attribute<'r>(row: &'r Row<'_>, key: &str) -> Option<&'r str> {
    let own = row.attributes().into_iter().flat_map(|all| all.iter());
    own.chain(row.more().iter().map(|(there, value)| (there.as_ref(), value.as_ref())))
        .find(|(there, _)| *there == key)
        .map(|(_, value)| value)
}

/// Two records that have a unit's stamps from systemd itself cannot differ in its begin, also where its length is the same.
fn began_apart(
    known: &Row<'_>,
    other: &Row<'_>,
    pieces: &[AlignedRecord<'_>],
    contradictions: &mut Vec<Contradiction>,
) {
    let (Some(ours), Some(theirs)) = (known.start_ns, other.start_ns) else { return };
    let (Some(one), Some(two)) = (pieces.get(known.piece), pieces.get(other.piece)) else { return };
    let own = |row: &Row<'_>| row.kind == SpanKind::Unit && distance_of(row, pieces) <= STAMPED;
    let steps = one.evidence.step_ns.saturating_add(two.evidence.step_ns);
    let apart = ours.saturating_sub(theirs).saturating_abs();
    if own(known) && own(other) && one.evidence.clock == two.evidence.clock && apart > STAMPS_APART_NS.max(steps) {
        let mut statements = vec![(one.file.to_owned(), seconds(ours)), (two.file.to_owned(), seconds(theirs))];
        // The tables follow who is nearer.
        if distance_of(other, pieces) < distance_of(known, pieces) {
            statements.reverse();
        }
        let what = format!("when unit `{}` began", known.name());
        contradictions.push(Contradiction { what, statements });
    }
}

/// How far the record of a row is from who knows.
fn distance_of(row: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> u8 {
    pieces.get(row.piece).map_or(0, |piece| distance(row.kind, piece.evidence))
}

fn judge(known: &Row<'_>, other: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> Agreement {
    let (Some(ours), Some(theirs)) = (known.duration_ns, other.duration_ns) else { return Agreement::Unknown };
    let (Some(one), Some(two)) = (pieces.get(known.piece), pieces.get(other.piece)) else { return Agreement::Unknown };
    if known.grade > Grade::Coarse || other.grade > Grade::Coarse {
        return Agreement::Unknown;
    }
    let kind = known.kind;
    let independent = origin(kind, one.evidence) != origin(kind, two.evidence);
    compare(kind, (ours, one.evidence.step_ns), (theirs, two.evidence.step_ns), independent)
}
