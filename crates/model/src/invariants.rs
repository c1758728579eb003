//! What must hold in every recording, and the figures that show it.

use firstlight_profile::recording::Recording;
use firstlight_profile::tree::totals;

/// One invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariant {
    /// Its name.
    pub name: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub value: u64,
    /// Further figures.
    pub figures: Vec<(&'static str, u64)>,
}

// Unmatched returns must stay below one in this many calls (0.01 %).
const CALLS_PER_UNMATCHED: u64 = 10_000;

/// Checks a recording.
pub fn check(recording: &Recording) -> Vec<Invariant> {
    let counts = &recording.counts;
    let totals = totals(&recording.nodes);
    let sum: u64 = recording.nodes.iter().map(|node| node.self_instructions).sum();
    let small = recording.nodes.iter().zip(&totals).filter(|(node, total)| **total < node.self_instructions).count();
    let mut below = vec![0_u64; totals.len()];
    for (index, node) in recording.nodes.iter().enumerate().skip(1) {
        below[node.parent as usize] += totals[index];
    }
    let uneven = recording
        .nodes
        .iter()
        .zip(totals.iter().zip(&below))
        .filter(|(node, (total, below))| node.self_instructions + **below != **total)
        .count();
    vec![
        Invariant {
            name: "self_sums_to_executed",
            holds: sum == recording.end.instructions,
            value: sum,
            figures: vec![("executed", recording.end.instructions)],
        },
        Invariant { name: "total_at_least_self", holds: small == 0, value: small as u64, figures: vec![] },
        Invariant { name: "totals_add_up", holds: uneven == 0, value: uneven as u64, figures: vec![] },
        Invariant {
            name: "stacks_accounted",
            // What was pushed and not popped is still open, was unwound, or was left on a stack that ended.
            holds: counts.pushed == counts.popped + counts.abandoned_frames + counts.open_frames,
            value: counts.open_frames,
            figures: vec![
                ("pushed", counts.pushed),
                ("popped", counts.popped),
                ("unwound_frames", counts.unwound_frames),
                ("abandoned_frames", counts.abandoned_frames),
            ],
        },
        Invariant {
            name: "returns_matched",
            holds: counts.unmatched_returns.saturating_mul(CALLS_PER_UNMATCHED) < counts.calls
                || counts.unmatched_returns == 0,
            value: counts.unmatched_returns,
            figures: vec![("calls", counts.calls), ("returns", counts.returns), ("unwinds", counts.unwinds)],
        },
        Invariant {
            name: "clock_checked",
            holds: counts.clock_mismatches == 0,
            value: counts.clock_mismatches,
            // An event in a block that a fault then cuts short reads the clock some instructions late.
            figures: vec![("checks", counts.clock_checks), ("backward_steps", counts.backward_steps)],
        },
    ]
}
