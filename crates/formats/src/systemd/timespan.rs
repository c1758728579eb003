//! Lengths of time as systemd prints them: `1min 2.345s`.

use crate::decimal::scaled;
use crate::evidence::{Grade, Span};
use firstlight_schema::{Reason, ReasonCode};

/// The units of `format_timespan` in `src/basic/time-util.c`, in nanoseconds; a year has 365.25 days, a month a twelfth.
const UNITS: [(&str, i64); 9] = [
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("w", 604_800_000_000_000),
    ("month", 2_629_800_000_000_000),
    ("y", 31_557_600_000_000_000),
];

/// What every figure of `systemd-analyze` is cut to.
pub const STEP_NS: i64 = 1_000_000;

/// A length in nanoseconds.
///
/// ```
/// use firstlight_formats::systemd::timespan::nanoseconds;
/// assert_eq!(nanoseconds("1min 2.345s"), Some(62_345_000_000));
/// assert_eq!(nanoseconds("1y 2month 3w 4d 5h 6min 7s"), Some(38_995_567_000_000_000));
/// assert_eq!((nanoseconds("345ms"), nanoseconds("12us"), nanoseconds("0")), (Some(345_000_000), Some(12_000), Some(0)));
/// assert_eq!((nanoseconds("5"), nanoseconds("infinity"), nanoseconds("")), (None, None, None));
/// ```
pub fn nanoseconds(text: &str) -> Option<i64> {
    if text == "0" {
        return Some(0);
    }
    let mut total: Option<i64> = None;
    for word in text.split_ascii_whitespace() {
        total = Some(total.unwrap_or(0).checked_add(one(word)?)?);
    }
    total
}

fn one(word: &str) -> Option<i64> {
    let split = word.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = word.split_at_checked(split)?;
    let (_, unit_ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let milliseconds_of_unit = scaled(number, 3).filter(|value| *value >= 0)?;
    if *unit_ns % 1000 == 0 {
        milliseconds_of_unit.checked_mul(unit_ns / 1000)
    } else {
        scaled(number, 0)?.checked_mul(*unit_ns)
    }
}

/// The leading length of a text, and what comes after it. In a log the last word ends with the sentence's dot.
///
/// ```
/// use firstlight_formats::systemd::timespan::leading;
/// assert_eq!(leading("1min 2.345s (kernel) + 3s"), Some((62_345_000_000, "(kernel) + 3s")));
/// assert_eq!(leading("1min 3.300s."), Some((63_300_000_000, "")));
/// assert_eq!(leading("kernel"), None);
/// ```
pub fn leading(text: &str) -> Option<(i64, &str)> {
    let mut rest = text.trim_start();
    let mut total: Option<i64> = None;
    loop {
        let word = rest.split_ascii_whitespace().next().unwrap_or_default();
        let value = if word == "0" && total.is_none() { Some(0) } else { one(word.strip_suffix('.').unwrap_or(word)) };
        let Some(value) = value else { break };
        total = Some(total.unwrap_or(0).checked_add(value)?);
        rest = rest.get(word.len()..).unwrap_or_default().trim_start();
    }
    total.map(|total| (total, rest))
}

/// Lowers the trust in a span whose length is not a hundred steps of its clock.
#[must_use]
pub fn by_step(span: Span, step_ns: i64) -> Span {
    let short = span.duration_ns.is_some_and(|duration| duration < step_ns.saturating_mul(100));
    if short && span.grade == Grade::Good {
        let step = if step_ns >= 1_000_000 {
            Reason::of(ReasonCode::StepOfMilliseconds).with("ms", step_ns / 1_000_000)
        } else {
            Reason::of(ReasonCode::StepOfMicroseconds).with("us", step_ns / 1_000)
        };
        return span.graded(Grade::Coarse, step);
    }
    span
}
