//! The calling-context tree of a boot from those of its pieces.

use crate::{AlignedRecord, MergeError};
use firstlight_formats::evidence::{CallNode, Calls};
use firstlight_schema::table::{integers, write_empty, TableWriter, Values, BATCH_ROWS};
use std::path::Path;

/// The piece whose tree goes into the table, and how many others have one, too.
pub fn chosen<'a>(pieces: &'a [AlignedRecord<'a>]) -> Option<(&'a AlignedRecord<'a>, &'a Calls, usize)> {
    let trees: Vec<(&AlignedRecord<'_>, &Calls)> = pieces
        .iter()
        .filter_map(|piece| Some((piece, piece.evidence.calls.as_ref()?)))
        .filter(|(_, calls)| !calls.nodes.is_empty())
        .collect();
    // Two trees of one boot count the same time twice: the larger one is used.
    let best =
        trees.iter().enumerate().max_by_key(|(index, (_, calls))| (calls.nodes.len(), std::cmp::Reverse(*index)));
    best.map(|(_, (piece, calls))| (*piece, *calls, trees.len() - 1))
}

/// Writes `calls` and `phase_calls`.
///
/// # Errors
///
/// When they cannot be written.
pub fn write_calls(calls: Option<&Calls>, bundle: &Path) -> Result<usize, MergeError> {
    let Some(calls) = calls else {
        write_empty(
            &[
                "calls",
                "phase_calls",
                "slices",
                "slice_calls",
                "slice_threads",
                "slice_system_calls",
                "slice_user_functions",
            ],
            bundle,
        )?;
        return Ok(0);
    };
    let nodes = &calls.nodes;
    let mut totals: Vec<Option<i64>> = nodes.iter().map(|node| node.self_ns).collect();
    for (index, node) in nodes.iter().enumerate().skip(1).rev() {
        let Some(total) = totals.get(index).copied().flatten() else { continue };
        if let Some(parent) = totals.get_mut(node.parent as usize).filter(|_| (node.parent as usize) < index) {
            *parent = Some(parent.unwrap_or(0).saturating_add(total));
        }
    }
    let named = |function: u32| calls.functions.get(function as usize);
    let mut table = TableWriter::create("calls", bundle)?;
    for (batch, first) in nodes.chunks(BATCH_ROWS).zip((0..).step_by(BATCH_ROWS)) {
        let rows = || (first..).zip(batch);
        let text = |of: &dyn Fn(&CallNode) -> Option<String>| Values::Text(batch.iter().map(of).collect());
        let nothing = || Values::Int64(vec![None; batch.len()]);
        let total_ns = totals.get(first..first + batch.len()).unwrap_or_default();
        table.append(vec![
            ("node", integers(rows().map(|(number, _)| number as u64))),
            (
                "parent",
                Values::Int64(rows().map(|(number, node)| (number > 0).then_some(i64::from(node.parent))).collect()),
            ),
            ("function", text(&|node| Some(named(node.function).map_or(String::new(), |named| named.0.clone())))),
            ("module", text(&|node| named(node.function).and_then(|named| named.1.clone()))),
            ("kind", text(&|node| Some(node.kind.to_owned()))),
            (
                "calls",
                Values::Int64(batch.iter().map(|node| Some(i64::try_from(node.calls).unwrap_or(i64::MAX))).collect()),
            ),
            ("self_instructions", nothing()),
            ("total_instructions", nothing()),
            ("self_ns", Values::Int64(batch.iter().map(|node| node.self_ns).collect())),
            ("total_ns", Values::Int64(total_ns.to_vec())),
            ("doubtful_calls", nothing()),
        ])?;
    }
    table.close()?;
    write_empty(
        &["phase_calls", "slices", "slice_calls", "slice_threads", "slice_system_calls", "slice_user_functions"],
        bundle,
    )?;
    Ok(nodes.len())
}
