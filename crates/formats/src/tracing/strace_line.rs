//! One line of strace: the task, the instant, and what happened.

use crate::kernel_log::bytes::seconds;
use crate::kernel_log::dates;
use memchr::{memchr, memmem};

/// The instant of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    /// `-t` to `-ttt` where it is a date: nanoseconds since 1970.
    Epoch(i64),
    /// `-t`, `-tt`: since midnight.
    OfDay(i64),
    /// `-r`: since the line before.
    Since(i64),
}

/// What a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What<'l> {
    /// A call that returned; its arguments may be the second part of those of an unfinished one.
    Call { name: &'l [u8], arguments: &'l [u8], result: &'l [u8], resumed: bool },
    /// A call that had not returned when the next line was written.
    Unfinished { name: &'l [u8], arguments: &'l [u8] },
    /// `+++ exited with 1 +++`, `+++ killed by SIGKILL +++`
    Ended(&'l [u8]),
    /// A signal, or a message of strace.
    Other,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StraceLine<'l> {
    pub(super) task: Option<u32>,
    pub(super) stamp: Option<Stamp>,
    pub(super) what: What<'l>,
    /// `-T`: how long the call took.
    pub(super) took_ns: Option<i64>,
}

/// Dates before 2001 are not dates, but seconds since the line before.
const FIRST_DATE_NS: i64 = 1_000_000_000_000_000_000;

/// Splits a line.
pub(super) fn parse(line: &[u8]) -> Option<StraceLine<'_>> {
    let (task, rest) = task(line);
    let (stamp, rest) = stamp(rest);
    // `-i` and `-n` write the instruction pointer and the number of the call.
    let mut rest = rest.trim_ascii_start();
    while let Some(inside) = rest.strip_prefix(b"[") {
        rest = inside.get(memchr(b']', inside)? + 1..)?.trim_ascii_start();
    }
    let (what, took_ns) = what(rest)?;
    Some(StraceLine { task, stamp, what, took_ns })
}

fn task(line: &[u8]) -> (Option<u32>, &[u8]) {
    let (digits, after) = match line.strip_prefix(b"[pid ") {
        Some(inside) => {
            let end = memchr(b']', inside).unwrap_or(0);
            (inside.get(..end).unwrap_or_default(), inside.get(end + 1..).unwrap_or_default())
        }
        None => line.split_at(memchr(b' ', line).unwrap_or(0)),
    };
    // `-Y` writes the name of the program behind the number.
    let digits = digits.split(|byte| *byte == b'<').next().unwrap_or_default().trim_ascii();
    match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
        Some(task) => (Some(task), after.trim_ascii_start()),
        None => (None, line),
    }
}

fn stamp(rest: &[u8]) -> (Option<Stamp>, &[u8]) {
    let line = rest.trim_ascii_start();
    let found = dates::clock(line).map(|(time, after)| (Stamp::OfDay(time), after)).or_else(|| {
        let (time, after) = seconds(line)?;
        Some((if time >= FIRST_DATE_NS { Stamp::Epoch(time) } else { Stamp::Since(time) }, after))
    });
    let Some((stamp, after)) = found.filter(|(_, after)| after.starts_with(b" ")) else { return (None, rest) };
    let after = after.trim_ascii_start();
    // `-r` with `-t`: `(+     0.000012)` behind the time of day.
    match after.strip_prefix(b"(+").and_then(|inside| inside.get(memchr(b')', inside)? + 1..)) {
        Some(behind) => (Some(stamp), behind),
        None => (Some(stamp), after),
    }
}

fn what(text: &[u8]) -> Option<(What<'_>, Option<i64>)> {
    if let Some(inside) = text.strip_prefix(b"+++ ").and_then(|text| text.trim_ascii_end().strip_suffix(b" +++")) {
        return Some((What::Ended(inside), None));
    }
    if text.starts_with(b"--- ") || text.starts_with(b"strace: ") {
        return Some((What::Other, None));
    }
    if let Some(inside) = text.strip_prefix(b"<... ") {
        let end = memmem::find(inside, b" resumed>")?;
        let (name, rest) = (name(&inside[..end])?, &inside[end + 9..]);
        let (arguments, result, took_ns) = returned(rest)?;
        return Some((What::Call { name, arguments, result, resumed: true }, took_ns));
    }
    let open = memchr(b'(', text)?;
    let (name, rest) = (name(text.get(..open)?)?, text.get(open + 1..)?);
    for end in [&b"<unfinished ...>"[..], b"<detached ...>"] {
        if let Some(arguments) = rest.trim_ascii_end().strip_suffix(end) {
            return Some((What::Unfinished { name, arguments }, None));
        }
    }
    let (arguments, result, took_ns) = returned(rest)?;
    Some((What::Call { name, arguments, result, resumed: false }, took_ns))
}

/// `openat`, `syscall_0x1c3`
fn name(text: &[u8]) -> Option<&[u8]> {
    let good = text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (good && text.first().is_some_and(|first| first.is_ascii_lowercase() || *first == b'_')).then_some(text)
}

/// `ARGUMENTS) = RESULT <0.000012>`: the last ` = ` behind a parenthesis divides them.
fn returned(rest: &[u8]) -> Option<(&[u8], &[u8], Option<i64>)> {
    let (rest, took_ns) = took(rest.trim_ascii_end());
    let mut upto = rest.len();
    loop {
        let equals = memmem::rfind(rest.get(..upto)?, b"= ")?;
        let before = rest.get(..equals)?;
        if before.ends_with(b" ") {
            if let Some(arguments) = before.trim_ascii_end().strip_suffix(b")") {
                return Some((arguments, rest.get(equals + 2..)?, took_ns));
            }
        }
        upto = equals;
    }
}

/// The length of a call at the end of its line.
fn took(rest: &[u8]) -> (&[u8], Option<i64>) {
    let found = rest.strip_suffix(b">").and_then(|inside| {
        let open = memchr::memrchr(b'<', inside)?;
        let (time, after) = seconds(inside.get(open + 1..)?)?;
        after.is_empty().then_some((inside.get(..open)?.trim_ascii_end(), time))
    });
    found.map_or((rest, None), |(rest, time)| (rest, Some(time)))
}

/// The arguments of a call, up to the *most* first: divided by commas outside strings and brackets.
pub(super) fn arguments(text: &[u8], most: usize) -> Vec<&[u8]> {
    let (mut found, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(text.get(from..at).unwrap_or_default().trim_ascii());
                from = at + 1;
                if found.len() == most {
                    return found;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let last = text.get(from..).unwrap_or_default().trim_ascii();
    if !(last.is_empty() && found.is_empty()) {
        found.push(last);
    }
    found
}

/// The place of the quote that ends the string which begins at a place.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// A string in quotes with the escapes of C.
pub(super) fn string(argument: &[u8]) -> Option<String> {
    let inside = argument.strip_prefix(b"\"")?;
    let end = end_of_string(argument, 0).checked_sub(1)?;
    Some(String::from_utf8_lossy(&unescaped(inside.get(..end)?)).into_owned())
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            found.push(byte);
            continue;
        }
        let Some(escape) = bytes.next() else { break };
        let (mut number, most, radix) = match escape {
            b'x' => (0, 2, 16),
            b'0'..=b'7' => (u32::from(escape - b'0'), 2, 8),
            _ => {
                found.push(match escape {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    other => other,
                });
                continue;
            }
        };
        for _ in 0..most {
            let Some(digit) = bytes.peek().and_then(|digit| char::from(*digit).to_digit(radix)) else { break };
            number = number * radix + digit;
            bytes.next();
        }
        found.push(number as u8);
    }
    found
}

/// The path that `-y` writes behind a descriptor: `3</etc/passwd>`.
pub(super) fn decorated(argument: &[u8]) -> Option<String> {
    let open = memchr(b'<', argument)?;
    let number = argument.get(..open)?;
    let plain = number == b"AT_FDCWD" || (!number.is_empty() && number.iter().all(u8::is_ascii_digit));
    let inside = argument.get(open + 1..)?;
    let path = inside.get(..memchr::memrchr(b'>', inside)?)?;
    // `</tmp/x (deleted)>`, `</dev/null<char 1:3>>`; sockets and pipes have no path.
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let device = [&b"<char "[..], b"<block "].iter().find_map(|device| memmem::rfind(path, device));
    let path = path.get(..device.unwrap_or(path.len()))?;
    (plain && path.starts_with(b"/")).then(|| String::from_utf8_lossy(&unescaped(path)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> StraceLine<'_> {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn every_sort_of_prefix() {
        let call = What::Call { name: b"close", arguments: b"3", result: b"0", resumed: false };
        for (text, task, stamp) in [
            ("close(3) = 0", None, None),
            ("[pid  12] close(3)      = 0", Some(12), None),
            ("12    close(3) = 0", Some(12), None),
            ("12<sh> close(3) = 0", Some(12), None),
            ("12 10:00:01 close(3) = 0", Some(12), Some(Stamp::OfDay(36_001_000_000_000))),
            ("10:00:01.000002 close(3) = 0", None, Some(Stamp::OfDay(36_001_000_002_000))),
            ("10:00:01 (+     0.000010) close(3) = 0", None, Some(Stamp::OfDay(36_001_000_000_000))),
            ("     0.000010 close(3) = 0", None, Some(Stamp::Since(10_000))),
            ("12 1577836801.5 [00007f] close(3) = 0", Some(12), Some(Stamp::Epoch(1_577_836_801_500_000_000))),
        ] {
            let found = line(text);
            assert_eq!((found.task, found.stamp, found.what, found.took_ns), (task, stamp, call, None), "{text}");
        }
    }

    #[test]
    fn calls_in_two_parts_and_what_is_no_call() {
        let first = line("7 read(3,  <unfinished ...>");
        assert_eq!(first.what, What::Unfinished { name: b"read", arguments: b"3,  " });
        let second = line("7 <... read resumed>\"a) = 1\", 9) = 7 <0.000400>");
        let arguments = b"\"a) = 1\", 9";
        assert_eq!(second.what, What::Call { name: b"read", arguments, result: b"7", resumed: true });
        assert_eq!(second.took_ns, Some(400_000));
        assert_eq!(line("+++ exited with 3 +++").what, What::Ended(b"exited with 3"));
        assert_eq!(line("--- SIGCHLD {si_signo=SIGCHLD} ---").what, What::Other);
        assert_eq!(
            line("exit_group(0)   = ?").what,
            What::Call { name: b"exit_group", arguments: b"0", result: b"?", resumed: false }
        );
        assert!(parse(b"total 12").is_none());
        assert!(parse(b"if (a) b = c").is_none());
    }

    #[test]
    fn strings_and_descriptors() {
        let found = arguments(br#"AT_FDCWD</a>, "x,\"\n\33[1m)", {st_mode=S_IFREG, st_size=3}, 0"#, 2);
        assert_eq!(found.len(), 2);
        assert_eq!(string(found[1]).as_deref(), Some("x,\"\n\x1b[1m)"));
        assert_eq!(decorated(found[0]).as_deref(), Some("/a"));
        assert_eq!(decorated(b"3<pipe:[12]>"), None);
        assert_eq!(decorated(b"4</tmp/x>(deleted)").as_deref(), Some("/tmp/x"));
        assert_eq!(decorated(b"4</tmp/x (deleted)>").as_deref(), Some("/tmp/x"));
        assert_eq!(decorated(b"0</dev/null<char 1:3>>").as_deref(), Some("/dev/null"));
    }
}
