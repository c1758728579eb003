//! The manifest of a collection (`docs/reference/formats/collection.md`): what was gathered, what was not, and readings of clocks.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Name, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::BTreeMap;

/// Reads `manifest.tsv` of a collection.
pub struct CollectorManifest;

const SIGNATURE: &str = "firstlight-collection";
const VERSION: &str = "1";
/// What a boot is known by; that these could not be had is a loss, that others could not is a fact.
const RECORDS: [&str; 5] = ["kernel/kmsg", "kernel/dmesg", "systemd/", "sys/kernel/tracing/", "sys/firmware/"];
/// `/proc/uptime` has hundredths of a second.
const UPTIME_STEP_NS: i64 = 10_000_000;

impl Format for CollectorManifest {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::CollectorManifest, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let rest = head.bytes.strip_prefix(SIGNATURE.as_bytes());
        Likelihood::of_signature(rest.is_some_and(|rest| rest.first() == Some(&b'\t')))
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut manifest = Manifest::default();
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            let fields: Vec<&str> = text.split('\t').collect();
            if line.number == 1 {
                match fields.as_slice() {
                    [SIGNATURE, VERSION, ..] => evidence.understood += 1,
                    [SIGNATURE, version, ..] => {
                        return Err(FormatError::Version { format: self.title(), version: (*version).to_owned() })
                    }
                    _ => {
                        return Err(self.not_this("its first line does not begin with `firstlight-collection`"));
                    }
                }
            } else if manifest.line(&fields, line.number, &mut evidence) {
                evidence.understood += 1;
            }
        }
        if evidence.understood == 0 {
            return Err(self.not_this("it is empty"));
        }
        evidence.problems.extend(lines.problems());
        manifest.finish(&mut evidence);
        Ok(vec![evidence])
    }
}

/// A clock against the time since boot.
#[derive(Clone, Copy)]
struct Reading {
    /// The clock's value less the instant in the middle of its two bounds.
    ahead_ns: i128,
    /// How far off that may be.
    uncertain_ns: i128,
    value_ns: i128,
}

#[derive(Default)]
struct Manifest {
    items: u64,
    ended: bool,
    torn: (u64, Option<u64>),
    /// Of each clock the first and the last reading.
    clocks: BTreeMap<String, (Reading, Reading)>,
    /// The `monotonic` on the line before: `printk` is read in the same instant.
    monotonic: Option<Reading>,
    printk_ahead_ns: Option<i128>,
}

impl Manifest {
    /// Takes a line; returns whether it was one of the format's.
    fn line(&mut self, fields: &[&str], number: u64, evidence: &mut Evidence) -> bool {
        let before = std::mem::take(&mut self.monotonic);
        let mut fact = |name: &'static str, value: &str| evidence.facts.push((Name::Borrowed(name), value.to_owned()));
        let whole = match fields {
            ["begun", time] if nanoseconds(time).is_some() => {
                fact("collector.begun_ns", time);
                true
            }
            ["ended", time] if nanoseconds(time).is_some() => {
                fact("collector.ended_ns", time);
                true
            }
            ["user", user] => {
                fact("collector.root", if *user == "0" { "yes" } else { "no" });
                true
            }
            ["redacted", answer] => {
                fact("collector.redacted", answer);
                true
            }
            ["clock", before_ns, after_ns, name, value_ns, step_ns] => {
                match reading(before_ns, after_ns, value_ns, step_ns) {
                    Some(reading) => {
                        self.clock(name, reading, before);
                        true
                    }
                    None => false,
                }
            }
            ["item", name, state, exit, bytes, milliseconds, _, note]
                if exit.parse::<i32>().is_ok() | (*exit == "-")
                    && bytes.parse::<u64>().is_ok()
                    && milliseconds.parse::<i64>().is_ok() =>
            {
                self.items += 1;
                item(name, state, note, number, evidence);
                true
            }
            ["end", count] => {
                self.ended = true;
                let promised = count.parse::<u64>().unwrap_or(self.items);
                if promised != self.items {
                    let detail = format!("it promises {promised} items and names {}", self.items);
                    evidence.problem(ProblemKind::Lost, Some(number), detail);
                }
                true
            }
            // A later version of the collector may say more.
            [word, _, ..] if word.bytes().all(|byte| byte.is_ascii_lowercase()) && !KNOWN.contains(word) => {
                return false
            }
            _ => false,
        };
        if !whole {
            self.torn = (self.torn.0.saturating_add(1), self.torn.1.or(Some(number)));
        }
        whole
    }

    fn clock(&mut self, name: &str, reading: Reading, before: Option<Reading>) {
        match name {
            "monotonic" => self.monotonic = Some(reading),
            "printk" => {
                self.printk_ahead_ns =
                    before.map(|monotonic| reading.value_ns - monotonic.value_ns).or(self.printk_ahead_ns);
            }
            _ => {}
        }
        let entry = self.clocks.entry(name.to_owned()).or_insert((reading, reading));
        entry.1 = reading;
    }

    fn finish(self, evidence: &mut Evidence) {
        for (name, (first, last)) in &self.clocks {
            let fact = match name.as_str() {
                "realtime" => "clock.realtime_at_boot_ns".to_owned(),
                name => format!("clock.{name}_ahead_of_boottime_ns"),
            };
            evidence.facts.push((fact.clone().into(), last.ahead_ns.to_string()));
            evidence.facts.push((format!("{fact}.uncertainty").into(), last.uncertain_ns.to_string()));
            let moved = last.ahead_ns - first.ahead_ns;
            if moved.abs() > first.uncertain_ns + last.uncertain_ns {
                let detail = format!("the clock `{name}` moved by {moved} ns against the time since boot meanwhile");
                evidence.problem(ProblemKind::ClockJump, None, detail);
            }
        }
        if let Some(ahead) = self.printk_ahead_ns {
            evidence.facts.push(("clock.printk_ahead_of_monotonic_ns".into(), ahead.to_string()));
        }
        if self.torn.0 > 0 {
            let detail = counted(self.torn.0, "# line[|s] [has|have] not the shape of the manifest");
            evidence.problem(ProblemKind::Torn, self.torn.1, detail);
        }
        if !self.ended {
            evidence.problem(ProblemKind::LostTail, None, "it has no line `end`: it was cut off");
        }
    }
}

const KNOWN: [&str; 7] = ["begun", "ended", "user", "redacted", "clock", "item", "end"];

fn nanoseconds(text: &str) -> Option<i64> {
    text.parse().ok().filter(|ns| *ns >= 0)
}

fn reading(before: &str, after: &str, value: &str, step: &str) -> Option<Reading> {
    let (before, after) = (i128::from(nanoseconds(before)?), i128::from(nanoseconds(after)?));
    let (value, step) = (i128::from(nanoseconds(value)?), i128::from(nanoseconds(step)?));
    // The instants are rounded down, and so is the value.
    let (earliest, latest) = (before, after.max(before) + i128::from(UPTIME_STEP_NS));
    let ahead_ns = value + step / 2 - (earliest + latest) / 2;
    Some(Reading { ahead_ns, uncertain_ns: (latest - earliest + step) / 2, value_ns: value })
}

/// What is not whole is a fact, and of the boot's own records a loss.
fn item(name: &str, state: &str, note: &str, number: u64, evidence: &mut Evidence) {
    if matches!(state, "whole" | "empty" | "missing" | "skipped") {
        return;
    }
    let why = if note.is_empty() { state.to_owned() } else { format!("{state}: {note}") };
    evidence.facts.push((format!("collector.item.{name}").into(), why.clone()));
    if !RECORDS.iter().any(|record| name.starts_with(record)) {
        return;
    }
    let kind = if state == "partial" { ProblemKind::Cut } else { ProblemKind::Lost };
    evidence.problem(kind, Some(number), format!("`{name}` was not collected completely: {why}"));
}
