//! One line of event text, in the plain and the latency format, and as `trace-cmd report` prints it.

use super::graph_line::{blanks, digits, seconds, task, trim};
use memchr::memchr;

/// When an event happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Nanoseconds, and the smallest step that the digits can show.
    Time(i64, i64),
    /// A count: an order, no time.
    Count(u64),
}

/// The columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventLine<'l> {
    pub(crate) comm: &'l [u8],
    pub(crate) pid: u32,
    pub(crate) cpu: u32,
    pub(crate) stamp: Stamp,
    /// `event: fields`, or `function <-caller`.
    pub(crate) text: &'l [u8],
}

/// Splits a line.
pub(crate) fn parse(line: &[u8]) -> Option<EventLine<'_>> {
    plain(line).or_else(|| latency(line))
}

/// `comm-pid (tgid) [cpu] flags time: text`; number of the group and flags may be missing.
fn plain(line: &[u8]) -> Option<EventLine<'_>> {
    let mut from = 0;
    loop {
        let bracket = from + memchr(b'[', line.get(from..)?)?;
        from = bracket + 1;
        let (cpu, end) = digits(line, from)?;
        if end < from + 3 || line.get(end) != Some(&b']') {
            continue;
        }
        let mut before = trim(&line[..bracket]);
        if before.ends_with(b")") {
            // The number of the group: digits or dashes in parentheses.
            let open = memchr::memrchr(b'(', before)?;
            let group = trim(&before[open + 1..before.len() - 1]);
            if group.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
                before = trim(&before[..open]);
            }
        }
        let Some((comm, pid)) = task(before) else { continue };
        let (stamp, text) = stamp(line.get(end + 1..)?)?;
        return Some(EventLine { comm, pid, cpu: u32::try_from(cpu).ok()?, stamp, text });
    }
}

/// `[flags] time: text`
fn stamp(rest: &[u8]) -> Option<(Stamp, &[u8])> {
    let mut at = blanks(rest, 0);
    for _ in 0..2 {
        let (whole, next) = digits(rest, at)?;
        if next > at {
            match rest.get(next) {
                Some(b':') => return Some((Stamp::Count(whole), trim(&rest[next + 1..]))),
                Some(b'.') => {
                    let (fraction, end) = digits(rest, next + 1)?;
                    if rest.get(end) == Some(&b':') && end > next + 1 {
                        let places = end - next - 1;
                        let time = seconds(whole, fraction, places)?;
                        let step = 10_i64.checked_pow(9_u32.checked_sub(places as u32)?)?;
                        return Some((Stamp::Time(time, step), trim(&rest[end + 1..])));
                    }
                }
                _ => {}
            }
        }
        // Flags: one word before the time.
        let word = memchr(b' ', rest.get(at..)?)?;
        if word > 8 {
            return None;
        }
        at = blanks(rest, at + word);
    }
    None
}

/// `comm-pid cpu flags time us mark: text`, with time since the trace began.
fn latency(line: &[u8]) -> Option<EventLine<'_>> {
    // The task ends where digits after a dash are followed by a blank.
    let mut dash = memchr(b'-', line)?;
    loop {
        let (pid, end) = digits(line, dash + 1)?;
        if end > dash + 1 && line.get(end) == Some(&b' ') {
            if let Some((cpu, stamp, text)) = latency_rest(&line[end..]) {
                return Some(EventLine { comm: trim(&line[..dash]), pid: u32::try_from(pid).ok()?, cpu, stamp, text });
            }
        }
        dash += 1 + memchr(b'-', line.get(dash + 1..)?)?;
    }
}

fn latency_rest(rest: &[u8]) -> Option<(u32, Stamp, &[u8])> {
    let start = blanks(rest, 0);
    let (cpu, flags) = digits(rest, start)?;
    let length = memchr(b' ', rest.get(flags..)?)?;
    let flagged = flags > start && (4..=6).contains(&length);
    let at = blanks(rest, flags + length);
    let (micros, unit) = digits(rest, at)?;
    let after = rest.get(unit..)?.strip_prefix(b"us")?;
    let colon = memchr(b':', after.get(..after.len().min(4))?)?;
    let time = i64::try_from(micros).ok()?.checked_mul(1000)?;
    (flagged && unit > at).then_some(())?;
    Some((u32::try_from(cpu).ok()?, Stamp::Time(time, 1000), trim(&after[colon + 1..])))
}

/// The value of a field: `key=value`, to the next blank that is followed by another key, or to the end.
pub(crate) fn field<'l>(fields: &'l [u8], key: &str) -> Option<&'l [u8]> {
    let mut from = 0;
    loop {
        let at = from + memchr::memmem::find(fields.get(from..)?, key.as_bytes())?;
        from = at + 1;
        let starts = at == 0 || fields[at - 1] == b' ';
        let Some(value) = fields[at + key.len()..].strip_prefix(b"=").filter(|_| starts) else { continue };
        let mut end = value.len();
        for (place, _) in value.iter().enumerate().filter(|(_, byte)| **byte == b' ') {
            let word = &value[place + 1..];
            let word = &word[..memchr(b' ', word).unwrap_or(word.len())];
            if memchr(b'=', word).is_some_and(|equals| equals > 0) {
                end = place;
                break;
            }
        }
        return Some(trim(&value[..end]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> EventLine<'_> {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn every_width_of_the_columns() {
        let plain = line("       swapper/0-1       [000] .....     0.310010: initcall_start: func=gizmo_init+0x0/0x58");
        assert_eq!((plain.comm, plain.pid, plain.cpu), (&b"swapper/0"[..], 1, 0));
        assert_eq!(plain.stamp, Stamp::Time(310_010_000, 1000));
        assert_eq!(plain.text, b"initcall_start: func=gizmo_init+0x0/0x58");
        assert_eq!(line("   a b-c-12    (-------) [001] d..1 12.000001: x: y").comm, b"a b-c");
        assert_eq!(line("   a-12    (     12) [001] d..1. 12.000001: x: y").pid, 12);
        assert_eq!(line("  <idle>-0     [012] dNh2.. 12.000001: x: y").cpu, 12);
        assert_eq!(line("  <...>-123   [000] 12.000001234: x: y").stamp, Stamp::Time(12_000_001_234, 1));
        assert_eq!(line("  [x]-7 [y]-9   [000] .... 1234: x: y").stamp, Stamp::Count(1234));
        assert_eq!(line("  [x]-7 [y]-9   [000] .... 1234: x: y").comm, b"[x]-7 [y]");
    }

    #[test]
    fn the_latency_format() {
        let line = line("  bash-1977      0dNh2.   17us+: sched_wakeup: comm=a");
        assert_eq!((line.comm, line.pid, line.cpu), (&b"bash"[..], 1977, 0));
        assert_eq!((line.stamp, line.text), (Stamp::Time(17_000, 1000), &b"sched_wakeup: comm=a"[..]));
    }

    #[test]
    fn a_value_may_hold_blanks() {
        let fields = b"comm=a b pid=12 child_comm=c d child_pid=13";
        assert_eq!(field(fields, "comm"), Some(&b"a b"[..]));
        assert_eq!(field(fields, "child_pid"), Some(&b"13"[..]));
        assert_eq!(field(fields, "prio"), None);
    }
}
