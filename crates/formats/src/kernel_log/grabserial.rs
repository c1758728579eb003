//! What `grabserial` writes: each line of a console with the host's time in front of it.

use super::bytes::seconds;
use super::clock_lookahead::Ahead;
use super::dates::clock;
use super::prefix::{parse, Time};
use super::text::Text;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Evidence, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct Grabserial;

const DAY: i64 = 86_400_000_000_000;
const HALF_DAY: i64 = DAY / 2;

/// The host's time of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostTime {
    /// Since the base.
    Elapsed(i64),
    /// Since midnight.
    OfDay(i64),
    /// Since whatever the first line tells from.
    Date(i64),
}

/// What stands before a line: the time, whether it is surely of grabserial, and the line.
fn prefix(line: &[u8]) -> Option<(HostTime, bool, &[u8])> {
    // A label may come first; it is one word.
    let open = line.iter().take(40).position(|&byte| byte == b'[')?;
    let label = &line[..open];
    if !label.is_empty() && (label.trim_ascii_end().contains(&b' ') || !label.ends_with(b" ")) {
        return None;
    }
    let inside = &line[open + 1..];
    let (of_day, rest) = match clock(inside) {
        Some((time, rest)) => (Some(time), rest),
        None => (None, inside),
    };
    let mut numbers = [0_i64; 2];
    let mut count = 0;
    let mut rest = if of_day.is_some() { rest.strip_prefix(b" ").unwrap_or(rest) } else { rest };
    while count < 2 {
        let (negative, digits) = match rest.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, rest),
        };
        let Some((value, after)) = seconds(digits) else { break };
        numbers[count] = if negative { -value } else { value };
        count += 1;
        rest = after.strip_prefix(b" ").unwrap_or(after);
    }
    let rest = rest.strip_prefix(b"]")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    match (of_day, count) {
        (Some(_), 2) => Some((HostTime::Elapsed(numbers[0]), true, rest)),
        (Some(time), 0 | 1) => Some((HostTime::OfDay(time), true, rest)),
        (None, 2) => Some((HostTime::Elapsed(numbers[0]), true, rest)),
        (None, 1) if inside.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-') => {
            Some((HostTime::Elapsed(numbers[0]), false, rest))
        }
        _ => None,
    }
}

/// Makes one clock of the host's times.
#[derive(Debug, Default)]
pub(super) struct HostClock {
    last: Option<i64>,
    base: i64,
    first: Option<i64>,
    reset: Option<(u64, u64)>,
}

impl HostClock {
    /// The time of the line before.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Says where it went back.
    pub(super) fn report(&self, text: &mut Text) {
        if let Some((count, line)) = self.reset {
            let detail = format!("the host's times begin anew {count} times (a new base, or a step of its clock); they go on from the line before");
            text.boots().note(ProblemKind::ClockJump, line, detail);
        }
    }

    /// When a line was received.
    pub(super) fn at(&mut self, host: HostTime, number: u64) -> i64 {
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

impl Format for Grabserial {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Grabserial, Traits::of(Origin::KernelLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut lines, mut sure, mut nested) = (0, 0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').take(200) {
            let line = line.trim_ascii_end();
            if line.is_empty() {
                continue;
            }
            lines += 1;
            if let Some((_, certain, rest)) = prefix(line) {
                sure += usize::from(certain);
                let kernel = matches!(parse(rest).time, Some(Time::Kernel(_)));
                nested += usize::from(!certain && kernel && rest.first() == Some(&b'['));
            }
        }
        if sure * 2 > lines && sure >= 2 {
            Likelihood::Certain
        } else if sure * 2 > lines || ((sure + nested) * 3 > lines && nested >= 3) {
            Likelihood::Likely
        } else {
            Likelihood::No
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut text = Text::new(self.about(), "", true);
        let mut lines = Lines::new(input.bytes);
        let mut clock = HostClock::default();
        let mut ahead = Ahead::default();
        let mut bare: Option<(u64, u64)> = None;
        while let Some(line) = lines.next_line()? {
            let (host, rest) = match prefix(line.bytes) {
                Some((host, _, rest)) => (Some(clock.at(host, line.number)), rest),
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
            let detail = format!("{count} lines have no time of the host");
            text.boots().note(ProblemKind::Torn, line, detail);
        }
        let problems = lines.problems();
        text.finish(self.title(), problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix() {
        let rest = &b"x"[..];
        assert_eq!(prefix(b"[3.201455 0.000420] x"), Some((HostTime::Elapsed(3_201_455_000), true, rest)));
        assert_eq!(prefix(b"[3.201455] x"), Some((HostTime::Elapsed(3_201_455_000), false, rest)));
        assert_eq!(prefix(b"board1 [3.201455 -0.000420] x"), Some((HostTime::Elapsed(3_201_455_000), true, rest)));
        assert_eq!(prefix(b"[00:00:01.5 0.000420] x"), Some((HostTime::OfDay(1_500_000_000), true, rest)));
        assert_eq!(prefix(b"[00:00:01.5] x"), Some((HostTime::OfDay(1_500_000_000), true, rest)));
        assert_eq!(prefix(b"[10:00:00.5 2.5 0.1] x"), Some((HostTime::Elapsed(2_500_000_000), true, rest)));
        assert_eq!(prefix(b"[    3.201455] x"), None);
        assert_eq!(prefix(b"two words [3.2 0.1] x"), None);
    }

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
