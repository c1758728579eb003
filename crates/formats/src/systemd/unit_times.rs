//! The four times of a unit's latest start, as spans.

use super::timespan::by_step;
use crate::evidence::{Grade, Span, SpanKind};
use firstlight_schema::{Reason, ReasonCode};

/// The kinds of unit, as the ends of their names.
const KINDS: [&str; 12] = [
    "service",
    "socket",
    "target",
    "device",
    "mount",
    "automount",
    "swap",
    "timer",
    "path",
    "slice",
    "scope",
    "snapshot",
];

/// Whether a text can be the name of a unit.
///
/// ```
/// use firstlight_formats::systemd::unit_times::is_unit;
/// assert!(is_unit("dev-disk-by\\x2duuid-1.device") && is_unit("getty@tty1.service"));
/// assert!(!is_unit("a b.service") && !is_unit(".service") && !is_unit("notes.txt"));
/// ```
pub fn is_unit(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, kind)| !stem.is_empty() && KINDS.contains(&kind))
        && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '/')
}

/// A unit's times in nanoseconds; none is unset.
#[derive(Debug, Clone, Default)]
pub struct UnitTimes {
    /// Its name.
    pub name: String,
    /// `InactiveExit`: it began to start.
    pub activating: Option<i64>,
    /// `ActiveEnter`: it was up.
    pub activated: Option<i64>,
    /// `ActiveExit`: it began to stop.
    pub deactivating: Option<i64>,
    /// `InactiveEnter`: it was down, or had failed.
    pub deactivated: Option<i64>,
    /// systemd's `time`, where the record has it.
    pub time: Option<i64>,
    /// Where times were cut to the end of the boot: that end.
    pub clamp: Option<i64>,
    /// The step of the times.
    pub step_ns: i64,
    /// How far figures that are the same may differ.
    pub slack_ns: i64,
    /// Whether it runs once and is done, without ever being up.
    pub once: bool,
}

/// What stands for a time that was cut.
pub const CLAMPED: &str = ReasonCode::ClampedByAnalyze.text();

impl UnitTimes {
    /// Whether a time may be the end of the boot instead of its own.
    fn is_clamp(&self, time: i64) -> bool {
        self.clamp.is_some_and(|clamp| (time - clamp).abs() <= self.slack_ns)
    }

    /// How far systemd's `time` is from what lies between activating and active, where it is not that and neither was cut.
    pub fn disputed(&self) -> Option<i64> {
        let activated = self.activated.filter(|activated| !self.is_clamp(*activated))?;
        let length = activated.checked_sub(self.activating?).filter(|length| *length >= 0)?;
        let apart = (length - self.time.filter(|time| *time > 0)?).abs();
        (apart > self.slack_ns).then_some(apart)
    }

    /// The start: from activating to active, or to failed; none where the unit never began to start.
    pub fn start(&self) -> Option<Span> {
        let activating = self.activating?;
        let span = Span { track: "systemd".into(), ..Span::new(SpanKind::Unit, self.name.clone()) };
        let after = |time: Option<i64>| time.filter(|time| *time >= activating);
        if let Some(activated) = after(self.activated) {
            let agreed = self.time.is_none_or(|time| (activated - activating - time).abs() <= self.slack_ns);
            if agreed && !(self.is_clamp(activated) && self.time.is_none_or(|time| time == 0)) {
                return Some(by_step(span.between(activating, activated), self.step_ns));
            }
        }
        if let Some(time) = self.time.filter(|time| *time > 0) {
            if let Some(apart) = self.disputed() {
                let span = span.between(activating, activating.saturating_add(time));
                let reason = Reason::of(ReasonCode::OwnInstantsDiffer).with("us", apart / 1_000);
                return Some(span.graded(Grade::Doubtful, reason));
            }
            if self.clamp.is_some() {
                let span = span.between(activating, activating.saturating_add(time));
                return Some(span.graded(Grade::Bounded, ReasonCode::ClampedTimes));
            }
        }
        if self.clamp.is_none() {
            if let Some(deactivated) = after(self.deactivated) {
                let span = span.between(activating, deactivated);
                if self.once {
                    return Some(by_step(span, self.step_ns));
                }
                return Some(span.graded(Grade::Bounded, ReasonCode::NeverActive));
            }
        }
        let span = Span { start_ns: Some(activating), ..span };
        let reason = if self.clamp.is_some() { ReasonCode::ClampedByAnalyze } else { ReasonCode::NotActive };
        Some(span.graded(Grade::Unknown, reason))
    }

    /// While it was up; none where it was not.
    pub fn up(&self) -> Option<Span> {
        let activated = self.activated.filter(|activated| self.activating.is_none_or(|start| *activated >= start))?;
        if self.is_clamp(activated) {
            return None;
        }
        let span = Span { track: "systemd".into(), ..Span::new(SpanKind::UnitActive, self.name.clone()) };
        match self.deactivating.filter(|deactivating| *deactivating >= activated) {
            Some(end) if self.is_clamp(end) => {
                Some(span.between(activated, end).graded(Grade::Bounded, ReasonCode::StillActiveOrClamped))
            }
            Some(end) => Some(by_step(span.between(activated, end), self.step_ns)),
            None => {
                let span = Span { start_ns: Some(activated), ..span };
                Some(span.graded(Grade::Unknown, ReasonCode::StillActive))
            }
        }
    }
}
