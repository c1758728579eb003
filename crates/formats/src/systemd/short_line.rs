//! One line of the journal as text: `TIME HOST NAME[PID]: MESSAGE`, with any of the times that `journalctl` prints.

use super::months::foreign;
use crate::decimal::scaled;
use crate::kernel_log::dates::instant;

/// When a line was logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// Nanoseconds of `CLOCK_MONOTONIC`; of the kernel's lines, of its own clock.
    Monotonic(i64),
    /// Nanoseconds since 1970. A zone other than an offset is taken for UTC, and a missing year for 1970.
    Realtime(i64),
}

/// A line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortLine<'a> {
    /// When.
    pub time: Time,
    /// The smallest step of the time.
    pub step_ns: i64,
    /// On which machine.
    pub host: &'a str,
    /// Who: the syslog identifier, `kernel`, or a unit.
    pub name: &'a str,
    /// The number of the process, where it is there.
    pub pid: Option<&'a str>,
    /// What.
    pub message: &'a str,
    /// Name, process and message as they stand.
    pub body: &'a str,
}

impl ShortLine<'_> {
    /// The line with a date that is so much later.
    pub(super) fn later(self, by_ns: i64) -> Self {
        match self.time {
            Time::Realtime(time_ns) => Self { time: Time::Realtime(time_ns.saturating_add(by_ns)), ..self },
            Time::Monotonic(_) => self,
        }
    }
}

/// Takes a line apart; none where it has another shape.
///
/// ```
/// use firstlight_formats::systemd::short_line::{parse, Time};
/// let line = parse("[    1.250000] box systemd[1]: Starting a.service - A...").unwrap();
/// assert_eq!((line.time, line.host, line.name, line.pid), (Time::Monotonic(1_250_000_000), "box", "systemd", Some("1")));
/// assert_eq!(line.message, "Starting a.service - A...");
/// for text in [
///     "Jan 02 00:00:01.500000 box a: b",
///     "1970-01-02T01:00:01.500000+01:00 box a: b",
///     "Fri 1970-01-02 00:00:01.5 UTC box a: b",
///     "     86401.500000 box a: b",
///     "janv. 02 00:00:01.500000 box a: b",
///     " 1月 02 00:00:01.500000 box a: b",
/// ] {
///     assert_eq!(parse(text).unwrap().time, Time::Realtime(86_401_500_000_000), "{text}");
/// }
/// assert!(parse("    more of the line before").is_none() && parse("-- Boot 12 --").is_none());
/// ```
pub fn parse(line: &str) -> Option<ShortLine<'_>> {
    let (time, step_ns, rest) = stamp(line)?;
    let (host, body) = rest.strip_prefix(' ')?.split_once(' ')?;
    let (who, message) = match body.split_once(": ") {
        Some(parts) => parts,
        None => (body.strip_suffix(':')?, ""),
    };
    let (name, pid) = match who.strip_suffix(']').and_then(|who| who.rsplit_once('[')) {
        Some((name, pid)) if !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(pid)),
        _ => (who, None),
    };
    (!host.is_empty() && !name.is_empty()).then_some(ShortLine { time, step_ns, host, name, pid, message, body })
}

fn stamp(line: &str) -> Option<(Time, i64, &str)> {
    if let Some(rest) = line.strip_prefix('[') {
        let (inside, rest) = rest.split_once(']')?;
        // `short-delta` has the time since the line before in there as well.
        let seconds = inside.split(['<', ' ']).find(|word| !word.is_empty())?;
        let whole = seconds.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6);
        return whole.then_some((Time::Monotonic(scaled(seconds, 9)?), 1_000, rest));
    }
    let text = line.trim_start_matches(' ');
    let first = text.split(' ').next()?;
    if first.as_bytes().get(4) == Some(&b'-') {
        return iso(text, first);
    }
    if numbered_month(line) {
        return syslog(text);
    }
    if first.as_bytes().first()?.is_ascii_digit() {
        let (_, decimals) = first.split_once('.')?;
        let time = (decimals.len() == 6).then(|| scaled(first, 9))??;
        return Some((Time::Realtime(time), 1_000, text.get(first.len()..)?));
    }
    if ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&first) {
        return weekday(text.get(4..)?);
    }
    syslog(text)
}

/// `1970-01-02T01:00:01.5+01:00`, the offset also as `+0100` or `Z`.
fn iso<'a>(text: &'a str, first: &str) -> Option<(Time, i64, &'a str)> {
    let (date, time) = first.split_once('T')?;
    let zone = time.find(['+', '-', 'Z'])?;
    let (time, zone) = time.split_at_checked(zone)?;
    let offset = match zone.as_bytes() {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), ..] => {
            let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
            let minutes = digits.get(..2)?.parse::<i64>().ok()? * 60 + digits.get(2..4)?.parse::<i64>().ok()?;
            if *sign == b'-' {
                -minutes
            } else {
                minutes
            }
        }
        _ => return None,
    };
    let (day, (clock, step)) = (date_of(date)?, clock(time)?);
    let time = day.checked_add(clock)?.checked_sub(offset * 60_000_000_000)?;
    Some((Time::Realtime(time), step, text.get(first.len()..)?))
}

/// `1970-01-02 00:00:01 UTC` after the name of the day.
fn weekday(text: &str) -> Option<(Time, i64, &str)> {
    let mut words = text.splitn(4, ' ');
    let (date, time, _zone) = (words.next()?, words.next()?, words.next()?);
    let rest = words.next()?;
    let (clock, step) = clock(time)?;
    let rest = text.get(text.len().checked_sub(rest.len() + 1)?..)?;
    Some((Time::Realtime(date_of(date)?.checked_add(clock)?), step, rest))
}

/// Whether a line begins with a month as ` 5月`: before a number of one digit stands a space, which is no further line of a message.
pub(super) fn numbered_month(line: &str) -> bool {
    let first = line.trim_start_matches(' ').split(' ').next().unwrap_or_default();
    first.ends_with(['月', '월'])
}

/// `Jan 02 00:00:01`, or with decimals; the month also in another language.
fn syslog(text: &str) -> Option<(Time, i64, &str)> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (word, rest) = text.split_once(' ')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let rest = rest.strip_prefix(' ')?;
    let day: i64 = day.trim_start().parse().ok()?;
    let time = rest.split(' ').next()?;
    let (clock, step) = clock(time)?;
    let month = match MONTHS.iter().zip(1..).find(|(name, _)| **name == word) {
        Some((_, month)) => month,
        None => foreign(word)?,
    };
    Some((Time::Realtime(instant(1970, month, day, clock)?), step, rest.get(time.len()..)?))
}

fn date_of(text: &str) -> Option<i64> {
    let mut parts = text.split('-').map(|part| part.parse::<i64>().ok());
    let date = instant(parts.next()??, parts.next()??, parts.next()??, 0)?;
    parts.next().is_none().then_some(date)
}

/// `HH:MM:SS` with or without decimals, and its step.
fn clock(text: &str) -> Option<(i64, i64)> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let step = if seconds.contains('.') { 1_000 } else { 1_000_000_000 };
    let seconds = scaled(seconds, 9).filter(|seconds| (0..=60_999_999_999).contains(seconds))?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some(((i64::from(hours) * 60 + i64::from(minutes)) * 60_000_000_000 + seconds, step))
}
