//! A console on which the kernel's log is printed once more: somebody called `dmesg`. Its lines are there already, with their stamps.

use super::reordering::{Held, Writer};
use super::Boots;
use crate::counts::counted;
use crate::evidence::{ProblemKind, Stamp};
use memchr::memmem;

/// So many lines of different stamps are needed: lines at the zero of the clock are the same in each boot of a kernel.
const FEWEST: u64 = 3;
/// So many others show another boot.
const OTHERS: u64 = 8;
/// Words of a command that prints the kernel's log; a console echoes it.
const COMMANDS: [&[u8]; 5] = [b"dmesg", b"kmsg", b"logread", b"journalctl", b"/var/log/"];
/// A console leaves out what is not grave enough, and mixes lines: so many times more lines have to agree than differ.
const AGREE: u64 = 4;

/// How far lines that are held agree with those of the boot.
#[derive(Debug, Default)]
pub(super) struct Again {
    agree: u64,
    differ: u64,
    latest_ns: i64,
}

impl Again {
    /// Whether the lines are of another boot, as far as they have come.
    pub(super) fn differs(&self) -> bool {
        self.differ >= OTHERS && self.differ > self.agree
    }

    /// Whether they are those of the boot once more.
    pub(super) fn agrees(&self) -> bool {
        self.agree >= FEWEST && self.agree >= self.differ.saturating_mul(AGREE)
    }
}

impl Boots {
    /// Whether a kernel's first line may begin its log once more: a command that prints it comes right before, the boot has this
    /// line, its programs run, and nothing says that the machine starts again.
    pub(super) fn may_be_printed_again(&self, stamp: &Stamp, text: &[u8]) -> bool {
        let time = self.shifted(stamp.time_ns);
        let log = &self.now.log;
        let last = log.len().checked_sub(1).and_then(|last| log.get(last)).filter(|(last, _)| last.time_ns.is_none());
        let called =
            last.is_some_and(|(_, said)| COMMANDS.iter().any(|words| memmem::find(said.as_bytes(), words).is_some()));
        called && !self.ended && self.runs_programs() && time.is_some_and(|time| self.holds(time, text).is_some())
    }

    /// Compares the line that was held last with the boot's.
    pub(super) fn compare_again(&mut self, stamp: &Stamp, text: &[u8]) {
        let time = self.shifted(stamp.time_ns).filter(|time| *time <= self.held.from);
        let there = time.map(|time| self.holds(time, text).is_some());
        let again = self.held.again.get_or_insert_default();
        if let (Some(time), Some(there)) = (time, there) {
            if time > again.latest_ns && there {
                again.agree += 1;
            }
            again.differ += u64::from(time > 0 && !there);
            again.latest_ns = again.latest_ns.max(time);
        }
    }

    /// Lets go what is held: it is of the next boot.
    pub(super) fn next_of_again(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.next_boot(held.lines.first().map_or(0, |(first, ..)| first.line));
        for (stamp, text, writer) in held.lines {
            match writer {
                Writer::Kernel => self.kernel(stamp, &text),
                Writer::Process => self.process(stamp, &text),
                Writer::Other => self.other(stamp, &text),
            }
        }
    }

    /// Leaves out what is there already, and takes the rest.
    pub(super) fn leave_out_again(&mut self) {
        let Held { lines, from, .. } = std::mem::take(&mut self.held);
        let first = lines.first().map(|(stamp, ..)| stamp.line);
        let mut there = 0_u64;
        let mut more = Vec::new();
        for (stamp, text, writer) in lines {
            let time = self.shifted(stamp.time_ns);
            match (writer, time) {
                (Writer::Kernel | Writer::Process, Some(time)) if self.holds(time, &text).is_some() => there += 1,
                (Writer::Kernel | Writer::Process, Some(time)) if time < from => {
                    // The console left it out.
                    let stamp = Stamp { time_ns: Some(time), ..stamp };
                    self.kernel_lines += 1;
                    self.interpreter.line(&stamp, &text, &mut self.now);
                    more.push((stamp, text));
                }
                (Writer::Kernel, _) => self.take(stamp, &text),
                (Writer::Process, _) => self.take_process(stamp, &text),
                (Writer::Other, _) => self.take_other(stamp, &text),
            }
        }
        for (stamp, text) in more {
            self.store(stamp, &text);
        }
        let detail = counted(
            there,
            "# line[|s] of the kernel [is|are] printed a second time, as `dmesg` does it; the first [is|are] kept",
        );
        self.now.problem(ProblemKind::Replay, first, detail);
    }
}
