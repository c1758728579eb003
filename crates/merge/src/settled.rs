//! Finds the end of the start in records of systems that have been up for long.

use crate::boot_mark::BootMark;
use crate::log::placed;
use crate::row::Row;
use crate::AlignedRecord;
use firstlight_formats::evidence::{Mark, SpanKind};

/// A start without messages for this long is over.
const QUIET_NS: i64 = 60_000_000_000;

/// Ends a boot whose records go on long after the start without a record of its end: at the last event before a minute without
/// events, once userspace runs. Returns the note about it.
pub fn start_up_over(pieces: &[AlignedRecord<'_>], rows: &[Row<'_>], marks: &mut Vec<BootMark>) -> Option<String> {
    let last = marks.iter().find(|mark| mark.mark == Mark::RecordEnd)?.time_ns;
    let user = userspace_start(rows, marks)?;
    if last.saturating_sub(user) <= QUIET_NS {
        return None;
    }
    // From when to when something happened.
    let mut busy: Vec<(i64, i64)> = vec![(user, user)];
    for piece in pieces {
        let lines = piece.evidence.log.iter().filter_map(|(stamp, _)| placed(piece, &stamp));
        busy.extend(lines.map(|at| (at, at)));
    }
    for row in rows.iter().filter(|row| row.kind != SpanKind::UnitActive) {
        match (row.start_ns, row.end_ns) {
            // The start waits for a unit that waits for something.
            (Some(start), Some(end)) if row.kind == SpanKind::Unit => busy.push((start, end.max(start))),
            (start, end) => busy.extend(start.into_iter().chain(end).map(|at| (at, at))),
        }
    }
    busy.extend(marks.iter().filter(|mark| mark.mark != Mark::RecordEnd).map(|mark| (mark.time_ns, mark.time_ns)));
    busy.retain(|(_, end)| *end >= user);
    busy.sort_unstable();
    let mut reach = user;
    let (over, next) = busy.into_iter().find_map(|(start, end)| {
        let over = reach;
        reach = reach.max(end);
        (start.saturating_sub(over) > QUIET_NS).then_some((over, start))
    })?;
    // What happened later is no mark of the start.
    let source =
        marks.iter().find(|mark| mark.mark == Mark::RecordEnd).map(|mark| mark.source.clone()).unwrap_or_default();
    marks.retain(|mark| mark.time_ns <= over);
    let detail = format!("then nothing for {} s", next.saturating_sub(over) / 1_000_000_000);
    marks.push(BootMark { mark: Mark::StartupSettled, time_ns: over, source, detail });
    marks.sort_by_key(|mark| mark.time_ns);
    Some(format!(
        "no record tells when the start was over: it is taken to end where nothing happened for {} s; what came later, up to \
         {} s after that, stays in the log and among the spans",
        next.saturating_sub(over) / 1_000_000_000,
        last.saturating_sub(over) / 1_000_000_000
    ))
}

/// When userspace ran at the latest: what a manager of units starts is its own.
fn userspace_start(rows: &[Row<'_>], marks: &[BootMark]) -> Option<i64> {
    let told = |mark: &&BootMark| {
        matches!(
            mark.mark,
            Mark::UserStart
                | Mark::InitramfsStart
                | Mark::UserspaceStart
                | Mark::SystemdStart
                | Mark::RunInit
                | Mark::FreeInitMemory
        )
    };
    let units = rows.iter().filter(|row| row.kind == SpanKind::Unit);
    let units = units.filter_map(|row| row.start_ns.or(row.end_ns));
    marks.iter().filter(told).map(|mark| mark.time_ns).min().or_else(|| units.min())
}
