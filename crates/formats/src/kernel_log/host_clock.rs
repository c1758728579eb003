//! The host's times in front of the lines of a console, as one clock.

use super::clock_lookahead::Ahead;
use super::text::Text;
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Evidence, ProblemKind};
use crate::format::Input;
use crate::lines::Lines;
use crate::FormatError;

const DAY: i64 = 86_400_000_000_000;
const HALF_DAY: i64 = DAY / 2;

/// The host's time of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostTime {
    /// Since the base.
    Elapsed(i64),
    /// Since midnight.
    OfDay(i64),
    /// Since the time of the first line.
    Date(i64),
}

/// Turns the times of a host into one clock that never goes back.
#[derive(Debug, Default)]
struct HostClock {
    last: Option<i64>,
    base: i64,
    first: Option<i64>,
    reset: Option<(u64, u64)>,
}

impl HostClock {
    /// Reports where the times went back.
    fn report(&self, text: &mut Text) {
        if let Some((count, line)) = self.reset {
            let again = counted(count, "begin anew [once|# times]");
            let detail = format!(
                "the host's times {again} (a new base, or a step of its clock); they go on from the line before"
            );
            text.boots().note(ProblemKind::ClockJump, line, detail);
        }
    }

    /// Returns when a line was received.
    fn at(&mut self, host: HostTime, number: u64) -> i64 {
        let time = match host {
            HostTime::Elapsed(time) => time,
            HostTime::OfDay(time) | HostTime::Date(time) => {
                let first = *self.first.get_or_insert(time);
                time.saturating_sub(first)
            }
        };
        let mut now = time.saturating_add(self.base);
        if let Some(last) = self.last.filter(|&last| now < last) {
            if matches!(host, HostTime::OfDay(_)) && last - now > HALF_DAY {
                self.base = self.base.saturating_add(DAY);
            } else {
                // A new base (`-m`) is the time of the line before, and the times go on from there.
                self.reset.get_or_insert((0, number)).0 += 1;
                self.base = last;
                if !matches!(host, HostTime::Elapsed(_)) {
                    self.base = last.saturating_sub(time);
                }
            }
            now = time.saturating_add(self.base);
        }
        self.last = Some(now);
        now
    }
}

/// Reads a console whose lines begin with the host's time. `prefix` splits a line into that time and the text; a line without
/// a time gets the time of the line before.
///
/// # Errors
///
/// [`FormatError`] when the input cannot be read, or no line is the kernel's.
pub(super) fn read(
    about: &'static About,
    input: Input<'_>,
    mut ahead: Ahead,
    prefix: impl Fn(&[u8]) -> Option<(HostTime, &[u8])>,
) -> Result<Vec<Evidence>, FormatError> {
    let mut text = Text::new(about, "", true);
    let mut lines = Lines::new(input.bytes);
    let mut clock = HostClock::default();
    let mut bare: Option<(u64, u64)> = None;
    while let Some(line) = lines.next_line()? {
        let (host, rest) = match prefix(line.bytes) {
            Some((host, rest)) => (Some(clock.at(host, line.number)), rest),
            None if line.bytes.is_empty() => continue,
            None => {
                bare.get_or_insert((0, line.number)).0 += 1;
                (clock.last, line.bytes)
            }
        };
        ahead.line(&mut text, line.number, host, rest);
    }
    ahead.finish(&mut text);
    clock.report(&mut text);
    if let Some((count, line)) = bare {
        let detail = counted(count, "# line[|s] [has|have] no time of the host");
        text.boots().note(ProblemKind::Torn, line, detail);
    }
    let problems = lines.problems();
    text.finish(about.title, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_base_goes_on_and_midnight_does_too() {
        let mut clock = HostClock::default();
        let times = [HostTime::Elapsed(1), HostTime::Elapsed(5), HostTime::Elapsed(2), HostTime::Elapsed(3)];
        assert_eq!(times.map(|time| clock.at(time, 1)), [1, 5, 7, 8]);
        let mut clock = HostClock::default();
        let times = [HostTime::OfDay(DAY - 2), HostTime::OfDay(1)];
        assert_eq!(times.map(|time| clock.at(time, 1)), [0, 3]);
    }
}
