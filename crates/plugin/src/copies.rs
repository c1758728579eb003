//! When copies of the profile are written.

use std::time::Duration;

// Copies of the profile are written for the case that QEMU is killed, by the processor time that QEMU's thread has used:
// what they hold does not depend on when they are made, and on a busy machine they would be many by a clock on the wall.
const BETWEEN_COPIES: Duration = Duration::from_secs(2);
/// A copy costs as much as the tree is large, and the tree grows: so many times its cost passes until the next one.
const COPY_SHARE: u32 = 500;
/// The same where a phase begins: there a copy is worth more, because it holds whole phases.
const PHASE_COPY_SHARE: u32 = 300;

/// When the next copies are due, by the processor time of the thread that runs the guest.
#[derive(Debug)]
pub struct Copies {
    next: Duration,
    next_with_phase: Duration,
}

impl Copies {
    pub fn new() -> Self {
        Self { next: processor_time() + BETWEEN_COPIES, next_with_phase: Duration::ZERO }
    }

    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Whether a copy is due where a phase begins.
    pub fn is_due_with_a_phase(&self, now: Duration) -> bool {
        now >= self.next_with_phase
    }

    /// A copy that was begun then has been written.
    pub fn made(&mut self, begun: Duration) {
        let ended = processor_time();
        let cost = ended.saturating_sub(begun);
        self.next = ended + BETWEEN_COPIES.max(cost * COPY_SHARE);
        self.next_with_phase = ended + cost * PHASE_COPY_SHARE;
    }
}

/// What the thread that runs the guest has used of a processor.
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
