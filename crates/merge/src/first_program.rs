//! Between which instants the first program began. The kernel prints that it will run it, and no line says when it did: other
//! tasks may have the processor first, such as the tests of cryptographic algorithms since Linux 6.12.

use crate::boot_mark::BootMark;
use crate::log::placed;
use crate::row::Row;
use crate::text::seconds;
use crate::AlignedRecord;
use firstlight_formats::evidence::{Mark, SpanKind, INFERRED};
use firstlight_formats::kernel_log::messages::programs::{is_of_first_program, shows_userspace};
use firstlight_schema::InitcallLevel;

/// A bracket that is wider than this share of the time since the kernel's start is a doubt: one in so many.
const SURE: i64 = 100;
/// A sign is quoted up to here.
const SHOWN: usize = 60;

/// A sign that userspace ran.
struct Sign {
    /// When, as its record states it.
    at_ns: i64,
    /// It was no later.
    by_ns: i64,
    what: String,
}

/// Adds the begin of userspace where a kernel's log shows a program and not what the kernel does last: after the last line of the
/// kernel before it. What systemd says of its own start is better.
pub fn infer(pieces: &[AlignedRecord<'_>], marks: &mut Vec<BootMark>) {
    let begun = |mark: Mark| {
        matches!(
            mark,
            Mark::UserStart
                | Mark::RunInit
                | Mark::GuestStart
                | Mark::InitramfsStart
                | Mark::UserspaceStart
                | Mark::FreeInitMemory
                | Mark::SoftRebootStart
        )
    };
    let Some(start) = marks.iter().find(|mark| mark.mark == Mark::KernelStart && !mark.doubted) else { return };
    if marks.iter().any(|mark| begun(mark.mark)) {
        return;
    }
    let (start_ns, file) = (start.time_ns, start.source.clone());
    let of_kernel = pieces.iter().filter(|piece| piece.file == file && !piece.doubted.own);
    let found = of_kernel.filter_map(|piece| last_before_a_program(piece, start_ns)).min();
    if let Some((time_ns, sign)) = found {
        let detail = format!("{INFERRED}the last line of the kernel before userspace: {sign}");
        marks.push(BootMark::new(Mark::UserStart, time_ns, file, detail));
    }
}

/// The last line of the kernel before the first one that a known first program prints, and that one.
fn last_before_a_program(piece: &AlignedRecord<'_>, start_ns: i64) -> Option<(i64, String)> {
    let mut last_ns = None;
    for (stamp, text) in piece.evidence.log.iter() {
        let time_ns = placed(piece, &stamp).filter(|time_ns| *time_ns >= start_ns);
        if is_of_first_program(text.as_bytes()) && last_ns.is_some() {
            return last_ns.map(|last_ns| (last_ns, shown(text)));
        }
        last_ns = time_ns.max(last_ns);
    }
    None
}

/// Brackets the begin of userspace: not before the kernel's line, and not after the first thing that only userspace can have
/// caused, in any record. A wide bracket makes the mark an inferred one, whose detail has both ends.
pub fn bracket(pieces: &[AlignedRecord<'_>], rows: &[Row<'_>], wanted: &[BootMark], marks: &mut [BootMark]) {
    let asked = |mark: Mark| wanted.iter().any(|known| known.mark == mark);
    let Some(from_ns) = marks.iter().find(|mark| mark.mark == Mark::UserStart).map(|mark| mark.time_ns) else { return };
    if asked(Mark::UserStart) {
        // It is what the user says.
        return;
    }
    let zero = |mark: &&BootMark| matches!(mark.mark, Mark::KernelClockStart | Mark::KernelStart);
    let zero_ns = marks.iter().find(zero).or(marks.first()).map_or(0, |mark| mark.time_ns);
    let sign = first_sign(pieces, rows, wanted, marks, from_ns);
    let Some(mark) = marks.iter_mut().find(|mark| mark.mark == Mark::UserStart) else { return };
    let by_ns = sign.as_ref().map(|sign| sign.by_ns);
    let sure_ns = from_ns.saturating_sub(zero_ns) / SURE;
    if by_ns.is_some_and(|by| by.saturating_sub(from_ns) <= sure_ns) {
        return;
    }
    let told = mark.detail.strip_prefix(INFERRED).unwrap_or(&mark.detail);
    mark.detail = match sign {
        Some(Sign { by_ns, what, .. }) => {
            format!("{INFERRED}{told}; between {} and {}: {what}", seconds(from_ns), seconds(by_ns))
        }
        None => format!("{INFERRED}{told}; at {} or later: no line shows by when", seconds(from_ns)),
    };
    mark.by_ns = by_ns;
}

/// When a record first shows that userspace runs, or its begin if that is what the user says; none: nothing shows it.
pub fn shown_at(
    pieces: &[AlignedRecord<'_>],
    rows: &[Row<'_>],
    wanted: &[BootMark],
    marks: &[BootMark],
    from_ns: i64,
) -> Option<i64> {
    if wanted.iter().any(|known| known.mark == Mark::UserStart) {
        return Some(from_ns);
    }
    first_sign(pieces, rows, wanted, marks, from_ns).map(|sign| sign.at_ns)
}

/// The first sign of userspace from an instant on, in any record.
fn first_sign(
    pieces: &[AlignedRecord<'_>],
    rows: &[Row<'_>],
    wanted: &[BootMark],
    marks: &[BootMark],
    from_ns: i64,
) -> Option<Sign> {
    let asked = |mark: Mark| wanted.iter().any(|known| known.mark == mark);
    let own = marks.iter().filter(|mark| shows(mark.mark) && !asked(mark.mark) && !mark.doubted).map(|mark| {
        let late_ns = pieces.iter().filter(|piece| piece.file == mark.source).map(late).max().unwrap_or(0);
        let what = format!("mark `{}`", mark.mark);
        Sign { at_ns: mark.time_ns, by_ns: mark.time_ns.saturating_add(late_ns), what }
    });
    let lines = pieces.iter().filter_map(|piece| of_lines(piece, from_ns));
    lines
        .chain(own)
        .chain(rows.iter().filter_map(|row| of_row(row, pieces)))
        .filter(|sign| sign.by_ns >= from_ns)
        .min_by_key(|sign| sign.by_ns)
}

/// Whether a program causes a mark.
fn shows(mark: Mark) -> bool {
    matches!(
        mark,
        Mark::GuestStart
            | Mark::InitramfsStart
            | Mark::SystemdStart
            | Mark::SwitchRoot
            | Mark::UserspaceStart
            | Mark::DefaultTarget
            | Mark::StartupFinished
            | Mark::LoginPrompt
            | Mark::Ready
    )
}

/// How much later than its stamp a thing of a record may have been.
fn late(piece: &AlignedRecord<'_>) -> i64 {
    piece.uncertainty_ns.saturating_add(piece.evidence.step_ns)
}

/// The first line that shows userspace.
fn of_lines(piece: &AlignedRecord<'_>, from_ns: i64) -> Option<Sign> {
    let lines = piece.evidence.log.iter().filter(|(_, text)| shows_userspace(text));
    let timed = lines.filter_map(|(stamp, text)| {
        let doubted = if stamp.time_ns.is_some() { piece.doubted.own } else { piece.doubted.host };
        let at_ns = placed(piece, &stamp).filter(|_| !doubted)?;
        (at_ns.saturating_add(late(piece)) >= from_ns).then_some((at_ns, text))
    });
    let (at_ns, text) = timed.min_by_key(|(at_ns, _)| *at_ns)?;
    Some(Sign { at_ns, by_ns: at_ns.saturating_add(late(piece)), what: format!("`{}`", shown(text)) })
}

fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN).collect()
}

/// A unit, or the initcall of a module: a program loads it.
fn of_row(row: &Row<'_>, pieces: &[AlignedRecord<'_>]) -> Option<Sign> {
    let piece = pieces.get(row.piece).filter(|piece| !piece.doubted.own)?;
    let what = match row.kind {
        SpanKind::Unit => "the start of the unit",
        SpanKind::Initcall if row.level == Some(InitcallLevel::Module.name()) => "the initcall of a module",
        _ => return None,
    };
    let at_ns = row.start_ns?;
    Some(Sign { at_ns, by_ns: at_ns.saturating_add(late(piece)), what: format!("{what} `{}`", row.name()) })
}
