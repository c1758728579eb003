//! What stands before a message: priority, facility, dates, the stamp, the caller.

use super::bytes::{are_digits, eight_digits, number, padded_digits, seconds, split, unpadded};
use super::dates;
use crate::evidence::Caller;

/// A time as a line states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// The kernel's own stamp.
    Kernel(i64),
    /// A date, nanoseconds since 1970, and its step.
    Date(i64, i64),
    /// A date without year and seconds (`dmesg -e`, once a minute).
    Minute(i64),
    /// Only the distance to the line before.
    Since(i64),
}

/// A line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefixed<'a> {
    /// The level, 0 to 7.
    pub level: Option<u8>,
    /// The best time it carries.
    pub time: Option<Time>,
    /// Who said it.
    pub caller: Option<Caller>,
    /// A process wrote it, and not the kernel.
    pub foreign: bool,
    /// On which machine, where syslog names it.
    pub host: Option<&'a [u8]>,
    /// The message.
    pub text: &'a [u8],
}

const FACILITIES: &[&str] = &[
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "res0",
    "res1", "res2", "res3", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];
/// The names of the levels, 0 to 7, as dmesg writes them.
pub const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];

/// A task has sixteen characters at most; they are padded.
const LONGEST_TASK: usize = 32;
/// `authpriv.warning ` is the longest of syslog's words.
const LONGEST_FACILITY: usize = 17;

/// Takes a line apart; a line without anything before its message is all message.
#[inline]
pub fn parse(line: &[u8]) -> Prefixed<'_> {
    match usual(line) {
        Some((time, text)) => {
            Prefixed { level: None, time: Some(Time::Kernel(time)), caller: None, foreign: false, host: None, text }
        }
        None => parse_any(line),
    }
}

/// `[    0.412345] ` and no second bracket: what nearly every line begins with.
#[inline]
pub fn usual(line: &[u8]) -> Option<(i64, &[u8])> {
    let (head, rest) = line.split_first_chunk::<15>()?;
    let (front, back) = (head.first_chunk::<8>()?, head.last_chunk::<8>()?);
    let seconds = padded_digits(u64::from_le_bytes(*front) ^ u64::from_le_bytes(*b"[00000.0"))?;
    let micros = u64::from_le_bytes(*back) ^ u64::from_le_bytes(*b"000000] ");
    if micros >> 48 != 0 || !are_digits(micros) || matches!(rest.first(), Some(b'[' | b'-' | b' ' | b'(')) {
        return None;
    }
    let micros = eight_digits(micros << 16);
    i64::try_from((seconds * 1_000_000 + micros) * 1_000).ok().map(|time| (time, rest))
}

fn parse_any(line: &[u8]) -> Prefixed<'_> {
    let mut found = Prefixed { level: None, time: None, caller: None, foreign: false, host: None, text: line };
    let (mut rest, mut wrote) = (line, false);
    match rest.first() {
        Some(b'[') => {}
        Some(b'<') => {
            if let Some((level, process, after)) = priority(rest) {
                (found.level, wrote) = (Some(level), process);
                rest = after;
            }
        }
        Some(b'J' | b'F' | b'M' | b'A' | b'S' | b'O' | b'N' | b'D' | b'0'..=b'9') => {
            if let Some((time, said)) = dated(rest) {
                found.time = Some(time);
                found.level = said.level;
                found.foreign = said.foreign;
                found.host = said.host;
                rest = said.text;
            }
        }
        Some(b'a'..=b'z') => {
            if let Some((level, process, after)) = decoded(rest) {
                (found.level, wrote) = (Some(level), process);
                rest = after;
            }
        }
        _ => {}
    }
    if found.foreign {
        found.text = rest;
        return found;
    }
    // Several stamps may follow one another (`dmesg --time-format` given twice): the kernel's own is the best.
    for _ in 0..4 {
        let Some((time, after)) = stamp(rest) else { break };
        found.time = match (found.time, time) {
            (Some(Time::Kernel(_)), _) => found.time,
            (_, Some(time)) => Some(time),
            (before, None) => before,
        };
        rest = after;
        if rest.first() != Some(&b'[') && !rest.first().is_some_and(u8::is_ascii_digit) {
            break;
        }
    }
    if let Some((caller, after)) = caller(rest) {
        found.caller = Some(caller);
        rest = after;
    }
    if found.time.is_some() {
        rest = processor(rest).unwrap_or(rest);
    }
    found.foreign = wrote && found.time.is_some();
    found.text = rest;
    found
}

/// What comes after the processor and the task, as kernels of Android's makers print them: `[0:        swapper:    0] `, or
/// `-(0)[0:swapper]`.
fn processor(rest: &[u8]) -> Option<&[u8]> {
    let inside = unpadded(rest);
    let inside = inside.strip_prefix(b"-").unwrap_or(inside);
    let numbered = inside.strip_prefix(b"(").and_then(number).and_then(|(_, rest)| rest.strip_prefix(b")"));
    let (_, task) = number(unpadded(numbered.unwrap_or(inside).strip_prefix(b"[")?))?;
    let task = task.strip_prefix(b":")?;
    let end = task.iter().take(LONGEST_TASK).position(|&byte| byte == b']')?;
    let colon = memchr::memrchr(b':', &task[..end]);
    let process = colon.and_then(|colon| number(unpadded(&task[colon + 1..end])));
    let is_task = numbered.is_some() || process.is_some_and(|(_, rest)| rest.is_empty());
    is_task.then(|| unpadded(&task[end + 1..]))
}

/// `<6>`: the level, whether the facility in the upper bits is that of a process, and what comes after.
fn priority(line: &[u8]) -> Option<(u8, bool, &[u8])> {
    let (value, rest) = number(&line[1..])?;
    let rest = rest.strip_prefix(b">")?;
    (value < 1024).then_some(((value & 7) as u8, value > 7, rest))
}

/// `kern  :info  : `, as `dmesg -x` writes it: the level, whether a process wrote it, and what comes after.
fn decoded(line: &[u8]) -> Option<(u8, bool, &[u8])> {
    let colon = line.iter().take(9).position(|&byte| byte == b':')?;
    let facility = line[..colon].trim_ascii_end();
    let facility = FACILITIES.iter().position(|name| name.as_bytes() == facility)?;
    let rest = &line[colon + 1..];
    let colon = rest.iter().take(9).position(|&byte| byte == b':')?;
    let level = rest[..colon].trim_ascii_end();
    let level = LEVELS.iter().position(|name| name.as_bytes() == level)?;
    let rest = &rest[colon + 1..];
    Some((level as u8, facility != 0, rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// What stands behind a date: who said it, how grave it is, and the message.
struct Said<'a> {
    level: Option<u8>,
    foreign: bool,
    host: Option<&'a [u8]>,
    text: &'a [u8],
}

/// A date outside of brackets; of syslog also the host, the facility and the process.
fn dated(line: &[u8]) -> Option<(Time, Said<'_>)> {
    if let Some((time, rest)) = dates::of_logcat(line) {
        return logcat(rest).map(|said| (Time::Date(time, 1_000_000), said));
    }
    if let Some((time, rest)) = dates::of_installer(line) {
        return installer(rest).map(|said| (Time::Date(time, 1_000_000), said));
    }
    let (time, rest) = match dates::of_syslog(line) {
        Some((time, rest)) => (Time::Date(time, 1_000_000_000), rest),
        None => {
            let (time, rest) = dates::of_iso(line)?;
            let fraction = line.get(19).is_some_and(|byte| matches!(byte, b'.' | b','));
            (Time::Date(time, if fraction { 1_000 } else { 1_000_000_000 }), rest)
        }
    };
    let rest = rest.strip_prefix(b" ")?;
    // Only dmesg writes a comma, and it names no host: `Command line: ` is all message.
    let dmesg = line.get(4) == Some(&b'-') && line.get(19) == Some(&b',');
    if dmesg {
        return Some((time, Said { level: None, foreign: false, host: None, text: rest }));
    }
    Some((time, sender(rest)))
}

/// `NOTICE kernel:message`, as Anaconda's rsyslog writes level and process.
fn installer(rest: &[u8]) -> Option<Said<'_>> {
    let (level, own) = split(rest, b" ")?;
    let level = match level {
        b"EMERG" => 0,
        b"ALERT" => 1,
        b"CRIT" | b"CRITICAL" => 2,
        b"ERR" | b"ERROR" => 3,
        b"WARNING" => 4,
        b"NOTICE" => 5,
        b"INFO" => 6,
        b"DEBUG" => 7,
        _ => return None,
    };
    let message = own.strip_prefix(b"kernel:");
    Some(Said { level: Some(level), foreign: message.is_none(), host: None, text: message.unwrap_or(own) })
}

/// `  0     0 I TAG: message`, as Android's logcat writes process, thread, level and tag. The kernel has number 0, or that of the
/// process that it ran for, and then no tag.
fn logcat(rest: &[u8]) -> Option<Said<'_>> {
    let (process, rest) = number(unpadded(rest))?;
    let (_, rest) = number(unpadded(rest))?;
    let (level, rest) = unpadded(rest).split_first()?;
    let level = match level {
        b'V' | b'D' => 7,
        b'I' => 6,
        b'W' => 4,
        b'E' => 3,
        b'F' => 2,
        _ => return None,
    };
    let rest = rest.strip_prefix(b" ")?;
    // The kernel's tag is empty, or the first word of its message.
    let untagged = unpadded(rest).strip_prefix(b": ");
    let text = untagged.unwrap_or(rest);
    Some(Said {
        level: Some(level),
        foreign: process != 0 && untagged.is_none(),
        host: None,
        text: processor(text).unwrap_or(text),
    })
}

/// Takes off `HOST PROCESS[PID]: `; BusyBox's syslogd puts `FACILITY.LEVEL ` between the two, or leaves out the host.
fn sender(rest: &[u8]) -> Said<'_> {
    let kernel = |level, host, text| Said { level, foreign: false, host, text };
    if let Some(message) = rest.strip_prefix(b"kernel: ") {
        return kernel(None, None, message);
    }
    let host = after_word(rest).map(|after| &rest[..rest.len() - after.len() - 1]);
    if let Some((level, own)) = after_word(rest).and_then(facility) {
        return match own.strip_prefix(b"kernel: ") {
            Some(message) => kernel(Some(level), host, message),
            None => Said { level: Some(level), foreign: true, host, text: own },
        };
    }
    match host_and_process(rest) {
        None => kernel(None, None, rest),
        Some((process, message)) if process == b"kernel" => kernel(None, host, message),
        // Of a foreign process its name stays: it is part of what the line says. Its first word may be no host.
        Some(_) => Said { level: None, foreign: true, host: None, text: after_word(rest).unwrap_or(rest) },
    }
}

/// What comes after the first word.
fn after_word(rest: &[u8]) -> Option<&[u8]> {
    let blank = rest.iter().take(255).position(|&byte| byte == b' ').filter(|&blank| blank > 0)?;
    Some(&rest[blank + 1..])
}

/// `kern.info `, as BusyBox's syslogd writes it: the level, and what comes after.
pub fn facility(rest: &[u8]) -> Option<(u8, &[u8])> {
    let (word, _) = split(&rest[..rest.len().min(LONGEST_FACILITY)], b" ")?;
    let (facility, level) = split(word, b".")?;
    FACILITIES.iter().find(|name| name.as_bytes() == facility)?;
    // syslog's own names of the gravest level and of two others differ from dmesg's.
    let level = match level {
        b"panic" => 0,
        b"error" => 3,
        b"warning" => 4,
        _ => LEVELS.iter().position(|name| name.as_bytes() == level)?,
    };
    Some((level as u8, &rest[word.len() + 1..]))
}

/// `HOST PROCESS[PID]: `: the process without its number, and the message.
fn host_and_process(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let process = after_word(rest)?;
    let end = process.iter().take(255).position(|&byte| matches!(byte, b':' | b' '))?;
    if process[end] != b':' || process.get(end + 1) != Some(&b' ') {
        return None;
    }
    let name = &process[..end];
    let name = name.split(|&byte| byte == b'[').next().unwrap_or(name);
    Some((name, &process[end + 2..]))
}

/// `journalctl -o short-monotonic` puts host and process after the stamp, and Ubuntu's `/var/log/dmesg` the process alone: what comes
/// after them, if they are there.
pub fn without_host(rest: &[u8]) -> &[u8] {
    if let Some(message) = rest.strip_prefix(b"kernel: ") {
        return message;
    }
    // A host's name is a word without a colon; most messages have one within or right after their first word.
    let Some(end) = rest.iter().take(64).position(|&byte| matches!(byte, b' ' | b':')) else { return rest };
    if rest[end] != b' ' || rest.get(end + 1) != Some(&b'k') {
        return rest;
    }
    let Some(colon) = memchr::memchr(b':', rest.get(..rest.len().min(80)).unwrap_or(rest)) else { return rest };
    if rest[..colon].ends_with(b" kernel") && rest.get(colon + 1) == Some(&b' ') {
        let host = &rest[..colon - 7];
        if !host.is_empty() && !host.contains(&b' ') {
            return &rest[colon + 2..];
        }
    }
    rest
}

/// One stamp in brackets, or an ISO date, and what comes after it; no time where it only holds a difference.
#[inline]
pub fn stamp(line: &[u8]) -> Option<(Option<Time>, &[u8])> {
    if line.first() != Some(&b'[') {
        let (time, rest) = line.first().filter(|byte| byte.is_ascii_digit()).and_then(|_| dates::of_iso(line))?;
        return Some((Some(Time::Date(time, 1_000)), rest.strip_prefix(b" ")?));
    }
    let inside = unpadded(&line[1..]);
    match inside.first()? {
        b'0'..=b'9' => {
            let (time, rest) = seconds(inside)?;
            Some((Some(Time::Kernel(time)), close(rest)?))
        }
        b'<' => {
            let (since, rest) = seconds(unpadded(&inside[1..]))?;
            Some((Some(Time::Since(since)), close(rest.strip_prefix(b">")?)?))
        }
        b'+' => {
            let (since, rest) = seconds(&inside[1..])?;
            Some((Some(Time::Since(since)), close(rest)?))
        }
        b'A'..=b'Z' => {
            if let Some((time, rest)) = dates::of_ctime(inside) {
                // A distance to the line before is finer than whole seconds.
                if let Some((since, rest)) = rest.strip_prefix(b" <").and_then(|rest| seconds(unpadded(rest))) {
                    return Some((Some(Time::Since(since)), rest.strip_prefix(b">").and_then(close)?));
                }
                return Some((Some(Time::Date(time, 1_000_000_000)), close(rest)?));
            }
            let (time, rest) = dates::of_minute(inside)?;
            Some((Some(Time::Minute(time)), close(rest)?))
        }
        _ => None,
    }
}

/// The end of a stamp: an optional difference, the bracket, and one blank.
#[inline]
fn close(rest: &[u8]) -> Option<&[u8]> {
    let rest = match rest.first()? {
        b']' => &rest[1..],
        // Amlogic's kernels add the processor.
        b'@' => number(&rest[1..]).and_then(|(_, rest)| rest.strip_prefix(b"]"))?,
        // LG's kernels add the date, and the processor in brackets of its own.
        b' ' if rest.starts_with(b" / ") => {
            let end = rest.iter().take(32).position(|&byte| byte == b']')?;
            let rest = &rest[end + 1..];
            let cpu = rest.strip_prefix(b"[").and_then(number).and_then(|(_, rest)| rest.strip_prefix(b"]"));
            cpu.unwrap_or(rest)
        }
        b' ' => {
            let inside = rest.strip_prefix(b" <")?;
            let (_, rest) = seconds(unpadded(inside))?;
            rest.strip_prefix(b">]")?
        }
        _ => return None,
    };
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// `[    T1] ` or `[C0] `.
#[inline]
fn caller(line: &[u8]) -> Option<(Caller, &[u8])> {
    if line.first() != Some(&b'[') {
        return None;
    }
    let inside = unpadded(&line[1..]);
    let (kind, rest) = inside.split_first()?;
    let (of, rest) = (*kind, number(rest));
    let make: fn(u32) -> Caller = match of {
        b'T' => Caller::Task,
        b'C' => Caller::Cpu,
        _ => return None,
    };
    let (who, rest) = rest?;
    let rest = rest.strip_prefix(b"]")?;
    Some((make(u32::try_from(who).ok()?), rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// Reads a caller as `dmesg -J` and `/dev/kmsg` write it: `T1`, `C0`.
pub fn caller_word(word: &[u8]) -> Option<Caller> {
    let (kind, rest) = word.split_first()?;
    let (who, after) = number(rest)?;
    let who = u32::try_from(who).ok().filter(|_| after.is_empty())?;
    match kind {
        b'T' => Some(Caller::Task(who)),
        b'C' => Some(Caller::Cpu(who)),
        _ => None,
    }
}

/// Where, within a line, a full kernel stamp (`[` at least five columns of seconds, six digits, `] `) begins.
#[inline]
pub fn inner_stamp(line: &[u8], from: usize) -> Option<(usize, i64)> {
    let mut at = from;
    while let Some(found) = memchr::memchr(b'[', line.get(at..)?) {
        let start = at + found;
        at = start + 1;
        let window = line.get(start..start + 14)?;
        if !matches!(window[1], b' ' | b'0'..=b'9') {
            continue;
        }
        if let Some((time, rest)) = seconds(unpadded(&line[start + 1..])) {
            let digits = rest.len() + 1;
            let point = line.len().checked_sub(digits + 6).and_then(|point| line.get(point));
            if point == Some(&b'.') && rest.starts_with(b"]") && line.len() - rest.len() - start >= 13 {
                return Some((start, time));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> (Option<u8>, Option<Time>, Option<Caller>, &str) {
        let found = parse(line.as_bytes());
        (found.level, found.time, found.caller, std::str::from_utf8(found.text).unwrap())
    }

    #[test]
    fn every_shape_of_prefix() {
        let kernel = Some(Time::Kernel(412_345_000));
        assert_eq!(parts("[    0.412345] widget: ready"), (None, kernel, None, "widget: ready"));
        assert_eq!(parts("[    0.412345][    T1] widget"), (None, kernel, Some(Caller::Task(1)), "widget"));
        assert_eq!(parts("[    0.412345] [C12] widget"), (None, kernel, Some(Caller::Cpu(12)), "widget"));
        assert_eq!(parts("[    0.412345]  [0:        swapper:    0] widget"), (None, kernel, None, "widget"));
        assert_eq!(parts("[    0.412345]  [3:    kworker/3:1:   25] widget"), (None, kernel, None, "widget"));
        assert_eq!(parts("[    0.412345] -(0)[0:swapper]widget"), (None, kernel, None, "widget"));
        assert_eq!(parts("[    0.412345] [5:widget] w"), (None, kernel, None, "[5:widget] w"));
        assert_eq!(parts("<6>[    0.412345 / 01-01 00:00:00.000][0] widget"), (Some(6), kernel, None, "widget"));
        assert_eq!(parts("<6>[    0.412345@1] widget"), (Some(6), kernel, None, "widget"));
        assert_eq!(parts("[    0.412345@x] w"), (None, None, None, "[    0.412345@x] w"));
        let logcat = Some(Time::Date(1_234_000_000, 1_000_000));
        assert_eq!(parts("01-01 00:00:01.234     0     0 I widget"), (Some(6), logcat, None, "widget"));
        assert_eq!(
            parts("01-01 00:00:01.234     0     0 W         : (1)[7:a]widget"),
            (Some(4), logcat, None, "widget")
        );
        assert!(parse(b"01-01 00:00:01.234   412   413 D Zygote  : begin").foreign);
        let untagged = parts("01-01 00:00:01.234     1     1 D         : initcall a+0x0/0x1 returned 0 after 0 usecs");
        assert_eq!(untagged, (Some(7), logcat, None, "initcall a+0x0/0x1 returned 0 after 0 usecs"));
        let installer = Some(Time::Date(11_347_531_000_000, 1_000_000));
        assert_eq!(parts("03:09:07,531 NOTICE kernel:Linux version"), (Some(5), installer, None, "Linux version"));
        assert!(parse(b"03:09:07,531 INFO systemd:Started gizmo.").foreign);
        assert_eq!(
            parts("03:09:07,531 words of another program"),
            (None, None, None, "03:09:07,531 words of another program")
        );
        assert_eq!(parts("<30>[\t0.412345] widget"), (Some(6), kernel, None, "widget"));
        assert_eq!(parts("kern  :warn  : [    0.412345] w"), (Some(4), kernel, None, "w"));
        assert_eq!(parts("[    0.412345 <    0.000001>] w"), (None, kernel, None, "w"));
        assert_eq!(parts("Nov  4 10:00:00 host kernel: [    0.412345] w"), (None, kernel, None, "w"));
        assert_eq!(parts("2024-11-04T10:00:00.5+00:00 host kernel: [    0.412345] w"), (None, kernel, None, "w"));
        let leveled = (Some(6), kernel, None, "w");
        assert_eq!(parts("Nov  4 10:00:00 host kern.info kernel: [    0.412345] w"), leveled);
        assert_eq!(parts("Nov  4 10:00:00 kernel: [    0.412345] w"), (None, kernel, None, "w"));
        let comma = Some(Time::Date(1_234_567_890_000_000_000, 1_000));
        assert_eq!(parts("2009-02-13T23:31:30,000000+00:00 Command line: w"), (None, comma, None, "Command line: w"));
        assert_eq!(without_host(b"host kernel: w"), b"w");
        assert_eq!(without_host(b"kernel: w"), b"w");
        assert_eq!(without_host(b"kernel panic: w"), b"kernel panic: w");
        assert_eq!(parts("[    0.412345] [Fri Feb 13 23:31:30 2009] w"), (None, kernel, None, "w"));
        assert_eq!(parts("[<    0.500000>] w"), (None, Some(Time::Since(500_000_000)), None, "w"));
        assert_eq!(parts("[  +0.500000] w"), (None, Some(Time::Since(500_000_000)), None, "w"));
        let date = Some(Time::Date(1_234_567_890_000_000_000, 1_000_000_000));
        assert_eq!(parts("[Fri Feb 13 23:31:30 2009] w"), (None, date, None, "w"));
        assert_eq!(parts("[ not a stamp ] w"), (None, None, None, "[ not a stamp ] w"));
        assert_eq!(parts("plain"), (None, None, None, "plain"));
    }

    #[test]
    fn syslog_names_the_machine_of_a_line_of_the_kernel() {
        let host = |line: &'static str| parse(line.as_bytes()).host.map(|name| std::str::from_utf8(name).unwrap());
        assert_eq!(host("Nov  4 10:00:00 box kernel: [    0.412345] w"), Some("box"));
        assert_eq!(host("2024-11-04T10:00:00.5+00:00 box.example.org kernel: w"), Some("box.example.org"));
        assert_eq!(host("Nov  4 10:00:00 box kern.info kernel: [    0.412345] w"), Some("box"));
        for line in [
            "Nov  4 10:00:00 kernel: [    0.412345] w",
            "2024-11-04T10:00:00 some words: that a program prints",
            "[    0.412345] box kernel: w",
            "[    0.412345] w",
        ] {
            assert_eq!(host(line), None, "{line}");
        }
    }

    #[test]
    fn a_foreign_process_keeps_its_name() {
        let found = parse(b"Nov  4 10:00:00 host systemd[1]: Started gizmo.");
        assert!(found.foreign);
        assert_eq!(found.text, b"systemd[1]: Started gizmo.");
        let found = parse(b"Nov  4 10:00:00 host syslog.info syslogd started: BusyBox v1.36.1");
        assert_eq!((found.foreign, found.level), (true, Some(6)));
        assert_eq!(found.text, b"syslogd started: BusyBox v1.36.1");
    }

    #[test]
    fn a_stamp_within_a_line_is_found() {
        assert_eq!(inner_stamp(b"login: [    5.000001] usb", 0), Some((7, 5_000_001_000)));
        assert_eq!(inner_stamp(b"a [5] [0x1] [mem 0x0-0x1] [1.2] [12.345678]", 0), None);
    }
}
