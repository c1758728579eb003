//! The debug log of udevd: plain, with a syslog prefix, or with the kernel's stamp.

use super::queue::Queue;
use crate::about::{About, Origin, Stamps, Traits};
use crate::counts::counted;
use crate::decimal::scaled;
use crate::evidence::{Clock, Evidence, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::systemd::short_line::{parse, Time};
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads what udevd logs with `udev.log_level=debug`.
pub struct UdevLog;

impl Format for UdevLog {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::UdevLog, Traits { stamps: Stamps::Received, ..Traits::of(Origin::Udev) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let mut queue = Queue::default();
        let (mut all, mut own) = (0, 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(200) {
            all += 1;
            let line = take(line);
            own += usize::from(line.name.contains("udev"));
            queue.line(None, line.pid, line.message, 0);
        }
        let events = queue.understood() as usize;
        match (events, all) {
            (0, _) => Likelihood::No,
            // Nearly every line is udevd's: no log of the whole system.
            (2.., _) if own * 10 >= all * 8 || events * 10 >= all * 3 => Likelihood::Certain,
            (2.., _) if own * 2 >= all => Likelihood::Likely,
            _ => Likelihood::Possible,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut lines = Lines::new(input.bytes);
        let mut queue = Queue::default();
        let (mut clock, mut mixed) = (None, (0_u64, None));
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() {
                continue;
            }
            let taken = take(&text);
            let time_ns = match (taken.time, &clock) {
                (Some((own, step, time)), None) => {
                    evidence.step_ns = step;
                    clock = Some(own);
                    Some(time)
                }
                (Some((own, _, time)), Some(known)) if own == *known => Some(time),
                (Some(_), Some(_)) => {
                    mixed = (mixed.0 + 1, mixed.1.or(Some(line.number)));
                    None
                }
                (None, _) => None,
            };
            evidence.log.push(Stamp { line: line.number, time_ns, ..Stamp::default() }, taken.body.as_bytes());
            queue.line(time_ns, taken.pid, taken.message, line.number);
        }
        if queue.understood() == 0 {
            return Err(self.not_this("no line is about a queued or processed device"));
        }
        evidence.understood = queue.understood();
        evidence.clock = clock.unwrap_or(Clock::Untimed);
        queue.finish(&mut evidence);
        if mixed.0 > 0 {
            let detail = counted(mixed.0, "# line[|s] [has|have] times of another clock than the first");
            evidence.problem(ProblemKind::Untimed, mixed.1, detail);
        }
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

struct Taken<'a> {
    /// Clock, step and time.
    time: Option<(Clock, i64, i64)>,
    name: &'a str,
    pid: Option<&'a str>,
    message: &'a str,
    body: &'a str,
}

/// Takes off what stands before a message.
fn take(line: &str) -> Taken<'_> {
    if let Some(short) = parse(line).filter(|short| short.name.contains("udev")) {
        let (clock, time) = match short.time {
            Time::Monotonic(time) => (Clock::Monotonic, time),
            Time::Realtime(time) => (Clock::Realtime, time),
        };
        let time = Some((clock, short.step_ns, time));
        return Taken { time, name: short.name, pid: short.pid, message: short.message, body: short.body };
    }
    let (time, body) =
        kernel_stamp(line).map_or((None, line), |(time, body)| (Some((Clock::Printk, 1_000, time)), body));
    if let Some((who, message)) = body.split_once(": ").filter(|(who, _)| who.contains("udev") && !who.contains(' ')) {
        let (name, pid) = match who.strip_suffix(']').and_then(|who| who.rsplit_once('[')) {
            Some((name, pid)) => (name, Some(pid)),
            None => (who, None),
        };
        return Taken { time, name, pid, message, body };
    }
    Taken { time, name: "", pid: None, message: body, body }
}

/// `[    2.500000] ` with or without a priority before it.
fn kernel_stamp(line: &str) -> Option<(i64, &str)> {
    let line = match line.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?.1,
        None => line,
    };
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((scaled(time.trim(), 9)?, rest.strip_prefix(' ').unwrap_or(rest)))
}
