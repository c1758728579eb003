//! The tables of the calling-context tree.

use super::instants::{hand_over, phase_name, Clock};
use super::module_symbols::{name, ModuleSymbols};
use firstlight_profile::recording::Recording;
use firstlight_profile::tree::{totals, Kind};
use firstlight_schema::table::{integers, texts, write, TableWriter, Values, BATCH_ROWS};
use firstlight_schema::TableError;
use rustc_hash::FxHashMap;
use std::path::Path;

/// Writes `calls`.
pub fn write_calls(
    recording: &Recording,
    clock: Clock,
    modules: &ModuleSymbols,
    bundle: &Path,
) -> Result<(), TableError> {
    let nodes = &recording.nodes;
    let totals = totals(nodes);
    let idle = recording.end.idle_ns;
    let mut known: FxHashMap<u32, (String, Option<String>, Option<Kind>)> = FxHashMap::default();
    for node in nodes {
        known.entry(node.function).or_insert_with(|| name(recording, modules, node.function));
    }
    let mut doubtful: FxHashMap<u64, u64> = FxHashMap::default();
    for (node, entries) in &recording.doubtful {
        *doubtful.entry(u64::from(*node)).or_default() += entries;
    }
    let of = |function: &u32| known.get(function).cloned().unwrap_or_default();
    let self_ns = |kind: Kind, instructions: u64| match kind {
        Kind::Idle => idle,
        _ => clock.ns(instructions),
    };
    let total_ns = |kind: Kind, instructions: u64| match kind {
        Kind::Idle => idle,
        Kind::Root => clock.ns(instructions) + idle,
        _ => clock.ns(instructions),
    };
    let mut table = TableWriter::create("calls", bundle)?;
    for (batch, first) in nodes.chunks(BATCH_ROWS).zip((0..).step_by(BATCH_ROWS)) {
        let rows = || (first..).zip(batch);
        let totals = totals.get(first..first + batch.len()).unwrap_or_default();
        table.append(vec![
            ("node", integers(rows().map(|(number, _)| number as u64))),
            (
                "parent",
                Values::Int64(rows().map(|(number, node)| (number > 0).then_some(i64::from(node.parent))).collect()),
            ),
            ("function", texts(batch.iter().map(|node| of(&node.function).0))),
            ("module", Values::Text(batch.iter().map(|node| of(&node.function).1).collect())),
            ("kind", texts(batch.iter().map(|node| of(&node.function).2.unwrap_or(node.kind).name()))),
            ("calls", integers(batch.iter().map(|node| node.calls))),
            ("self_instructions", integers(batch.iter().map(|node| node.self_instructions))),
            ("total_instructions", integers(totals.iter().copied())),
            ("self_ns", integers(batch.iter().map(|node| self_ns(node.kind, node.self_instructions)))),
            ("total_ns", integers(batch.iter().zip(totals).map(|(node, total)| total_ns(node.kind, *total)))),
            (
                "doubtful_calls",
                integers(rows().map(|(number, _)| doubtful.get(&(number as u64)).copied().unwrap_or(0))),
            ),
        ])?;
    }
    table.close()
}

/// Writes `phase_calls`.
pub fn write_phase_calls(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let over = hand_over(recording);
    let phase = |mark: u32| recording.marks.get(mark as usize).map_or("", |mark| phase_name(&mark.mark, over));
    let mut rows: Vec<(u64, &str, u64, u64, u64)> = recording
        .phases
        .iter()
        .map(|row| {
            let ns = clock.ns(row.self_instructions);
            (u64::from(row.node), phase(row.mark), row.calls, row.self_instructions, ns)
        })
        .collect();
    // Idle time belongs to the phase it passed in.
    let idle_node = recording.nodes.iter().position(|node| node.kind == Kind::Idle);
    let ends = recording.marks.iter().skip(1).map(|mark| mark.at).chain([recording.end]);
    for (mark, end) in recording.marks.iter().zip(ends) {
        let idle = end.idle_ns - mark.at.idle_ns;
        if let Some(node) = idle_node.filter(|_| idle > 0) {
            rows.push((node as u64, phase_name(&mark.mark, over), 0, 0, idle));
        }
    }
    write(
        "phase_calls",
        vec![
            ("node", integers(rows.iter().map(|row| row.0))),
            ("phase", texts(rows.iter().map(|row| row.1))),
            ("calls", integers(rows.iter().map(|row| row.2))),
            ("self_instructions", integers(rows.iter().map(|row| row.3))),
            ("self_ns", integers(rows.iter().map(|row| row.4))),
        ],
        bundle,
    )
}
