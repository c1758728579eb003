//! U-Boot's bootstage: the report it prints, and the device tree's node as `dtc` prints it.

use super::plausible::check;
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::decimal::grouped;
use crate::evidence::{Clock, Evidence, Grade, Instant, Mark, Problem, ProblemKind, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads U-Boot's bootstage.
pub struct Bootstage;

const REPORT: &str = "Timer summary in microseconds";
const ACCUMULATED: &str = "Accumulated time:";

impl Format for Bootstage {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Bootstage, Traits::of(Origin::Firmware)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let holds = |text: &str| memchr::memmem::find(head.bytes, text.as_bytes()).is_some();
        let kernel = holds("Linux version ");
        if holds(REPORT) || (holds("bootstage {") && (holds("mark = <") || holds("accum = <"))) {
            // A report in the middle of a console's capture is read with the rest of the capture.
            return if kernel { Likelihood::Possible } else { Likelihood::Certain };
        }
        Likelihood::No
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let (mut report, mut tree) = (Report::default(), Tree::default());
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            report.line(text.trim(), line.number);
            tree.line(text.trim(), line.number);
        }
        if report.records.is_empty() {
            // U-Boot adds the nodes in reverse.
            tree.records.sort_by_key(|record| (record.accumulated, record.us));
            report.records = tree.records;
        }
        let Some(mut evidence) = report.evidence(self.about()) else {
            return Err(self.not_this("it has neither `Timer summary in microseconds` nor a node `bootstage`"));
        };
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

#[derive(Debug)]
struct Record {
    name: String,
    us: i64,
    elapsed_us: Option<i64>,
    accumulated: bool,
    line: u64,
}

fn report(records: &[Record], evidence: &mut Evidence) {
    let mut before: Option<i64> = None;
    let mut contradicted = None;
    let mut instants = Vec::new();
    for record in records {
        let Some(at) = record.us.checked_mul(1000) else { continue };
        if record.accumulated {
            let mut span = Span::new(SpanKind::Firmware, one_line(&record.name, "<unknown>"));
            span.duration_ns = Some(at);
            evidence.spans.push(span.with("accumulated", "yes"));
            continue;
        }
        if before.is_some_and(|before| at < before) {
            let detail = format!("{} lies before the stage above it: the timer of 32 bits wrapped", record.name);
            evidence.problem(ProblemKind::ClockWrap, Some(record.line), detail);
        }
        let start = before.unwrap_or(0).min(at);
        let differs = record.elapsed_us.is_some_and(|elapsed| elapsed.saturating_mul(1000) != at - start);
        let mut span = Span::new(SpanKind::Firmware, one_line(&record.name, "<unknown>")).between(start, at);
        if differs && before.is_some() {
            contradicted = contradicted.or(Some(record.line));
            span = span.graded(Grade::Doubtful, ReasonCode::ColumnsDisagree);
        }
        evidence.spans.push(span);
        let mark = match record.name.as_str() {
            "reset" => Some(Mark::FirmwareStart),
            "start_kernel" => Some(Mark::KernelEntry),
            _ => None,
        };
        if let Some(mark) = mark {
            let detail = format!("the stage {}", record.name);
            evidence.marks.push(Instant { mark, time_ns: at, detail });
        }
        instants.push((record.name.as_str(), at));
        before = Some(at);
    }
    if let Some(line) = contradicted {
        evidence.problem(ProblemKind::Contradiction, Some(line), "the columns Mark and Elapsed do not agree");
    }
    instants.sort_by_key(|(_, at)| *at);
    check(&instants, evidence);
}

/// The report as it is printed, line by line; on a console it stands between lines of others.
#[derive(Debug, Default)]
pub struct Report {
    records: Vec<Record>,
    promised: Option<u64>,
    overflow: Option<(u64, u64)>,
    within: Within,
}

#[derive(Debug, Default, PartialEq)]
enum Within {
    #[default]
    Nothing,
    Marks,
    Accumulated,
}

impl Report {
    /// A line of a console on which a report may be.
    pub fn console_line(&mut self, bytes: &[u8], line: u64) {
        if self.within != Within::Nothing || memchr::memmem::find(bytes, REPORT.as_bytes()).is_some() {
            self.line(String::from_utf8_lossy(bytes).trim(), line);
        }
    }

    /// What it says; none when it says nothing.
    pub fn evidence(self, format: &'static About) -> Option<Evidence> {
        let first_line = self.records.first()?.line;
        let mut evidence = Evidence { first_line, step_ns: 1_000, ..Evidence::of(format, Clock::Firmware) };
        let records = self.records;
        evidence.understood = records.len() as u64;
        report(&records, &mut evidence);
        let promised = self.promised.filter(|promised| self.overflow.is_none() && *promised > records.len() as u64);
        if let Some(promised) = promised {
            let lost = promised - records.len() as u64;
            let detail = format!("the report promises {promised} records and has {}", records.len());
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: None, lost: Some(lost) });
        }
        if let Some((lost, line)) = self.overflow {
            let detail = counted(lost, "U-Boot's table was full: # record[|s] [was|were] not kept");
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: Some(line), lost: Some(lost) });
        }
        Some(evidence)
    }

    fn line(&mut self, text: &str, line: u64) {
        if let Some(rest) = text.find(REPORT).and_then(|at| text.get(at + REPORT.len()..)) {
            // A board that prints the report twice prints the same records again, and some more.
            self.records.clear();
            self.within = Within::Marks;
            let count = rest.trim_start_matches([' ', '(']).split(' ').next().and_then(|count| count.parse().ok());
            self.promised = count;
        } else if text.ends_with(ACCUMULATED) && self.within == Within::Marks {
            self.within = Within::Accumulated;
        } else if let Some(rest) = text.strip_prefix("Overflowed internal boot id table by ") {
            let lost = rest.split(' ').next().and_then(|count| count.parse().ok());
            self.overflow = lost.map(|lost| (lost, line));
        } else if self.within == Within::Marks {
            let mut words = text.splitn(2, char::is_whitespace);
            let mark = words.next().and_then(grouped);
            let rest = words.next().unwrap_or_default().trim_start();
            let mut words = rest.splitn(2, char::is_whitespace);
            let elapsed = words.next().and_then(grouped);
            let name = words.next().unwrap_or_default().trim();
            if let (Some(us), Some(elapsed), false) = (mark, elapsed, name.is_empty()) {
                let name = name.to_owned();
                self.records.push(Record { name, us, elapsed_us: Some(elapsed), accumulated: false, line });
            }
        } else if self.within == Within::Accumulated {
            let mut words = text.splitn(2, char::is_whitespace);
            let us = words.next().and_then(grouped);
            let name = words.next().unwrap_or_default().trim();
            match us {
                Some(us) if !name.is_empty() => {
                    let name = name.to_owned();
                    self.records.push(Record { name, us, elapsed_us: None, accumulated: true, line });
                }
                _ => self.within = Within::Nothing,
            }
        }
    }
}

/// The node `bootstage` in the text of a device tree: a node for each record, with `name` and either `mark` or `accum`.
#[derive(Default)]
struct Tree {
    records: Vec<Record>,
    depth: usize,
    within: Option<usize>,
    name: Option<String>,
    value: Option<(i64, bool)>,
}

impl Tree {
    fn line(&mut self, text: &str, line: u64) {
        if text.ends_with('{') {
            if self.within.is_none() && text.trim_end_matches('{').trim() == "bootstage" {
                self.within = Some(self.depth);
            }
            self.depth = self.depth.saturating_add(1);
            (self.name, self.value) = (None, None);
        } else if text.starts_with('}') {
            self.depth = self.depth.saturating_sub(1);
            if let (Some(name), Some((us, accumulated))) = (self.name.take(), self.value.take()) {
                if self.within.is_some() {
                    self.records.push(Record { name, us, elapsed_us: None, accumulated, line });
                }
            }
            if self.within == Some(self.depth) {
                self.within = None;
            }
        } else if self.within.is_some() {
            let Some((key, value)) = text.split_once(" = ") else { return };
            let value = value.trim_end_matches(';');
            match key {
                "name" => self.name = Some(value.trim_matches('"').to_owned()),
                "mark" | "accum" => self.value = cell(value).map(|us| (us, key == "accum")),
                _ => {}
            }
        }
    }
}

/// `<0x1d6b4>` or `<120500>`.
fn cell(value: &str) -> Option<i64> {
    let value = value.strip_prefix('<')?.strip_suffix('>')?;
    match value.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok().map(i64::from),
        None => value.parse::<u32>().ok().map(i64::from),
    }
}
