//! Timestamps that go back: the following lines are held until their cause is known.
//!
//! A new boot may begin there, the clock may have been reset within a boot, or a line of another processor came late.

use super::printed_again::Again;
use super::{Boots, FIRST_LINES};
use crate::evidence::{Clock, Problem, ProblemKind, Stamp};

/// Lines of several processors are out of order by less than this.
const OUT_OF_ORDER: i64 = 100_000_000;
/// Where the stamps of old kernels wrap: 32 bits of microseconds, and of ticks with 1000, 250 and 100 Hz.
const WRAPS: [i64; 4] = [1_000 << 32, 1_000_000 << 32, 4_000_000 << 32, 10_000_000 << 32];
/// A wrap is seen where what lies around it is less than this part of the whole; elsewhere the clock began anew.
const AROUND: i64 = 64;
/// The clock of the scheduler begins at zero, however far the processor's own had run before: a line right behind zero that
/// comes so late after one is the first of the new clock.
const NEW_CLOCK: i64 = 1_000_000;
const OLD_CLOCK: i64 = 10_000_000;
/// So many lines in order, all before the line that they follow, are of a new clock, wherever it begins.
const IN_SEQUENCE: usize = 3;
/// Less than one of so many parts is little.
const FEW_PARTS: i64 = 10;
/// The times of `ts` and of syslog have no fraction: a gap between them says nothing.
const WHOLE_SECOND: i64 = 1_000_000_000;
/// So many lines of others are held with them; after a loader's name, which other boots may end before their kernel runs.
const OTHERS: usize = 64;
const OF_LOADERS: usize = 1 << 16;

/// Who wrote a line that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Kernel,
    Process,
    Other,
}

/// The lines that are held back.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) lines: Vec<(Stamp, Vec<u8>, Writer)>,
    /// The stamp that they are behind.
    pub(super) from: i64,
    /// Where a loader printed its name while a kernel ran: a boot begins there if a kernel's first line follows.
    candidate: Option<u64>,
    /// Lines of a kernel whose clock is behind.
    behind: u64,
    /// The log may be printed again (`dmesg`): how far it agrees with this boot's.
    pub(super) again: Option<Again>,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= if self.is_candidate() || self.again.is_some() { OF_LOADERS } else { OTHERS }
    }

    pub(super) fn is_candidate(&self) -> bool {
        self.candidate.is_some()
    }

    /// A loader has printed its name.
    pub(super) fn open(&mut self, line: u64, last: Option<i64>) {
        (self.candidate, self.from) = (Some(line), last.unwrap_or_default());
    }

    pub(super) fn push(&mut self, stamp: Stamp, text: &[u8], writer: Writer) {
        self.lines.push((stamp, text.to_vec(), writer));
    }
}

/// The first line of a kernel: that of arm comes before its version.
pub fn is_first(text: &[u8]) -> bool {
    match text.first() {
        Some(b'L') => text.starts_with(b"Linux version "),
        Some(b'B') => text.starts_with(b"Booting Linux on physical CPU"),
        _ => false,
    }
}

/// The kernel's last words (`kernel/reboot.c`), also in a line that has a date in front.
pub(super) fn is_last(text: &[u8]) -> bool {
    let dated = text.first() == Some(&b'[');
    let text = match text.iter().position(|byte| *byte == b']').filter(|_| dated) {
        Some(end) => text.get(end + 1..).unwrap_or_default().trim_ascii_start(),
        None => text,
    };
    let words = text.strip_prefix(b"reboot: ").unwrap_or(text).trim_ascii_end();
    let words = words.strip_suffix(b".").unwrap_or(words);
    words.starts_with(b"Restarting system") || matches!(words, b"Power down" | b"System halted")
}

impl Boots {
    /// Whether a line is before the one before it, and is not there already because a console repeats it.
    #[inline]
    pub(super) fn goes_back(&self, stamp: &Stamp, text: &[u8]) -> bool {
        match (self.shifted(stamp.time_ns), self.last) {
            (Some(time), Some(last)) if time < last => {
                let repeated = self.just_enabled()
                    && ((self.replay.is_some() && !is_first(text)) || self.holds(time, text).is_some());
                !repeated
            }
            _ => false,
        }
    }

    /// A time of this boot's lines behind those before its clock began anew.
    #[inline]
    pub(super) fn shifted(&self, time: Option<i64>) -> Option<i64> {
        time.map(|time| time.saturating_add(self.shift))
    }

    /// A loader prints its name, or a kernel's first line comes once more: what may have been the log printed again is over.
    pub(super) fn printed_again_is_over(&mut self, stamp: &Stamp, text: &[u8]) {
        let once_more = || self.held.lines.iter().any(|(held, line, _)| held.time_ns == stamp.time_ns && line == text);
        if self.held.again.is_some() && is_first(text) && once_more() {
            self.release();
        }
    }

    /// Holds a line back, and lets all go as soon as it is known what they are.
    pub(super) fn hold(&mut self, stamp: Stamp, text: &[u8]) {
        if self.held.is_empty() && !self.held.is_candidate() {
            self.held.from = self.last.unwrap_or_default();
        }
        let time = self.shifted(stamp.time_ns);
        let again = time.is_some_and(|time| time >= self.held.from);
        self.held.push(stamp, text, Writer::Kernel);
        self.held.behind += u64::from(stamp.time_ns.is_some() && !again);
        let candidate = self.held.is_candidate();
        if self.held.again.is_some()
            || is_first(text) && !again && !candidate && self.may_be_printed_again(&stamp, text)
        {
            self.compare_again(&stamp, text);
            let differs = self.held.again.as_ref().is_some_and(Again::differs);
            if again || differs || self.held.is_full() {
                self.release();
            }
        } else if is_first(text) && (!again || candidate) {
            self.next_of_held(stamp.line);
        } else if again && (candidate || !self.clock_is_new() || time.is_some_and(|time| self.goes_on(time))) {
            // One that came late, or a banner of firmware below a running kernel: the clock is where it was.
            let held = std::mem::take(&mut self.held);
            self.give(held);
        } else if again || (self.held.behind >= FIRST_LINES && !self.stands_still()) || self.held.is_full() {
            self.release();
        }
    }

    /// The held stamps that are before the line that they follow, on the boot's clock.
    fn behind(&self) -> impl Iterator<Item = i64> + '_ {
        let from = self.held.from;
        let stamps = self.held.lines.iter().filter_map(|(stamp, ..)| self.shifted(stamp.time_ns));
        stamps.take_while(move |time| *time < from)
    }

    /// Whether the clock from before goes on with a line at `time`: what is held has hardly moved on from where it fell back to, and
    /// the line is hardly later than the one before the fall. A processor prints with the stamp of its last tick before its clock
    /// runs, and a long message has one stamp while others print.
    fn goes_on(&self, time: i64) -> bool {
        let (Some(first), Some(latest)) = (self.behind().next(), self.behind().max()) else { return false };
        let from = self.held.from;
        let (back, ahead) = (from.saturating_sub(first), time.saturating_sub(from));
        let little = |part: i64| part.saturating_mul(FEW_PARTS) < back;
        self.stands_still() && ahead < back || little(latest.saturating_sub(first)) && little(ahead)
    }

    /// Whether all that is held has one stamp, which no clock that runs has, and that is not the zero of a new one.
    fn stands_still(&self) -> bool {
        let own = self.held.lines.iter().find_map(|(stamp, ..)| stamp.time_ns);
        let mut behind = self.behind();
        let first = behind.next();
        own.is_some_and(|own| own >= NEW_CLOCK) && behind.all(|time| Some(time) == first)
    }

    /// What is held begins a boot, unless what was before it are stages of its loader.
    fn next_of_held(&mut self, line: u64) {
        let held = std::mem::take(&mut self.held);
        if self.is_loaders_own() {
            self.stamps_are_loaders();
        } else {
            let first = held.lines.first().map_or(line, |(first, ..)| first.line);
            self.next_boot(held.candidate.unwrap_or(first));
        }
        self.give(held);
    }

    /// Whether what is held is of a new clock. The sequence shows it: a line of another processor comes late alone, but those of a
    /// new clock go on from its first. Of fewer lines, the first one is near the zero.
    fn clock_is_new(&self) -> bool {
        let stamps = || self.held.lines.iter().filter_map(|(stamp, ..)| stamp.time_ns);
        let Some(first) = stamps().next() else { return false };
        let back = |time: i64| self.shifted(Some(time)).map_or(0, |time| self.held.from.saturating_sub(time));
        if back(first) < OLD_CLOCK {
            return false;
        }
        let (mut before, mut behind) = (first, 0);
        for time in stamps().take_while(|time| back(*time) > 0) {
            if time < before {
                return false;
            }
            (before, behind) = (time, behind + 1);
        }
        behind >= IN_SEQUENCE || (0..NEW_CLOCK).contains(&first)
    }

    /// Lets go what is held: no kernel began with it.
    pub(super) fn release(&mut self) {
        if let Some(again) = self.held.again.take() {
            return if again.agrees() { self.leave_out_again(&again) } else { self.next_of_again() };
        }
        if (self.held.is_candidate() || self.ended) && self.held.behind >= FIRST_LINES {
            // Its kernel's first lines are missing.
            self.next_of_held(0);
            return;
        }
        let new = self.clock_is_new();
        let held = std::mem::take(&mut self.held);
        if let Some(line) = held.candidate {
            let detail =
                "a boot loader or firmware prints its name, and no first line of a kernel follows: these lines \
                          begin no boot, and stay in this one";
            self.now.problem(ProblemKind::Unfinished, Some(line), detail);
            return self.give(held);
        }
        let first = held.lines.iter().find_map(|(stamp, text, _)| Some((*stamp, self.shifted(stamp.time_ns)?, text)));
        let Some((stamp, time, text)) = first else { return };
        let back = held.from.saturating_sub(time);
        // A line that is there already is repeated; dates are set, and go on.
        if (back >= OUT_OF_ORDER || new) && self.now.clock == Clock::Printk && self.holds(time, text).is_none() {
            self.stepped(&stamp, time, held.from);
        }
        self.give(held);
    }

    /// The clock began anew: the lines are in order, so that those from here on are behind the ones before.
    fn stepped(&mut self, stamp: &Stamp, time: i64, from: i64) {
        let back = from.saturating_sub(time);
        let gap = self.received_after(stamp);
        let shown = stamp.time_ns.unwrap_or_default() as f64 / 1e9;
        let wrap = WRAPS.into_iter().find(|wrap| *wrap >= back && *wrap - back <= *wrap / AROUND);
        let (shift, kind, why) = match (wrap, gap) {
            (Some(wrap), _) => (wrap, ProblemKind::ClockWrap, "it has 32 bits, and wrapped".to_owned()),
            (None, Some(gap)) => (
                back.saturating_add(gap),
                ProblemKind::ClockJump,
                format!("the host received it {:.6} s after the line before, which is counted", gap as f64 / 1e9),
            ),
            (None, None) => (
                back,
                ProblemKind::ClockStep,
                "how long it took from there to the next line is unknown, and counted as nothing".to_owned(),
            ),
        };
        self.shift = self.shift.saturating_add(shift);
        let before = from.saturating_add(shift).saturating_sub(self.shift) as f64 / 1e9;
        let detail = format!(
            "the clock goes back from {before:.6} to {shown:.6}: this line and those after it are put behind, {:.6} s \
             later than their stamps; {why}",
            self.shift as f64 / 1e9
        );
        let lost = (kind == ProblemKind::ClockStep).then_some(0);
        self.now.problems.push(Problem { kind, detail, line: Some(stamp.line), lost });
    }

    /// How much later than the line before it the host received a line, where its clock shows it.
    fn received_after(&self, stamp: &Stamp) -> Option<i64> {
        let (before, now) = (self.last_host?, stamp.host_ns?);
        let whole = before % WHOLE_SECOND == 0 && now % WHOLE_SECOND == 0;
        (!whole && now >= before).then(|| now.saturating_sub(before))
    }

    fn give(&mut self, held: Held) {
        for (stamp, text, writer) in held.lines {
            match writer {
                Writer::Kernel => self.take(stamp, &text),
                Writer::Process => self.take_process(stamp, &text),
                // Firmware below a running kernel starts nothing.
                Writer::Other if held.candidate.is_some() && self.kernel_lines > 0 => self.store(stamp, &text),
                Writer::Other => self.take_other(stamp, &text),
            }
        }
    }
}
