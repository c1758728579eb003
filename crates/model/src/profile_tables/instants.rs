//! Instants of a recording in the tables: virtual time, and the phases between marks.

use firstlight_profile::recording::{Instant, Recording};
use firstlight_schema::hand_over::HandOver;
use firstlight_schema::Mark;

/// The virtual clock: how many nanoseconds an instruction takes, as a power of two.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) shift: u8,
}

impl Clock {
    pub(super) fn ns(self, instructions: u64) -> u64 {
        instructions.checked_shl(u32::from(self.shift)).unwrap_or(u64::MAX)
    }

    pub(super) fn at(self, instant: Instant) -> u64 {
        self.ns(instant.instructions).saturating_add(instant.idle_ns)
    }
}

/// A phase has the name of the mark that begins it, or that of what runs in it where the field has a word for that.
pub(super) fn phase_name(mark: &str, hand_over: HandOver) -> &str {
    match Mark::parse(mark) {
        Some(
            known @ (Mark::PowerOn
            | Mark::LoaderStart
            | Mark::DecompressionStart
            | Mark::KernelStart
            | Mark::GuestStart
            | Mark::SwitchRoot),
        ) => hand_over.phase(known).map_or(mark, |phase| phase.name()),
        _ => mark,
    }
}

/// How the boot came from its initramfs to its root file system.
pub(super) fn hand_over(recording: &Recording) -> HandOver {
    let marks = recording.marks.iter();
    HandOver::of(marks.filter_map(|mark| Some((Mark::parse(&mark.mark)?, mark.detail.as_str()))))
}
