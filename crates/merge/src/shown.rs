//! What systemd says of its units once a recorded boot is up, put onto the recording's clock.
//!
//! Its instants are of `CLOCK_MONOTONIC`, which the kernel sets going when it has a clock source and calibrates itself: it begins
//! late and runs at a slightly different rate. The guest reads it beside the counter that is the recording's own clock, twice;
//! a line through both readings aligns the one to the other. The console shows how reliable it is: systemd prints that
//! a unit was started right after it noted that, and the recorder stamps the print.

use crate::fit::{through, Fitted, Line};
use crate::recorded::{add_links, first_boot, Rows, CALIBRATED};
use crate::MergeError;
use firstlight_formats::about::Role;
use firstlight_formats::evidence::{Evidence, SpanKind, Stage};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

const SOURCE: &str = "systemd";
const UNITS: [SpanKind; 2] = [SpanKind::Unit, SpanKind::UnitActive];
/// Stages of user land; what the manager says of the time before it the recorder knows better.
const STAGES: [Stage; 3] = [Stage::Initrd, Stage::Userspace, Stage::SoftReboot];

/// Replaces the units of the console by those of `systemctl show`, where it names them, and returns the facts
/// that it holds. `clocks` has a line `COUNTER MONOTONIC` for each reading of both clocks, in nanoseconds; without two of
/// them the units that both records hold give the line.
///
/// # Errors
///
/// When a table cannot be read or written.
pub fn add_units(shown: &[u8], clocks: &str, bundle: &Path) -> Result<Vec<(String, String)>, MergeError> {
    let Some(mut evidence) = first_boot(Role::Units, shown) else { return Ok(Vec::new()) };
    let mut rows = Rows::open(bundle, SOURCE)?;
    let shared = shared(&evidence, &rows);
    let read = readings(clocks);
    let fitted = match read {
        Some(line) => Some(judged(line, &shared)),
        None => through(shared, CALIBRATED),
    };
    let Some(fitted) = fitted else { return Ok(Vec::new()) };
    let known: FxHashSet<String> = of_units(&evidence).map(|(name, _)| name.to_owned()).collect();
    rows.forget(&UNITS, |name| known.contains(name));
    let staged: FxHashSet<usize> = stages(&evidence);
    rows.add_some(&evidence, fitted.line, |place, kind| UNITS.contains(&kind) || staged.contains(&place));
    rows.write(bundle)?;
    add_links(&evidence, SOURCE, bundle)?;
    let mut facts = std::mem::take(&mut evidence.facts);
    facts.retain(|(fact, _)| fact != "systemd.failed" && fact != "systemd.failed_units");
    let how = if read.is_some() { "two readings of both clocks in the guest" } else { "units that the console shows" };
    let mut told: Vec<(String, String)> = facts.into_iter().map(|(fact, value)| (fact.into_owned(), value)).collect();
    told.extend([
        ("systemd.clock.how".to_owned(), how.to_owned()),
        ("systemd.clock.offset_ns".to_owned(), fitted.line.offset_ns.to_string()),
        ("systemd.clock.rate".to_owned(), format!("{:.9}", fitted.line.rate)),
        ("systemd.clock.shared".to_owned(), fitted.shared.to_string()),
        ("systemd.clock.residual_median_ns".to_owned(), fitted.median_ns.to_string()),
        ("systemd.clock.residual_max_ns".to_owned(), fitted.max_ns.to_string()),
    ]);
    Ok(told)
}

fn of_units(evidence: &Evidence) -> impl Iterator<Item = (&str, Option<i64>)> {
    evidence.spans.iter().filter(|span| span.kind == SpanKind::Unit).map(|span| (span.name, span.end_ns))
}

/// Units that systemd says were up, and the console too: the instants on both clocks.
fn shared(evidence: &Evidence, rows: &Rows) -> Vec<(i64, i64)> {
    let printed: FxHashMap<&str, i64> = rows.ends(SpanKind::Unit).collect();
    of_units(evidence).filter_map(|(name, up)| Some((up?, *printed.get(name)?))).collect()
}

/// The stages of user land and their parts, by their places among the spans.
fn stages(evidence: &Evidence) -> FxHashSet<usize> {
    let is_stage = |place: usize| {
        let span = evidence.spans.iter().nth(place);
        span.is_some_and(|span| {
            span.kind == SpanKind::Stage && Stage::parse(span.name).is_some_and(|stage| STAGES.contains(&stage))
        })
    };
    let all = evidence.spans.iter().enumerate().filter(|(_, span)| span.kind == SpanKind::Stage);
    let wanted = all.filter(|(place, span)| is_stage(*place) || span.parent.is_some_and(is_stage));
    wanted.map(|(place, _)| place).collect()
}

/// The line through the first and the last reading.
fn readings(clocks: &str) -> Option<Line> {
    let reading = |line: &str| {
        let (counter, monotonic) = line.split_once(' ')?;
        Some((monotonic.trim().parse::<i64>().ok()?, counter.parse::<i64>().ok()?))
    };
    let both: Vec<(i64, i64)> = clocks.lines().filter_map(reading).collect();
    let (first, last) = (both.first()?, both.last()?);
    let run = last.0.checked_sub(first.0).filter(|run| *run > 0)?;
    let rate = last.1.checked_sub(first.1)? as f64 / run as f64;
    let line = Line { offset_ns: 0, rate };
    ((rate - 1.0).abs() <= CALIBRATED).then(|| line.shifted(last.1.saturating_sub(line.at(last.0))))
}

/// How far the events that both records hold lie from a line.
fn judged(line: Line, shared: &[(i64, i64)]) -> Fitted {
    let mut apart: Vec<i64> =
        shared.iter().map(|(mine, theirs)| theirs.saturating_sub(line.at(*mine)).saturating_abs()).collect();
    apart.sort_unstable();
    let at = |part: usize, of: usize| apart.get(apart.len().saturating_sub(1) * part / of).copied().unwrap_or(0);
    Fitted { line, shared: apart.len(), median_ns: at(1, 2), most_ns: at(9, 10), max_ns: at(1, 1), doubt: None }
}
