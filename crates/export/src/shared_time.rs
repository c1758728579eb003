//! The time of a boot shared out between its spans: each instant belongs to its phase, and in it to what was at work
//! then. What ran side by side shares the instant equally, so that all shares add up to the boot.

use crate::stack::{Node, Origin, Stacks};
use firstlight_schema::interned::{Interned, NO_TEXT};
use firstlight_schema::SpanKind;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of spans that are not work: something is up, alive, queued or waiting. Other spans may be at work within them.
const NO_WORK: [SpanKind; 9] = [
    SpanKind::Phase,
    SpanKind::UnitActive,
    SpanKind::Process,
    SpanKind::SystemCall,
    SpanKind::Uevent,
    SpanKind::UeventQueued,
    SpanKind::UeventBlocked,
    SpanKind::AsyncWait,
    SpanKind::Stage,
];
/// Shares are kept in this part of a nanosecond.
const FRACTION: u32 = 40;

/// The columns that it takes.
pub const COLUMNS: [&str; 7] = ["span", "parent", "kind", "name", "start_ns", "end_ns", "duration_ns"];

/// Of the spans of a table, whose rows name their *parents* by place; none where no span has both instants.
pub fn shared_time(table: Interned, parents: &[Option<usize>]) -> Result<Stacks, Interned> {
    let spans = Spans::of(&table, parents);
    let Some((first, last)) = spans.window() else { return Err(table) };
    let mut shares = Shares::default();
    let events = spans.events(first, last);
    let mut now = first;
    for (at, what) in events {
        shares.pass(at.saturating_sub(now));
        now = at;
        shares.event(what, &spans);
    }
    shares.pass(last.saturating_sub(now));
    shares.turn();
    let mut stacks = spans.stacks(shares.of);
    stacks.texts = table.texts;
    let nameless = stacks.texts.number("[nothing recorded]");
    for node in stacks.nodes.iter_mut().filter(|node| node.row == usize::MAX) {
        node.name = nameless;
        node.row = 0;
    }
    Ok(stacks)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Phase(Option<usize>),
    Begin(usize),
}

struct Spans {
    names: Vec<u32>,
    /// Of those that are at work.
    intervals: Vec<Option<(i64, i64)>>,
    phases: Vec<(i64, i64, usize)>,
    /// What a span lies in; no phase, and never in a circle.
    around: Vec<Option<usize>>,
    /// The next one around it that is at work itself.
    worker: Vec<Option<usize>>,
    unknown: u64,
}

impl Spans {
    fn of(table: &Interned, parents: &[Option<usize>]) -> Self {
        let rows = table.rows();
        let value = |column: &str, row: usize| table.integers(column).get(row).copied().flatten();
        let text = |column: &str, row: usize| {
            table.numbers(column).get(row).and_then(|number| table.texts.get(*number)).unwrap_or_default()
        };
        let mut phases = Vec::new();
        let mut intervals = vec![None; rows];
        let mut unknown = 0;
        for (row, interval) in intervals.iter_mut().enumerate() {
            let length = value("duration_ns", row).filter(|length| *length >= 0);
            let (start, end) = (value("start_ns", row), value("end_ns", row));
            let start = start.or_else(|| end?.checked_sub(length?));
            let end = end.or_else(|| start?.checked_add(length?));
            let known = start.zip(end).filter(|(start, end)| start <= end);
            let kind = SpanKind::parse(text("kind", row));
            if kind == Some(SpanKind::Phase) {
                phases.extend(known.map(|(start, end)| (start, end, row)));
            } else if !kind.is_some_and(|kind| NO_WORK.contains(&kind)) && !text("name", row).ends_with(".device") {
                unknown += u64::from(known.is_none());
                *interval = known;
            }
        }
        phases.sort_unstable();
        let phase = |row: usize| SpanKind::parse(text("kind", row)) == Some(SpanKind::Phase);
        let mut around: Vec<Option<usize>> =
            parents.iter().map(|parent| parent.filter(|parent| !phase(*parent))).collect();
        uncircle(&mut around);
        let mut spans =
            Self { names: table.numbers("name").to_vec(), intervals, phases, around, worker: Vec::new(), unknown };
        spans.worker = spans.workers();
        spans
    }

    /// For each span the next one around it that is at work itself.
    fn workers(&self) -> Vec<Option<usize>> {
        let mut found: Vec<Option<Option<usize>>> = vec![None; self.around.len()];
        for row in 0..self.around.len() {
            let mut way = Vec::new();
            let (mut at, mut answer) = (row, None);
            loop {
                if let Some(known) = found.get(at).copied().flatten() {
                    answer = known;
                    break;
                }
                way.push(at);
                match self.around.get(at).copied().flatten() {
                    Some(above) if self.intervals.get(above).copied().flatten().is_some() => {
                        answer = Some(above);
                        break;
                    }
                    Some(above) => at = above,
                    None => break,
                }
            }
            for passed in way {
                if let Some(slot) = found.get_mut(passed) {
                    *slot = Some(answer);
                }
            }
        }
        found.into_iter().map(Option::flatten).collect()
    }

    /// The boot: its phases, or else all that has instants.
    fn window(&self) -> Option<(i64, i64)> {
        let of = |all: &mut dyn Iterator<Item = (i64, i64)>| {
            all.fold(None, |whole: Option<(i64, i64)>, (start, end)| match whole {
                Some((first, last)) => Some((first.min(start), last.max(end))),
                None => Some((start, end)),
            })
        };
        let phases = of(&mut self.phases.iter().map(|(start, end, _)| (*start, *end)));
        phases.or_else(|| of(&mut self.intervals.iter().flatten().copied())).filter(|(first, last)| first < last)
    }

    /// What begins and ends in the boot, in order of time.
    fn events(&self, first: i64, last: i64) -> Vec<(i64, Event)> {
        let mut events = Vec::new();
        for (row, interval) in self.intervals.iter().enumerate() {
            let Some((start, end)) = interval.map(|(start, end)| (start.max(first), end.min(last))) else { continue };
            if start < end {
                events.push((start, Event::Begin(row)));
                events.push((end, Event::End(row)));
            }
        }
        let mut covered = first;
        for (start, end, row) in &self.phases {
            let start = (*start).max(covered);
            if start < *end {
                if start > covered {
                    events.push((covered, Event::Phase(None)));
                }
                events.push((start, Event::Phase(Some(*row))));
                covered = *end;
            }
        }
        events.sort_unstable();
        events
    }

    /// The tree of what has a share, each share in whole nanoseconds, and all of them together the boot.
    fn stacks(&self, shares: BTreeMap<(Option<usize>, Option<usize>), u128>) -> Stacks {
        let mut stacks = Stacks::new(Origin::Spans);
        stacks.unknown = self.unknown;
        let mut places: BTreeMap<(Option<usize>, Option<usize>), usize> = BTreeMap::new();
        let half = 1u128 << (FRACTION - 1);
        let (mut before, mut given) = (0u128, 0u128);
        for ((phase, span), share) in shares {
            before = before.saturating_add(share);
            let whole = before.saturating_add(half) >> FRACTION;
            let weight = u64::try_from(whole - given).unwrap_or(u64::MAX);
            given = whole;
            let mut way = Vec::new();
            let mut at = Some(span);
            while let Some(span) = at {
                if places.contains_key(&(phase, span)) {
                    break;
                }
                way.push(span);
                at = match span {
                    Some(span) => self.around.get(span).copied().flatten().map(Some).or(phase.map(|_| None)),
                    None => None,
                };
            }
            let mut parent = at.and_then(|span| places.get(&(phase, span)).copied());
            while let Some(span) = way.pop() {
                let place = stacks.nodes.len();
                let row = span.or(phase).unwrap_or(usize::MAX);
                let name = self.names.get(row).copied().unwrap_or(NO_TEXT);
                stacks.nodes.push(Node { parent, row, name, weight: 0 });
                places.insert((phase, span), place);
                parent = Some(place);
            }
            if let Some(node) = places.get(&(phase, span)).and_then(|place| stacks.nodes.get_mut(*place)) {
                node.weight = weight;
            }
        }
        stacks
    }
}

/// Cuts circles of parents where they close.
fn uncircle(around: &mut [Option<usize>]) {
    let mut met = vec![0usize; around.len()];
    for from in 0..around.len() {
        let mut at = from;
        // Each walk has a number: to meet its own again is a circle, that of an earlier one is a way that is known.
        while let Some(slot) = met.get_mut(at).filter(|slot| **slot == 0) {
            *slot = from + 1;
            match around.get(at).copied().flatten() {
                Some(above) if met.get(above) == Some(&(from + 1)) => {
                    if let Some(slot) = around.get_mut(at) {
                        *slot = None;
                    }
                    break;
                }
                Some(above) => at = above,
                None => break,
            }
        }
    }
}

/// What each has of the time so far, by phase and span.
#[derive(Default)]
struct Shares {
    of: BTreeMap<(Option<usize>, Option<usize>), u128>,
    phase: Option<usize>,
    /// What runs, and how much of what is in it does.
    open: BTreeMap<usize, usize>,
    /// What runs while nothing in it does, and what each such share was when it began to.
    leaves: BTreeMap<usize, u128>,
    /// What one leaf would have had since the beginning.
    each: u128,
    running: BTreeSet<usize>,
}

impl Shares {
    fn pass(&mut self, length: i64) {
        let length = u128::from(length.max(0).unsigned_abs()) << FRACTION;
        match u128::try_from(self.leaves.len()) {
            Ok(0) | Err(_) => *self.of.entry((self.phase, None)).or_default() += length,
            Ok(several) => self.each = self.each.saturating_add(length / several),
        }
    }

    fn event(&mut self, event: Event, spans: &Spans) {
        match event {
            Event::Phase(phase) => {
                self.turn();
                self.phase = phase;
            }
            Event::Begin(span) => {
                self.running.insert(span);
                let inside = self.open.get(&span).copied().unwrap_or(0);
                if inside == 0 {
                    self.leaves.insert(span, self.each);
                }
                if let Some(worker) = spans.worker.get(span).copied().flatten() {
                    *self.open.entry(worker).or_default() += 1;
                    self.settle(worker);
                    self.leaves.remove(&worker);
                }
            }
            Event::End(span) => {
                self.running.remove(&span);
                self.settle(span);
                self.leaves.remove(&span);
                if let Some(worker) = spans.worker.get(span).copied().flatten() {
                    let inside = self.open.entry(worker).or_default();
                    *inside = inside.saturating_sub(1);
                    if *inside == 0 && self.running.contains(&worker) {
                        self.leaves.insert(worker, self.each);
                    }
                }
            }
        }
    }

    /// Gives a leaf what it has had since it was looked at last.
    fn settle(&mut self, span: usize) {
        if let Some(since) = self.leaves.get_mut(&span) {
            *self.of.entry((self.phase, Some(span))).or_default() += self.each - *since;
            *since = self.each;
        }
    }

    /// Gives every leaf what it has had.
    fn turn(&mut self) {
        let leaves: Vec<usize> = self.leaves.keys().copied().collect();
        leaves.into_iter().for_each(|span| self.settle(span));
    }
}
