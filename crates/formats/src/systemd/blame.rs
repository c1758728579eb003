//! `systemd-analyze blame`.

use super::timespan::{by_step, leading, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads what `systemd-analyze blame` prints.
pub struct SystemdBlame;

impl Format for SystemdBlame {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemdBlame, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(20);
        let (all, rows) = (lines().count(), lines().filter(|line| row(line).is_some()).count());
        match rows {
            0 => Likelihood::No,
            _ if all >= 3 && rows + 1 >= all => Likelihood::Certain,
            _ if rows == all => Likelihood::Likely,
            _ if rows * 2 > all => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: STEP_NS, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut lines = Lines::new(input.bytes);
        let mut unparsed = Unparsed::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() {
                continue;
            }
            let Some((length, unit)) = row(&text) else {
                unparsed.add(line.number);
                continue;
            };
            evidence.understood += 1;
            let mut span = Span { track: "systemd".into(), ..Span::new(SpanKind::Unit, unit) };
            span.duration_ns = Some(length);
            evidence.spans.push(by_step(span, STEP_NS));
        }
        unparsed.report("line[|s] [lacks|lack] a length and a unit", &mut evidence);
        self.of_lines(evidence, &lines, "no line is a length and a unit")
    }
}

fn row(line: &str) -> Option<(i64, &str)> {
    let (length, unit) = leading(line)?;
    let unit = unit.trim_end();
    is_unit(unit).then_some((length, unit))
}
