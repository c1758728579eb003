//! One initcall as the kernel's log and the tracer's events see it: each has a line being printed between its own stamps.
//!
//! With `initcall_debug` the kernel prints `calling`, the tracer stamps the begin, the initcall runs, the kernel prints
//! `returned`, and the tracer stamps the end. What lies between the tracer's begin and the stamp of `returned` has no
//! printing in it; the kernel measures the same itself.

use crate::grades::origin;
use crate::row::Row;
use crate::text::seconds;
use crate::AlignedRecord;
use firstlight_formats::about::Origin;
use firstlight_formats::evidence::{Grade, SpanKind};
use firstlight_schema::{Reason, ReasonCode};
use std::borrow::Cow;

/// Stamps of one clock that follow one another may be rounded the other way round.
const ROUNDING_NS: i64 = 2_000;
/// A clock that is known so well can be asked for the instants of another record's call.
const SURE_NS: i64 = 10_000;
/// Figures in microseconds are used as they are from this many on.
const STEPS: i64 = 100_000;

/// What the two say together.
#[derive(Debug, PartialEq, Eq)]
pub struct Together {
    /// Whether the row that was known is the log's.
    pub known_is_log: bool,
    /// Begin and end without the printing, where the clocks are sure enough.
    pub instants: Option<(i64, i64)>,
    /// How long it took.
    pub duration_ns: i64,
    /// How reliable it is.
    pub grade: Grade,
    /// Why.
    pub reason: Cow<'static, str>,
}

/// Whether a row is of the tracer's events of initcalls, which lie outside the printing of the end.
fn of_events(row: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> bool {
    pieces.get(row.piece).is_some_and(|piece| piece.evidence.traits.ends_outside_printing)
}

fn of_log(row: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> bool {
    pieces.get(row.piece).is_some_and(|piece| origin(row.kind, piece.evidence) == Origin::KernelLog)
}

/// Whether one row is the log's and one the tracer's of an initcall.
pub fn both_kinds(one: &Row<'_>, two: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> bool {
    one.kind == SpanKind::Initcall
        && two.kind == SpanKind::Initcall
        && (of_events(one, pieces) && of_log(two, pieces) || of_log(one, pieces) && of_events(two, pieces))
}

/// Whether both the log and the tracer have reported the row already.
pub fn reported_by_both(row: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> bool {
    let reports =
        |number: usize, from: Origin| pieces.get(number).is_some_and(|piece| origin(row.kind, piece.evidence) == from);
    let sources = || std::iter::once(row.piece).chain(row.also().iter().copied());
    row.kind == SpanKind::Initcall
        && sources().any(|number| reports(number, Origin::KernelLog))
        && sources().any(|number| reports(number, Origin::Ftrace))
}

/// What a call took by the log and the tracer together; none where they do not supplement one another.
pub fn together(known: &Row<'_>, other: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> Option<Together> {
    if !both_kinds(known, other, pieces) {
        return None;
    }
    let known_is_log = of_log(known, pieces);
    let (log, traced) = if known_is_log { (known, other) } else { (other, known) };
    let open = |row: &Row<'_>| pieces.get(row.piece).map_or(0, |piece| piece.uncertainty_ns);
    let sure = open(log).saturating_add(open(traced)) <= SURE_NS;
    let before = |one: i64, two: i64| one <= two.saturating_add(ROUNDING_NS);
    let (begin, end) = (traced.start_ns?, log.end_ns?);
    let (own, with_printing) = (log.duration_ns?, traced.duration_ns?);
    let told =
        |instants, duration_ns, grade, reason| Some(Together { known_is_log, instants, duration_ns, grade, reason });
    let ordered = log.start_ns.is_none_or(|start| before(start, begin)) && before(end, traced.end_ns?);
    if !sure || !ordered || !before(begin, end) {
        // Which part of the tracer's figure is printing is not known, only that some is.
        let printed = with_printing.saturating_sub(own) > ROUNDING_NS && log.grade <= Grade::Coarse;
        return if printed { told(None, own, log.grade, in_it(with_printing)) } else { None };
    }
    let between = end.saturating_sub(begin).max(0);
    let instants = Some((begin, begin.saturating_add(between)));
    let by_stamps = log.start_ns.is_some_and(|start| end.saturating_sub(start) == own);
    let grade = if between < STEPS { Grade::Coarse } else { Grade::Good };
    if by_stamps && own > ROUNDING_NS || log.grade > Grade::Coarse {
        let reason = ReasonCode::TracerToLog;
        return told(instants, between, grade, reason.into());
    }
    let apart = between.saturating_sub(own).saturating_abs();
    if apart <= (own / 100).max(3 * 1_000) {
        let (grade, reason) = match own < STEPS {
            true => (Grade::Coarse, ReasonCode::FewMicroseconds.into()),
            false => (Grade::Exact, ReasonCode::TracerAndKernelAgree.into()),
        };
        return told(instants, own, grade, reason);
    }
    // The kernel's own clock may still move with the tick: then its figure is no better than the stamps.
    if own < between {
        let own = seconds(own);
        let reason = Reason::of(ReasonCode::TracerToLogDiffers).with("own", own);
        return told(instants, between, grade.max(Grade::Bounded), reason.into());
    }
    told(None, own, log.grade, in_it(with_printing)).filter(|_| with_printing > own)
}

fn in_it(with_printing: i64) -> Cow<'static, str> {
    Reason::of(ReasonCode::PrintingIncluded).with("length", seconds(with_printing)).into()
}
