//! Finds the end of the start in records that do not have it: where the lines become rare, or stop.

use crate::boot_mark::BootMark;
use crate::first_program::shown_at;
use crate::log::placed;
use crate::row::Row;
use crate::text::seconds;
use crate::AlignedRecord;
use firstlight_formats::evidence::{Mark, SpanKind, INFERRED};

/// A start without messages for this long is over.
const QUIET_NS: i64 = 60_000_000_000;
/// Before and after a change of the rate lie at least so many events, and so much of the record after it.
const FEWEST: usize = 8;
const RARE_NS: i64 = 5_000_000_000;
/// The start is over where events become so many times rarer.
const RARER: f64 = 20.0;
/// How much likelier two rates than one must make the events: the logarithm of the ratio.
const LIKELIER: f64 = 30.0;

/// Where a start ended, and what it is taken to end by.
struct Over {
    mark: Mark,
    time_ns: i64,
    detail: String,
    what: String,
}

/// When a unit was up, as the manager of units says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    time_ns: i64,
    /// It is the journal, to which the manager writes from then on, and no longer to the kernel's log.
    journal: bool,
}

/// Ends a boot whose records go on after the start without a record of its end, once userspace runs: at the last event before a
/// minute without events, or where the events become rare. Where the manager of units wrote to a journal that is missing, what is
/// shown ends there, and the end of the start is not known. Returns the note about it.
pub fn start_up_over(
    pieces: &[AlignedRecord<'_>],
    rows: &[Row<'_>],
    wanted: &[BootMark],
    marks: &mut Vec<BootMark>,
) -> Option<String> {
    let record_end = marks.iter().find(|mark| mark.mark == Mark::RecordEnd)?;
    let (last, source) = (record_end.time_ns, record_end.source.clone());
    let user = userspace_start(rows, marks)?;
    let (busy, reached) = events(pieces, rows, marks, user);
    let up = root_runs_by(marks).and_then(|root| Some((root, shown_at(pieces, rows, wanted, marks, user)?)));
    let rarer = up.and_then(|(root, shown)| {
        // What the initramfs did makes no line of the root file system rarer.
        let busy: Vec<(i64, i64)> = busy.iter().copied().filter(|(_, end)| *end >= root).collect();
        rarer(&busy, &reached, root.max(shown), last)
    });
    let Over { mark, time_ns, detail, what } = rarer.or_else(|| quiet(&busy, user))?;
    // Time 0 is the first mark.
    let origin = marks.first().map_or(0, |mark| mark.time_ns);
    let shown = |time_ns: i64| seconds(time_ns.saturating_sub(origin));
    let journal = reached.iter().rfind(|up| up.time_ns <= time_ns).filter(|up| up.journal);
    let (mark, detail, why) = match (journal, mark) {
        (Some(journal), _) => {
            let since = shown(journal.time_ns);
            let detail = format!(
                "{INFERRED}{what}; the start was not over at {since}, from which on systemd writes to its journal only"
            );
            let why = format!(
                "from {since} on systemd writes to its journal, which is not among the records, so the start was over after \
                 that, and it is not known when; the phases end at {}, where {what}",
                shown(time_ns)
            );
            (Mark::RecordEnd, detail, why)
        }
        (None, Mark::StartupSettled) => (mark, detail, format!("it is taken to end where {what}")),
        (None, _) => (mark, detail, format!("it is taken to be up by {}, where {what}", shown(time_ns))),
    };
    // What happened later is not a mark of the start.
    marks.retain(|mark| mark.time_ns <= time_ns);
    marks.push(BootMark::new(mark, time_ns, source, detail));
    marks.sort_by_key(|mark| mark.time_ns);
    Some(format!(
        "no record shows when the start was over: {why}; what came later, up to {} s after that, stays in the log and among \
         the spans",
        last.saturating_sub(time_ns) / 1_000_000_000
    ))
}

/// From when to when something happened since userspace runs, in order; and when units were up, as their manager says.
fn events(
    pieces: &[AlignedRecord<'_>],
    rows: &[Row<'_>],
    marks: &[BootMark],
    user: i64,
) -> (Vec<(i64, i64)>, Vec<Reached>) {
    let (mut busy, mut reached) = (vec![(user, user)], Vec::new());
    for piece in pieces {
        for (stamp, text) in piece.evidence.log.iter() {
            let Some(at) = placed(piece, &stamp) else { continue };
            busy.push((at, at));
            let message = unit_message(text);
            if ["Reached target ", "Started "].iter().any(|words| message.starts_with(words)) {
                reached.push(Reached { time_ns: at, journal: is_journal(message) });
            }
        }
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
    reached.sort_unstable();
    (busy, reached)
}

/// What the manager of units says, through the kernel's log or as a line of status.
fn unit_message(text: &str) -> &str {
    let message = text.strip_prefix("systemd[1]: ").or_else(|| text.trim_start().strip_prefix("[  OK  ] "));
    message.unwrap_or_default()
}

/// Whether the journal is up; its unit stands before its description since systemd 250.
fn is_journal(message: &str) -> bool {
    ["Started Journal Service", "Started systemd-journald.service"].iter().any(|words| message.starts_with(words))
}

/// The last event before a minute without any.
fn quiet(busy: &[(i64, i64)], user: i64) -> Option<Over> {
    let mut reach = user;
    let (over, next) = busy.iter().find_map(|(start, end)| {
        let over = reach;
        reach = reach.max(*end);
        (start.saturating_sub(over) > QUIET_NS).then_some((over, *start))
    })?;
    let nothing = next.saturating_sub(over) / 1_000_000_000;
    let detail = format!("then nothing for {nothing} s");
    Some(Over { mark: Mark::StartupSettled, time_ns: over, detail, what: format!("nothing happened for {nothing} s") })
}

/// Where the rate of the events changes most: of two Poisson processes, one after the other, the likeliest change. The last
/// message of the manager of units that a unit is up, before it, is the end of the start. *from*: no boot was up before it.
fn rarer(busy: &[(i64, i64)], reached: &[Reached], from: i64, last: i64) -> Option<Over> {
    let instants: Vec<i64> = busy.iter().map(|(_, end)| *end).collect();
    let (first, count) = (*instants.first()?, instants.len());
    let length = |from: i64, to: i64| (to.saturating_sub(from).max(1)) as f64;
    let likelihood =
        |events: usize, length: f64| if events == 0 { 0.0 } else { events as f64 * (events as f64 / length).ln() };
    let one = likelihood(count, length(first, last));
    let mut best: Option<(f64, usize)> = None;
    for before in FEWEST..count {
        let at = *instants.get(before - 1)?;
        if last.saturating_sub(at) < RARE_NS {
            break;
        }
        let (early, late) = (length(first, at), length(at, last));
        let rarer = (before as f64 / early) / (count - before).max(1) as f64 * late;
        let gain = likelihood(before, early) + likelihood(count - before, late) - one;
        if at >= from && rarer >= RARER && gain >= LIKELIER && best.is_none_or(|(known, _)| gain > known) {
            best = Some((gain, before));
        }
    }
    let change = *instants.get(best?.1 - 1)?;
    // A unit that is still starting: the start goes on.
    if busy.iter().any(|(start, end)| *start <= change && *end > change) {
        return None;
    }
    let up = reached.iter().rfind(|up| (from..=change).contains(&up.time_ns));
    let (time_ns, what) = match up.filter(|up| !up.journal) {
        Some(up) => (up.time_ns, "the last unit that is up before the lines become rare"),
        None => (change, "the lines become rare"),
    };
    Some(Over { mark: Mark::UpBy, time_ns, detail: format!("{INFERRED}{what}"), what: what.to_owned() })
}

/// When the root file system's userspace began, where an initramfs with a manager of units came before it: the units of that are
/// up long before the boot is. None: no record shows the root file system's.
fn root_runs_by(marks: &[BootMark]) -> Option<i64> {
    let at = |wanted: Mark| marks.iter().find(|mark| mark.mark == wanted).map(|mark| mark.time_ns);
    match at(Mark::InitramfsStart) {
        Some(_) => at(Mark::UserspaceStart).or(at(Mark::SwitchRoot)),
        None => Some(i64::MIN),
    }
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
