//! `systemd-analyze blame`.

use super::analyses::{self, pasted_rows, Output};
use super::timespan::{by_step, leading, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Evidence, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads what `systemd-analyze blame` prints.
pub struct SystemdBlame;

impl Format for SystemdBlame {
    fn about(&self) -> &'static About {
        BLAME
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(20);
        let (all, rows) = (lines().count(), lines().filter(|line| row(line).is_some()).count());
        let found = match rows {
            0 => Likelihood::No,
            _ if all >= 3 && rows + 1 >= all => Likelihood::Certain,
            _ if rows == all => Likelihood::Likely,
            _ if rows * 2 > all => Likelihood::Possible,
            _ => Likelihood::No,
        };
        if found < Likelihood::Likely && pasted_rows(head, |line| row(line).is_some()) >= FEWEST {
            return Likelihood::Likely;
        }
        found
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        const OWN: Output = Output {
            name: FormatName::SystemdBlame,
            nothing: "no line is a length and a unit",
            unknown: "line[|s] [lacks|lack] a length and a unit",
        };
        analyses::read(self, &OWN, input)
    }
}

/// The format.
pub(super) const BLAME: &About =
    &About::of(FormatName::SystemdBlame, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) });
/// So many rows among other lines are a list.
const FEWEST: usize = 3;

/// How long a unit took.
pub(super) fn span(length: i64, unit: String) -> Span {
    let span = Span { track: "systemd".into(), ..Span::new(SpanKind::Unit, unit) };
    by_step(Span { duration_ns: Some(length), ..span }, STEP_NS)
}

/// A length and a unit.
pub(super) fn row(line: &str) -> Option<(i64, &str)> {
    let (length, unit) = leading(line)?;
    let unit = unit.trim_end();
    is_unit(unit).then_some((length, unit))
}
