//! A console with the host's time in front of each line, as `ts`, minicom, tio, labgrid and LAVA's text write it.

use super::boot_messages::is_boot_message;
use super::bytes::{seconds, unpadded};
use super::clock_lookahead::Ahead;
use super::dates;
use super::host_clock::{self, HostTime};
use super::prefix::{parse, stamp, usual, Time};
use super::unstamped_lines::{self, Sign};
use crate::about::{About, Origin, Traits};
use crate::evidence::Evidence;
use crate::firmware::loader_line::loader_stamp;
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct HostStamped;

/// The host's time of a line, and the line: `Jan 16 10:00:03 `, `2025-01-16T10:00:03.5 `, `10:00:03 `, `3.500000 `, or with
/// brackets around it.
fn prefix(line: &[u8]) -> Option<(HostTime, &[u8])> {
    let (time, rest) = match line.strip_prefix(b"[") {
        Some(inside) => {
            let (time, rest) = bracketed(inside)?;
            (time, rest.strip_prefix(b"]")?)
        }
        None => bare(line)?,
    };
    // A line that was empty may have lost the blank, too.
    Some((time, rest.strip_prefix(b" ").or(Some(rest).filter(|rest| rest.is_empty()))?))
}

fn bare(line: &[u8]) -> Option<(HostTime, &[u8])> {
    // A comma before the fraction is dmesg's own, of the booted system.
    if line.get(4) == Some(&b'-') && line.get(19) == Some(&b',') {
        return None;
    }
    if let Some((time, rest)) = dates::of_syslog(line).or_else(|| dates::of_iso(line)) {
        return Some((HostTime::Date(time), rest));
    }
    if let Some((time, rest)) = dates::clock(line) {
        return Some((HostTime::OfDay(time), rest));
    }
    // Whole seconds alone (`ts %s`) are too many other things.
    let (time, rest) = seconds(line)?;
    Some((HostTime::Date(time), rest))
}

fn bracketed(inside: &[u8]) -> Option<(HostTime, &[u8])> {
    if let Some((time, rest)) = dates::of_iso(inside) {
        return Some((HostTime::Date(time), rest));
    }
    let (time, rest) = seconds(unpadded(inside))?;
    Some((HostTime::Date(time), rest))
}

/// Whether the kernel's own stamp comes next.
fn nested(rest: &[u8]) -> bool {
    rest.first() == Some(&b'[') && matches!(stamp(rest), Some((Some(Time::Kernel(_)), _)))
}

impl Format for HostStamped {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::HostStamped, Traits::of(Origin::KernelLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut lines, mut stamped, mut kernel, mut loaders, mut boot) = (0, 0, 0, 0, 0);
        let (mut of_loader, mut of_kernel) = (false, false);
        for line in head.bytes.split(|&byte| byte == b'\n').take(400) {
            let line = line.trim_ascii_end();
            if line.is_empty() {
                continue;
            }
            lines += 1;
            let Some((_, rest)) = prefix(line) else { continue };
            stamped += 1;
            of_loader |= loader_stamp(line).is_some();
            of_kernel |= usual(line).is_some();
            kernel += usize::from(nested(rest));
            loaders += usize::from(matches!(unstamped_lines::sign(rest), Some(Sign::Banner(_) | Sign::HandOver)));
            boot += usize::from(is_boot_message(parse(rest).text));
        }
        // A loader that stamps its lines with milliseconds, and the kernel with microseconds, each by its own clock: no host does.
        let of_the_board = kernel == 0 && of_loader && of_kernel;
        if stamped * 10 < lines * 9 || of_the_board {
            Likelihood::No
        } else if kernel >= 2 && kernel * 4 >= stamped || loaders > 0 && kernel > 0 {
            Likelihood::Certain
        } else if loaders > 0 && boot > 1 {
            Likelihood::Likely
        } else {
            Likelihood::No
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        host_clock::read(self.about(), input, Ahead::of_any_step(), prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_the_hosts_time() {
        let rest = &b"x"[..];
        let date = Some((HostTime::Date(1_234_567_890_500_000_000), rest));
        for line in [
            &b"2009-02-13T23:31:30.5 x"[..],
            b"2009-02-13 23:31:30.500 x",
            b"[2009-02-13 23:31:30.500] x",
            b"1234567890.500000 x",
        ] {
            assert_eq!(prefix(line), date, "{}", String::from_utf8_lossy(line));
        }
        assert_eq!(prefix(b"Jan  2 00:00:01 x"), Some((HostTime::Date(86_401_000_000_000), rest)));
        assert_eq!(prefix(b"[    3.500000] x"), Some((HostTime::Date(3_500_000_000), rest)));
        assert_eq!(prefix(b"00:00:03 x"), Some((HostTime::OfDay(3_000_000_000), rest)));
        assert_eq!(prefix(b"00:00:03"), Some((HostTime::OfDay(3_000_000_000), &b""[..])));
        for odd in [&b"x"[..], b"12 x", b"[x] x", b"2009-02-13T23:31:30,500000+00:00 x", b"3.5s x"] {
            assert_eq!(prefix(odd), None, "{}", String::from_utf8_lossy(odd));
        }
    }
}
