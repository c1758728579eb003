//! `Startup finished in …`, as a line of a log whose clock the line itself does not have.

use super::time::{startup, Zero, STARTUP};
use super::timespan::STEP_NS;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence};

/// The stages that a message of the manager states, on the clock that begins with the kernel; none of another message, or where
/// the kernel is no stage.
pub(crate) fn stated_stages(message: &str, line: u64, format: &'static About) -> Option<Evidence> {
    let stages = message.strip_prefix(STARTUP)?;
    let zero = Zero::of(stages);
    if !matches!(zero, Zero::Kernel) {
        return None;
    }
    let traits = Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) };
    let of_line = Evidence { first_line: line, step_ns: STEP_NS, traits, ..Evidence::of(format, Clock::Monotonic) };
    let mut evidence = Evidence { part: "startup".to_owned(), understood: 1, ..of_line };
    startup(stages, line, zero, &mut evidence);
    Some(evidence)
}

/// Adds the stages that a message of the manager states, which it writes when the last one ends, to a log whose clock shows that.
pub(crate) fn stages_before(message: &str, line: u64, finished_ns: i64, evidence: &mut Evidence) {
    if let Some(stages) = message.strip_prefix(STARTUP) {
        startup(stages, line, Zero::BackFrom(finished_ns), evidence);
    }
}
