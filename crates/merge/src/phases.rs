//! Marks of the whole boot, and the phases between them.

use crate::spans::Row;
use crate::trust::{remove, OTHERS, SYSTEMD_MARKS};
use crate::{Contradiction, Piece};
use firstlight_formats::evidence::SpanKind;
use rustc_hash::FxHashMap;

/// Marks of one name from two records may lie so far apart before they exclude one another.
const SAME_MARK_NS: i64 = 20_000_000;

/// A mark of the boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootMark {
    /// Its name.
    pub name: String,
    /// On the boot's clock.
    pub time_ns: i64,
    /// The file below `raw/` that told.
    pub source: String,
    /// The line, function or variable.
    pub detail: String,
}

/// An interval between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it begins.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// The file that told its first mark.
    pub source: String,
}

/// The marks that divide a boot into phases; others stand within one.
fn divides(mark: &str, all: &[BootMark]) -> bool {
    let there = |name: &str| all.iter().any(|mark| mark.name == name);
    match mark {
        "power_on"
        | "firmware_start"
        | "loader_start"
        | "capture_start"
        | "decompression_start"
        | "kernel_entry"
        | "kernel_clock_start"
        | "kernel_start"
        | "rest_init"
        | "kernel_init"
        | "initcalls"
        | "initcalls_end"
        | "free_init_memory"
        | "run_init"
        | "user_start"
        | "guest_start"
        | "initrd_start"
        | "switch_root"
        | "userspace_start"
        | "soft_reboot_start"
        | "startup_finished"
        | "ready"
        | "panic"
        | "record_start" => true,
        // The first line of systemd says about what its own marks say better.
        "systemd_start" => !there("userspace_start") && !there("initrd_start"),
        other => other.starts_with("initcall_"),
    }
}

/// The name of the phase that a mark begins.
fn phase_name(mark: &str, all: &[BootMark]) -> String {
    let there = |name: &str| all.iter().any(|mark| mark.name == name);
    match mark {
        "power_on" | "firmware_start" => "firmware",
        "loader_start" => "loader",
        "capture_start" => "before_kernel",
        "decompression_start" => "decompression",
        // Nothing says where the kernel ended and user land began.
        "kernel_clock_start" if !all.iter().any(|mark| of_the_kernel(&mark.name)) => "unknown",
        "kernel_clock_start" | "kernel_start" if all.iter().any(|mark| within_the_kernel(&mark.name)) => "early_init",
        // Nothing says how far the kernel had come before user land.
        "kernel_clock_start" | "kernel_start" => "kernel",
        "initcalls_end" => "after_initcalls",
        "user_start" | "guest_start" => "user_land",
        "initrd_start" => "initrd",
        "systemd_start" if there("switch_root") => "initrd",
        "systemd_start" | "userspace_start" => "userspace",
        "soft_reboot_start" => "soft_reboot",
        "startup_finished" => "after_startup",
        "ready" => "after_ready",
        "record_start" => "record",
        other => other,
    }
    .to_owned()
}

/// Whether a mark tells how far the kernel had come, or that it had started user land.
fn of_the_kernel(mark: &str) -> bool {
    within_the_kernel(mark)
        || matches!(
            mark,
            "kernel_start"
                | "free_init_memory"
                | "run_init"
                | "user_start"
                | "guest_start"
                | "initrd_start"
                | "systemd_start"
                | "userspace_start"
        )
}

/// Whether a mark parts the kernel's early initialisation from its initcalls.
fn within_the_kernel(mark: &str) -> bool {
    matches!(mark, "rest_init" | "kernel_init" | "initcalls" | "initcalls_end") || mark.starts_with("initcall_")
}

/// The marks of all pieces in order of time, each name once: the first piece's, of systemd's own marks that of the piece which
/// knows best, as with its stages; others that say otherwise are told.
pub fn marks(pieces: &[Piece<'_>], rows: &[Row<'_>], contradictions: &mut Vec<Contradiction>) -> Vec<BootMark> {
    let mut marks: Vec<BootMark> = Vec::new();
    let mut removes: FxHashMap<String, u8> = FxHashMap::default();
    let reset_told = pieces.iter().any(|piece| piece.evidence.format == "fpdt" && tells(piece, "firmware_start"));
    for piece in pieces {
        // systemd counts the firmware from the zero of its timer; the table tells when the reset had ended.
        let from_zero = reset_told && remove(SpanKind::Stage, piece.evidence) < OTHERS;
        let told = piece.line.map(|line| (line, &piece.evidence.marks));
        let heard = piece.host.map(|line| (line, &piece.evidence.host_marks));
        let all = told.into_iter().chain(heard).flat_map(|(line, of)| of.iter().map(move |mark| (line, mark)));
        for (line, mark) in all {
            let time_ns = line.at(mark.time_ns);
            let name = if from_zero && mark.name == "firmware_start" { "power_on" } else { &mark.name };
            let mut one =
                BootMark { name: name.to_owned(), time_ns, source: piece.file.to_owned(), detail: mark.detail.clone() };
            let from =
                if SYSTEMD_MARKS.contains(&one.name.as_ref()) { remove(SpanKind::Stage, piece.evidence) } else { 0 };
            let Some(known) = marks.iter_mut().find(|known| known.name == one.name) else {
                removes.insert(one.name.clone(), from);
                marks.push(one);
                continue;
            };
            if removes.get(&one.name).is_some_and(|nearest| from < *nearest) {
                removes.insert(one.name.clone(), from);
                std::mem::swap(known, &mut one);
            }
            let apart = known.time_ns.saturating_sub(one.time_ns).saturating_abs();
            if apart > SAME_MARK_NS.saturating_add(piece.uncertainty_ns) && known.source != one.source {
                contradictions.push(Contradiction {
                    what: format!("when the mark `{}` was reached", known.name),
                    statements: vec![
                        (known.source.clone(), crate::align::seconds(known.time_ns)),
                        (one.source, crate::align::seconds(one.time_ns)),
                    ],
                });
            }
        }
    }
    initcall_marks(pieces, rows, &mut marks);
    marks
}

fn tells(piece: &Piece<'_>, mark: &str) -> bool {
    piece.evidence.marks.iter().any(|told| told.name == mark)
}

/// The marks that the kernel's own initcalls give: the begin of each level, or of all of them.
fn initcall_marks(pieces: &[Piece<'_>], rows: &[Row<'_>], marks: &mut Vec<BootMark>) {
    let mut calls: Vec<(i64, &Row<'_>)> = rows
        .iter()
        .filter(|row| row.kind == SpanKind::Initcall && row.level != Some("module"))
        .filter_map(|row| Some((row.start_ns?, row)))
        .collect();
    calls.sort_by_key(|(start, _)| *start);
    let mut end = None;
    for (start, row) in &calls {
        let name = match row.level {
            Some("console") => continue,
            Some(level) => format!("initcall_{level}"),
            // The boot processor's first task calls the console's before there is another.
            None if !matches!(row.track, "" | "task 1") => continue,
            // Among calls of levels one without is only not known as well.
            None if marks.iter().any(|mark| mark.name.starts_with("initcall_")) => {
                end = end.max(row.end_ns);
                continue;
            }
            None => "initcalls".to_owned(),
        };
        end = end.max(row.end_ns);
        if !marks.iter().any(|mark| mark.name == name) {
            let source = pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
            marks.push(BootMark { name, time_ns: *start, source, detail: row.name().to_owned() });
        }
    }
    let after = |mark: &BootMark| {
        matches!(
            mark.name.as_str(),
            "free_init_memory" | "run_init" | "user_start" | "initrd_start" | "userspace_start"
        )
    };
    // The last of them may never have returned: then the initcalls did not end either.
    let returned = calls.last().filter(|(_, row)| row.end_ns.is_some());
    if let (Some(time_ns), false, Some((_, row))) = (end, marks.iter().any(after), returned) {
        let source = pieces.get(row.piece).map_or(String::new(), |piece| piece.file.to_owned());
        marks.push(BootMark { name: "initcalls_end".to_owned(), time_ns, source, detail: String::new() });
    }
}

/// Adds the marks at which the record itself begins and ends, where the boot's own do not cover it, and sorts them all.
///
/// What lies behind the mark at which the boot was up belongs to no boot: it gets no mark.
pub fn cover(marks: &mut Vec<BootMark>, extent: Option<(i64, i64)>) {
    let Some((first, last)) = extent else { return };
    let add = |marks: &mut Vec<BootMark>, name: &str, time_ns: i64| {
        let detail = "what the records hold".to_owned();
        marks.push(BootMark { name: name.to_owned(), time_ns, source: String::new(), detail });
    };
    let up = |mark: &BootMark| matches!(mark.name.as_str(), "ready" | "startup_finished" | "login_prompt" | "panic");
    if marks.iter().map(|mark| mark.time_ns).min().is_none_or(|earliest| first < earliest) {
        add(marks, "record_start", first);
    }
    if !marks.iter().any(up) && marks.iter().map(|mark| mark.time_ns).max().is_none_or(|latest| last > latest) {
        add(marks, "record_end", last);
    }
    marks.sort_by_key(|mark| mark.time_ns);
}

/// The phases: they partition the time from the first mark to the last.
pub fn phases(marks: &[BootMark]) -> Vec<Phase> {
    let (Some(first), Some(last)) = (marks.first(), marks.last()) else { return Vec::new() };
    let mut phases: Vec<Phase> = Vec::new();
    let begin = |mark: &BootMark| Phase {
        name: phase_name(&mark.name, marks),
        start_ns: mark.time_ns,
        end_ns: last.time_ns,
        source: mark.source.clone(),
    };
    let dividing = marks.iter().filter(|mark| divides(&mark.name, marks));
    for mark in std::iter::once(first).chain(dividing) {
        if phases.last().is_some_and(|before| before.name == phase_name(&mark.name, marks)) {
            continue;
        }
        if let Some(before) = phases.last_mut() {
            before.end_ns = mark.time_ns;
            if before.start_ns == mark.time_ns {
                phases.pop();
            }
        }
        phases.push(begin(mark));
    }
    phases.retain(|phase| phase.start_ns < phase.end_ns);
    phases
}
