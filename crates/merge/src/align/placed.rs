//! Where clocks lie on that of the boot, so far as it is known.

use crate::doubt::Doubt;
use crate::events::Shared;
use crate::fit::{Fitted, Line};
use firstlight_formats::evidence::{Clock, Evidence};

/// How a piece's clock relates to the boot's.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// It is the boot's clock.
    Base,
    /// It follows it by a line.
    Fitted {
        /// The fit; of no shared event where the clocks are the same by what they are.
        fitted: Fitted,
        /// What it rests on.
        how: String,
    },
    /// It has no times.
    Untimed,
    /// It shares nothing with what is placed.
    Unaligned(String),
    /// What it shares shows that it is another boot's.
    Foreign(String),
}

impl Place {
    /// The way of its instants onto the boot's clock.
    pub fn line(&self) -> Option<Line> {
        match self {
            Self::Base => Some(Line::SAME),
            Self::Fitted { fitted, .. } => Some(fitted.line),
            Self::Untimed | Self::Unaligned(_) | Self::Foreign(_) => None,
        }
    }

    /// Whether it is another boot's.
    pub fn is_foreign(&self) -> bool {
        matches!(self, Self::Foreign(_))
    }

    /// Why its clock cannot be right.
    pub fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Fitted { fitted, .. } => fitted.doubt,
            _ => None,
        }
    }

    /// How far a placed instant may be off.
    pub fn uncertainty_ns(&self) -> i64 {
        match self {
            Self::Fitted { fitted, .. } => fitted.most_ns,
            _ => 0,
        }
    }
}

/// A place that rests on no shared event.
pub fn same(line: Line, how: String) -> Place {
    Place::Fitted { fitted: Fitted::without_events(line), how }
}

/// What is placed so far.
pub struct Placed {
    pub known: Shared,
    /// Each clock that is placed, its way onto the boot's, and what that rests on where it is only assumed.
    pub clocks: Vec<(Clock, Line, Option<String>)>,
    pub readings: Readings,
    /// The step of the boot's own clock.
    pub step_ns: i64,
    /// Whether there are records of which it is known that they are of this boot.
    pub certain: bool,
}

impl Placed {
    /// The way of a clock of this family onto the boot's, where one is placed.
    pub fn line_of(&self, wanted: Family) -> Option<Line> {
        self.clocks.iter().find(|(clock, ..)| family(clock) == Some(wanted)).map(|(_, line, _)| *line)
    }

    /// The way of the clock that counts from the kernel's start.
    pub fn kernel_line(&self) -> Option<Line> {
        self.line_of(Family::Monotonic).or_else(|| self.line_of(Family::Scheduler))
    }
}

/// How clocks stood to one another, where a collector read them at the same instant.
#[derive(Debug, Clone, Copy, Default)]
pub struct Readings {
    pub printk_ahead_of_monotonic_ns: Option<i64>,
    pub realtime_at_boot_ns: Option<i64>,
}

impl Readings {
    pub fn of(pieces: &[&Evidence]) -> Self {
        let reading = |name: &str| {
            let mut facts = pieces.iter().flat_map(|piece| &piece.facts);
            facts.find(|(fact, _)| fact == name).and_then(|(_, value)| value.parse().ok())
        };
        Self {
            printk_ahead_of_monotonic_ns: reading("clock.printk_ahead_of_monotonic_ns"),
            realtime_at_boot_ns: reading("clock.realtime_at_boot_ns"),
        }
    }
}

/// The clocks that count from the kernel's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The scheduler's, which printk and the tracer stamp with.
    Scheduler,
    /// `CLOCK_MONOTONIC` and its kin.
    Monotonic,
}

/// What counts from the kernel's start, in two families that may lie some ten milliseconds apart.
pub fn family(clock: &Clock) -> Option<Family> {
    match clock {
        Clock::Printk => Some(Family::Scheduler),
        Clock::Trace(name) if matches!(name.as_str(), "" | "local" | "global") => Some(Family::Scheduler),
        Clock::Monotonic | Clock::Boottime => Some(Family::Monotonic),
        Clock::Trace(name) if matches!(name.as_str(), "mono" | "mono_raw" | "boot") => Some(Family::Monotonic),
        _ => None,
    }
}
