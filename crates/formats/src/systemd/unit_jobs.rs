//! Units by what the manager logs of them: starting, started, failed, stopped.

use super::timespan::by_step;
use crate::evidence::{Evidence, Grade, Span, SpanKind};
use crate::names::one_line;
use std::collections::{BTreeSet, HashMap};

/// Joins the messages about each unit.
#[derive(Debug, Default)]
pub struct UnitJobs {
    starting: HashMap<String, i64>,
    up: HashMap<String, i64>,
    failed: BTreeSet<String>,
    spans: Vec<Span>,
    /// What began before the journal ran, and why that is no exact time.
    early: HashMap<String, i64>,
    why: &'static str,
}

/// Results of a start's job with which the unit failed to start: the others called it off, or found nothing to do.
const FAILURES: [&str; 4] = ["failed", "timeout", "dependency", "assert"];

/// Why a start that began before the journal ran is no exact one.
pub const TWO_CLOCKS: &str =
    "it begins by the kernel's clock and ends by the monotonic one, which differ by milliseconds";

fn span(kind: SpanKind, unit: &str) -> Span {
    Span { track: "systemd".into(), ..Span::new(kind, one_line(unit, "<unknown>")) }
}

impl UnitJobs {
    /// Its start began.
    pub fn starting(&mut self, unit: &str, time_ns: i64) {
        self.starting.insert(unit.to_owned(), time_ns);
    }

    /// Its start ended, well or not; `result` is empty or `done` where it is up.
    pub fn ended(&mut self, unit: &str, time_ns: i64, result: &str) {
        let well = result.is_empty() || result == "done";
        let mut one = match self.starting.remove(unit) {
            Some(start) if start <= time_ns => span(SpanKind::Unit, unit).between(start, time_ns),
            _ if self.early.get(unit).is_some_and(|start| *start <= time_ns) => {
                let start = self.early.remove(unit).unwrap_or(time_ns);
                span(SpanKind::Unit, unit).between(start, time_ns).graded(Grade::Bounded, self.why)
            }
            _ => {
                let span = Span { end_ns: Some(time_ns), ..span(SpanKind::Unit, unit) };
                span.graded(Grade::Unknown, "only its end was logged")
            }
        };
        if well {
            self.up.insert(unit.to_owned(), time_ns);
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
            self.spans.push(span(SpanKind::UnitActive, unit).between(start, time_ns));
        }
    }

    /// Takes over from those of the kernel's clock what the rest is logged of by this one; and why that makes no exact times.
    pub fn take_over(&mut self, early: &mut Self, why: &'static str) {
        self.why = why;
        self.early = std::mem::take(&mut early.starting);
        self.failed.append(&mut early.failed);
        early.up.clear();
    }

    /// Adds the spans, those that never ended too, and as a fact the units whose last start failed.
    pub fn finish(mut self, evidence: &mut Evidence) {
        for (unit, start) in sorted(self.starting) {
            let span = Span { start_ns: Some(start), ..span(SpanKind::Unit, &unit) };
            self.spans.push(span.graded(Grade::Unknown, "no message says that it had started"));
        }
        for (unit, start) in sorted(self.up) {
            let span = Span { start_ns: Some(start), ..span(SpanKind::UnitActive, &unit) };
            self.spans.push(span.graded(Grade::Unknown, "still up"));
        }
        let step_ns = evidence.step_ns;
        evidence.spans.extend(self.spans.into_iter().map(|span| by_step(span, step_ns)));
        if !self.failed.is_empty() {
            let failed: Vec<String> = self.failed.into_iter().collect();
            evidence.facts.push(("systemd.failed".into(), failed.join(" ")));
        }
    }
}

fn sorted(units: HashMap<String, i64>) -> Vec<(String, i64)> {
    let mut units: Vec<(String, i64)> = units.into_iter().collect();
    units.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    units
}
