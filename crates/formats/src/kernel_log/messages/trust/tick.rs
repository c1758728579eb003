//! Whether the clock of the kernel's own figures is the tick, as it is until it switches its clock source, or stands still.
//!
//! N is then 0 or some ticks, cut off to its unit: microseconds, or 1024 ns before version 5.18.

mod candidates;

use crate::counts::counted;
use crate::evidence::chunks::Chunks;
use crate::evidence::spans::Row;
use crate::evidence::{Evidence, Mark, SpanKind};
use crate::kernel_log::messages::figure::{Figure, Measured, MICROSECOND};
use candidates::{tally, Candidate, Vote};

/// So many figures in steps of the tick, two of them not zero, are no accident, wherever they end.
const TICKING: usize = 10;
/// Before a switch in the log all figures have to be such, and this many are enough.
const FEW: usize = 2;
/// What no boot has reached while its clock still stands.
const LATER: [Mark; 4] = [Mark::FreeInitMemory, Mark::WriteProtect, Mark::UserStart, Mark::SystemdStart];

/// The lengths that are not those of a real clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tick {
    /// The step in nanoseconds; none where the clock stood still.
    pub(super) step: Option<i64>,
    /// How many there are.
    pub(super) calls: usize,
    /// Those among so many first ones,
    first: usize,
    /// which began before this.
    until: Option<i64>,
}

impl Tick {
    /// Whether the figure of a row, the *number*th that was measured, is such a one.
    pub(super) fn covers(&self, number: usize, row: &Row) -> bool {
        number < self.first && self.until.is_none_or(|until| row.start_ns().is_some_and(|start| start < until))
    }

    /// Returns the sentence about them.
    pub(super) fn statement(&self) -> String {
        let calls = self.calls;
        let Some(step) = self.step else {
            return counted(
                calls,
                "the first [length|# lengths] that the kernel gives [is|are] 0 while the stamps move on, because its own clock \
                 stands still: [that|those] of the stamps [is|are] taken",
            );
        };
        let ms = match step % 1_000_000 {
            0 => (step / 1_000_000).to_string(),
            _ => format!("{:.3}", step as f64 / 1e6),
        };
        let text = format!(
            "the first [length|# lengths] that the kernel gives move[s|] in steps of {ms} ms, because its clock source is the \
             tick until it switches: [that|those] of the stamps [is|are] taken"
        );
        counted(calls, &text)
    }
}

/// Looks at all figures before the switch, else at the first ones.
pub(super) fn find(
    measured: &Chunks<Measured>,
    release: Option<(i64, i64)>,
    coarse: Option<(i64, i64)>,
    evidence: &Evidence,
) -> Option<Tick> {
    let switch = evidence.marks.iter().find(|mark| mark.mark == Mark::ClocksourceSwitch);
    let switch = switch.filter(|mark| !mark.detail.contains("jiffies")).map(|mark| mark.time_ns);
    let step_of = |row: &Row| {
        let early = coarse.filter(|&(_, until)| row.start_ns().is_some_and(|start| start < until));
        evidence.step_ns.max(early.map_or(0, |(step, _)| step))
    };
    let rows = || measured.iter().map(|one| (one, evidence.spans.row(one.span as usize)));
    let votes = || rows().map(|(one, row)| row.and_then(|row| vote(one, row, step_of(row))));
    if let Some(until) = switch {
        let before = |row: &Row| row.end_ns().is_some_and(|end| end <= until);
        let of_tick = rows().zip(votes()).filter(|((_, row), _)| row.is_some_and(before)).filter_map(|(_, vote)| vote);
        let (candidates, disagree) = tally(of_tick, release);
        let by_release = release.map(|release| release < (5, 18));
        let enough = |one: &&Candidate| {
            let likely = one.usual && by_release.is_none_or(|shifted| shifted == one.shifted);
            !one.missed && one.hits >= FEW && one.telling >= if likely { 1 } else { 2 }
        };
        if let Some(found) = candidates.iter().find(enough).filter(|_| disagree) {
            return Some(Tick { step: Some(found.tick), calls: found.hits, first: usize::MAX, until: Some(until) });
        }
    }
    let (candidates, _) = tally(votes().map_while(|vote| vote), release);
    let enough = candidates.iter().filter(|one| one.hits >= TICKING && one.telling >= 2);
    if let Some(found) = enough.reduce(|best, one| if one.hits > best.hits { one } else { best }) {
        return Some(Tick { step: Some(found.tick), calls: found.hits, first: found.hits, until: switch });
    }
    let until = match switch {
        Some(until) => Some(until),
        None if !evidence.marks.iter().any(|mark| mark.mark == Mark::KernelStart) => return None,
        None => {
            let later = evidence.marks.iter().filter(|mark| LATER.contains(&mark.mark));
            later.map(|mark| mark.time_ns).min()
        }
    };
    standing(rows().zip(votes()).map(|((_, row), vote)| (row, vote)), until)
}

/// The figures of 0 from the first one on, if the stamps of one move on meanwhile.
fn standing<'a>(votes: impl Iterator<Item = (Option<&'a Row>, Option<Vote>)>, until: Option<i64>) -> Option<Tick> {
    let before = |row: &Row| until.is_none_or(|until| row.end_ns().is_some_and(|end| end <= until));
    let zeros =
        votes.take_while(|(row, vote)| row.is_some_and(&before) && vote.as_ref().is_some_and(|vote| vote.units == 0));
    let (calls, moves) = zeros.fold((0_usize, false), |(calls, moves), (_, vote)| {
        (calls.saturating_add(1), moves || vote.is_some_and(|vote| vote.disagrees))
    });
    moves.then_some(Tick { step: None, calls, first: calls, until })
}

/// Nothing of what has no figure in microseconds.
fn vote(measured: &Measured, row: &Row, step: i64) -> Option<Vote> {
    let length = row.duration_ns().filter(|_| measured.figure == Figure::Micros)?;
    let own_unit = match row.kind {
        SpanKind::Initcall => None,
        SpanKind::Probe => Some(MICROSECOND),
        _ => Some(1024),
    };
    // Of initcalls it is kept as if it were of microseconds until the unit is known.
    let units = length / own_unit.unwrap_or(MICROSECOND);
    let stamps = match (row.start_ns(), row.end_ns()) {
        (Some(start), Some(end)) if start > 0 && measured.paired && !measured.moved => end.saturating_sub(start),
        _ => -1,
    };
    let apart = stamps.saturating_sub(length).saturating_abs();
    let disagrees = row.kind == SpanKind::Initcall
        && stamps >= 0
        && match length {
            0 => stamps >= step.saturating_mul(100),
            // More than what a unit of 1024 ns makes, too.
            _ => apart > step.saturating_mul(3).max(length / 25),
        };
    Some(Vote { units, own_unit, disagrees })
}
