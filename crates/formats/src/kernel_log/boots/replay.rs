//! A console that is enabled late prints again what was there before it: which lines stand there already.

use super::{Boots, Jumps, WAITED};
use crate::evidence::{Grade, Name, Span, SpanKind, Stamp};
use firstlight_schema::ReasonCode;

/// A console replays the log right after it was enabled: within so many lines.
const REPLAY_WITHIN: u64 = 16;
/// So many lines of equal stamps are looked through for a line that may be there already.
const SAME_STAMP: usize = 4096;
/// After so many lines that were looked for in vain only the next one is looked at.
const IN_VAIN: u32 = 64;

#[derive(Debug)]
pub(super) struct Replay {
    pub(super) until: i64,
    cursor: usize,
    in_vain: u32,
    first: u64,
    dropped: u64,
}

impl Boots {
    pub(super) fn just_enabled(&self) -> bool {
        self.replay.is_some() || self.console_at.is_some_and(|at| self.kernel_lines.saturating_sub(at) <= REPLAY_WITHIN)
    }

    /// A stamp before the one before it; no, if the line is one that was there already.
    pub(super) fn backward(&mut self, stamp: &Stamp, time: i64, last: i64, text: &[u8]) -> bool {
        if self.replay.is_none() {
            if self.just_enabled() && self.holds(time, text).is_some() {
                self.replay = Some(Replay { until: last, cursor: 0, in_vain: 0, first: stamp.line, dropped: 0 });
            } else {
                if self.jumps.count == 0 {
                    self.jumps = Jumps { count: 0, first: stamp.line, from: last, to: time };
                }
                self.jumps.count += 1;
                self.last = Some(time);
                return true;
            }
        }
        self.kept_in_replay(stamp, text)
    }

    /// Whether a line within a replay is new.
    pub(super) fn kept_in_replay(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let Some(time) = stamp.time_ns else { return true };
        let cursor = self.replay.as_ref().map_or(0, |replay| replay.cursor);
        let next =
            self.now.log.get(cursor).filter(|(kept, line)| kept.time_ns == Some(time) && line.as_bytes() == text);
        let tired = self.replay.as_ref().is_some_and(|replay| replay.in_vain > IN_VAIN);
        let found = next.map(|_| cursor).or_else(|| if tired { None } else { self.holds(time, text) });
        match (found, &mut self.replay) {
            (None, Some(replay)) => {
                replay.in_vain = replay.in_vain.saturating_add(1);
                true
            }
            (Some(at), Some(replay)) => {
                replay.cursor = at + 1;
                replay.dropped += 1;
                false
            }
            _ => true,
        }
    }

    /// Where the log of this boot has a line with this stamp.
    pub(super) fn holds(&self, time: i64, text: &[u8]) -> Option<usize> {
        let log = &self.now.log;
        let (mut low, mut high) = (0, log.len());
        while low < high {
            let middle = low + (high - low) / 2;
            // Lines without a stamp count as early: the search then only ends further to the left.
            let before = middle < log.len() && log.time_ns(middle).is_none_or(|kept| kept < time);
            if before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low..log.len().min(low + SAME_STAMP))
            .take_while(|&at| log.time_ns(at).is_none_or(|kept| kept == time))
            .find(|&at| log.get(at).is_some_and(|(stamp, line)| stamp.time_ns == Some(time) && line.as_bytes() == text))
    }

    /// While a console prints the log again the kernel waits for it: between the stamps around the replay, at most. What a
    /// host has stamped shows more closely.
    pub(super) fn printed_again(&mut self, replay: &Replay, next: &Stamp, time: i64) {
        if next.host_ns.is_some() || time.saturating_sub(replay.until) < WAITED {
            return;
        }
        let mut span = Span::new(SpanKind::Console, "lines that had piled up").between(replay.until, time);
        span.grade = Grade::Bounded;
        span.reason = ReasonCode::PrintedAgainBetween.into();
        span.attributes.push((Name::Borrowed("lines"), replay.dropped.to_string()));
        self.now.spans.push(span);
    }

    pub(super) fn replay_is_over(&mut self, replay: &Replay) {
        let (dropped, _) = self.replayed.get_or_insert((0, replay.first));
        *dropped += replay.dropped;
    }
}
