//! Histograms of events (`hist`), counts of probes (`kprobe_profile`), and the function profiler (`trace_stat/functionN`).

use super::graph_line::{duration, trim};
use super::symbols::split_module;
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{CallNode, Calls, Clock, Evidence, Name, Problem, ProblemKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::{Line, Lines};
use crate::FormatError;
use firstlight_schema::{CallRow, FormatName};
use memchr::memmem;

/// Rows that are kept.
const MOST: usize = 100_000;

/// The reader.
pub struct Hist;

impl Format for Hist {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Hist, Traits::of(Origin::Ftrace)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        if memmem::find(head.bytes, b"# event histogram").is_some()
            || memmem::find(head.bytes, b"# trigger info: hist:").is_some()
        {
            return Likelihood::Certain;
        }
        let (mut profiled, mut probes, mut lines) = (false, 0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(50) {
            profiled |= is_profile(line);
            lines += 1;
            probes += usize::from(probe(line).is_some());
        }
        match (profiled, probes) {
            (true, _) => Likelihood::Certain,
            (_, 1..) if probes == lines && head.file_name().contains("probe_profile") => Likelihood::Certain,
            (_, 1..) if probes == lines => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let mut reader = Reader { evidence: Evidence::of(Hist.about(), Clock::Untimed), ..Reader::default() };
        reader.evidence.first_line = 1;
        while let Some(line) = lines.next_line()? {
            reader.line(line);
        }
        if reader.rows == 0 && reader.histograms == 0 {
            return Err(self.not_this("no row of one"));
        }
        let mut evidence = reader.finish();
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

#[derive(Default)]
struct Reader {
    evidence: Evidence,
    /// Histograms so far.
    histograms: usize,
    rows_here: usize,
    rows: u64,
    calls: Option<Calls>,
    unparsed: Unparsed,
    unkept: u64,
    totals: bool,
}

impl Reader {
    fn fact(&mut self, name: impl Into<Name>, value: impl Into<String>) {
        if self.evidence.facts.len() < MOST {
            self.evidence.facts.push((name.into(), value.into()));
        } else {
            self.unkept += 1;
        }
    }

    fn line(&mut self, line: Line<'_>) {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if text.is_empty() || text == "#" {
            return;
        }
        if text == "# event histogram" {
            self.histograms += 1;
            (self.rows_here, self.totals) = (0, false);
        } else if let Some(trigger) = text.strip_prefix("# trigger info:") {
            if self.histograms == 0 {
                self.histograms = 1;
            }
            self.fact(format!("hist.{}.trigger", self.histograms), trigger.trim());
        } else if text == "Totals:" {
            self.totals = true;
        } else if text.starts_with('{') {
            self.bucket(text, line.number);
        } else if let Some((name, value)) = text.split_once(": ").filter(|_| self.totals) {
            self.total(name, value.trim(), line.number);
        } else if is_profile(line.bytes) {
            self.calls.get_or_insert_with(profile_root);
        } else if text.starts_with('#') || text.chars().all(|letter| matches!(letter, '-' | ' ')) {
            // Titles and rules.
        } else if self.calls.is_some() {
            match profile(line.bytes) {
                Some(row) => self.function(row),
                None => self.unparsed.add(line.number),
            }
        } else if let Some((name, hits, missed)) = probe(line.bytes) {
            self.rows += 1;
            self.fact(format!("probe.{name}.hits"), hits.to_string());
            if missed > 0 {
                self.fact(format!("probe.{name}.missed"), missed.to_string());
                self.evidence.problems.push(Problem {
                    kind: ProblemKind::Lost,
                    detail: format!("the probe {name} was missed {}", counted(missed, "[once|# times]")),
                    line: Some(line.number),
                    lost: Some(missed),
                });
            }
        } else {
            self.unparsed.add(line.number);
        }
    }

    /// `{ key: value, key: value } hitcount: 1  value: 2`
    fn bucket(&mut self, text: &str, line: u64) {
        let Some((keys, values)) = text[1..].rsplit_once('}') else { return self.unparsed.add(line) };
        self.rows += 1;
        self.rows_here += 1;
        let tidy = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = format!("hist.{}.{}", self.histograms.max(1), self.rows_here);
        self.fact(name, format!("{{ {} }} {}", tidy(keys), tidy(values)));
    }

    fn total(&mut self, name: &str, value: &str, line: u64) {
        let lower = name.to_ascii_lowercase();
        if lower.len() > 40 {
            return self.unparsed.add(line);
        }
        let number: Option<u64> = value.parse().ok();
        self.fact(format!("hist.{}.{lower}", self.histograms.max(1)), value);
        if lower == "dropped" && number.is_some_and(|number| number > 0) {
            self.evidence.problems.push(Problem {
                kind: ProblemKind::Lost,
                detail: counted(
                    number.unwrap_or_default(),
                    &format!("# event[|s] found no place in histogram {}: its sums are too small", self.histograms),
                ),
                line: Some(line),
                lost: number,
            });
        }
        if lower == "entries" && number.is_some_and(|number| number as usize > self.rows_here) {
            let detail = format!("histogram {} has {value} entries, {} are there", self.histograms, self.rows_here);
            self.evidence.problem(ProblemKind::Cut, Some(line), detail);
        }
    }

    fn function(&mut self, (name, hits, time_ns): (&str, u64, Option<i64>)) {
        self.rows += 1;
        let Some(calls) = &mut self.calls else { return };
        if calls.nodes.len() >= MOST {
            self.unkept += 1;
            return;
        }
        calls.functions.push(split_module(name));
        let function = calls.functions.len() as u32 - 1;
        calls.nodes.push(CallNode { parent: 0, function, kind: "function", calls: hits, self_ns: time_ns });
    }

    fn finish(mut self) -> Evidence {
        self.evidence.understood = self.rows;
        self.unparsed.report("line[|s] [has|have] no shape of a histogram or profile", &mut self.evidence);
        if self.unkept > 0 {
            let detail = counted(self.unkept, &format!("# row[|s] beyond {MOST} [was|were] left out"));
            self.evidence.problem(ProblemKind::Overlong, None, detail);
        }
        if self.calls.is_some() {
            let detail = "the profiler does not say who called whom: with the option graph-time a function's time holds its callees'";
            self.evidence.problem(ProblemKind::Implausible, None, detail);
        }
        self.evidence.calls = self.calls;
        self.evidence
    }
}

fn profile_root() -> Calls {
    let root = CallNode { parent: 0, function: 0, kind: "root", calls: 1, self_ns: None };
    Calls { functions: vec![(CallRow::Boot.name().to_owned(), None)], nodes: vec![root] }
}

/// `Function Hit Time Avg s^2`, or without times.
fn is_profile(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next() == Some(b"Function") && words.next() == Some(b"Hit")
}

/// `name hits time us average us s^2 us`
fn profile(line: &[u8]) -> Option<(&str, u64, Option<i64>)> {
    let text = std::str::from_utf8(trim(line)).ok()?;
    let (name, rest) = text.split_once("  ")?;
    let (hits, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let time_ns = match rest.trim().split_once("us") {
        Some((time, _)) => Some(duration(format!("{}us", time.trim()).as_bytes())?),
        None => None,
    };
    Some((name.trim(), hits.parse().ok()?, time_ns))
}

/// `name hits missed`
fn probe(line: &[u8]) -> Option<(&str, u64, u64)> {
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let row = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let named = row.0.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    (words.next().is_none() && line.starts_with(b"  ") && named).then_some(row)
}
