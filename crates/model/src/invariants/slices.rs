//! The tree in slices of time, against the tree and against its phases.

use super::{Concern, Invariant};
use firstlight_profile::recording::Recording;
use firstlight_profile::slices::Slice;

/// Both were counted on their own: slices where the clock reached an edge, phases at their marks, the tree over the whole
/// boot.
pub(super) fn of_slices(recording: &Recording) -> [Invariant; 2] {
    let invariant = |name, wrong: u64| Invariant {
        name,
        holds: wrong == 0,
        value: wrong,
        limit: Some(0),
        concerns: Concern::Functions,
        figures: vec![("slices", recording.slices.len() as u64)],
        functions: vec![],
    };
    [
        invariant("slices_sum_to_tree", nodes_not_summed(recording) + cuts_out_of_order(recording)),
        invariant("slices_sum_to_phases", rows_not_in_phases(recording)),
    ]
}

fn nodes_not_summed(recording: &Recording) -> u64 {
    let mut sums = vec![(0_u64, 0_u64); recording.nodes.len()];
    for row in recording.slices.iter().flat_map(|slice| &slice.rows) {
        if let Some(sum) = sums.get_mut(row.node as usize) {
            *sum = (sum.0.wrapping_add(row.calls), sum.1.wrapping_add(row.self_instructions));
        }
    }
    let rows = recording.nodes.iter().zip(&sums);
    rows.filter(|(node, sum)| (node.calls, node.self_instructions) != **sum).count() as u64
}

// The slices follow one another to the end of the recording.
fn cuts_out_of_order(recording: &Recording) -> u64 {
    let backward = |first: &Slice, second: &Slice| {
        first.end.instructions > second.end.instructions || first.end.idle_ns > second.end.idle_ns
    };
    let pairs = recording.slices.iter().zip(recording.slices.iter().skip(1));
    let ends_early = recording.slices.last().is_none_or(|last| last.end != recording.end);
    pairs.filter(|(first, second)| backward(first, second)).count() as u64 + u64::from(ends_early)
}

fn rows_not_in_phases(recording: &Recording) -> u64 {
    let mut sums = vec![(0_u64, 0_u64); recording.nodes.len()];
    let (mut slices, mut phases) = (recording.slices.as_slice(), recording.phases.as_slice());
    let mut wrong = 0;
    for mark in 0..recording.marks.len() as u32 {
        let (of_slices, later_slices) = slices.split_at(slices.partition_point(|slice| slice.mark <= mark));
        let (of_phase, later_phases) = phases.split_at(phases.partition_point(|row| row.mark <= mark));
        (slices, phases) = (later_slices, later_phases);
        let mut touched = Vec::new();
        for row in of_slices.iter().flat_map(|slice| &slice.rows) {
            if let Some(sum) = sums.get_mut(row.node as usize) {
                *sum = (sum.0.wrapping_add(row.calls), sum.1.wrapping_add(row.self_instructions));
                touched.push(row.node);
            }
        }
        for row in of_phase {
            if let Some(sum) = sums.get_mut(row.node as usize) {
                *sum = (sum.0.wrapping_sub(row.calls), sum.1.wrapping_sub(row.self_instructions));
                touched.push(row.node);
            }
        }
        let differs = |node: &u32| sums.get_mut(*node as usize).map(std::mem::take).is_some_and(|sum| sum != (0, 0));
        wrong += touched.iter().copied().filter(differs).count() as u64;
    }
    wrong + slices.len() as u64
}
