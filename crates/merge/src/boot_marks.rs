//! All marks of a boot in order of time: those of its records, and where the records begin and end.

use crate::boot_mark::BootMark;
use crate::boot_selection::extent;
use crate::capture_clock;
use crate::first_program;
use crate::phases::{cover, marks};
use crate::row::Row;
use crate::{AlignedRecord, Contradiction};
use firstlight_schema::{Clock, Mark};

/// All of them; those of `wanted` replace the ones of the records.
pub fn boot_marks(
    pieces: &[AlignedRecord<'_>],
    rows: &[Row<'_>],
    wanted: &[BootMark],
    contradictions: &mut Vec<Contradiction>,
) -> Vec<BootMark> {
    let mut all = marks(pieces, rows, contradictions);
    all.retain(|mark| !wanted.iter().any(|known| known.mark == mark.mark));
    all.extend_from_slice(wanted);
    first_program::infer(pieces, &mut all);
    all.extend(clock_start(pieces, &all));
    all.extend(capture_clock::capture_start(pieces, &all));
    let mut whole: Option<(i64, i64)> = None;
    let mut doubted: Vec<i64> = Vec::new();
    let mut add = |at: i64| {
        whole = Some(whole.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    };
    for row in rows {
        row.start_ns.into_iter().chain(row.end_ns).for_each(&mut add);
    }
    for piece in pieces {
        if let (Some(line), Some((first, last))) = (piece.line, extent(piece.evidence)) {
            add(line.at(first));
            add(line.at(last));
            doubted.extend(piece.doubted.own.then(|| [line.at(first), line.at(last)]).into_iter().flatten());
        }
        if let Some((first, last)) = capture_clock::extent(piece) {
            add(first);
            add(last);
            doubted.extend(piece.doubted.host.then_some([first, last]).into_iter().flatten());
        }
    }
    if let Some(ready) = wanted.iter().find(|mark| mark.mark == Mark::Ready) {
        // The user says where the boot ends: what happened later is not a mark of it.
        all.retain(|mark| mark.time_ns <= ready.time_ns);
    }
    cover(&mut all, whole);
    for mark in all.iter_mut().filter(|mark| matches!(mark.mark, Mark::RecordStart | Mark::RecordEnd)) {
        mark.doubted |= doubted.contains(&mark.time_ns);
    }
    all
}

/// Records of systemd and udev count from the start of the kernel's clock. Without a record of the kernel the boot begins there,
/// and not at the first known instant, so that another record of the same clock does not move the zero. In a container, and
/// after a soft reboot, the clock is of an earlier start, as the manager's own record shows.
fn clock_start(pieces: &[AlignedRecord<'_>], marks: &[BootMark]) -> Option<BootMark> {
    let boot = pieces.first().filter(|boot| boot.evidence.clock == Clock::Monotonic)?;
    let told = marks.iter().any(|mark| {
        matches!(mark.mark, Mark::KernelClockStart | Mark::KernelStart | Mark::UserspaceStart | Mark::SoftRebootStart)
    });
    if told || extent(boot.evidence).is_none() {
        return None;
    }
    let detail = "the zero of CLOCK_MONOTONIC".to_owned();
    Some(BootMark::new(Mark::KernelClockStart, boot.line?.at(0), boot.file.to_owned(), detail))
}
