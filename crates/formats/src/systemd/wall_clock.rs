//! Where the wall clock was set in a journal as text, whose lines have no other clock.

use super::short_line::{ShortLine, Time};
use super::time::STARTUP;
use super::timespan::leading;
use crate::evidence::{Evidence, ProblemKind};

/// Lines may be unordered by so much, and sums and stamps apart.
const SLACK_NS: i64 = 1_000_000_000;
/// Without a sum of stages, the clock was set where a line says so behind a gap of more than this.
const GAP_NS: i64 = 60_000_000_000;
/// A clock that was set back stays back for so many lines.
const BEHIND: usize = 8;
/// The clock is set no more often than this; what is found later is left as it is.
const MOST_SETTINGS: usize = 64;

/// What is remembered of every line.
#[derive(Debug, Clone, Copy)]
struct Seen {
    line: u64,
    time_ns: i64,
    /// Of user space.
    user: bool,
    /// It says that the clock was set, or is about to be.
    says: bool,
    /// The kernel's first line.
    boot: bool,
}

/// The clock was set before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    /// The first line that is stamped by the clock that was set.
    pub line: u64,
    /// The lines from there on are put back by so much; negative where the clock was set back.
    pub by_ns: i64,
    /// Whether it was set by at least so much, not at most.
    least: bool,
}

/// Watches the lines of a boot.
#[derive(Debug, Default)]
pub(super) struct WallClock {
    seen: Vec<Seen>,
    /// The places of the lines `Startup finished`, and how long user space took by them.
    sums: Vec<(usize, i64)>,
    step_ns: i64,
}

impl WallClock {
    /// Notes a line.
    pub fn see(&mut self, short: &ShortLine<'_>, line: u64) {
        const WORDS: [&str; 6] = [
            "Initial clock synchronization to",
            "System clock was stepped by",
            "System clock wrong by",
            "Time has been changed",
            "time stepped",
            "step time server",
        ];
        let Time::Realtime(time_ns) = short.time else { return };
        let user = short.name != "kernel";
        let manager = short.pid == Some("1") && (short.name == "systemd" || short.name == "init.scope");
        if let Some(user_space) = short.message.strip_prefix(STARTUP).filter(|_| manager).and_then(user_space) {
            self.sums.push((self.seen.len(), user_space));
        }
        self.step_ns = self.step_ns.max(short.step_ns);
        let says = user && WORDS.iter().any(|words| short.message.contains(words));
        let boot = !user && short.message.contains("Linux version ");
        self.seen.push(Seen { line, time_ns, user, says, boot });
    }

    /// Forgets a line and those behind it: they are of another boot.
    pub fn forget_from(&mut self, line: u64) {
        self.seen.truncate(self.seen.partition_point(|seen| seen.line < line));
        let left = self.seen.len();
        self.sums.retain(|(place, _)| *place < left);
    }

    /// Where the clock was set, by line.
    pub fn settings(mut self) -> Vec<Setting> {
        let mut found = Vec::new();
        self.back(&mut found);
        let mut from = 0;
        for (place, user_space) in std::mem::take(&mut self.sums) {
            let range = self.seen.get(from..place).unwrap_or_default();
            let boot = range.iter().rposition(|seen| seen.boot).map(|boot| from.saturating_add(boot));
            // A second sum without the beginning of a boot is of a soft reboot: what was before it, is no start.
            if let Some(start) = boot.or((from == 0).then_some(0)) {
                self.find_stated(from, start, &mut found);
                self.summed(start, place, user_space, &mut found);
            } else {
                self.find_stated(from, place, &mut found);
            }
            from = place.saturating_add(1);
        }
        self.find_stated(from, self.seen.len(), &mut found);
        found.sort_by_key(|setting| setting.line);
        found
    }

    /// Notes that the clock was set before the line at a place, and puts the lines from there on back.
    fn set(&mut self, place: usize, by_ns: i64, least: bool, found: &mut Vec<Setting>) {
        let Some(line) = self.seen.get(place).map(|seen| seen.line) else { return };
        found.push(Setting { line, by_ns, least });
        for seen in self.seen.iter_mut().skip(place) {
            seen.time_ns = seen.time_ns.saturating_sub(by_ns);
        }
    }

    /// The time between the line at a place and that before.
    fn gap(&self, place: usize) -> i64 {
        let before = place.checked_sub(1).and_then(|before| self.seen.get(before));
        before.zip(self.seen.get(place)).map_or(0, |(before, seen)| seen.time_ns.saturating_sub(before.time_ns))
    }

    /// The clock was set back: a line is behind the two before it, and so are those after it.
    fn back(&mut self, found: &mut Vec<Setting>) {
        let slack = SLACK_NS.saturating_add(if self.step_ns > 1_000 { self.step_ns } else { 0 });
        let mut shift = 0_i64;
        for place in 1..self.seen.len() {
            let Some(seen) = self.seen.get_mut(place) else { break };
            seen.time_ns = seen.time_ns.saturating_sub(shift);
            let now = seen.time_ns;
            let before = self.seen.get(place.saturating_sub(2)..place).unwrap_or_default();
            let Some(least) = before.iter().map(|seen| seen.time_ns).min() else { continue };
            if now >= least.saturating_sub(slack) {
                continue;
            }
            let mut after = self.seen.iter().skip(place.saturating_add(1)).take(BEHIND).peekable();
            if after.peek().is_none() || after.any(|seen| seen.time_ns.saturating_sub(shift) >= least) {
                continue;
            }
            let by_ns = self.gap(place);
            if found.len() >= MOST_SETTINGS {
                continue;
            }
            if let Some(seen) = self.seen.get_mut(place) {
                seen.time_ns = seen.time_ns.saturating_sub(by_ns);
                shift = shift.saturating_add(by_ns);
                found.push(Setting { line: seen.line, by_ns, least: true });
            }
        }
    }

    /// The clock was set ahead: from the first line of user space to its sum it took longer than the sum says.
    fn summed(&mut self, start: usize, end: usize, user_space: i64, found: &mut Vec<Setting>) {
        let slack = SLACK_NS.saturating_add(if self.step_ns > 1_000 { self.step_ns } else { 0 });
        let range = self.seen.get(start..end).unwrap_or_default();
        let Some(first) = range.iter().position(|seen| seen.user).map(|first| start.saturating_add(first)) else {
            return;
        };
        while found.len() < MOST_SETTINGS {
            let (Some(begun), Some(ended)) = (self.seen.get(first), self.seen.get(end)) else { return };
            let excess = ended.time_ns.saturating_sub(begun.time_ns).saturating_sub(user_space);
            if excess <= slack {
                return;
            }
            let places = first.saturating_add(1)..=end;
            let said = places.clone().filter(|place| self.said(*place) && self.gap(*place) >= excess);
            let place = said.max_by_key(|place| self.gap(*place));
            let Some(place) = place.or_else(|| places.max_by_key(|place| self.gap(*place))) else { return };
            let by_ns = self.gap(place).min(excess);
            if by_ns <= 0 {
                return;
            }
            self.set(place, by_ns, true, found);
        }
    }

    /// The clock was set ahead: a line says so, and there is a gap.
    fn find_stated(&mut self, from: usize, to: usize, found: &mut Vec<Setting>) {
        let mut shift = 0_i64;
        for place in from..to {
            // The last line of what is shifted already, and the next one that is not.
            let gap = self.gap(place).saturating_sub(shift);
            if let Some(seen) = self.seen.get_mut(place) {
                seen.time_ns = seen.time_ns.saturating_sub(shift);
            }
            if place == 0 || gap <= GAP_NS || !self.said(place) || found.len() >= MOST_SETTINGS {
                continue;
            }
            if let Some(seen) = self.seen.get_mut(place) {
                seen.time_ns = seen.time_ns.saturating_sub(gap);
                shift = shift.saturating_add(gap);
                found.push(Setting { line: seen.line, by_ns: gap, least: false });
            }
        }
        // Rarely: there may be as many sums as lines.
        if shift != 0 {
            for seen in self.seen.iter_mut().skip(to.max(from)) {
                seen.time_ns = seen.time_ns.saturating_sub(shift);
            }
        }
    }

    /// Whether the line at a place, or the one before, says that the clock was set or was wrong.
    fn said(&self, place: usize) -> bool {
        let before = place.checked_sub(1).and_then(|before| self.seen.get(before));
        self.seen.get(place).is_some_and(|seen| seen.says) || before.is_some_and(|seen| seen.says)
    }
}

impl Setting {
    /// Tells of it.
    pub fn report(&self, evidence: &mut Evidence) {
        let (way, put) = if self.by_ns < 0 { ("back", "ahead") } else { ("ahead", "back") };
        let bound = if self.least { "at least" } else { "at most" };
        let by = self.by_ns.saturating_abs() / 1_000_000;
        let detail = format!(
            "the wall clock was set {way} before this line, by {bound} {by} ms: it and the lines behind it are put {put} by so \
             much, and how long after the line before it was is not known"
        );
        evidence.problem(ProblemKind::ClockJump, Some(self.line), detail);
    }
}

/// The stages `initrd` and `userspace` of a sum together.
fn user_space(text: &str) -> Option<i64> {
    let mut sum = None;
    let mut rest = text;
    while let Some((length, after)) = leading(rest) {
        let Some((name, tail)) = after.trim_start().strip_prefix('(').and_then(|after| after.split_once(')')) else {
            break;
        };
        match name {
            "initrd" => sum = Some(length.saturating_add(sum.unwrap_or(0))),
            "userspace" => return Some(length.saturating_add(sum.unwrap_or(0))),
            _ => {}
        }
        rest = tail.trim_start();
        rest = rest.strip_prefix('+').unwrap_or(rest);
    }
    None
}
