//! Why a clock cannot have run as its record says.

use crate::text::seconds;
use std::fmt;

/// Residuals up to here are what lines and calls are late by, whatever the clocks do.
const LATE_NS: i64 = 100_000_000;
/// A rate explains the residuals if it reduces them by at least this factor; otherwise they are delays.
const EXPLAINED: i64 = 10;
/// Events may lie so much further off than the whole time that they cover.
const BEYOND_NS: i64 = 1_000_000_000;
/// Counters of processors and timers run at 100 Hz to 100 GHz: so many nanoseconds pass for each count.
const COUNTERS: std::ops::RangeInclusive<f64> = 1e-2..=1e7;
/// A clock this slow stands still.
const STANDS: f64 = 1e-2;

/// What is impossible about a clock, or about the way it was aligned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// Later events have earlier stamps.
    Backwards,
    /// The events have one time.
    Stands {
        /// So long they take by the other clock.
        meanwhile_ns: i64,
    },
    /// It runs so many times as fast as the other clock.
    Rate(f64),
    /// Shared events lie far from any common clock.
    Apart {
        /// The farthest.
        most_ns: i64,
    },
    /// It is the same clock as another record's, and shows other times.
    Shifted {
        /// By so much.
        by_ns: i64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards => write!(out, "it runs backwards against the boot's clock"),
            Self::Stands { meanwhile_ns } => {
                write!(out, "it stands still while {} pass by the boot's clock", seconds(*meanwhile_ns))
            }
            Self::Rate(rate) => write!(out, "it runs {} times as fast as the boot's clock", digits(*rate)),
            Self::Apart { most_ns } => {
                write!(out, "shared events lie up to {} from any common clock", seconds(*most_ns))
            }
            Self::Shifted { by_ns } => {
                write!(out, "it is the boot's clock, and shows the same lines {} off", seconds(by_ns.saturating_abs()))
            }
        }
    }
}

/// A rate with as many digits as a person needs.
fn digits(rate: f64) -> String {
    if !(0.001..10_000.0).contains(&rate) {
        format!("{rate:.1e}")
    } else if rate >= 100.0 {
        format!("{rate:.0}")
    } else {
        format!("{rate:.3}")
    }
}

/// How well events lie on a line: half of them closer than `median_ns`, all within `max_ns`.
#[derive(Debug, Clone, Copy)]
pub struct Residuals {
    /// Half of them lie closer.
    pub median_ns: i64,
    /// The farthest.
    pub max_ns: i64,
}

/// What two clocks say of the same events.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    /// Of the line that was kept.
    pub kept: Residuals,
    /// The rate that fits best, whatever a clock can do, and the middle residual that it leaves.
    pub free: Option<(f64, i64)>,
    /// The other clock's time from the first event to the last.
    pub span_ns: i64,
    /// A rate of the clock may differ from 1 by so much.
    pub limit: f64,
}

/// What is impossible about a clock of which `speed` turns the fitted rate into how fast it runs.
///
/// ```
/// use firstlight_merge::doubt::{doubt, Doubt, Observed, Residuals};
/// let kept = Residuals { median_ns: 4_200_000_000, max_ns: 8_400_000_000 };
/// let observed = Observed { kept, free: Some((3.0, 0)), span_ns: 4_200_000_000, limit: 0.001 };
/// assert_eq!(doubt(observed, |rate| rate), Some(Doubt::Rate(3.0)));
/// // What a slow console delays is not a clock's fault.
/// let kept = Residuals { median_ns: 2_000_000, max_ns: 90_000_000 };
/// assert_eq!(doubt(Observed { kept, free: Some((1.02, 1_900_000)), ..observed }, |rate| rate), None);
/// ```
pub fn doubt(observed: Observed, speed: impl Fn(f64) -> f64) -> Option<Doubt> {
    let Observed { kept, free, span_ns, limit } = observed;
    if let Some((rate, left_ns)) = free {
        let explains = left_ns.saturating_mul(EXPLAINED) < kept.median_ns && kept.max_ns > LATE_NS;
        let (beyond, counts) = ((rate - 1.0).abs() > limit, COUNTERS.contains(&rate));
        if beyond && explains || !counts && limit > 1.0 {
            let speed = speed(rate);
            return Some(match speed {
                _ if !speed.is_finite() || speed.abs() < STANDS => Doubt::Stands { meanwhile_ns: span_ns },
                _ if speed < 0.0 => Doubt::Backwards,
                _ => Doubt::Rate(speed),
            });
        }
    }
    (kept.max_ns > span_ns.saturating_add(BEYOND_NS)).then_some(Doubt::Apart { most_ns: kept.max_ns })
}
