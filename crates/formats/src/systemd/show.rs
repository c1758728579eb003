//! `systemctl show`: of the manager, of one unit, of many.

use super::stages::Manager;
use super::unit_times::{is_unit, UnitTimes};
use crate::about::{About, Origin, Role, Traits};
use crate::counts::counted;
use crate::decimal::microseconds;
use crate::evidence::{Clock, Evidence, Grade, Link, LinkKind, ProblemKind, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher;

/// Reads what `systemctl show` prints.
pub struct SystemdShow;

/// The main process may have been noted so much before its unit.
const NOTED_BEFORE_NS: i64 = 1_000_000_000;

/// More dependencies than this are not kept.
const MOST_LINKS: usize = 200_000;
/// Properties that are read, have one value, and are in no list that goes on with the next line.
const SINGLE: [&str; 6] = ["Id", "Type", "Result", "ActiveState", "SubState", "ConditionResult"];
/// Lists of units.
const LISTS: [&str; 6] = ["After", "Before", "Requires", "Requisite", "BindsTo", "Wants"];

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
                if reader.is_next_block(key) {
                    reader.end_block(&mut evidence);
                }
                reader.take(key, value, line.number);
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
    /// The property of the line before.
    before: String,
    failed: Vec<String>,
    /// Hashes of the dependencies so far: their names would be a copy of all lists.
    links: HashSet<u64>,
    hashes: RandomState,
    left_out: bool,
    /// How many properties a block repeats with another value, and the line of the first.
    repeated: Option<(u64, u64)>,
    units: HashSet<String>,
    unparsed: Unparsed,
}

impl Reader {
    /// Whether a property that is there already begins the block of another unit: the empty line between both is missing. The
    /// lines of a list are in sequence.
    fn is_next_block(&self, key: &str) -> bool {
        let is_read = SINGLE.contains(&key) || LISTS.contains(&key) || key.ends_with("TimestampMonotonic");
        is_read && self.before != key && self.block.contains_key(key)
    }

    fn take(&mut self, key: &str, value: &str, line: u64) {
        key.clone_into(&mut self.before);
        match self.block.get_mut(key) {
            Some(known) if LISTS.contains(&key) => {
                known.push(' ');
                known.push_str(value);
            }
            Some(known) if known != value => {
                if SINGLE.contains(&key) || key.ends_with("TimestampMonotonic") {
                    self.repeated.get_or_insert((0, line)).0 += 1;
                }
                value.clone_into(known);
            }
            Some(_) => {}
            None => {
                self.block.insert(key.to_owned(), value.to_owned());
            }
        }
    }

    fn end_block(&mut self, evidence: &mut Evidence) {
        let block = std::mem::take(&mut self.block);
        self.before.clear();
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
        if self.links.len() >= MOST_LINKS {
            self.left_out = true;
        } else if self.links.insert(self.hashes.hash_one((kind, from, to))) {
            let (from, to) = ((SpanKind::Unit, from.to_owned()), (SpanKind::Unit, to.to_owned()));
            evidence.links.push(Link { kind, from, to });
        }
    }

    fn finish(mut self, evidence: &mut Evidence) {
        if !self.failed.is_empty() {
            self.failed.sort();
            evidence.facts.push(("systemd.failed".into(), self.failed.join(" ")));
        }
        if self.left_out {
            let detail =
                format!("there are more than {MOST_LINKS} dependencies between units: the others are left out");
            evidence.problem(ProblemKind::Lost, None, detail);
        }
        if let Some((count, line)) = self.repeated {
            let detail = counted(
                count,
                "a block repeats # propert[y|ies] of its unit with another value; the last value is used",
            );
            evidence.problem(ProblemKind::Contradiction, Some(line), detail);
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
