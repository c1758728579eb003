//! Dates in front of log lines, as nanoseconds since 1970. A date without zone is taken for UTC, one without year for 1970.

use super::bytes::{fraction, number, unpadded};

const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
const DAYS: &[u8] = b"MonTueWedThuFriSatSun";
const SECOND: i64 = 1_000_000_000;

/// Days since 1970 of a date of the Gregorian calendar (after Howard Hinnant's `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Nanoseconds since 1970 of a date and a time of its day.
pub fn instant(year: i64, month: i64, day: i64, time_ns: i64) -> Option<i64> {
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day) && (1970..=2261).contains(&year);
    valid.then(|| days(year, month, day) * 86_400 * SECOND + time_ns)
}

fn name(bytes: &[u8], names: &[u8]) -> Option<i64> {
    let word = bytes.get(..3)?;
    names.chunks_exact(3).position(|name| name == word).map(|at| at as i64 + 1)
}

fn byte(bytes: &[u8], wanted: u8) -> Option<&[u8]> {
    bytes.split_first().filter(|(first, _)| **first == wanted).map(|(_, rest)| rest)
}

/// `HH:MM:SS` with or without a fraction, from midnight.
pub fn clock(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (hours, rest) = number(bytes)?;
    let (minutes, rest) = number(byte(rest, b':')?)?;
    let (seconds, rest) = number(byte(rest, b':')?)?;
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let time = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
    match rest.split_first() {
        Some((b'.' | b',', digits)) => fraction(digits).map(|(fraction, rest)| (time + fraction, rest)),
        _ => Some((time, rest)),
    }
}

/// `Fri Feb 13 23:31:30 2009`, as `dmesg -T` writes it.
pub fn of_ctime(bytes: &[u8]) -> Option<(i64, &[u8])> {
    name(bytes, DAYS)?;
    let rest = byte(&bytes[3..], b' ')?;
    let month = name(rest, MONTHS)?;
    let (day, rest) = number(unpadded(&rest[3..]))?;
    let (time, rest) = clock(unpadded(rest))?;
    let (year, rest) = number(byte(rest, b' ')?)?;
    Some((instant(year, month, day, time)?, rest))
}

/// `11-04 10:00:00.123 `, as Android's logcat writes it: no year, and milliseconds.
pub fn of_logcat(bytes: &[u8]) -> Option<(i64, &[u8])> {
    if bytes.get(2) != Some(&b'-') || bytes.get(5) != Some(&b' ') || bytes.get(14) != Some(&b'.') {
        return None;
    }
    let (month, rest) = number(bytes)?;
    let (day, rest) = number(byte(rest, b'-')?)?;
    let (time, rest) = clock(byte(rest, b' ')?)?;
    Some((instant(1970, month, day, time)?, rest))
}

/// `03:09:07,531 `, as the rsyslog of Anaconda writes it: no date, and milliseconds.
pub fn of_installer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    if bytes.get(2) != Some(&b':') || bytes.get(8) != Some(&b',') {
        return None;
    }
    let (time, rest) = clock(bytes)?;
    Some((instant(1970, 1, 1, time)?, byte(rest, b' ')?))
}

/// `Nov  4 10:00:00`, as syslog writes it: no year.
pub fn of_syslog(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let month = name(bytes, MONTHS)?;
    let (day, rest) = number(unpadded(byte(&bytes[3..], b' ')?))?;
    let (time, rest) = clock(byte(rest, b' ')?)?;
    Some((instant(1970, month, day, time)?, rest))
}

/// `Feb13 23:31`, as `dmesg -e` writes it: no year, no seconds.
pub fn of_minute(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let month = name(bytes, MONTHS)?;
    let (day, rest) = number(unpadded(&bytes[3..]))?;
    let (hours, rest) = number(byte(rest, b' ')?)?;
    let (minutes, rest) = number(byte(rest, b':')?)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some((instant(1970, month, day, (hours * 60 + minutes) * 60 * SECOND)?, rest))
}

/// `2009-02-13T23:31:30,123456+00:00`: ISO 8601 with `T` or a blank, with or without fraction and zone.
pub fn of_iso(bytes: &[u8]) -> Option<(i64, &[u8])> {
    if bytes.get(4) != Some(&b'-') {
        return None;
    }
    let (year, rest) = number(bytes)?;
    let (month, rest) = number(byte(rest, b'-')?)?;
    let (day, rest) = number(byte(rest, b'-')?)?;
    let (b'T' | b' ', rest) = rest.split_first()? else { return None };
    let (time, rest) = clock(rest)?;
    let time = instant(year, month, day, time)?;
    match rest.split_first() {
        Some((b'Z', rest)) => Some((time, rest)),
        Some((sign @ (b'+' | b'-'), zone)) => {
            let (hours, after) = number(zone)?;
            let (hours, minutes, after) = match after.split_first() {
                Some((b':', minutes)) => {
                    let (minutes, after) = number(minutes)?;
                    (hours, minutes, after)
                }
                _ => (hours / 100, hours % 100, after),
            };
            if hours > 15 || minutes > 59 {
                return None;
            }
            let zone = (hours * 60 + minutes) * 60 * SECOND;
            Some((if *sign == b'+' { time - zone } else { time + zone }, after))
        }
        _ => Some((time, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let expected = 1_234_567_890 * SECOND;
        assert_eq!(of_ctime(b"Fri Feb 13 23:31:30 2009]"), Some((expected, &b"]"[..])));
        assert_eq!(of_iso(b"2009-02-13T23:31:30,5+00:00 x"), Some((expected + SECOND / 2, &b" x"[..])));
        assert_eq!(of_iso(b"2009-02-14 01:31:30+0200"), Some((expected, &b""[..])));
        assert_eq!(of_iso(b"2009-02-13T23:31:30Z"), Some((expected, &b""[..])));
        assert_eq!(of_syslog(b"Jan  2 00:00:01 host"), Some((86_401 * SECOND, &b" host"[..])));
        assert_eq!(of_minute(b"Jan 2 00:01]"), Some((86_460 * SECOND, &b"]"[..])));
        assert_eq!(of_minute(b"Jan22 00:01]").map(|(ns, _)| ns), Some((21 * 86_400 + 60) * SECOND));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for odd in
            [&b""[..], b"Fri", b"Fri Feb", b"Fri Feb 99 23:31:30 2009", b"2009-13-13T00:00:00", b"2009-02-13T99:00:00"]
        {
            assert_eq!(
                (of_ctime(odd), of_iso(odd), of_syslog(odd), of_minute(odd)),
                (None, None, None, None),
                "{odd:?}"
            );
        }
        assert_eq!(of_iso(b"99999-02-13T00:00:00"), None);
    }
}
