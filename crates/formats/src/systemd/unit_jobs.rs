//! Units by what the manager logs of them: starting, started, failed, stopped.

use super::timespan::by_step;
use crate::evidence::{Evidence, Grade, Span, SpanKind};
use crate::names::one_line;
use firstlight_schema::{Reason, ReasonCode};
use std::collections::{BTreeSet, HashMap};

/// Joins the messages about each unit.
#[derive(Debug, Default)]
pub struct UnitJobs {
    starting: HashMap<String, i64>,
    up: HashMap<String, i64>,
    /// Those of them of which the clock was set since.
    up_across: BTreeSet<String>,
    failed: BTreeSet<String>,
    spans: Vec<Span>,
    /// What began before the journal ran, and why that is not an exact time.
    early: HashMap<String, (i64, &'static str)>,
}

/// Results of a start's job with which the unit failed to start: the others called it off, or found nothing to do.
const FAILURES: [&str; 4] = ["failed", "timeout", "dependency", "assert"];

/// Why a start that began before the journal ran is not an exact one.
pub const TWO_CLOCKS: &str =
    "it begins by the kernel's clock and ends by the monotonic one, which differ by milliseconds";

/// Why a start of which the manager spoke before the journal ran has no exact times on the wall clock.
pub const READ_LATE: &str = ReasonCode::JournalReadLate.text();

/// Why a length is none where the wall clock was set during it.
const CLOCK_SET: &str = ReasonCode::ClockSetMeanwhile.text();

fn span(kind: SpanKind, unit: &str) -> Span {
    Span { track: "systemd".into(), ..Span::new(kind, one_line(unit, "<unknown>")) }
}

impl UnitJobs {
    /// Its start began.
    pub fn starting(&mut self, unit: &str, time_ns: i64) {
        self.early.remove(unit);
        self.starting.insert(unit.to_owned(), time_ns);
    }

    /// Its start ended, well or not; `result` is empty or `done` where it is up.
    pub fn ended(&mut self, unit: &str, time_ns: i64, result: &str) {
        let well = result.is_empty() || result == "done";
        let mut one = match self.starting.remove(unit) {
            Some(start) if start <= time_ns => span(SpanKind::Unit, unit).between(start, time_ns),
            _ if self.early.get(unit).is_some_and(|(start, _)| *start <= time_ns) => {
                let (start, why) = self.early.remove(unit).unwrap_or((time_ns, ""));
                span(SpanKind::Unit, unit).between(start, time_ns).graded(Grade::Bounded, why)
            }
            _ => {
                let span = Span { end_ns: Some(time_ns), ..span(SpanKind::Unit, unit) };
                span.graded(Grade::Unknown, ReasonCode::EndOnlyLogged)
            }
        };
        if well {
            self.up.insert(unit.to_owned(), time_ns);
            self.up_across.remove(unit);
            // It failed before, was started once more, and is up.
            self.failed.remove(unit);
        } else {
            one = one.with("result", result);
            if FAILURES.contains(&result) {
                self.failed.insert(unit.to_owned());
            }
        }
        self.spans.push(one);
    }

    /// It goes down.
    pub fn stopping(&mut self, unit: &str, time_ns: i64) {
        if let Some(start) = self.up.remove(unit).filter(|start| *start <= time_ns) {
            let span = span(SpanKind::UnitActive, unit).between(start, time_ns);
            let across = self.up_across.remove(unit);
            self.spans.push(if across { span.graded(Grade::Bounded, CLOCK_SET) } else { span });
        }
    }

    /// Takes over from those of the kernel's clock what the rest is logged of by this one; and why that makes no exact times.
    pub fn take_over(&mut self, early: &mut Self, why: &'static str) {
        let begun = std::mem::take(&mut early.early).into_iter().map(|(unit, (start, _))| (unit, start));
        let begun = begun.chain(std::mem::take(&mut early.starting));
        self.early = begun.map(|(unit, start)| (unit, (start, why))).collect();
        self.failed.append(&mut early.failed);
        early.up.clear();
    }

    /// The clock was set: what is under way has no exact length.
    pub fn clock_set(&mut self) {
        self.early.extend(self.starting.drain().map(|(unit, start)| (unit, (start, CLOCK_SET))));
        self.up_across.extend(self.up.keys().cloned());
    }

    /// Adds the spans, those that never ended too, and as a fact the units whose last start failed.
    pub fn finish(mut self, evidence: &mut Evidence) {
        // By another clock, or at another time, than the manager meant: nothing but that they began.
        for (unit, (start, why)) in sorted(self.early) {
            let start_ns = (why == CLOCK_SET).then_some(start);
            let span = Span { start_ns, ..span(SpanKind::Unit, &unit) };
            self.spans
                .push(span.graded(Grade::Unknown, Reason::of(ReasonCode::NoStartMessageBecause).with("why", why)));
        }
        for (unit, start) in sorted(self.starting) {
            let span = Span { start_ns: Some(start), ..span(SpanKind::Unit, &unit) };
            self.spans.push(span.graded(Grade::Unknown, ReasonCode::NoStartMessage));
        }
        for (unit, start) in sorted(self.up) {
            let span = Span { start_ns: Some(start), ..span(SpanKind::UnitActive, &unit) };
            self.spans.push(span.graded(Grade::Unknown, ReasonCode::StillActive));
        }
        let step_ns = evidence.step_ns;
        evidence.spans.extend(self.spans.into_iter().map(|span| by_step(span, step_ns)));
        if !self.failed.is_empty() {
            let failed: Vec<String> = self.failed.into_iter().collect();
            evidence.facts.push(("systemd.failed".into(), failed.join(" ")));
        }
    }
}

fn sorted<T: Copy + Ord>(units: HashMap<String, T>) -> Vec<(String, T)> {
    let mut units: Vec<(String, T)> = units.into_iter().collect();
    units.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    units
}
