//! What lies in what: spans in phases, probes in the initcalls of their task.

use crate::phases::Phase;
use crate::row::Row;
use firstlight_formats::evidence::SpanKind;
use rustc_hash::FxHashMap;

/// A row's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// Nothing that is known.
    None,
    /// A phase, by its number.
    Phase(usize),
    /// Another row, by its number.
    Row(usize),
}

/// The parents of all rows.
pub fn parents(rows: &[Row<'_>], phases: &[Phase]) -> Vec<Parent> {
    let calls = Calls::of(rows);
    let parent = |(number, row): (usize, &Row<'_>)| {
        if let Some(told) = row.parent.filter(|told| *told < rows.len() && inside(rows.get(*told), row)) {
            return Parent::Row(told);
        }
        let (Some(start), Some(end)) = (row.start_ns, row.end_ns) else { return Parent::None };
        if let Some(call) = calls.around(row, start, end).filter(|call| *call != number) {
            return Parent::Row(call);
        }
        let within = phases.partition_point(|phase| phase.start_ns <= start).checked_sub(1);
        match within.and_then(|within| Some((within, phases.get(within)?))) {
            Some((within, phase)) if end <= phase.end_ns => Parent::Phase(within),
            _ => Parent::None,
        }
    };
    rows.iter().enumerate().map(parent).collect()
}

/// A parent that a record names is used unless the instants contradict it.
fn inside(parent: Option<&Row<'_>>, row: &Row<'_>) -> bool {
    let Some(parent) = parent else { return false };
    let before = |one: Option<i64>, two: Option<i64>| one.zip(two).is_none_or(|(one, two)| one <= two);
    before(parent.start_ns, row.start_ns) && before(row.end_ns, parent.end_ns)
}

/// Initcalls by task, in order of their begin.
struct Calls<'a>(FxHashMap<&'a str, Vec<(i64, i64, usize)>>);

impl<'a> Calls<'a> {
    fn of(rows: &[Row<'a>]) -> Self {
        let mut calls: FxHashMap<&'a str, Vec<(i64, i64, usize)>> = FxHashMap::default();
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == SpanKind::Initcall) {
            if let (Some(start), Some(end), false) = (row.start_ns, row.end_ns, row.track.is_empty()) {
                calls.entry(row.track).or_default().push((start, end, number));
            }
        }
        for calls in calls.values_mut() {
            calls.sort_unstable();
        }
        Self(calls)
    }

    /// The innermost initcall of its task around a probe. Initcalls of one task nest, and rarely more than twice.
    fn around(&self, row: &Row<'_>, start: i64, end: i64) -> Option<usize> {
        if row.kind != SpanKind::Probe {
            return None;
        }
        let calls = self.0.get(row.track)?;
        let before = calls.partition_point(|(begin, _, _)| *begin <= start);
        calls.get(..before)?.iter().rev().take(16).find(|(_, last, _)| end <= *last).map(|(_, _, number)| *number)
    }
}
