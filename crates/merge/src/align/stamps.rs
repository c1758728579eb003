//! What systemd itself stamped, in two records of one clock: it cannot lie at two instants.

use super::placed::Placed;
use crate::events::Shared;
use crate::fit::Line;
use crate::grades::{distance, STAMPED, STAMPS_APART_NS, SYSTEMD_MARKS};
use crate::text::seconds;
use firstlight_formats::evidence::{Evidence, Mark, SpanKind};

/// Marks further apart than this do not mean the same.
pub const SAME_MARK_NS: i64 = 1_000_000_000;
/// Marks that lie so close are of one boot: no other's are, to the rounding of messages.
const ONE_BOOT_NS: i64 = 2_000_000;
/// So many units that all begin at other instants convict a record of being another boot's.
const ENOUGH_UNITS: usize = 3;
/// Messages about a unit wait no longer than this to be written.
const LATEST_MESSAGE_NS: i64 = 10_000_000_000;

/// Why a record is another boot's, by what systemd stamped on a clock that is placed already.
pub fn excluded(piece: &Evidence, ours: &Shared, placed: &Placed, line: Line) -> Option<String> {
    if !placed.clocks.iter().any(|(clock, ..)| *clock == piece.clock) {
        return None;
    }
    marks_apart(ours, &placed.known, line)
        .or_else(|| begins_apart(ours, &placed.known, line, placed.step_ns.max(piece.step_ns)))
}

/// A mark far apart, and none that both have at one instant.
fn marks_apart(ours: &Shared, known: &Shared, line: Line) -> Option<String> {
    // A start of user land alone has marks of its own under one number of the boot.
    if ours.mark(Mark::SoftRebootStart).is_some() != known.mark(Mark::SoftRebootStart).is_some() {
        return None;
    }
    let apart = |mark: Mark| Some(line.at(ours.mark(mark)?).saturating_sub(known.mark(mark)?).saturating_abs());
    let least = SYSTEMD_MARKS.into_iter().filter_map(apart).min()?;
    let most = SYSTEMD_MARKS.into_iter().filter_map(apart).max()?;
    (least > ONE_BOOT_NS && most > SAME_MARK_NS).then(|| two_instants(most))
}

/// Why a record is another boot's whose mark lies so far apart.
pub fn two_instants(apart: i64) -> String {
    format!("the same mark lies {} apart on what is one clock", seconds(apart))
}

/// How many units that both records stamped began at two instants, of how many, and how far apart at most. What began behind
/// the end of one of the records was restarted since.
fn begins(ours: &Shared, known: &Shared, line: Line, step_ns: i64) -> Option<(usize, usize, i64)> {
    let until = line.at(ours.until?).min(known.until?);
    let begins = Shared::pairs(&ours.begun, &known.begun).into_iter().map(|(mine, theirs)| (line.at(mine), theirs));
    let apart: Vec<i64> = begins
        .filter(|(mine, theirs)| mine.max(theirs) <= &until)
        .map(|(mine, theirs)| mine.saturating_sub(theirs).saturating_abs())
        .collect();
    let wrong = apart.iter().filter(|apart| **apart > STAMPS_APART_NS.max(step_ns.saturating_mul(2))).count();
    Some((wrong, apart.len(), apart.iter().copied().max().unwrap_or(0)))
}

/// Nine of ten units begin at other instants.
fn begins_apart(ours: &Shared, known: &Shared, line: Line, step_ns: i64) -> Option<String> {
    let (wrong, of, most) = begins(ours, known, line, step_ns)?;
    (of >= ENOUGH_UNITS && wrong.saturating_mul(10) >= of.saturating_mul(9)).then(|| {
        let most = seconds(most);
        format!("{wrong} of {of} units that both records hold begin up to {most} apart on what is one clock")
    })
}

/// Whether systemd stamped the begin of most shared units at one instant in both records: of the others there were restarts.
pub fn begin_together(piece: &Evidence, ours: &Shared, placed: &Placed, line: Line) -> bool {
    let both = ours.begun.keys().any(|unit| placed.known.begun.contains_key(unit));
    let told = begins(ours, &placed.known, line, placed.step_ns.max(piece.step_ns));
    both && told.is_some_and(|(wrong, of, _)| wrong.saturating_mul(2) <= of)
}

/// Whether units differ as messages about them do from systemd's own stamps: they come late and never early.
pub fn reported_late(piece: &Evidence, units: &[(i64, i64)], line: Line) -> bool {
    let stamped = distance(SpanKind::Unit, piece) <= STAMPED;
    let late = |(mine, theirs): &(i64, i64)| match stamped {
        true => theirs.saturating_sub(line.at(*mine)),
        false => line.at(*mine).saturating_sub(*theirs),
    };
    let believable = units.iter().filter(|unit| (-STAMPS_APART_NS..=LATEST_MESSAGE_NS).contains(&late(unit))).count();
    believable.saturating_mul(20) >= units.len().saturating_mul(19)
}
