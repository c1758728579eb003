//! What clocks are to one another by what they are, before any shared event is looked at.

use super::placed::{family, same, Family, Place, Placed};
use crate::fit::Line;
use firstlight_formats::evidence::{Clock, Evidence, Mark};

/// The clock that comes first is the boot's.
pub fn rank(clock: &Clock) -> u8 {
    match clock {
        Clock::Printk => 0,
        Clock::Monotonic => 1,
        Clock::Boottime => 2,
        Clock::Trace(_) => 3,
        Clock::Kft => 4,
        Clock::Host => 5,
        Clock::Realtime => 6,
        Clock::Userspace => 7,
        Clock::Firmware => 8,
        Clock::Untimed => 9,
    }
}

/// Whether this clock of the tracer runs as one of the kernel's own does.
pub fn same_as_kernel(trace_clock: &str) -> bool {
    matches!(trace_clock, "" | "local" | "global" | "mono" | "mono_raw" | "boot" | "tai")
}

/// The firmware's own times: where it handed over, the kernel's clock begins, as systemd takes it, too.
pub fn firmware(piece: &Evidence, placed: &Placed) -> Option<Place> {
    let at = |wanted: Mark| piece.marks.iter().find(|told| told.mark == wanted).map(|told| told.time_ns);
    let assumed = |at: i64, how: &str| {
        let zero = placed.kernel_line()?.at(0);
        let line = Line::SAME.shifted(zero.saturating_sub(at));
        Some(same(line, format!("assumed{how}")))
    };
    if let Some(anchor) = piece.traits.anchor {
        return assumed(at(anchor.mark)?, anchor.assumption);
    }
    if piece.clock != Clock::Firmware {
        return None;
    }
    match at(Mark::KernelEntry) {
        // A console that a host stamped has seen the loader hand over.
        Some(entry) => placed.known.mark(Mark::KernelEntry).map_or_else(
            || assumed(entry, ": the kernel's clock began when the boot loader handed over"),
            |seen| {
                let line = Line::SAME.shifted(seen.saturating_sub(entry));
                Some(same(line, "both records have the instant at which the boot loader handed over".to_owned()))
            },
        ),
        None => {
            let how = ": the kernel's clock began when coreboot jumped to its payload; how long that took is not known";
            assumed(at(Mark::PayloadStart)?, how)
        }
    }
}

/// The way of a clock onto the boot's by what it is and what is placed already, and why.
pub fn identity(clock: &Clock, placed: &Placed) -> Option<(Line, String)> {
    // Those of firmware, capturing machines and function logs begin anew with each record.
    let lasting = !matches!(clock, Clock::Firmware | Clock::Host | Clock::Kft);
    if let Some((_, line, assumed)) = placed.clocks.iter().find(|(other, ..)| lasting && other == clock) {
        // What is assumed of a clock is assumed of every record that has it.
        let how = assumed.clone().unwrap_or_else(|| "another record has the same clock".to_owned());
        return Some((*line, how));
    }
    if *clock == Clock::Realtime {
        let began = placed.readings.realtime_at_boot_ns?;
        let line = placed.kernel_line()?;
        return Some((line.shifted(began.saturating_neg()), "by readings of both clocks at one instant".to_owned()));
    }
    let ours = family(clock)?;
    if let Some(line) = placed.line_of(ours) {
        let how = match ours {
            Family::Scheduler => "assumed: the tracer's clock and printk's are the scheduler's",
            Family::Monotonic => "assumed: without suspend these clocks are one",
        };
        return Some((line, how.to_owned()));
    }
    let line = placed.line_of(if ours == Family::Scheduler { Family::Monotonic } else { Family::Scheduler })?;
    match placed.readings.printk_ahead_of_monotonic_ns {
        Some(ahead) => {
            let ahead = if ours == Family::Scheduler { ahead.saturating_neg() } else { ahead };
            Some((line.shifted(ahead), "by readings of both clocks at one instant".to_owned()))
        }
        None => {
            let how = "assumed: both count from the kernel's start; they may lie some ten milliseconds apart";
            Some((line, how.to_owned()))
        }
    }
}

/// The way of a clock onto the boot's by where the start-up lies on it.
pub fn by_start(piece: &Evidence, placed: &Placed) -> Option<(Line, String)> {
    let mark = |wanted: Mark| piece.marks.iter().find(|told| told.mark == wanted).map(|told| told.time_ns);
    match piece.clock {
        Clock::Userspace => {
            let line = Line::SAME.shifted(placed.known.mark(Mark::UserspaceStart)?);
            Some((line, "it counts from the start of userspace, which another record has".to_owned()))
        }
        Clock::Realtime => {
            let line = placed.kernel_line()?;
            let line = line.shifted(mark(Mark::KernelClockStart)?.saturating_neg());
            Some((
                line,
                "by its line `Startup finished`, which states how long before it the kernel's clock began".to_owned(),
            ))
        }
        _ => None,
    }
}
