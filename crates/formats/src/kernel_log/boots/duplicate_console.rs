//! Two consoles in one capture (`keep_bootcon`): every line is there twice in a row.

use super::reordering::is_first;
use super::{console_enabled, Boots};
use crate::counts::counted;
use crate::evidence::{Evidence, ProblemKind, Stamp};

/// Lines that stood there twice.
#[derive(Debug, Default)]
pub(super) struct Doubled {
    /// How many were left out, and where the first is.
    lines: Option<(u64, u64)>,
}

impl Doubled {
    pub(super) fn problem(&self, boot: &mut Evidence) {
        if let Some((count, line)) = self.lines {
            let detail = counted(
                count,
                "# line[|s] stand[s|] there twice in a row, because two consoles print [it|them]; one of each is kept",
            );
            boot.problem(ProblemKind::Replay, Some(line), detail);
        }
    }
}

impl Boots {
    /// Whether a line is the one before it once more. A kernel may say the same twice within its clock's step: that a
    /// console prints all twice is known from the line that enables it, or from the kernel's first.
    #[inline]
    pub(super) fn stands_twice(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        stamp.time_ns.is_some() && self.shifted(stamp.time_ns) == self.last && self.is_last(stamp, text)
    }

    fn is_last(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let log = &self.now.log;
        let last = log.len().checked_sub(1).and_then(|last| log.get(last));
        let same = last.is_some_and(|(kept, line)| {
            kept.time_ns == self.shifted(stamp.time_ns) && kept.caller == stamp.caller && line.as_bytes() == text
        });
        let told = self.doubled.lines.is_some() || is_first(text) || console_enabled(text);
        // Within a replay it is the last line of what was printed again.
        if !same || !told || self.by_sequence || self.replay.is_some() {
            return false;
        }
        self.doubled.lines.get_or_insert((0, stamp.line)).0 += 1;
        true
    }
}
