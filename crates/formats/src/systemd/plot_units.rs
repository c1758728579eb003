//! What both forms of `systemd-analyze plot` have in common: times that were cut to the end of the boot.

use super::unit_times::{UnitTimes, CLAMPED};
use crate::counts::counted;
use crate::evidence::{Evidence, Instant, Mark, ProblemKind};

/// Adds the spans of all units.
pub fn report(units: Vec<UnitTimes>, end: Option<i64>, evidence: &mut Evidence) {
    if let Some(time_ns) = end {
        let detail = "the end of the boot, which no time of the plot exceeds".to_owned();
        evidence.marks.push(Instant { mark: Mark::StartupFinished, time_ns, detail });
    }
    let mut clamped = 0;
    let mut disputed: Option<(u64, String)> = None;
    for unit in units {
        let unit = UnitTimes { clamp: end, ..unit };
        let at_end = |time: Option<i64>| time.zip(end).is_some_and(|(time, end)| (time - end).abs() <= unit.slack_ns);
        if at_end(unit.deactivated) || at_end(unit.activated) {
            clamped += 1;
        }
        if let Some(apart) = unit.disputed() {
            let first = format!("of {} by {} us", unit.name, apart / 1_000);
            disputed = Some(disputed.map_or((1, first), |(units, first)| (units + 1, first)));
        }
        evidence.spans.extend(unit.start());
        evidence.spans.extend(unit.up());
    }
    if let Some((units, first)) = disputed {
        let detail =
            format!("of {} the length is not that from activating to active: {first}", counted(units, "# unit[|s]"));
        evidence.problem(ProblemKind::Contradiction, None, detail);
    }
    if clamped > 0 {
        let detail =
            format!("{}{CLAMPED}", counted(clamped, "# unit[|s] [has|have] a time that is the end of the boot: "));
        evidence.problem(ProblemKind::Clamped, None, detail);
    }
}
