//! `systemctl show`: of the manager, of one unit, of many.

use super::stages::Manager;
use super::unit_times::{is_unit, UnitTimes};
use crate::about::{About, Origin, Role, Traits};
use crate::decimal::microseconds;
use crate::evidence::{Clock, Evidence, Grade, Link, LinkKind, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::collections::{BTreeMap, HashSet};

/// Reads what `systemctl show` prints.
pub struct SystemdShow;

/// The main process may have been noted so much before its unit.
const NOTED_BEFORE_NS: i64 = 1_000_000_000;

/// What is kept of one unit's properties: the last value of each.
type Properties = BTreeMap<String, String>;

impl Format for SystemdShow {
    fn about(&self) -> &'static About {
        const {
            &About::of(
                FormatName::SystemdShow,
                Traits { units: 0, stages: 0, role: Some(Role::Units), ..Traits::of(Origin::Systemd) },
            )
        }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let (mut lines, mut properties, mut stamps, mut ids) = (0, 0, 0, 0);
        for line in text.lines().filter(|line| !line.is_empty()).take(400) {
            lines += 1;
            let Some((key, value)) = property(line) else { continue };
            properties += 1;
            stamps += usize::from(key.ends_with("TimestampMonotonic") && microseconds(value).is_some());
            ids += usize::from((key == "Id" || key == "Names") && value.split(' ').all(is_unit));
        }
        if properties * 10 < lines * 9 || properties == 0 {
            return Likelihood::No;
        }
        match (stamps, ids) {
            (1.., _) => Likelihood::Certain,
            (0, 1..) => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Monotonic) };
        let mut reader = Reader::default();
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.is_empty() {
                reader.end_block(&mut evidence);
            } else if let Some((key, value)) = property(&text) {
                reader.take(key, value);
            } else {
                reader.unparsed.add(line.number);
            }
        }
        reader.end_block(&mut evidence);
        evidence.problems.extend(lines.problems());
        reader.finish(&mut evidence);
        if evidence.understood == 0 {
            return Err(self.not_this("no block holds a unit's `Id=` or the manager's timestamps"));
        }
        Ok(vec![evidence])
    }
}

/// `Key=value`, the key in letters and digits, the first of them a capital.
fn property(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let capital = key.as_bytes().first()?.is_ascii_uppercase();
    (capital && key.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some((key, value))
}

#[derive(Default)]
struct Reader {
    block: Properties,
    failed: Vec<String>,
    links: HashSet<(LinkKind, String, String)>,
    units: HashSet<String>,
    unparsed: Unparsed,
}

impl Reader {
    fn take(&mut self, key: &str, value: &str) {
        self.block.insert(key.to_owned(), value.to_owned());
    }

    fn end_block(&mut self, evidence: &mut Evidence) {
        let block = std::mem::take(&mut self.block);
        if block.is_empty() {
            return;
        }
        if let Some(id) = block.get("Id").filter(|id| is_unit(id)) {
            evidence.understood += 1;
            if self.units.insert(id.clone()) {
                self.unit(id, &block, evidence);
            }
        } else if block.keys().any(|key| key == "UserspaceTimestampMonotonic" || key == "FinishTimestampMonotonic") {
            evidence.understood += 1;
            manager(&block, evidence);
        }
    }

    fn unit(&mut self, id: &str, block: &Properties, evidence: &mut Evidence) {
        let ns = |key: &str| block.get(key).and_then(|value| microseconds(value)).filter(|ns| *ns > 0);
        let times = UnitTimes {
            name: id.to_owned(),
            activating: ns("InactiveExitTimestampMonotonic"),
            activated: ns("ActiveEnterTimestampMonotonic"),
            deactivating: ns("ActiveExitTimestampMonotonic"),
            deactivated: ns("InactiveEnterTimestampMonotonic"),
            time: None,
            clamp: None,
            step_ns: 1_000,
            slack_ns: 1_000,
            once: block.get("Type").is_some_and(|kind| kind == "oneshot")
                && block.get("Result").is_some_and(|result| result == "success"),
        };
        let text = |key: &str| block.get(key).map(String::as_str).filter(|value| !value.is_empty());
        if let Some(mut span) = times.start() {
            let (start, end) = (span.start_ns, span.end_ns);
            // Where the wait for a result ends and the unit's own work begins: its main process.
            // systemd notes that right before it calls the unit activating.
            let run = ns("ExecMainStartTimestampMonotonic").zip(start);
            let run = run.filter(|(run, start)| start - run <= NOTED_BEFORE_NS).map(|(run, start)| run.max(start));
            if let (Some(run), Some(start)) = (run, start) {
                span = span.with("before_main_ns", (run - start).to_string());
                let exit = ns("ExecMainExitTimestampMonotonic").filter(|exit| *exit >= run);
                let until = match (exit, end) {
                    (Some(exit), Some(end)) => Some(exit.min(end)),
                    (exit, end) => exit.or(end),
                };
                if let Some(until) = until.filter(|until| *until >= run) {
                    span = span.with("main_ns", (until - run).to_string());
                }
            }
            for (key, name) in [
                ("ConditionTimestampMonotonic", "condition_checked_at_ns"),
                ("AssertTimestampMonotonic", "assert_checked_at_ns"),
            ] {
                if let Some(at) = ns(key).filter(|at| Some(*at) != start) {
                    span = span.with(name, at.to_string());
                }
            }
            for (key, name) in [
                ("Type", "type"),
                ("ActiveState", "state"),
                ("SubState", "substate"),
                ("Result", "result"),
                ("ExecMainStatus", "exit_status"),
                ("CPUUsageNSec", "cpu_ns"),
            ] {
                let dull = ["[not set]", "success", "18446744073709551615"];
                let value = text(key).filter(|value| !dull.contains(value));
                if let Some(value) = value.filter(|value| !(name == "exit_status" && *value == "0")) {
                    span = span.with(name, value);
                }
            }
            if let Some(restarts) = text("NRestarts").filter(|restarts| *restarts != "0") {
                let reason = ReasonCode::Restarted;
                span = span.with("restarts", restarts).graded(Grade::Doubtful, reason);
            }
            evidence.spans.push(span);
        }
        evidence.spans.extend(times.up());
        if text("ActiveState") == Some("failed") {
            self.failed.push(id.to_owned());
        }
        if text("ConditionResult") == Some("no") && ns("ConditionTimestampMonotonic").is_some() {
            evidence.facts.push((format!("systemd.skipped.{id}").into(), "a condition did not hold".to_owned()));
        }
        for (key, kind) in [
            ("After", LinkKind::After),
            ("Requires", LinkKind::Requires),
            ("Requisite", LinkKind::Requires),
            ("BindsTo", LinkKind::Requires),
            ("Wants", LinkKind::Wants),
        ] {
            for other in text(key).unwrap_or_default().split_ascii_whitespace().filter(|other| is_unit(other)) {
                self.link(kind, id, other, evidence);
            }
        }
        for other in text("Before").unwrap_or_default().split_ascii_whitespace().filter(|other| is_unit(other)) {
            self.link(LinkKind::After, other, id, evidence);
        }
    }

    fn link(&mut self, kind: LinkKind, from: &str, to: &str, evidence: &mut Evidence) {
        if self.links.insert((kind, from.to_owned(), to.to_owned())) {
            let (from, to) = ((SpanKind::Unit, from.to_owned()), (SpanKind::Unit, to.to_owned()));
            evidence.links.push(Link { kind, from, to });
        }
    }

    fn finish(mut self, evidence: &mut Evidence) {
        if !self.failed.is_empty() {
            self.failed.sort();
            evidence.facts.push(("systemd.failed".into(), self.failed.join(" ")));
        }
        self.unparsed.report("line[|s] [is|are] not `Key=value`", evidence);
    }
}

fn manager(block: &Properties, evidence: &mut Evidence) {
    let mut manager = Manager::default();
    for (key, value) in block {
        if let Some(ns) = microseconds(value) {
            manager.set(key, ns);
        }
    }
    manager.kernel = block.get("KernelTimestamp").map(|value| !value.is_empty() && value != "n/a" && value != "0");
    manager.report(evidence);
    for (key, fact) in [
        ("Version", "systemd.version"),
        ("Virtualization", "system.virtualization"),
        ("Architecture", "system.architecture"),
        ("SystemState", "systemd.state"),
        ("NFailedUnits", "systemd.failed_units"),
        ("Tainted", "systemd.tainted"),
    ] {
        if let Some(value) = block.get(key).filter(|value| !value.is_empty()) {
            evidence.facts.push((fact.into(), value.clone()));
        }
    }
}
