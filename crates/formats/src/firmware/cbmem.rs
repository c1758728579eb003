//! coreboot's timestamps as `cbmem -t` and `cbmem -T` print them.

use super::plausible::check;
use crate::about::{About, Origin, Traits};
use crate::decimal::grouped;
use crate::evidence::{Clock, Evidence, Grade, Instant, Mark, Problem, ProblemKind, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads coreboot's timestamps.
pub struct Cbmem;

/// coreboot is done, and its payload begins.
const SELFBOOT_JUMP: u32 = 99;
/// What the payload depthcharge adds when it hands over.
const JUMPING_TO_KERNEL: u32 = 1101;

impl Format for Cbmem {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Cbmem, Traits::of(Origin::Firmware)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(40);
        let rows = lines().filter(|line| row(line).is_some()).count();
        let titled = lines().any(|line| promised(line).is_some());
        match (titled, rows) {
            (true, 1..) => Likelihood::Certain,
            (false, 3..) if rows + 2 >= lines().count() => Likelihood::Certain,
            (false, 1..) if rows + 1 >= lines().count() => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Firmware) };
        let mut lines = Lines::new(input.bytes);
        let (mut entries, mut before, mut instants) = (None, None, Vec::new());
        let (mut contradicted, mut total, mut unparsed) = (None, None, Unparsed::default());
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() {
                continue;
            }
            if let Some(count) = promised(&text) {
                entries = Some(count);
                continue;
            }
            if let Some(sum) = text.trim().strip_prefix("Total Time: ") {
                total = grouped(sum.trim());
                continue;
            }
            let Some(row) = row(&text) else {
                unparsed.add(line.number);
                continue;
            };
            let (Some(at), Some(step)) = (row.us.checked_mul(1000), row.step_us.checked_mul(1000)) else { continue };
            evidence.understood += 1;
            instants.push((row.name.to_owned(), at));
            let Some(start) = before.replace(at) else {
                // The first row is the base that all others are counted from: its step is its own time.
                let detail = row.name.to_owned();
                evidence.marks.push(Instant { mark: Mark::FirmwareStart, time_ns: at, detail });
                continue;
            };
            let mark = match row.id {
                SELFBOOT_JUMP => Some(Mark::PayloadStart),
                JUMPING_TO_KERNEL => Some(Mark::KernelEntry),
                _ => None,
            };
            if let Some(mark) = mark {
                let detail = format!("{} {}", row.id, one_line(row.name, "<unknown>"));
                evidence.marks.push(Instant { mark, time_ns: at, detail });
            }
            let mut span = Span::new(SpanKind::Firmware, one_line(row.name, "<unknown>"))
                .between(start.min(at), at)
                .with("id", row.id.to_string());
            if (at - start - step).abs() > 1_000 {
                contradicted = contradicted.or(Some(line.number));
                span = span.graded(Grade::Doubtful, ReasonCode::StepDisagrees);
            }
            evidence.spans.push(span);
        }
        if evidence.understood == 0 {
            return Err(self.not_this("no line is a timestamp"));
        }
        if let Some(line) = contradicted {
            evidence.problem(ProblemKind::Contradiction, Some(line), "steps and times do not agree");
        }
        let first = instants.first().map_or(0, |(_, at)| *at);
        let instants: Vec<(&str, i64)> =
            instants.iter().map(|(name, at)| (name.as_str(), at.saturating_sub(first))).collect();
        check(&instants, &mut evidence);
        let seen = evidence.spans.len() as u64;
        if let Some(lost) = entries.and_then(|entries: u64| entries.checked_sub(seen)).filter(|lost| *lost > 0) {
            let detail = format!("{lost} of the promised entries are missing");
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: None, lost: Some(lost) });
        }
        if let (Some(total), Some((_, last))) = (total, instants.last()) {
            if total.saturating_mul(1000).saturating_sub(*last).abs() > 1_000 * (seen as i64 + 1) {
                evidence.problem(ProblemKind::Contradiction, None, "the total is not the sum of the steps");
            }
        }
        unparsed.report("line[|s] [is not a timestamp|are not timestamps]", &mut evidence);
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

fn promised(line: &str) -> Option<u64> {
    line.trim().strip_suffix(" entries total:")?.parse().ok()
}

struct Row<'a> {
    id: u32,
    us: i64,
    step_us: i64,
    name: &'a str,
}

/// `ID<tab>TIME<tab>STEP<tab>NAME`, or `  ID:NAME      1,234 (56)`; the first row of the latter has no step.
fn row(line: &str) -> Option<Row<'_>> {
    if line.contains('\t') {
        let mut parts = line.splitn(4, '\t');
        let (id, us, step) = (parts.next()?, parts.next()?, parts.next()?);
        let name = parts.next().unwrap_or_default().trim();
        return Some(Row { id: id.trim().parse().ok()?, us: grouped(us)?, step_us: grouped(step)?, name });
    }
    let (id, rest) = line.split_once(':')?;
    let id = id.trim().parse().ok()?;
    let rest = rest.trim();
    let (rest, step) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((rest, step)) if grouped(step).is_some() => (rest.trim_end(), grouped(step)),
        _ => (rest, None),
    };
    // The name is filled up to 50 columns; a longer one touches the number.
    let digits = rest.rfind(|letter: char| !letter.is_ascii_digit() && letter != ',').map_or(0, |at| at + 1);
    let digits = (digits..rest.len()).find(|at| rest.is_char_boundary(*at))?;
    let us = grouped(rest.get(digits..)?)?;
    Some(Row { id, us, step_us: step.unwrap_or(us), name: rest.get(..digits)?.trim() })
}
