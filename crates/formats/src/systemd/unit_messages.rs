//! Messages of the service manager about units.

use super::unit_jobs::UnitJobs;
use super::unit_times::is_unit;

/// What the manager says of a unit. Since 250 its name stands before its description; before that only the description does,
/// and is taken for the name.
pub(super) fn unit(message: &str, time_ns: i64, units: &mut UnitJobs) {
    if let Some((step, unit)) = said(message) {
        report(&step, unit, time_ns, units);
    }
}

/// What a message says, and of which unit.
pub(super) fn said(message: &str) -> Option<(Step, &str)> {
    const WORDS: [(&str, Step); 21] = [
        ("Starting ", Step::Starting),
        ("Mounting ", Step::Starting),
        ("Activating swap ", Step::Starting),
        ("Started ", Step::Ended("done")),
        ("Finished ", Step::Ended("done")),
        ("Mounted ", Step::Ended("done")),
        ("Activated swap ", Step::Ended("done")),
        ("Reached target ", Step::Ended("done")),
        ("Listening on ", Step::Ended("done")),
        ("Found device ", Step::Ended("done")),
        ("Created slice ", Step::Ended("done")),
        ("Set up automount ", Step::Ended("done")),
        ("Failed to start ", Step::Ended("failed")),
        ("Failed to mount ", Step::Ended("failed")),
        ("Failed to listen on ", Step::Ended("failed")),
        ("Failed to activate swap ", Step::Ended("failed")),
        ("Timed out waiting for device ", Step::Ended("timeout")),
        ("Dependency failed for ", Step::Ended("dependency")),
        ("Stopping ", Step::Stopping),
        ("Unmounting ", Step::Stopping),
        ("Stopped ", Step::Stopping),
    ];
    // `Starting of NAME - ... unsupported.` is no start.
    if message.starts_with("Starting of ") {
        return None;
    }
    let found = WORDS.iter().find_map(|(word, step)| Some((message.strip_prefix(word)?, step)));
    let (rest, step) = found?;
    let rest = rest.strip_suffix("...").or_else(|| rest.strip_suffix('.')).unwrap_or(rest);
    let first = rest.split(' ').next().unwrap_or_default();
    let name = if is_unit(first) { first } else { rest };
    (!name.is_empty()).then(|| (step.clone(), name))
}

/// Notes what was said of a unit.
pub(super) fn report(step: &Step, unit: &str, time_ns: i64, units: &mut UnitJobs) {
    match step {
        Step::Starting => units.starting(unit, time_ns),
        Step::Ended(result) => units.ended(unit, time_ns, result),
        Step::Stopping => units.stopping(unit, time_ns),
    }
}

/// What happens to a unit.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Starting,
    /// With this result.
    Ended(&'static str),
    Stopping,
}

impl Step {
    /// A word for it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ended(result) => result,
            Self::Stopping => "stopping",
        }
    }
}
