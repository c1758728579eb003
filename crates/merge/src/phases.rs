//! Marks of the whole boot, and the phases between them.

use crate::boot_mark::BootMark;
use crate::grades::{distance, SYSTEMD_MARKS};
use crate::row::Row;
use crate::text::seconds;
use crate::{AlignedRecord, Contradiction};
use firstlight_formats::about::Traits;
use firstlight_schema::hand_over::HandOver;
use firstlight_schema::{self as schema, InitcallLevel, Mark, SpanKind};
use rustc_hash::FxHashMap;

/// Marks of one name from two records may lie so far apart before they exclude one another.
const SAME_MARK_NS: i64 = 20_000_000;

/// An interval between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// When it begins.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// The file with its first mark.
    pub source: String,
    /// The begin or the end is inferred: it is a bound.
    pub inferred: bool,
    /// The begin or the end is of a clock that cannot be right.
    pub doubted: bool,
    /// It began by then, where the begin is inferred.
    pub began_by_ns: Option<i64>,
    /// It ended by then, where the end is inferred.
    pub ended_by_ns: Option<i64>,
    /// Nothing shows by when an inferred begin or end was reached.
    pub open: bool,
}

/// Whether a mark divides a boot into phases; others stand within one.
fn divides(mark: Mark, all: &[BootMark]) -> bool {
    let there = |wanted: Mark| all.iter().any(|told| told.mark == wanted);
    let at = |wanted: Mark| all.iter().filter(|told| told.mark == wanted).map(|told| told.time_ns).min();
    match mark {
        // Some kernels run the first program before their last initcalls, and free the memory of these later.
        Mark::FreeInitMemory => {
            let runs = [Mark::RunInit, Mark::UserStart].into_iter().filter_map(at).min();
            runs.zip(at(mark)).is_none_or(|(runs, freed)| freed <= runs)
        }
        // The first line of systemd says about what its own marks say better.
        Mark::SystemdStart => !there(Mark::UserspaceStart) && !there(Mark::InitramfsStart),
        other => other.phase().is_some(),
    }
}

/// The name of the phase that a mark begins; what begins at the first mark, whichever it is, may have that mark's own.
fn phase_name(mark: Mark, all: &[BootMark]) -> &'static str {
    let any = |wanted: fn(Mark) -> bool| all.iter().any(|told| wanted(told.mark));
    let phase = match mark {
        Mark::SystemdStart if any(|told| told == Mark::SwitchRoot) => Some(schema::Phase::Initramfs),
        // Nothing says where the kernel ended and userspace began.
        Mark::KernelClockStart if !any(of_the_kernel) => Some(schema::Phase::Unknown),
        // Nothing says how far the kernel had come before userspace.
        Mark::KernelClockStart | Mark::KernelStart if !any(within_the_kernel) => Some(schema::Phase::Kernel),
        other => HandOver::of(all.iter().map(|told| (told.mark, told.detail.as_str()))).phase(other),
    };
    phase.map_or(mark.name(), schema::Phase::name)
}

/// Whether a mark shows the progress of the kernel, or that it had started userspace.
fn of_the_kernel(mark: Mark) -> bool {
    within_the_kernel(mark)
        || matches!(
            mark,
            Mark::KernelStart
                | Mark::FreeInitMemory
                | Mark::RunInit
                | Mark::UserStart
                | Mark::GuestStart
                | Mark::InitramfsStart
                | Mark::SystemdStart
                | Mark::UserspaceStart
        )
}

/// Whether a mark parts the kernel's early initialisation from its initcalls.
fn within_the_kernel(mark: Mark) -> bool {
    matches!(mark, Mark::RestInit | Mark::KernelInit | Mark::Initcalls | Mark::InitcallsEnd)
        || mark.initcall_level().is_some()
}

/// The marks of all pieces in order of time, each name once: the first piece's, of systemd's own marks that of the piece which
/// is the most reliable, as with its stages; other values are reported.
pub fn marks(pieces: &[AlignedRecord<'_>], rows: &[Row<'_>], contradictions: &mut Vec<Contradiction>) -> Vec<BootMark> {
    let mut marks: Vec<BootMark> = Vec::new();
    let mut removes: FxHashMap<Mark, u8> = FxHashMap::default();
    let reset_reported =
        pieces.iter().any(|piece| piece.evidence.traits.resets_clock && reports(piece, Mark::FirmwareStart));
    for piece in pieces {
        // systemd counts the firmware from the zero of its timer; the table has the end of the reset.
        let from_zero = reset_reported && distance(SpanKind::Stage, piece.evidence) < Traits::FAR;
        let told = piece.line.map(|line| (line, piece.doubted.own, &piece.evidence.marks));
        let captured = piece.host.map(|line| (line, piece.doubted.host, &piece.evidence.host_marks));
        let all = told
            .into_iter()
            .chain(captured)
            .flat_map(|(line, doubted, of)| of.iter().map(move |mark| (line, doubted, mark)));
        for (line, doubted, mark) in all {
            let time_ns = line.at(mark.time_ns);
            let which = if from_zero && mark.mark == Mark::FirmwareStart { Mark::PowerOn } else { mark.mark };
            let (source, detail) = (piece.file.to_owned(), mark.detail.clone());
            let mut one = BootMark { doubted, ..BootMark::new(which, time_ns, source, detail) };
            let from = if SYSTEMD_MARKS.contains(&which) { distance(SpanKind::Stage, piece.evidence) } else { 0 };
            let Some(known) = marks.iter_mut().find(|known| known.mark == which) else {
                removes.insert(which, from);
                marks.push(one);
                continue;
            };
            if known.is_inferred() != one.is_inferred() {
                // A record that has it is better than what another one lets infer.
                if known.is_inferred() {
                    removes.insert(which, from);
                    *known = one;
                }
                continue;
            }
            if removes.get(&which).is_some_and(|nearest| from < *nearest) {
                removes.insert(which, from);
                std::mem::swap(known, &mut one);
            }
            // A line of systemd comes later than what it shows.
            let line = [&*known, &one].iter().any(|mark| mark.detail.starts_with("systemd[1]: "));
            if matches!(which, Mark::InitramfsStart | Mark::UserspaceStart) && line {
                continue;
            }
            let apart = known.time_ns.saturating_sub(one.time_ns).saturating_abs();
            if apart > SAME_MARK_NS.saturating_add(piece.uncertainty_ns) && known.source != one.source {
                contradictions.push(Contradiction {
                    what: format!("when the mark `{}` was reached", known.mark),
                    statements: vec![
                        (known.source.clone(), seconds(known.time_ns)),
                        (one.source, seconds(one.time_ns)),
                    ],
                });
            }
        }
    }
    initcall_marks(pieces, rows, &mut marks);
    marks
}

fn reports(piece: &AlignedRecord<'_>, mark: Mark) -> bool {
    piece.evidence.marks.iter().any(|told| told.mark == mark)
}

/// The marks that the kernel's own initcalls give: the begin of each level, or of all of them.
fn initcall_marks(pieces: &[AlignedRecord<'_>], rows: &[Row<'_>], marks: &mut Vec<BootMark>) {
    let mut calls: Vec<(i64, &Row<'_>)> = rows
        .iter()
        .filter(|row| row.kind == SpanKind::Initcall && row.level != Some(InitcallLevel::Module.name()))
        .filter_map(|row| Some((row.start_ns?, row)))
        .collect();
    calls.sort_by_key(|(start, _)| *start);
    let mut end = None;
    for (start, row) in &calls {
        let level = row.level.map(InitcallLevel::parse);
        let mark = match level {
            Some(level) => match level.and_then(InitcallLevel::mark) {
                Some(mark) => mark,
                // Of consoles there is none.
                None => continue,
            },
            // The boot processor's first task calls the console's before there is another.
            None if !matches!(row.track, "" | "task 1") => continue,
            // Among calls of levels one without is only not known as well.
            None if marks.iter().any(|told| told.mark.initcall_level().is_some()) => {
                end = end.max(row.end_ns);
                continue;
            }
            None => Mark::Initcalls,
        };
        end = end.max(row.end_ns);
        if !marks.iter().any(|told| told.mark == mark) {
            let source = pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
            marks.push(BootMark::new(mark, *start, source, row.name().to_owned()));
        }
    }
    let after = |mark: &BootMark| {
        matches!(
            mark.mark,
            Mark::FreeInitMemory | Mark::RunInit | Mark::UserStart | Mark::InitramfsStart | Mark::UserspaceStart
        )
    };
    // The last of them may never have returned: then the initcalls did not end either.
    let returned = calls.last().filter(|(_, row)| row.end_ns.is_some());
    if let (Some(time_ns), false, Some((_, row))) = (end, marks.iter().any(after), returned) {
        let source = pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
        marks.push(BootMark::new(Mark::InitcallsEnd, time_ns, source, String::new()));
    }
}

/// Adds the marks at which the record itself begins and ends, where the boot's own do not cover it, and sorts them all.
///
/// What lies behind the mark at which the boot was up belongs to no boot: it gets no mark.
pub fn cover(marks: &mut Vec<BootMark>, extent: Option<(i64, i64)>) {
    let Some((first, last)) = extent else { return };
    let add = |marks: &mut Vec<BootMark>, mark: Mark, time_ns: i64| {
        let detail = "what the records hold".to_owned();
        marks.push(BootMark::new(mark, time_ns, String::new(), detail));
    };
    let up = |mark: &BootMark| {
        matches!(mark.mark, Mark::Ready | Mark::StartupFinished | Mark::LoginPrompt | Mark::Panic | Mark::UpBy)
    };
    if marks.iter().map(|mark| mark.time_ns).min().is_none_or(|earliest| first < earliest) {
        add(marks, Mark::RecordStart, first);
    }
    if !marks.iter().any(up) && marks.iter().map(|mark| mark.time_ns).max().is_none_or(|latest| last > latest) {
        add(marks, Mark::RecordEnd, last);
    }
    marks.sort_by_key(|mark| mark.time_ns);
    // At one instant the processor enters the kernel before this begins: its phase holds nothing of the kernel then.
    let at = |wanted: Mark| marks.iter().position(|mark| mark.mark == wanted);
    if let Some((start, entry)) = at(Mark::KernelStart).zip(at(Mark::KernelEntry)) {
        if start < entry && marks[start].time_ns == marks[entry].time_ns {
            marks[start..=entry].rotate_right(1);
        }
    }
}

/// The phases: they partition the time from the first mark to the last.
pub fn phases(marks: &[BootMark]) -> Vec<Phase> {
    let (Some(first), Some(last)) = (marks.first(), marks.last()) else { return Vec::new() };
    let mut phases: Vec<Phase> = Vec::new();
    let dividing = marks.iter().filter(|mark| divides(mark.mark, marks));
    for mark in std::iter::once(first).chain(dividing) {
        let name = phase_name(mark.mark, marks);
        if phases.last().is_some_and(|before| before.name == name) {
            continue;
        }
        // A phase without a length is none: what is unsure of its begin and its end is unsure of the end of the phase before it.
        if phases.last().is_some_and(|before| before.start_ns == mark.time_ns) {
            phases.pop();
        }
        if let Some(before) = phases.last_mut() {
            before.end_ns = mark.time_ns;
            before.inferred |= mark.is_inferred();
            before.doubted |= mark.doubted;
            before.ended_by_ns = before.ended_by_ns.max(mark.by_ns);
            before.open |= mark.is_open();
        }
        let inferred = mark.is_inferred();
        phases.push(Phase {
            name,
            start_ns: mark.time_ns,
            end_ns: last.time_ns,
            source: mark.source.clone(),
            inferred,
            doubted: mark.doubted,
            began_by_ns: mark.by_ns,
            ended_by_ns: None,
            open: mark.is_open(),
        });
    }
    if let Some(phase) = phases.last_mut() {
        // A kernel that is not known to have ended did at some time before its record does.
        let unknown = phase.name == schema::Phase::Kernel.name() && last.mark == Mark::RecordEnd;
        phase.inferred |= last.is_inferred() || unknown;
        phase.open |= last.is_open() || unknown;
        phase.doubted |= last.doubted;
    }
    phases.retain(|phase| phase.start_ns < phase.end_ns);
    phases
}
