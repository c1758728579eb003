//! The output of `grabserial`: the lines of a console, each after the host's time.

use super::bytes::seconds;
use super::clock_lookahead::Ahead;
use super::dates::clock;
use super::host_clock::{self, HostTime};
use super::prefix::{parse, Time};
use crate::about::{About, Origin, Traits};
use crate::evidence::Evidence;
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct Grabserial;

/// Splits a line into the time, whether only grabserial writes it so, and the text.
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
        host_clock::read(self.about(), input, Ahead::default(), |line| prefix(line).map(|(host, _, rest)| (host, rest)))
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
}
