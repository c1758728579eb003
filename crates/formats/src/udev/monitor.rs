//! `udevadm monitor`: events as the kernel sends them, and again as udev passes them on.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::decimal::scaled;
use crate::evidence::{Clock, Evidence, Grade, Problem, ProblemKind, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Reads what `udevadm monitor` prints, with or without `--property`.
pub struct UdevMonitor;

const BANNER: &str = "monitor will print the received events for";

impl Format for UdevMonitor {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::UdevMonitor, Traits::of(Origin::Udev)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let rows = text.lines().take(400).filter(|line| row(line).is_some()).count();
        match (text.starts_with(BANNER), rows) {
            (true, _) | (false, 2..) => Likelihood::Certain,
            (false, 1) => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Monotonic) };
        let mut lines = Lines::new(input.bytes);
        let mut join = Join::default();
        let (mut current, mut greeted): (Option<Seen>, bool) = (None, false);
        let mut unparsed = Unparsed::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.is_empty() {
                join.take(current.take());
            } else if let Some(seen) = row(&text) {
                join.take(current.replace(Seen { line: line.number, ..seen }));
                evidence.understood += 1;
            } else if let Some((seen, (key, value))) = current.as_mut().zip(text.split_once('=')) {
                seen.property(key, value);
            } else if text.starts_with(BANNER) || text.starts_with("UDEV - ") || text.starts_with("KERNEL - ") {
                greeted = true;
            } else {
                unparsed.add(line.number);
            }
        }
        join.take(current.take());
        if evidence.understood == 0 && !greeted {
            return Err(self.not_this("no line is an event"));
        }
        join.finish(&mut evidence);
        unparsed.report("line[|s] [is|are] neither event nor property", &mut evidence);
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

/// One event as the kernel or udev reported it.
#[derive(Debug, Clone, Default)]
struct Seen {
    udev: bool,
    time_ns: i64,
    action: String,
    path: String,
    subsystem: String,
    number: Option<u64>,
    uuid: String,
    initialized_ns: Option<i64>,
    failed: bool,
    name: String,
    driver: String,
    line: u64,
}

impl Seen {
    /// Takes over what only the kernel's event says.
    fn lend(&mut self, kernel: &Self) {
        for (own, other) in [
            (&mut self.uuid, &kernel.uuid),
            (&mut self.subsystem, &kernel.subsystem),
            (&mut self.driver, &kernel.driver),
            (&mut self.name, &kernel.name),
        ] {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
    }

    fn property(&mut self, key: &str, value: &str) {
        match key {
            "SEQNUM" => self.number = value.parse().ok(),
            "SYNTH_UUID" => value.clone_into(&mut self.uuid),
            "USEC_INITIALIZED" => self.initialized_ns = crate::decimal::microseconds(value),
            "UDEV_WORKER_FAILED" => self.failed = value == "1",
            "DEVNAME" => value.clone_into(&mut self.name),
            "DRIVER" => value.clone_into(&mut self.driver),
            _ => {}
        }
    }
}

/// `KERNEL[12.345678] add      /devices/... (tty)`; `UDEV  [...` the same.
fn row(line: &str) -> Option<Seen> {
    let (udev, rest) = match line.strip_prefix("KERNEL[") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("UDEV  [")?),
    };
    let (time, rest) = rest.split_once("] ")?;
    let time_ns = scaled(time, 9).filter(|_| time.contains('.'))?;
    let (action, rest) = rest.split_once(' ')?;
    let (path, subsystem) = match rest.trim().rsplit_once(" (") {
        Some((path, subsystem)) => (path, subsystem.strip_suffix(')')?),
        None => (rest.trim(), ""),
    };
    let path = path.to_owned();
    (path.starts_with('/') || path == "(null)").then(|| Seen {
        udev,
        time_ns,
        action: action.to_owned(),
        path,
        subsystem: subsystem.to_owned(),
        ..Seen::default()
    })
}

#[derive(Default)]
struct Join {
    by_number: HashMap<u64, Seen>,
    by_path: HashMap<(String, String), VecDeque<Seen>>,
    spans: Vec<Span>,
    guessed: u64,
    only_udev: (u64, Option<u64>),
    kernel: u64,
    udev: u64,
    numbers: BTreeSet<u64>,
}

impl Join {
    fn take(&mut self, seen: Option<Seen>) {
        let Some(seen) = seen else { return };
        self.numbers.extend(seen.number);
        if !seen.udev {
            self.kernel += 1;
            match seen.number {
                Some(number) => {
                    if let Some(before) = self.by_number.insert(number, seen) {
                        self.spans.push(open(&before));
                    }
                }
                None => {
                    let key = (seen.path.clone(), seen.action.clone());
                    self.by_path.entry(key).or_default().push_back(seen);
                }
            }
            return;
        }
        self.udev += 1;
        let kernel = match seen.number {
            Some(number) => self.by_number.remove(&number),
            None => {
                let waiting = self.by_path.get_mut(&(seen.path.clone(), seen.action.clone()));
                waiting.and_then(VecDeque::pop_front)
            }
        };
        match kernel {
            Some(kernel) if kernel.time_ns <= seen.time_ns => {
                let mut seen = seen;
                seen.lend(&kernel);
                let span = span(&seen).between(kernel.time_ns, seen.time_ns);
                self.guessed += u64::from(seen.number.is_none());
                self.spans.push(if seen.number.is_none() {
                    span.graded(Grade::Bounded, ReasonCode::JoinedByOrder)
                } else {
                    span
                });
            }
            _ => {
                self.only_udev = (self.only_udev.0 + 1, self.only_udev.1.or(Some(seen.line)));
                let span = Span { end_ns: Some(seen.time_ns), ..span(&seen) };
                self.spans.push(span.graded(Grade::Unknown, ReasonCode::KernelEventMissing));
            }
        }
    }

    fn finish(mut self, evidence: &mut Evidence) {
        let mut waiting: Vec<Seen> =
            self.by_number.drain().map(|(_, seen)| seen).chain(self.by_path.into_values().flatten()).collect();
        waiting.sort_by_key(|seen| (seen.time_ns, seen.line));
        let first = waiting.first().map(|seen| seen.line);
        self.spans.extend(waiting.iter().map(open));
        self.spans.sort_by_key(|span| span.start_ns.or(span.end_ns));
        evidence.spans = self.spans.into();
        evidence.facts.push(("udev.events".into(), self.kernel.max(self.udev).to_string()));
        let both = self.kernel > 0 && self.udev > 0;
        if !waiting.is_empty() && both {
            let detail = counted(waiting.len(), "# event[|s] of the kernel [was|were] not seen from udev");
            evidence.problem(ProblemKind::Unfinished, first, detail);
        }
        if self.only_udev.0 > 0 && both {
            let detail = counted(self.only_udev.0, "# event[|s] of udev [was|were] not seen from the kernel");
            evidence.problem(ProblemKind::Unpaired, self.only_udev.1, detail);
        }
        if let Some((missing, after)) = gaps(&self.numbers) {
            let sides = u64::from(self.kernel > 0) + u64::from(self.udev > 0);
            let detail = counted(missing, &format!("# event[|s] [is|are] missing by [its|their] SEQNUM, the first after {after}: the monitor was too slow, or chose among [it|them]"));
            let lost = Some(missing.saturating_mul(sides));
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: None, lost });
        }
        if !both {
            let detail = "only one side was recorded: no event has a length (use `udevadm monitor -k -u -p`)";
            evidence.problem(ProblemKind::Unpaired, None, detail);
        }
        if self.guessed > 0 {
            let detail = counted(
                self.guessed,
                "# event[|s] [was|were] joined by path and order (use `udevadm monitor -k -u -p`)",
            );
            evidence.problem(ProblemKind::Unpaired, None, detail);
        }
    }
}

/// How many numbers are missing between the first and the last, and the number before the first of them.
fn gaps(numbers: &BTreeSet<u64>) -> Option<(u64, u64)> {
    let (first, last) = (numbers.first()?, numbers.last()?);
    let missing = (last - first).saturating_sub(numbers.len() as u64 - 1);
    let mut pairs = numbers.iter().zip(numbers.iter().skip(1));
    pairs.find(|(one, next)| *next - *one > 1).map(|(before, _)| (missing, *before))
}

fn span(seen: &Seen) -> Span {
    let mut span = Span::new(SpanKind::Uevent, one_line(&seen.path, "<unknown>"));
    if let Some(number) = seen.number {
        span = span.with("seqnum", number.to_string());
    }
    for (key, value) in [
        ("action", &seen.action),
        ("subsystem", &seen.subsystem),
        ("device", &seen.name),
        ("driver", &seen.driver),
        ("synthetic", &seen.uuid),
    ] {
        if !value.is_empty() {
            span = span.with(key, value.clone());
        }
    }
    if let Some(initialized) = seen.initialized_ns {
        span = span.with("initialized_at_ns", initialized.to_string());
    }
    if seen.failed {
        span = span.with("failure", "its worker failed");
    }
    span
}

fn open(seen: &Seen) -> Span {
    let span = Span { start_ns: Some(seen.time_ns), ..span(seen) };
    span.graded(Grade::Unknown, ReasonCode::UdevEndMissing)
}
