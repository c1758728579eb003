//! `systemd-analyze critical-chain`.

use super::timespan::{by_step, nanoseconds, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Grade, Instant, Link, LinkKind, Mark, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads what `systemd-analyze critical-chain` prints.
pub struct SystemdCriticalChain;

/// Both wordings of its second line hold this.
const SIGNATURE: &[u8] = b"is printed after the \"@\" character";

/// Levels beyond this are damage: a chain is as deep as the longest ordering.
const DEEPEST: usize = 4096;

impl Format for SystemdCriticalChain {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemdCriticalChain, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let start = head.bytes.get(..4096).unwrap_or(head.bytes);
        if memchr::memmem::find(start, SIGNATURE).is_some() {
            return Likelihood::Certain;
        }
        let text = String::from_utf8_lossy(start);
        let rows = text.lines().take(20).filter_map(row).filter(|row| row.depth > 0 && row.at.is_some()).count();
        match rows {
            0 => Likelihood::No,
            1 => Likelihood::Possible,
            _ => Likelihood::Likely,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: STEP_NS, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut lines = Lines::new(input.bytes);
        let mut chain: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut unparsed = Unparsed::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() || text.starts_with("The time ") {
                continue;
            }
            let Some(row) = row(&text).filter(|row| row.depth < DEEPEST) else {
                unparsed.add(line.number);
                continue;
            };
            evidence.understood += 1;
            if row.unit == "..." {
                continue;
            }
            chain.truncate(row.depth);
            if let Some(parent) = chain.last() {
                let link = Link {
                    kind: LinkKind::After,
                    from: (SpanKind::Unit, parent.clone()),
                    to: (SpanKind::Unit, row.unit.to_owned()),
                };
                evidence.links.push(link);
            }
            chain.push(row.unit.to_owned());
            if seen.insert(row.unit.to_owned()) {
                evidence.spans.push(span(&row));
            }
        }
        unparsed.report("line[|s] [is not a row|are not rows] of the tree", &mut evidence);
        evidence.problems.extend(lines.problems());
        if evidence.spans.iter().any(|span| span.end_ns.is_some()) {
            let detail = "the times of the tree are counted from it".to_owned();
            evidence.clock = Clock::Userspace;
            evidence.marks.push(Instant { mark: Mark::UserspaceStart, time_ns: 0, detail });
        }
        if evidence.understood == 0 {
            return Err(self.not_this("no line is a row of the tree"));
        }
        Ok(vec![evidence])
    }
}

/// What a level of the tree is drawn with, in UTF-8 and in ASCII. `-.mount` is a unit: a lone `-` is none.
const LEVELS: [&str; 7] = ["  ", "│ ", "├─", "└─", "| ", "|-", "`-"];

struct Row<'a> {
    depth: usize,
    unit: &'a str,
    at: Option<i64>,
    took: Option<i64>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let (mut body, mut depth) = (line, 0);
    while let Some(rest) = LEVELS.iter().find_map(|level| body.strip_prefix(level)) {
        body = rest;
        depth += 1;
    }
    let mut words = body.trim_end().split(" @");
    let first = words.next()?;
    let (unit, first_took) = first.split_once(" +").unwrap_or((first, ""));
    if unit != "..." && !is_unit(unit) {
        return None;
    }
    let (at, took) = match words.next() {
        Some(rest) => {
            let (at, took) = rest.split_once(" +").unwrap_or((rest, ""));
            (nanoseconds(at), nanoseconds(took))
        }
        None => (None, nanoseconds(first_took)),
    };
    Some(Row { depth, unit, at, took })
}

fn span(row: &Row<'_>) -> Span {
    let span = Span { track: "systemd".into(), duration_ns: row.took, ..Span::new(SpanKind::Unit, row.unit) };
    match (row.at, row.took) {
        (Some(at), Some(took)) => by_step(span.between(at, at.saturating_add(took)), STEP_NS),
        (Some(at), None) => {
            let span = Span { end_ns: Some(at), ..span };
            span.graded(Grade::Unknown, ReasonCode::LengthMissing)
        }
        (None, Some(_)) => by_step(span, STEP_NS),
        (None, None) => span.graded(Grade::Unknown, ReasonCode::TimeMissing),
    }
}
