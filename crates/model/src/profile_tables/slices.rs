//! The tables of slices of time.

use super::instants::Clock;
use super::user_functions::UserFunctions;
use firstlight_profile::recording::{Instant, Recording};
use firstlight_profile::slices::{by_end, merged};
use firstlight_profile::turns::turns;
use firstlight_schema::table::{integers, write, TableWriter};
use firstlight_schema::TableError;
use std::collections::BTreeMap;
use std::path::Path;

/// Writes `slices` and `slice_calls`. What was counted between two cuts at one instant was counted at the end of the slice
/// before.
pub fn write_slices(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let ends: Vec<Instant> =
        by_end(&recording.slices).filter_map(|(_, parts)| parts.first()).map(|part| part.end).collect();
    let starts = || std::iter::once(Instant::default()).chain(ends.iter().copied());
    write(
        "slices",
        vec![
            ("slice", integers(0..ends.len() as u64)),
            ("start_ns", integers(starts().zip(&ends).map(|(start, _)| clock.at(start)))),
            ("end_ns", integers(ends.iter().map(|end| clock.at(*end)))),
            ("instructions", integers(starts().zip(&ends).map(|(start, end)| end.instructions - start.instructions))),
            ("idle_ns", integers(starts().zip(&ends).map(|(start, end)| end.idle_ns - start.idle_ns))),
        ],
        bundle,
    )?;
    let mut table = TableWriter::create("slice_calls", bundle)?;
    for (number, parts) in by_end(&recording.slices) {
        let rows = merged(parts.iter().flat_map(|part| part.rows.iter().copied()));
        let rows = || rows.iter().filter(|row| row.calls > 0 || row.self_instructions > 0);
        table.append(vec![
            ("slice", integers(rows().map(|_| number))),
            ("node", integers(rows().map(|row| u64::from(row.node)))),
            ("calls", integers(rows().map(|row| row.calls))),
            ("self_instructions", integers(rows().map(|row| row.self_instructions))),
        ])?;
    }
    table.close()
}

/// Writes `slice_threads`, `slice_system_calls` and `slice_user_functions`.
pub fn write_slices_of_threads(
    recording: &Recording,
    functions: &UserFunctions,
    bundle: &Path,
) -> Result<(), TableError> {
    let turns = turns(recording);
    let rows = || turns.iter().copied();
    write(
        "slice_threads",
        vec![
            ("slice", integers(rows().map(|(slice, ..)| slice))),
            ("thread", integers(rows().map(|(_, task, _)| u64::from(task)))),
            ("user_instructions", integers(rows().map(|(.., turn)| turn.spent.user))),
            ("kernel_instructions", integers(rows().map(|(.., turn)| turn.spent.kernel))),
            ("interrupt_instructions", integers(rows().map(|(.., turn)| turn.spent.interrupts))),
            ("idle_ns", integers(rows().map(|(.., turn)| turn.idle_ns))),
        ],
        bundle,
    )?;
    // By thread, the slices in which the kernel worked for it, and how much it had by the end of each.
    let mut worked: Vec<Vec<(u64, u64)>> = vec![Vec::new(); recording.running.user.len()];
    for (slice, task, turn) in rows().filter(|(.., turn)| turn.spent.kernel > 0) {
        if let Some(slices) = worked.get_mut(task as usize) {
            let before = slices.last().map_or(0, |(_, sum)| *sum);
            slices.push((slice, before + turn.spent.kernel));
        }
    }
    let mut calls: Vec<[u64; 3]> = Vec::new();
    for (number, call) in (0..).zip(&recording.processes.calls).filter(|(_, call)| call.end.is_some()) {
        let Some(slices) = worked.get(call.task as usize) else { continue };
        let (mut from, end) = (call.kernel_before, call.kernel_before + call.spent.kernel);
        let first = slices.partition_point(|(_, sum)| *sum <= from);
        for (slice, sum) in slices.iter().skip(first) {
            let upto = end.min(*sum);
            if upto > from {
                calls.push([*slice, number, upto - from]);
            }
            from = upto;
            if from >= end {
                break;
            }
        }
    }
    calls.sort_unstable();
    write(
        "slice_system_calls",
        vec![
            ("slice", integers(calls.iter().map(|[slice, ..]| *slice))),
            ("call", integers(calls.iter().map(|[_, call, _]| *call))),
            ("kernel_instructions", integers(calls.iter().map(|[.., own]| *own))),
        ],
        bundle,
    )?;
    let mut table = TableWriter::create("slice_user_functions", bundle)?;
    for (slice, parts) in by_end(&recording.slices) {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        for row in parts.iter().flat_map(|part| &part.code) {
            if let Some(function) = functions.row_of(row) {
                *sums.entry(function).or_default() += row.instructions;
            }
        }
        table.append(vec![
            ("slice", integers(sums.iter().map(|_| slice))),
            ("row", integers(sums.keys().copied())),
            ("self_instructions", integers(sums.values().copied())),
        ])?;
    }
    table.close()
}
