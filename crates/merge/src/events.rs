//! Events of a record that another record of the same boot may share, by key, with their instants.

use crate::boot_selection::extent;
use crate::capture_clock::fit_capture_clock;
use crate::grades::{distance, STAMPED};
use firstlight_formats::evidence::{Clock, Evidence, Mark, SpanKind};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Shorter lines are not events: too much else could print them.
const SHORTEST_LINE: usize = 8;

/// Instants by the key of what happened; what happened more than once has none.
pub type Events = FxHashMap<u64, i64>;

/// The events of one piece, by how well they identify an instant.
#[derive(Debug, Default)]
pub struct Shared {
    /// Lines of the log, word for word.
    pub lines: Events,
    /// Begin and end of initcalls and the like, as two records of the same call stamp them.
    pub calls: Events,
    /// Begin of units, and other instants that different origins report a little apart.
    pub units: Events,
    /// Marks.
    pub marks: Events,
    /// Begin of units as systemd itself stamped them.
    pub begun: Events,
    /// Until when it was known how units begin.
    pub until: Option<i64>,
}

impl Shared {
    /// All of a piece.
    pub fn of(evidence: &Evidence) -> Self {
        let mut lines = Once::default();
        // The kernel stamps what it says before its clock runs with 0: that is not an instant.
        let host = matches!(evidence.clock, Clock::Host);
        for (stamp, text) in evidence.log.iter() {
            let at = if host { stamp.time_ns.or(stamp.host_ns) } else { stamp.time_ns.filter(|at| *at > 0) };
            if let Some(at) = at.filter(|_| text.len() >= SHORTEST_LINE) {
                lines.event(key(("line", text.trim())), at);
            }
        }
        let (mut calls, mut units, mut begun) = (Once::default(), Once::default(), Once::default());
        let stamped = evidence.clock == Clock::Monotonic && distance(SpanKind::Unit, evidence) <= STAMPED;
        for span in &evidence.spans {
            let into = match span.kind {
                SpanKind::Initcall | SpanKind::Async => &mut calls,
                SpanKind::Unit | SpanKind::Stage | SpanKind::Probe => &mut units,
                _ => continue,
            };
            let what = (span.kind, span.name);
            if let Some(at) = span.start_ns {
                into.event(key(("start", what)), at);
                if stamped && span.kind == SpanKind::Unit {
                    begun.event(key(span.name), at);
                }
            }
            if let Some(at) = span.end_ns {
                into.event(key(("end", what)), at);
            }
        }
        let mut marks = Once::default();
        for mark in &evidence.marks {
            marks.event(key(("mark", mark.mark)), mark.time_ns);
        }
        if let Some(captured) = (!evidence.host_marks.is_empty()).then(|| fit_capture_clock(evidence)).flatten() {
            for mark in &evidence.host_marks {
                marks.event(key(("mark", mark.mark)), captured.line.at(mark.time_ns));
            }
        }
        let until = stamped.then(|| extent(evidence)).flatten().map(|(_, last)| last);
        Self {
            lines: lines.events(),
            calls: calls.events(),
            units: units.events(),
            marks: marks.events(),
            begun: begun.events(),
            until,
        }
    }

    /// When a mark was reached.
    pub fn mark(&self, mark: Mark) -> Option<i64> {
        self.marks.get(&key(("mark", mark))).copied()
    }

    /// The instants of the keys that two have, ours first.
    pub fn pairs(ours: &Events, theirs: &Events) -> Vec<(i64, i64)> {
        ours.iter().filter_map(|(key, at)| Some((*at, *theirs.get(key)?))).collect()
    }

    /// Takes in those of another, on this one's clock.
    pub fn absorb(&mut self, other: Self, place: impl Fn(i64) -> i64) {
        self.until = self.until.max(other.until.map(&place));
        for (ours, theirs) in [
            (&mut self.lines, other.lines),
            (&mut self.calls, other.calls),
            (&mut self.units, other.units),
            (&mut self.marks, other.marks),
            (&mut self.begun, other.begun),
        ] {
            for (key, at) in theirs {
                ours.entry(key).or_insert_with(|| place(at));
            }
        }
    }
}

fn key(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

#[derive(Default)]
struct Once(FxHashMap<u64, Option<i64>>);

impl Once {
    fn event(&mut self, key: u64, at: i64) {
        self.0.entry(key).and_modify(|known| *known = None).or_insert(Some(at));
    }

    fn events(self) -> Events {
        self.0.into_iter().filter_map(|(key, at)| Some((key, at?))).collect()
    }
}
