//! Units by what the manager writes onto a console: through the kernel's log, and as lines of status (`[  OK  ] Started ...`).

use super::unit_jobs::UnitJobs;
use super::unit_messages::{report, said};
use super::unit_times::is_unit;
use crate::evidence::Evidence;
use std::collections::HashMap;

/// A line of status follows the kernel's line about the same this soon.
const SAME_NS: i64 = 1_000_000_000;
/// What stands for the middle of a name that did not fit its line.
const CUT: char = '\u{2026}';

/// Joins what a console says of units. Every line has the instant at which it was printed, in one clock.
#[derive(Debug, Default)]
pub struct ConsoleUnits {
    units: UnitJobs,
    told: HashMap<(&'static str, String), i64>,
}

impl ConsoleUnits {
    /// A line without stamps and terminal escapes.
    pub fn line(&mut self, time_ns: i64, text: &str) {
        if let Some(message) = text.strip_prefix("systemd[1]: ") {
            let Some((step, unit)) = said(message) else { return };
            self.told.insert((step.name(), unit.to_owned()), time_ns);
            report(&step, unit, time_ns, &mut self.units);
            return;
        }
        let text = text.trim_end();
        let status = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let message = match status {
            Some(("  OK  " | "FAILED" | "DEPEND" | " TIME ", message)) => message,
            Some(_) => return,
            None => text.strip_prefix("         ").unwrap_or_default(),
        };
        // Without its whole name the unit is unknown, and a description is none where units have names.
        let Some((step, unit)) = said(message).filter(|(_, unit)| is_unit(unit) && !unit.contains(CUT)) else { return };
        let told = self.told.get(&(step.name(), unit.to_owned()));
        if told.is_none_or(|told| time_ns.saturating_sub(*told) > SAME_NS) {
            report(&step, unit, time_ns, &mut self.units);
        }
    }

    /// Adds the spans, and the failed units as a fact.
    pub fn finish(self, evidence: &mut Evidence) {
        self.units.finish(evidence);
    }
}
