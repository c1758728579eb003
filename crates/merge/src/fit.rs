//! One clock as a straight line of another, from events that both records hold.

use crate::doubt::{doubt, Doubt, Observed, Residuals};

/// Rates are fitted from so many shared events on, and over so long a time; else the clocks are taken to run alike.
const EVENTS_FOR_RATE: usize = 8;
const SPAN_FOR_RATE_NS: i64 = 1_000_000_000;
/// Theil-Sen looks at every pair of at most so many events.
const EVENTS_FOR_SLOPES: usize = 256;
/// So often the least delayed events are looked for anew, by the rate that the ones before gave.
const REFINEMENTS: usize = 3;

/// `theirs = mine + offset + (rate - 1) * mine`, all in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Their time when mine is 0.
    pub offset_ns: i64,
    /// Nanoseconds of theirs for one of mine.
    pub rate: f64,
}

impl Line {
    /// The line that changes nothing.
    pub const SAME: Self = Self { offset_ns: 0, rate: 1.0 };

    /// An instant of mine on their clock.
    ///
    /// ```
    /// use firstlight_merge::fit::Line;
    /// assert_eq!(Line { offset_ns: -5, rate: 1.5 }.at(1_000), 1_495);
    /// ```
    pub fn at(self, mine: i64) -> i64 {
        mine.saturating_add(self.offset_ns).saturating_add(drift(self.rate, mine))
    }

    /// A length of mine on their clock.
    pub fn length(self, mine: i64) -> i64 {
        mine.saturating_add(drift(self.rate, mine))
    }

    /// The same, with their clock read `by` nanoseconds later.
    #[must_use]
    pub fn shifted(self, by: i64) -> Self {
        Self { offset_ns: self.offset_ns.saturating_add(by), ..self }
    }
}

fn drift(rate: f64, mine: i64) -> i64 {
    if rate == 1.0 {
        return 0;
    }
    // A float to an integer saturates.
    ((rate - 1.0) * mine as f64).round() as i64
}

/// A line and how well the shared events lie on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// The line.
    pub line: Line,
    /// Shared events.
    pub shared: usize,
    /// Half of them lie closer than this.
    pub median_ns: i64,
    /// Nine of ten lie closer than this.
    pub most_ns: i64,
    /// The farthest.
    pub max_ns: i64,
    /// Why the clock cannot have run so.
    pub doubt: Option<Doubt>,
}

impl Fitted {
    /// A line that rests on no shared event.
    pub fn without_events(line: Line) -> Self {
        Self { line, shared: 0, median_ns: 0, most_ns: 0, max_ns: 0, doubt: None }
    }
}

/// The line through events `(mine, theirs)`: the rate by Theil and Sen's median of slopes where that makes it fit
/// better and stays within `1 ± rate_limit`, the offset by the median; none without an event.
///
/// ```
/// use firstlight_merge::fit::through;
/// let events: Vec<(i64, i64)> = (0..50).map(|n| (n * 100_000_000, n * 100_005_000 + 7_000)).collect();
/// let fitted = through(events, 0.001).map(|fitted| (fitted.line.offset_ns, (fitted.line.rate * 1e6).round()));
/// assert_eq!(fitted, Some((7_000, 1_000_050.0)));
/// ```
pub fn through(mut events: Vec<(i64, i64)>, rate_limit: f64) -> Option<Fitted> {
    events.sort_unstable();
    let level = judged(&events, centred(&events, 1.0)?);
    let Some(rate) = rate(&events) else { return Some(level) };
    let tilted = judged(&events, centred(&events, rate)?);
    // Not for a hair: a rate is kept where it explains most of what was off.
    let tilts = (rate - 1.0).abs() <= rate_limit && tilted.median_ns.saturating_mul(2) < level.median_ns;
    let kept = if tilts { tilted } else { level };
    let free = Some((rate, tilted.median_ns));
    // It is their clock that the rate counts.
    let doubt = doubt(observed(&events, kept, free, rate_limit), |rate| 1.0 / rate);
    Some(Fitted { doubt, ..kept })
}

/// What both clocks say of the events, the first of which and the last are the earliest and the latest by mine.
fn observed(events: &[(i64, i64)], kept: Fitted, free: Option<(f64, i64)>, limit: f64) -> Observed {
    let span = |of: fn(&(i64, i64)) -> i64| {
        let (low, high) =
            events.iter().map(of).fold((i64::MAX, i64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        high.saturating_sub(low).max(0)
    };
    let span_ns = span(|event| event.0).max(span(|event| event.1));
    Observed { kept: Residuals { median_ns: kept.median_ns, max_ns: kept.max_ns }, free, span_ns, limit }
}

/// The line below events of which `theirs` is only ever late, such as what came through a console: it touches the
/// least delayed ones (the edge of the lower convex hull under the middle), so the residuals are the delays.
///
/// ```
/// use firstlight_merge::fit::below;
/// let late = |n: i64| if n % 7 == 0 { 0 } else { n * 1_000 };
/// let events: Vec<(i64, i64)> = (1..100).map(|n| (n * 50_000_000, n * 50_000_000 + 3_000 + late(n))).collect();
/// assert_eq!(below(events, 0.001).map(|fitted| fitted.line.offset_ns), Some(3_000));
/// ```
pub fn below(mut events: Vec<(i64, i64)>, rate_limit: f64) -> Option<Fitted> {
    events.sort_unstable();
    let (first, last) = (events.first()?.0, events.last()?.0);
    let mut rate = 1.0;
    if events.len() >= EVENTS_FOR_RATE && last.saturating_sub(first) >= SPAN_FOR_RATE_NS {
        // What piled up before the console was there is late by seconds: the edge is that of the least delayed.
        for _ in 0..REFINEMENTS {
            let prompt = least_delayed(&events, rate)?;
            let Some(slope) = edge_under_the_middle(&prompt).filter(|slope| (slope - 1.0).abs() <= rate_limit) else {
                break;
            };
            rate = slope;
        }
    }
    let line = Line { offset_ns: 0, rate };
    let least = events.iter().map(|(mine, theirs)| theirs.saturating_sub(line.at(*mine))).min()?;
    let kept = judged(&events, line.shifted(least));
    let free = self::rate(&events).and_then(|rate| Some((rate, judged(&events, centred(&events, rate)?).median_ns)));
    let span_ns = last.saturating_sub(first);
    let observed = Observed { span_ns, ..observed(&events, kept, free, rate_limit) };
    Some(Fitted { doubt: doubt(observed, |rate| rate), ..kept })
}

/// The fit the other way round.
pub fn inverted(fitted: Fitted) -> Fitted {
    let Line { offset_ns, rate } = fitted.line;
    let back = if rate == 0.0 { 1.0 } else { 1.0 / rate };
    let offset_ns = -((offset_ns as f64 * back).round() as i64);
    Fitted { line: Line { offset_ns, rate: back }, ..fitted }
}

/// The two fifths of the events that lie lowest over lines of this rate.
fn least_delayed(events: &[(i64, i64)], rate: f64) -> Option<Vec<(i64, i64)>> {
    let line = Line { offset_ns: 0, rate };
    let above = |(mine, theirs): &(i64, i64)| theirs.saturating_sub(line.at(*mine));
    let highest = quantile(events.iter().map(above).collect(), 2, 5)?;
    Some(events.iter().copied().filter(|event| above(event) <= highest).collect())
}

fn edge_under_the_middle(events: &[(i64, i64)]) -> Option<f64> {
    let mut hull: Vec<(i64, i64)> = Vec::new();
    for event in events {
        while let [.., one, two] = hull.as_slice() {
            if turn(*one, *two, *event) > 0 {
                break;
            }
            hull.pop();
        }
        hull.push(*event);
    }
    let mean = events.iter().map(|(mine, _)| i128::from(*mine)).sum::<i128>() / (events.len() as i128).max(1);
    let edge = hull.windows(2).find(|edge| i128::from(edge[0].0) <= mean && mean <= i128::from(edge[1].0))?;
    slope(edge[0], edge[1])
}

/// Whether the way over three points turns upwards (positive).
fn turn(one: (i64, i64), two: (i64, i64), three: (i64, i64)) -> i128 {
    let across = |a: i64, b: i64| i128::from(a) - i128::from(b);
    let product = |a: i128, b: i128| a.saturating_mul(b);
    product(across(two.0, one.0), across(three.1, one.1))
        .saturating_sub(product(across(two.1, one.1), across(three.0, one.0)))
}

fn slope(one: (i64, i64), two: (i64, i64)) -> Option<f64> {
    let run = i128::from(two.0) - i128::from(one.0);
    (run > 0).then(|| (i128::from(two.1) - i128::from(one.1)) as f64 / run as f64)
}

fn rate(events: &[(i64, i64)]) -> Option<f64> {
    let span = events.last()?.0.saturating_sub(events.first()?.0);
    if events.len() < EVENTS_FOR_RATE || span < SPAN_FOR_RATE_NS {
        return None;
    }
    let every = events.len().div_ceil(EVENTS_FOR_SLOPES);
    let some: Vec<(i64, i64)> = events.iter().copied().step_by(every).collect();
    let mut slopes: Vec<f64> = Vec::new();
    for (number, one) in some.iter().enumerate() {
        // Pairs that lie close say more about the steps of the clocks than about their rates.
        let far = some.iter().skip(number + 1).filter(|two| two.0.saturating_sub(one.0) >= span / 8);
        slopes.extend(far.filter_map(|two| slope(*one, *two)));
    }
    if slopes.is_empty() {
        return None;
    }
    let middle = slopes.len() / 2;
    let (_, median, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

fn centred(events: &[(i64, i64)], rate: f64) -> Option<Line> {
    let line = Line { offset_ns: 0, rate };
    let offsets = events.iter().map(|(mine, theirs)| theirs.saturating_sub(line.at(*mine))).collect();
    Some(line.shifted(quantile(offsets, 1, 2)?))
}

fn judged(events: &[(i64, i64)], line: Line) -> Fitted {
    let residuals: Vec<i64> =
        events.iter().map(|(mine, theirs)| theirs.saturating_sub(line.at(*mine)).saturating_abs()).collect();
    Fitted {
        line,
        shared: events.len(),
        max_ns: residuals.iter().copied().max().unwrap_or(0),
        most_ns: quantile(residuals.clone(), 9, 10).unwrap_or(0),
        median_ns: quantile(residuals, 1, 2).unwrap_or(0),
        doubt: None,
    }
}

fn quantile(mut values: Vec<i64>, part: usize, of: usize) -> Option<i64> {
    let place = (values.len().checked_sub(1)?).saturating_mul(part) / of.max(1);
    Some(*values.select_nth_unstable(place).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_survives_wild_events() {
        let mut events: Vec<(i64, i64)> = (0..40).map(|n| (n * 1_000_000, n * 1_000_000 - 500)).collect();
        events.extend([(3, 9_000_000_000), (7, -9_000_000_000)]);
        let fitted = through(events, 0.001).unwrap();
        assert_eq!((fitted.line, fitted.shared, fitted.median_ns), (Line { offset_ns: -500, rate: 1.0 }, 42, 0));
    }

    #[test]
    fn few_events_or_a_short_time_give_no_rate() {
        let drifting = |n: i64| (n * 100_000_000, n * 100_010_000);
        assert_eq!(through((0..7).map(drifting).collect(), 0.001).unwrap().line.rate, 1.0);
        let short = |n: i64| (n * 1_000_000, n * 1_000_100);
        assert_eq!(through((0..50).map(short).collect(), 0.001).unwrap().line.rate, 1.0);
    }

    #[test]
    fn a_rate_beyond_its_limit_is_none() {
        let events: Vec<(i64, i64)> = (0..50).map(|n| (n * 100_000_000, n * 250_000_000)).collect();
        assert_eq!(through(events.clone(), 0.001).unwrap().line.rate, 1.0);
        assert!((through(events, 1e6).unwrap().line.rate - 2.5).abs() < 1e-9);
    }

    #[test]
    fn the_line_below_finds_drift_under_a_backlog() {
        // The first half was printed at once when the console came up; later lines are delayed by up to 4 ms.
        let event = |n: i64| {
            let (mine, delay) = (n * 20_000_000, (n * 7919) % 4_000_000);
            let theirs = mine + mine / 10_000 + 1_000_000;
            (
                mine,
                if n < 200 {
                    4_000_000_000 + 1_400_000 + n * 1_000
                } else {
                    theirs + if n % 10 == 0 { 0 } else { delay }
                },
            )
        };
        let fitted = below((0..400).map(event).collect(), 0.001).unwrap();
        assert!((fitted.line.rate - 1.0001).abs() < 2e-6, "{fitted:?}");
        assert!((fitted.line.offset_ns - 1_000_000).abs() < 20_000, "{fitted:?}");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let events = vec![(i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (0, 0)];
        assert!(through(events.clone(), 1e300).is_some());
        assert!(below(events, 1e300).is_some());
        assert!(through(Vec::new(), 1.0).is_none());
    }
}
