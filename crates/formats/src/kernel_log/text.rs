//! Logs of text, line by line: what stands before each message is taken off, and each line given to its boot.

use super::boot_messages::{is_boot_message, is_early_message};
use super::boots::{is_first, Boots};
use super::bytes::is_of_program;
use super::prefix::{inner_stamp, parse, usual, without_host, Prefixed, Time};
use super::processors::{Processors, Step, Waiting};
use super::unstamped_lines::{sign, Sign};
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, ProblemKind, Stamp};
use crate::firmware::loader_line::loader_stamp;
use crate::lines::Lines;
use crate::FormatError;
use memchr::{memchr, memchr2, memmem};
use std::io::BufRead;

/// This many lines with a timestamp decide whether hosts are named.
const HOST_WITHIN: u64 = 8;
/// Two records on one line are not further apart than this.
const TOGETHER: i64 = 1_000_000_000_000;
/// A second one behind the name of a driver alone is not further away: a processor of its own may stamp what the driver passes on.
const TOGETHER_BEHIND_A_NAME: i64 = 1_000_000_000;

/// Of so many lines of a console, less than one of so many parts with times is said.
const FEW_OF: usize = 50;
const FEW_PARTS: usize = 10;

/// Which of the times of its lines a log goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    Kernel,
    Date,
    Since,
    /// By the clock of the host that received it.
    Host,
}

/// A log of text so far.
#[derive(Debug)]
pub struct Text {
    boots: Boots,
    goes: Option<Goes>,
    since: i64,
    minute: Option<i64>,
    minutes_lost: Option<(u64, u64)>,
    indent: usize,
    before: Stamp,
    console: bool,
    torn: Option<(u64, u64)>,
    unstamped: Option<(u64, u64)>,
    contradicting: Option<(u64, u64)>,
    /// How many lines of a kernel come before the first stamp, from its first one on, and that one.
    before_stamps: Option<(u64, u64)>,
    /// How many lines before the kernel's have dates, and the first of them.
    others_dated: Option<(u64, u64)>,
    unescaped: Vec<u8>,
    /// Whether host and process come after the timestamp: the first lines decide.
    hosted: bool,
    stamped: u64,
    /// The log goes by the kernel's stamps, and no host is named after them.
    settled: bool,
    /// The kernel's own stamps were shortened to milliseconds.
    in_millis: bool,
    /// A loader has handed over to a kernel, and no line of the kernel has come yet.
    handed_over: bool,
    /// Whether the processor stands before each message.
    processors: Processors,
}

impl Text {
    /// Of a format, and a part of its record. On a *console* others than the kernel print lines, without stamps.
    pub fn new(format: &'static About, part: &str, console: bool) -> Self {
        Self {
            boots: Boots::new(format, part, Clock::Untimed),
            goes: None,
            since: 0,
            minute: None,
            minutes_lost: None,
            indent: 0,
            before: Stamp::default(),
            console,
            torn: None,
            unstamped: None,
            contradicting: None,
            before_stamps: None,
            others_dated: None,
            unescaped: Vec::new(),
            hosted: false,
            stamped: 0,
            settled: false,
            in_millis: false,
            handed_over: false,
            processors: Processors::default(),
        }
    }

    /// Goes by the host's clock, of such a step: no line of the kernel has a stamp.
    pub fn by_host(&mut self, step_ns: i64) {
        self.goes = Some(Goes::Host);
        self.boots.clock(Clock::Host, step_ns);
    }

    /// The boots so far.
    pub fn boots(&mut self) -> &mut Boots {
        &mut self.boots
    }

    /// One line. *host* is when it was received.
    pub fn line(&mut self, number: u64, host_ns: Option<i64>, bytes: &[u8]) {
        if self.settled {
            if let Some((time, message)) = usual(bytes).filter(|(_, message)| memchr2(b'[', b'\\', message).is_none()) {
                let stamp = Stamp { line: number, time_ns: Some(time), host_ns, ..Stamp::default() };
                self.indent = bytes.len() - message.len();
                self.before = stamp;
                return self.boots.kernel(stamp, message);
            }
        }
        match self.processors.line(number, host_ns, bytes) {
            Step::Read => self.any_line(number, host_ns, bytes),
            Step::Waits => {}
            Step::Decided(lines) => self.waited(lines),
        }
    }

    /// Lines that waited until it was known what stands before their messages.
    fn waited(&mut self, lines: Vec<Waiting>) {
        for Waiting { number, host_ns, bytes } in lines {
            self.any_line(number, host_ns, &bytes);
        }
    }

    /// One line of whatever shape.
    fn any_line(&mut self, number: u64, host_ns: Option<i64>, bytes: &[u8]) {
        let mut line = bytes.strip_prefix(b"\r").unwrap_or(bytes);
        if let Some((_, text)) = loader_stamp(line).filter(|_| !self.in_millis) {
            self.in_millis = is_boot_message(without_host(text.trim_ascii_start()));
            if !self.in_millis {
                let stamp = Stamp { line: number, host_ns, ..Stamp::default() };
                return self.boots.other(stamp, line);
            }
        }
        if let Some(at) = self.glued(line) {
            let (before, first) = line.split_at(at);
            self.boots.other(Stamp { line: number, host_ns, ..Stamp::default() }, before);
            self.torn.get_or_insert((0, number)).0 += 1;
            line = first;
        }
        let shape = self.processors.shape();
        let mut pieces = 0;
        loop {
            let mut found = parse(line);
            if let Some(shape) = shape.filter(|_| found.time.is_some()) {
                found.text = shape.message(found.text).unwrap_or(found.text);
            }
            // Neither a second stamp nor an escape: that is nearly every line.
            let odd = memchr2(b'[', b'\\', found.text);
            let skipped = line.len() - found.text.len();
            let Some((at, _)) = odd.and_then(|from| self.second_record(&found, from)) else {
                self.record(number, host_ns, &found, skipped, odd.is_some());
                break;
            };
            pieces += 1;
            let text = found.text[..at].trim_ascii_end();
            let next = skipped + at;
            if !text.is_empty() {
                self.record(number, host_ns, &Prefixed { text, ..found }, skipped, true);
            }
            line = &line[next..];
        }
        if pieces > 0 {
            self.torn.get_or_insert((0, number)).0 += 1;
        }
    }

    /// Where, in a log without stamps, a kernel's first line begins behind what a loader or a line that was not connected left.
    fn glued(&self, line: &[u8]) -> Option<usize> {
        if !matches!(self.goes, None | Some(Goes::Host)) {
            return None;
        }
        let at = memmem::find(line, b"Linux version ").filter(|at| *at > 0)?;
        let (before, first) = line.split_at(at);
        let whole = first.get(14).is_some_and(u8::is_ascii_digit) && memmem::find(first, b") #").is_some();
        let garbage = before.iter().any(|byte| !matches!(byte, b' '..=b'~' | b'\t'));
        (whole && garbage).then_some(at)
    }

    /// Where a second record begins on the same line.
    #[inline]
    fn second_record(&self, found: &Prefixed<'_>, from: usize) -> Option<(usize, i64)> {
        let (at, time) = inner_stamp(found.text, from)?;
        let together = match found.time {
            Some(Time::Kernel(own)) => time >= own && time - own < apart(&found.text[..at]),
            Some(_) => false,
            None => true,
        };
        (together && at > 0).then_some((at, time))
    }

    fn record(&mut self, number: u64, host_ns: Option<i64>, found: &Prefixed<'_>, indent: usize, odd: bool) {
        let mut stamp = Stamp { line: number, time_ns: None, host_ns, level: found.level, caller: found.caller };
        if found.foreign {
            stamp.time_ns = self.foreign(found.time);
            self.boots.other(stamp, found.text);
            return;
        }
        let Some(time) = found.time else {
            self.unprefixed(stamp, found);
            return;
        };
        if matches!((self.goes, time), (Some(Goes::Date), Time::Kernel(_))) && self.starts_anew(found.text) {
            self.dates_are_of_others();
        }
        stamp.time_ns = self.time(time, number);
        self.stamped += 1;
        let mut message = found.text;
        let mut host = found.host;
        if self.hosted || self.stamped <= HOST_WITHIN {
            message = without_host(found.text);
            self.hosted |= message.len() < found.text.len();
            let before = &found.text[..found.text.len() - message.len()];
            let named = |name: &&[u8]| !name.is_empty() && *name != b"kernel:";
            host = host.or_else(|| before.split(|byte| *byte == b' ').next().filter(named));
            let plain = !self.hosted && self.processors.shape().is_none();
            self.settled = plain && self.stamped == HOST_WITHIN && self.goes == Some(Goes::Kernel);
        }
        if let Some(name) = host {
            self.boots.host(name);
        }
        self.indent = indent;
        self.before = stamp;
        if odd && self.goes == Some(Goes::Kernel) && is_of_program(message) && !message.starts_with(b"systemd[1]") {
            self.boots.process(stamp, message);
        } else if !odd || memchr(b'\\', message).is_none() {
            self.boots.kernel(stamp, message);
        } else {
            let mut unescaped = std::mem::take(&mut self.unescaped);
            self.boots.kernel(stamp, unescape(message, &mut unescaped));
            self.unescaped = unescaped;
        }
    }

    /// Whether the first line of a kernel comes, and none was before.
    fn starts_anew(&self, text: &[u8]) -> bool {
        is_first(without_host(text)) && !self.boots.has_kernel()
    }

    /// The lines so far have dates and are none of a kernel: it stamps its own, which the log goes by from here on.
    fn dates_are_of_others(&mut self) {
        self.others_dated = self.boots.forget_times();
        self.goes = None;
        (self.stamped, self.hosted, self.settled) = (0, false, false);
    }

    /// The time of a line that a process wrote, by the clock that the log goes by.
    fn foreign(&self, time: Option<Time>) -> Option<i64> {
        match (self.goes, time) {
            (Some(Goes::Date), Some(Time::Date(time, _))) | (Some(Goes::Kernel), Some(Time::Kernel(time))) => {
                Some(time)
            }
            _ => None,
        }
    }

    /// The time of a line by the clock that the log goes by.
    #[inline]
    fn time(&mut self, time: Time, number: u64) -> Option<i64> {
        if let (Some(Goes::Kernel), Time::Kernel(time)) = (self.goes, time) {
            return Some(time);
        }
        let goes = *self.goes.get_or_insert(match time {
            Time::Kernel(_) => Goes::Kernel,
            Time::Date(..) => Goes::Date,
            Time::Minute(_) | Time::Since(_) => Goes::Since,
        });
        match (goes, time) {
            (Goes::Kernel, Time::Kernel(time)) => {
                self.boots.clock(Clock::Printk, 0);
                Some(time)
            }
            (Goes::Date, Time::Date(time, step)) => {
                self.boots.clock(Clock::Realtime, step);
                Some(time)
            }
            (Goes::Since, Time::Since(since)) => {
                self.boots.clock(Clock::Printk, 0);
                self.since = self.since.saturating_add(since);
                Some(self.since)
            }
            (Goes::Since, Time::Minute(minute)) => {
                self.boots.clock(Clock::Printk, 0);
                match self.minute {
                    None => self.minute = Some(minute),
                    Some(first) => {
                        self.minutes_lost.get_or_insert((0, number)).0 += 1;
                        self.since = self.since.max(minute.saturating_sub(first));
                    }
                }
                Some(self.since)
            }
            (Goes::Host, _) => None,
            _ => {
                self.contradicting.get_or_insert((0, number)).0 += 1;
                None
            }
        }
    }

    /// A line without a stamp: more of the message before it, a line of user land, or a log without stamps.
    fn unprefixed(&mut self, mut stamp: Stamp, found: &Prefixed<'_>) {
        if found.text.starts_with(b"** ") {
            // The console itself says, without a stamp, what it dropped.
            self.boots.kernel(stamp, found.text);
        } else if self.goes == Some(Goes::Host) {
            stamp.time_ns = stamp.host_ns;
            self.either(stamp, found.text);
        } else if self.goes.is_none() {
            self.either(stamp, found.text);
        } else if self.indent >= 8 && found.text.len() > self.indent && blank(&found.text[..self.indent]) {
            // dmesg writes the further lines of a message below its first.
            let more = Stamp { line: stamp.line, host_ns: stamp.host_ns, ..self.before };
            self.boots.kernel(more, &found.text[self.indent..]);
        } else {
            // Once the first program runs, its lines come between the kernel's.
            if !self.console && !found.text.is_empty() && !self.boots.runs_programs() {
                self.unstamped.get_or_insert((0, stamp.line)).0 += 1;
            }
            if found.level.is_some() {
                self.boots.kernel(stamp, found.text);
            } else {
                self.boots.other(stamp, found.text);
            }
        }
    }

    /// Without timestamps, lines of the kernel cannot be distinguished from others, except those of boot loaders.
    fn either(&mut self, stamp: Stamp, text: &[u8]) {
        let sign = sign(text);
        if sign.is_some() || (self.boots.before_kernel() && !self.starts(text)) {
            match sign {
                Some(Sign::HandOver | Sign::Decompression) => self.handed_over = true,
                Some(Sign::Banner(_)) => self.handed_over = false,
                Some(Sign::Login) | None => {}
            }
            self.boots.other(stamp, text);
        } else {
            if self.goes.is_none() && (self.before_stamps.is_some() || is_first(text)) {
                self.before_stamps.get_or_insert((0, stamp.line)).0 += 1;
            }
            self.boots.kernel(stamp, text);
        }
    }

    /// Before the kernel's first line a console shows firmware and loader; elsewhere every line is the kernel's.
    fn starts(&self, text: &[u8]) -> bool {
        let unnamed = || self.handed_over && is_early_message(text);
        !self.console || text.starts_with(b"Linux version ") || text.starts_with(b"Booting Linux") || unnamed()
    }

    /// Every boot.
    ///
    /// # Errors
    ///
    /// [`FormatError::NotThis`] when no line is one of a kernel.
    pub fn finish(
        mut self,
        title: &'static str,
        lines: Vec<crate::evidence::Problem>,
    ) -> Result<Vec<Evidence>, FormatError> {
        let waiting = self.processors.finish();
        self.waited(waiting);
        if self.boots.lines() == 0 || (self.goes.is_none() && self.boots.understood() == 0) {
            let what = if self.console {
                "no line has a stamp of the kernel, and neither `Linux version` nor a known message behind a loader's last line \
                 shows where a kernel begins"
            } else {
                "no line has a stamp of the kernel, and none is a message known from boots"
            };
            let what = what.to_owned();
            return Err(FormatError::NotThis { format: title, what });
        }
        let goes = self.goes;
        let counts = [
            (
                self.torn,
                ProblemKind::Torn,
                "line[ holds|s hold] several records that interrupted one another; they were separated",
            ),
            (self.unstamped, ProblemKind::Untimed, "line[ has|s have] no stamp"),
            (
                self.before_stamps.filter(|_| goes.is_some()),
                ProblemKind::Untimed,
                "line[ of the kernel comes|s of the kernel come] before the first stamp: [it has no time|they have no times], and how long the kernel ran until then is not known",
            ),
            (
                self.contradicting,
                ProblemKind::Contradiction,
                "line[ has|s have] a stamp of another kind, which was not used",
            ),
            (
                self.others_dated,
                ProblemKind::Unaligned,
                "line[|s] before the kernel's [has a date|have dates], which no line joins to the kernel's clock: [it has|they have] no time here",
            ),
            (
                self.minutes_lost,
                ProblemKind::Untimed,
                "line[ has|s have] only the minute: what follows [it|them] may be up to a minute later",
            ),
        ];
        for (count, kind, what) in counts {
            if let Some((count, line)) = count {
                self.boots.note(kind, line, counted(count, &format!("# {what}")));
            }
        }
        let mut boots = self.boots.finish(lines);
        for (count, line) in [self.unstamped, self.contradicting, self.others_dated].into_iter().flatten() {
            let of =
                boots.iter().rposition(|boot| boot.clock != Clock::Firmware && boot.first_line <= line).unwrap_or(0);
            if let Some(boot) = boots.get_mut(of) {
                boot.not_understood = boot.not_understood.saturating_add(count);
            }
        }
        for boot in boots.iter_mut().filter(|boot| boot.clock != Clock::Firmware) {
            match goes {
                None => boot.problem(ProblemKind::Untimed, None, "no line has a stamp: only their order is known"),
                Some(Goes::Date) if boot.step_ns >= 1_000_000_000 => {
                    let detail = "the timestamps have whole seconds only: phases, gaps and durations between lines are as coarse";
                    boot.problem(ProblemKind::Quantised, None, detail);
                }
                Some(Goes::Since) => {
                    let detail = "each line has only its distance to the one before: times count from the first line";
                    boot.problem(ProblemKind::Untimed, None, detail);
                }
                _ => {}
            }
            let timed = boot.log.iter().filter(|(stamp, _)| stamp.time_ns.is_some()).count();
            if self.console && goes.is_some() && boot.log.len() >= FEW_OF && timed * FEW_PARTS < boot.log.len() {
                let detail = counted(timed as u64, "# line[ has|s have] a time");
                let detail = format!("only {detail} of {}: of the others only the order is known", boot.log.len());
                boot.problem(ProblemKind::Untimed, None, detail);
            }
        }
        Ok(boots)
    }
}

/// How far two records on one line may be apart, of which the first is `text`.
fn apart(text: &[u8]) -> i64 {
    let is_name = text.strip_suffix(b": ").is_some_and(|name| !name.is_empty() && !name.contains(&b' '));
    if is_name {
        TOGETHER_BEHIND_A_NAME
    } else {
        TOGETHER
    }
}

fn blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == b' ')
}

/// `\xNN`, as dmesg writes what a terminal might not show: put back where it makes UTF-8, left where it is a control.
pub fn unescape<'a>(text: &'a [u8], into: &'a mut Vec<u8>) -> &'a [u8] {
    into.clear();
    let mut at = 0;
    let mut changed = false;
    while let Some(&byte) = text.get(at) {
        let escape = text.get(at..at + 4).filter(|four| four.starts_with(b"\\x"));
        let value = escape.and_then(|four| u8::from_str_radix(std::str::from_utf8(&four[2..]).ok()?, 16).ok());
        match value {
            Some(value) if value >= 0x80 => {
                into.push(value);
                changed = true;
                at += 4;
            }
            _ => {
                into.push(byte);
                at += 1;
            }
        }
    }
    if changed && std::str::from_utf8(into).is_ok() {
        into
    } else {
        text
    }
}

/// `\xNN`, as /dev/kmsg writes every byte that is not printable ASCII, and every backslash: put back, but for line ends and
/// other controls. What is put back above ASCII must make UTF-8, or stays.
///
/// ```
/// use firstlight_formats::kernel_log::text::unescape_all;
/// let mut into = Vec::new();
/// assert_eq!(unescape_all(br"dyndbg=\x5c\x22a\x09b\x0ac", &mut into), b"dyndbg=\\\"a\tb\\x0ac");
/// assert_eq!(unescape_all(br"dev-a\x5cx2db \xc2\xb5", &mut into), "dev-a\\x2db \u{b5}".as_bytes());
/// assert_eq!(unescape_all(br"odd \xff \x5c", &mut into), br"odd \xff \");
/// ```
pub fn unescape_all<'a>(text: &'a [u8], into: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr(b'\\', text).is_none() {
        return text;
    }
    let mut high = Vec::new();
    let text: &[u8] = match std::str::from_utf8(unescape(text, &mut high)) {
        Ok(decoded) => decoded.as_bytes(),
        Err(_) => text,
    };
    into.clear();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escape = text.get(at..at + 4).filter(|four| four.starts_with(b"\\x"));
        let value = escape.and_then(|four| u8::from_str_radix(std::str::from_utf8(four.get(2..)?).ok()?, 16).ok());
        match value.filter(|value| matches!(value, b'\t' | b' '..=b'~')) {
            Some(value) => {
                into.push(value);
                at += 4;
            }
            None => {
                into.push(byte);
                at += 1;
            }
        }
    }
    into
}

/// Reads a log of text to its end.
///
/// # Errors
///
/// [`FormatError`] when it cannot be read, or no line is one of a kernel.
pub fn read(
    format: &'static About,
    part: &str,
    console: bool,
    input: &mut dyn BufRead,
) -> Result<Vec<Evidence>, FormatError> {
    let mut text = Text::new(format, part, console);
    let mut lines = Lines::new(input);
    lines.each(|line| text.line(line.number, None, line.bytes))?;
    let problems = lines.problems();
    text.finish(format.title, problems)
}
