//! A console on which the kernel's log is printed once more: somebody called `dmesg`. Its lines are there already, with their stamps.

use super::reordering::{Held, Writer};
use super::Boots;
use crate::counts::counted;
use crate::evidence::{ProblemKind, Stamp};
use memchr::memmem;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

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
    /// Stamps of the boot's lines, each with the hash of its text.
    known: FxHashSet<(i64, u64)>,
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
    /// line, its programs run, and nothing says that the machine starts again. Then the lines are compared from here on.
    pub(super) fn may_be_printed_again(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let log = &self.now.log;
        let last = log.len().checked_sub(1).and_then(|last| log.get(last)).filter(|(last, _)| last.time_ns.is_none());
        let called =
            last.is_some_and(|(_, said)| COMMANDS.iter().any(|words| memmem::find(said.as_bytes(), words).is_some()));
        let Some(time) = self.shifted(stamp.time_ns).filter(|_| called && !self.ended && self.runs_programs()) else {
            return false;
        };
        let known: FxHashSet<(i64, u64)> =
            log.iter().filter_map(|(stamp, text)| Some((stamp.time_ns?, hash(text.as_bytes())))).collect();
        let there = known.contains(&(time, hash(text)));
        self.held.again = there.then(|| Again { known, ..Again::default() });
        there
    }

    /// Compares the line that was held last with the boot's.
    pub(super) fn compare_again(&mut self, stamp: &Stamp, text: &[u8]) {
        let time = self.shifted(stamp.time_ns).filter(|time| *time <= self.held.from);
        let Some((time, again)) = time.zip(self.held.again.as_mut()) else { return };
        let there = again.known.contains(&(time, hash(text)));
        again.agree += u64::from(there && time > again.latest_ns);
        again.differ += u64::from(!there && time > 0);
        again.latest_ns = again.latest_ns.max(time);
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
    pub(super) fn leave_out_again(&mut self, again: &Again) {
        let Held { lines, from, .. } = std::mem::take(&mut self.held);
        let first = lines.first().map(|(stamp, ..)| stamp.line);
        let (mut there, mut after) = (0_u64, Vec::new());
        for (stamp, text, writer) in lines {
            match self.shifted(stamp.time_ns).filter(|_| writer != Writer::Other) {
                Some(time) if again.known.contains(&(time, hash(&text))) => there += 1,
                Some(time) if time < from => {
                    // The console left it out.
                    let stamp = Stamp { time_ns: Some(time), ..stamp };
                    self.kernel_lines += 1;
                    self.interpreter.line(&stamp, &text, &mut self.now);
                    self.store(stamp, &text);
                }
                _ => after.push((stamp, text, writer)),
            }
        }
        let what =
            "# line[|s] of the kernel [is|are] printed a second time, as `dmesg` does it; the first [is|are] kept";
        self.now.problem(ProblemKind::Replay, first, counted(there, what));
        for (stamp, text, writer) in after {
            match writer {
                Writer::Kernel => self.take(stamp, &text),
                Writer::Process => self.take_process(stamp, &text),
                Writer::Other => self.take_other(stamp, &text),
            }
        }
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}
