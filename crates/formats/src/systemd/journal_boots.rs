//! Where one boot ends and the next begins in a syslog, whose lines no separator divides.

use super::short_line::{ShortLine, Time};
use super::time::STARTUP;
use super::timespan::leading;
use crate::decimal::scaled;

const SECOND_NS: i64 = 1_000_000_000;
/// The syslog daemon, and the first manager of units, start so long before they pass on the kernel's lines, at most.
const DAEMON_NS: i64 = 60 * SECOND_NS;
/// What comes after a pause of more than this without a line is not known to be of the boot before it.
const PAUSE_NS: i64 = 60 * SECOND_NS;
/// A daemon that repeats the kernel's first line does it within so many lines.
const REPEATED_WITHIN: usize = 8;

/// What a line shows of the boot that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The kernel's first line.
    Kernel,
    /// The manager of units starts, so long after the kernel's clock, where its line says so.
    Manager(Option<i64>),
    /// The start is over; it took so long from the kernel on.
    Sum(i64),
    /// A syslog daemon starts: at each boot, and when its files are rotated.
    Daemon,
    /// The manager is in an initramfs, or is about to begin anew within the boot.
    Again,
    /// The system goes down.
    Down,
}

/// What a line shows, if anything.
pub(super) fn sign(line: &ShortLine<'_>) -> Option<Sign> {
    let kernel = line.name == "kernel" && line.pid.is_none();
    let (stamp, message) = if kernel { stamped(line.message) } else { (None, line.message) };
    if kernel {
        if message.starts_with("Linux version ") {
            return Some(Sign::Kernel);
        }
        let Some(manager) = message.strip_prefix("systemd[1]: ") else {
            if message.ends_with(", log source = /proc/kmsg started.") {
                return Some(Sign::Daemon);
            }
            return message.starts_with("Kernel logging (proc) stopped").then_some(Sign::Down);
        };
        return of_manager(manager, stamp);
    }
    if (line.name == "systemd" || line.name == "init.scope") && line.pid == Some("1") {
        return of_manager(message, None);
    }
    if line.name.starts_with("rsyslogd") || line.name.starts_with("syslog") {
        let starts = message.ends_with("] start") || message.ends_with("] restart") || message == "restart.";
        if starts || line.name == "syslogd started" || message.starts_with("syslog-ng starting up") {
            return Some(Sign::Daemon);
        }
        return message.contains("exiting on signal").then_some(Sign::Down);
    }
    None
}

fn of_manager(message: &str, stamp: Option<i64>) -> Option<Sign> {
    const AGAIN: [&str; 7] = [
        "Running in init", // `initrd`, `initial RAM disk`
        "Switching root",
        "Reexecuting",
        "Reexecution requested",
        "Soft-reboot",
        "Soft-Reboot",
        "Reached target soft-reboot",
    ];
    const DOWN: [&str; 10] = [
        "Shutting down",
        "Reached target Shutdown",
        "Reached target System Shutdown",
        "Reached target shutdown.target",
        "Reached target Reboot",
        "Reached target System Reboot",
        "Reached target reboot.target",
        "Reached target Power-Off",
        "Reached target System Power Off",
        "Reached target poweroff.target",
    ];
    if message.starts_with("systemd ") && message.contains(" running in system mode") {
        return Some(Sign::Manager(stamp));
    }
    if AGAIN.iter().any(|words| message.starts_with(words)) {
        return Some(Sign::Again);
    }
    if DOWN.iter().any(|words| message.starts_with(words)) {
        return Some(Sign::Down);
    }
    message.strip_prefix(STARTUP).and_then(from_kernel_on).map(Sign::Sum)
}

/// The kernel's stamp in front of a message.
fn stamped(message: &str) -> (Option<i64>, &str) {
    let parts = message.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match parts.and_then(|(inside, rest)| Some((scaled(inside.trim_start(), 9)?, rest))) {
        Some((stamp, rest)) => (Some(stamp), rest),
        None => (None, message),
    }
}

/// The stages of a sum from the kernel on together; none without a stage of the kernel, as after a soft reboot.
fn from_kernel_on(text: &str) -> Option<i64> {
    let (mut sum, mut rest) = (None, text);
    while let Some((length, after)) = leading(rest) {
        let (name, tail) = after.trim_start().strip_prefix('(')?.split_once(')')?;
        match (name, &mut sum) {
            ("kernel", None) => sum = Some(length),
            ("userspace", Some(sum)) => return Some(sum.saturating_add(length)),
            (_, Some(sum)) => *sum = sum.saturating_add(length),
            _ => {}
        }
        rest = tail.trim_start().strip_prefix('+')?;
    }
    None
}

/// A line that waits until its boot is complete.
#[derive(Debug)]
pub(super) struct Waiting {
    pub number: u64,
    pub text: String,
    /// When; a further line of a message has none.
    pub time_ns: Option<i64>,
    pub sign: Option<Sign>,
    /// Its year, after the first one's.
    pub year_ns: i64,
}

impl Waiting {
    /// Whether it may be of a boot that begins behind it: a boot's own beginning is not, nor is the end of one.
    fn is_open(&self) -> bool {
        matches!(self.sign, None | Some(Sign::Daemon | Sign::Again))
    }
}

/// Where the next boot begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    /// The place of its first line among those that wait; their number: the present line.
    pub place: usize,
    /// No line shows it: it follows from the sum of the stages.
    pub by_sum: bool,
}

/// What a boot has shown of itself so far.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// When the kernel's first line came, and as which line.
    kernel: Option<(i64, usize)>,
    /// When the manager started first.
    manager: Option<i64>,
    /// The kernel's clock when the manager started last.
    stamp: Option<i64>,
    summed: bool,
    again: bool,
    lines: usize,
}

impl Shown {
    /// Whether anything has shown that the boot began.
    pub fn begun(&self) -> bool {
        self.kernel.is_some() || self.manager.is_some() || self.summed
    }

    /// Notes a line of the boot.
    pub fn note(&mut self, sign: Option<Sign>, time_ns: i64) {
        self.lines = self.lines.saturating_add(1);
        match sign {
            Some(Sign::Kernel) => {
                self.kernel.get_or_insert((time_ns, self.lines));
            }
            Some(Sign::Manager(stamp)) => {
                self.manager.get_or_insert(time_ns);
                self.stamp = stamp.or(self.stamp);
                self.again = false;
            }
            Some(Sign::Sum(_)) => self.summed = true,
            Some(Sign::Again) => self.again = true,
            Some(Sign::Daemon | Sign::Down) | None => {}
        }
    }

    /// Where the next boot begins: with a line, or with one that waits before it; none, if the line is of this boot.
    pub fn next(&self, sign: Sign, time_ns: i64, waiting: &[Waiting]) -> Option<Beginning> {
        let at = |place: usize| Some(Beginning { place, by_sum: false });
        let soon = |since: i64| time_ns.abs_diff(since) <= DAEMON_NS.unsigned_abs();
        match sign {
            Sign::Kernel => {
                if let Some((since, line)) = self.kernel {
                    let repeated = self.lines.saturating_sub(line) < REPEATED_WITHIN
                        && time_ns.abs_diff(since) <= SECOND_NS.unsigned_abs();
                    return if repeated { None } else { at(first_of(waiting, time_ns, 0)) };
                }
                // The kernel's lines may come from its buffer after the manager's own.
                if !self.summed && self.manager.is_some_and(soon) {
                    return None;
                }
            }
            Sign::Manager(_) if self.again => return None,
            Sign::Manager(stamp) if !self.summed => match (stamp.zip(self.stamp), self.manager) {
                (Some((stamp, before)), _) if stamp >= before => return None,
                (None, None) if self.kernel.is_some() => return None,
                (Some(_), None) => return None,
                _ => {}
            },
            Sign::Sum(length) if self.summed => {
                let place = within(waiting, time_ns, length);
                return Some(Beginning { place, by_sum: true });
            }
            Sign::Manager(_) => {}
            Sign::Sum(_) | Sign::Daemon | Sign::Again | Sign::Down => return None,
        }
        let place = first_of(waiting, time_ns, if let Sign::Manager(Some(stamp)) = sign { stamp } else { 0 });
        if self.begun() {
            return at(place);
        }
        // What came before it may be of the same boot.
        let before = waiting.get(..place).unwrap_or_default();
        let last = before.iter().rev().find_map(|line| line.time_ns)?;
        let first = waiting.get(place).and_then(|line| line.time_ns).unwrap_or(time_ns);
        let down = before.iter().any(|line| line.sign == Some(Sign::Down));
        let apart = first < last.saturating_sub(SECOND_NS) || first.saturating_sub(last) > PAUSE_NS;
        if down || apart {
            at(place)
        } else {
            None
        }
    }
}

/// The first of the last lines that were logged within a length before an instant.
fn within(waiting: &[Waiting], time_ns: i64, length: i64) -> usize {
    let earliest = time_ns.saturating_sub(length).saturating_sub(SECOND_NS);
    let latest = time_ns.saturating_add(SECOND_NS);
    let later = |line: &&Waiting| line.is_open() && line.time_ns.is_none_or(|time| (earliest..=latest).contains(&time));
    let mut place = waiting.len().saturating_sub(waiting.iter().rev().take_while(later).count());
    // A further line of a message is of the boot of its first.
    while waiting.get(place).is_some_and(|line| line.time_ns.is_none()) {
        place = place.saturating_add(1);
    }
    place
}

/// The first line of a boot of which something was logged so long after its kernel's clock began: those of the same time are its
/// own, and those of the syslog daemon that has just started.
fn first_of(waiting: &[Waiting], time_ns: i64, since_kernel: i64) -> usize {
    let place = within(waiting, time_ns, since_kernel);
    let just = |time: i64| (0..=DAEMON_NS).contains(&time_ns.saturating_sub(time));
    let soon = |line: &&Waiting| line.is_open() && line.time_ns.is_none_or(just);
    let before = waiting.get(..place).unwrap_or_default();
    let near = before.iter().rev().take_while(soon).count();
    let daemon = before.iter().enumerate().skip(place.saturating_sub(near));
    daemon.rev().find(|(_, line)| line.sign == Some(Sign::Daemon)).map_or(place, |(at, _)| at)
}

/// The year of dates without one: those that go back by more than half a year are of the next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Year {
    last: Option<i64>,
    pub year_ns: i64,
}

impl Year {
    /// The time of a line with its year, after the first one's.
    pub fn of(&mut self, time: Time) -> Time {
        const YEAR_NS: i64 = 365 * 86_400 * SECOND_NS;
        let Time::Realtime(time_ns) = time else { return time };
        if (0..=YEAR_NS).contains(&time_ns) {
            if let Some(last) = self.last.replace(time_ns) {
                if last.saturating_sub(time_ns) > YEAR_NS / 2 {
                    self.year_ns = self.year_ns.saturating_add(YEAR_NS);
                } else if time_ns.saturating_sub(last) > YEAR_NS / 2 && self.year_ns > 0 {
                    self.year_ns = self.year_ns.saturating_sub(YEAR_NS);
                }
            }
        }
        Time::Realtime(time_ns.saturating_add(self.year_ns))
    }
}
