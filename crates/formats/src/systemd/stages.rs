//! The stages of a start by the timestamps of the manager, with systemd's own arithmetic.

use crate::evidence::{Evidence, Grade, Instant, Mark, ProblemKind, Span, SpanKind, Stage};
use firstlight_schema::ReasonCode;
use std::collections::{BTreeMap, BTreeSet};

/// Timestamps of the manager in nanoseconds; firmware and loader are ages before the kernel's clock began. Zero is unset.
#[derive(Debug, Clone, Default)]
pub struct Manager {
    values: BTreeMap<&'static str, i64>,
    /// Properties that are there and unset.
    unset: BTreeSet<&'static str>,
    /// Whether there is a date of the kernel's start: a container has none. None where the record has no such property.
    pub kernel: Option<bool>,
}

const NAMES: [&str; 20] = [
    "Firmware",
    "Loader",
    "Kernel",
    "InitRD",
    "Userspace",
    "Finish",
    "SecurityStart",
    "SecurityFinish",
    "GeneratorsStart",
    "GeneratorsFinish",
    "UnitsLoadStart",
    "UnitsLoadFinish",
    "InitRDSecurityStart",
    "InitRDSecurityFinish",
    "InitRDGeneratorsStart",
    "InitRDGeneratorsFinish",
    "InitRDUnitsLoadStart",
    "InitRDUnitsLoadFinish",
    "SoftRebootStart",
    "ShutdownStart",
];

/// Ages beyond this are not boots: some firmware never resets its counter.
const LONGEST_AGE_NS: i64 = 600_000_000_000;

/// Why the kernel's stage may be none.
const PERHAPS_CONTAINED: &str = "in a container it would be the host's time: neither KernelTimestamp= nor \
                                 SecurityStartTimestampMonotonic= is there to tell";

impl Manager {
    /// Takes a property such as `InitRDTimestampMonotonic` in nanoseconds; returns whether it is one of the manager's.
    pub fn set(&mut self, property: &str, value_ns: i64) -> bool {
        let Some(name) = property.strip_suffix("TimestampMonotonic") else { return false };
        let Some(name) = NAMES.iter().find(|known| **known == name) else { return false };
        if value_ns > 0 {
            self.values.insert(name, value_ns);
        } else {
            self.unset.insert(name);
        }
        true
    }

    /// Whether this is a container, whose kernel was up long before: nothing that a container lacks is there, and one of the
    /// two is said to be unset that every machine has. `None` where the record has neither property.
    fn contained(&self) -> Option<bool> {
        let machine =
            ["SecurityStart", "Firmware", "Loader", "InitRD"].into_iter().any(|name| self.get(name).is_some());
        if machine || self.kernel == Some(true) {
            return Some(false);
        }
        (self.kernel == Some(false) || self.unset.contains("SecurityStart")).then_some(true)
    }

    /// A timestamp that is set.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.get(name).copied()
    }

    /// Adds stages and marks to evidence whose clock is `CLOCK_MONOTONIC`.
    pub fn report(&self, evidence: &mut Evidence) {
        let mut mark = |mark: Mark, time_ns: i64, detail: &str| {
            evidence.marks.push(Instant { mark, time_ns, detail: detail.to_owned() });
        };
        let userspace = self.get("Userspace");
        if let Some(soft) = self.get("SoftRebootStart") {
            mark(Mark::SoftRebootStart, soft, "SoftRebootStartTimestampMonotonic");
            if let Some(userspace) = userspace {
                mark(Mark::UserspaceStart, userspace, "UserspaceTimestampMonotonic");
            }
            if let Some(finish) = self.get("Finish") {
                mark(Mark::StartupFinished, finish, "FinishTimestampMonotonic");
            }
            self.stage(evidence, Stage::SoftReboot, Some(soft), userspace, &[]);
            self.userspace(evidence);
            return;
        }
        // In a container what came before is the host's.
        let (contained, told) = (self.contained().unwrap_or(false), self.contained().is_some());
        let (firmware, loader) = (self.age("Firmware", evidence), self.age("Loader", evidence));
        let mut mark = |mark: Mark, time_ns: i64, detail: &str| {
            evidence.marks.push(Instant { mark, time_ns, detail: detail.to_owned() });
        };
        if let Some(firmware) = firmware {
            mark(Mark::FirmwareStart, -firmware, "FirmwareTimestampMonotonic, an age before the kernel's clock");
        }
        if let Some(loader) = loader {
            mark(Mark::LoaderStart, -loader, "LoaderTimestampMonotonic, an age before the kernel's clock");
        }
        let initrd = self.get("InitRD");
        if !contained && userspace.or(initrd).is_some() {
            mark(Mark::KernelClockStart, 0, "the zero of CLOCK_MONOTONIC");
        }
        for (name, time, detail) in [
            (Mark::InitramfsStart, initrd, "InitRDTimestampMonotonic"),
            (Mark::UserspaceStart, userspace, "UserspaceTimestampMonotonic"),
            (Mark::StartupFinished, self.get("Finish"), "FinishTimestampMonotonic"),
        ] {
            if let Some(time) = time {
                mark(name, time, detail);
            }
        }
        if let Some(firmware) = firmware {
            self.stage(evidence, Stage::Firmware, Some(-firmware), Some(-loader.unwrap_or(0)), &[]);
        }
        if let Some(loader) = loader {
            self.stage(evidence, Stage::Loader, Some(-loader), Some(0), &[]);
        }
        if let Some(end) = initrd.or(userspace).filter(|_| !contained) {
            let place = evidence.spans.len();
            self.stage(evidence, Stage::Kernel, Some(0), Some(end), &[]);
            if !told {
                evidence.spans.change(place, |span| span.graded(Grade::Doubtful, PERHAPS_CONTAINED));
            }
        }
        if initrd.is_some() {
            let parts = [
                ("security", "InitRDSecurityStart", "InitRDSecurityFinish"),
                ("generators", "InitRDGeneratorsStart", "InitRDGeneratorsFinish"),
                ("units-load", "InitRDUnitsLoadStart", "InitRDUnitsLoadFinish"),
            ];
            self.stage(evidence, Stage::Initrd, initrd, userspace, &parts);
        }
        self.userspace(evidence);
    }

    fn userspace(&self, evidence: &mut Evidence) {
        if self.get("Userspace").is_none() {
            return;
        }
        let parts = [
            ("security", "SecurityStart", "SecurityFinish"),
            ("generators", "GeneratorsStart", "GeneratorsFinish"),
            ("units-load", "UnitsLoadStart", "UnitsLoadFinish"),
        ];
        self.stage(evidence, Stage::Userspace, self.get("Userspace"), self.get("Finish"), &parts);
        if self.get("Finish").is_none() {
            evidence.problem(ProblemKind::Unfinished, None, "the start had not finished when this was recorded");
        }
    }

    fn age(&self, name: &str, evidence: &mut Evidence) -> Option<i64> {
        let age = self.get(name)?;
        if age > LONGEST_AGE_NS {
            let detail =
                format!("{name} says {} s before the kernel: its counter is not of this boot", age / 1_000_000_000);
            evidence.problem(ProblemKind::Implausible, None, detail);
            return None;
        }
        Some(age)
    }

    fn stage(
        &self,
        evidence: &mut Evidence,
        of: Stage,
        start: Option<i64>,
        end: Option<i64>,
        parts: &[(&'static str, &str, &str)],
    ) {
        let Some(span) = stage(evidence, of.name(), start, end) else { return };
        let parent = evidence.spans.len();
        evidence.spans.push(span);
        for (name, start, end) in parts {
            if let (Some(start), Some(end)) = (self.get(start), self.get(end)) {
                if let Some(mut span) = stage(evidence, name, Some(start), Some(end)) {
                    span.parent = Some(parent);
                    evidence.spans.push(span);
                }
            }
        }
    }
}

fn stage(evidence: &mut Evidence, name: &str, start: Option<i64>, end: Option<i64>) -> Option<Span> {
    let mut span = Span::new(SpanKind::Stage, name);
    match (start, end) {
        (Some(start), Some(end)) if end >= start => span = span.between(start, end),
        (Some(_), Some(_)) => {
            evidence.problem(ProblemKind::Contradiction, None, format!("{name} ends before it begins"));
            return None;
        }
        (start, end) => {
            span.start_ns = start;
            span.end_ns = end;
            span = span.graded(Grade::Unknown, ReasonCode::NotEnded);
        }
    }
    Some(span)
}
