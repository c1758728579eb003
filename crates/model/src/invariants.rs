//! What must hold in every recording, and the figures that show it.

use firstlight_profile::recording::{Instant, Recording};
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
    let mut all = vec![
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
    ];
    all.extend(of_tasks(recording));
    all
}

/// What must hold of who had the processor; nothing where the recording does not tell.
fn of_tasks(recording: &Recording) -> Vec<Invariant> {
    let running = &recording.running;
    let Some(first) = running.runs.first() else { return Vec::new() };
    let length = |start: Instant, end: Instant| {
        let instructions = end.instructions.checked_sub(start.instructions)?;
        Some((instructions, end.idle_ns.checked_sub(start.idle_ns)?))
    };
    let mut sums = (0_u64, 0_u64);
    let mut apart = 0_u64;
    let mut at = first.start;
    for run in &running.runs {
        apart += u64::from(run.start != at);
        at = run.end;
        match length(run.start, run.end) {
            Some((instructions, idle_ns)) => sums = (sums.0 + instructions, sums.1 + idle_ns),
            None => apart += 1,
        }
    }
    // Nothing but the firmware and the decompressor ran before the kernel, and its tasks.
    let whole = length(first.start, recording.end);
    let stretches = running.runs.len() as u64;
    vec![
        Invariant {
            name: "runs_partition_the_kernel",
            holds: apart == 0 && whole == Some(sums) && stretches == recording.counts.switches + 1,
            value: sums.0,
            figures: vec![
                ("executed", recording.end.instructions),
                ("before_the_kernel", first.start.instructions),
                ("idle_ns", sums.1),
                ("runs", stretches),
                ("switches", recording.counts.switches),
                ("apart", apart),
            ],
        },
        Invariant {
            name: "tasks_confirmed",
            // The kernel's own pointer to the running task, read at the switches.
            holds: running.contradicted == 0,
            value: running.contradicted,
            figures: vec![("confirmed", running.confirmed), ("switches", recording.counts.switches)],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstlight_profile::recording::State;
    use firstlight_profile::tracker::{Identity, Watch, UNKNOWN};
    use firstlight_profile::{SymbolTable, Tracker};

    /// Two tasks take turns on a small kernel.
    fn recorded() -> Recording {
        let symbols = SymbolTable::parse("1000 T _text\n1000 T __switch_to_asm\n1100 T _etext\n");
        let mut tracker = Tracker::new(&symbols, Watch::default());
        tracker.kernel(100);
        for (now, task, sp) in [(200, 0x100, 0xa_0000), (300, 0x200, 0x8fc0), (400, 0x100, 0xa_0000)] {
            tracker.call(UNKNOWN, sp ^ 0x8fc0 ^ 0xa_0000 | 0x30, now - 10);
            tracker.special(0, now - 10);
            if tracker.switch(sp, now) {
                tracker.left(Identity { address: task, name: "task" });
            }
            tracker.idle(now, now + 5);
        }
        let mut file = Vec::new();
        tracker.snapshot(State::Ready, 500).write(&mut file).expect("writes");
        Recording::decode(&file).expect("decodes")
    }

    fn broken(recording: &Recording) -> Vec<&'static str> {
        of_tasks(recording).iter().filter(|invariant| !invariant.holds).map(|invariant| invariant.name).collect()
    }

    #[test]
    fn the_runs_of_a_sound_recording_add_up() {
        let recording = recorded();
        assert_eq!((recording.running.runs.len(), recording.running.confirmed), (4, 3));
        assert_eq!(broken(&recording), [""; 0]);
    }

    #[test]
    fn a_run_that_was_lost_is_found() {
        let mut recording = recorded();
        recording.running.runs.remove(1);
        assert_eq!(broken(&recording), ["runs_partition_the_kernel"]);
    }

    #[test]
    fn a_switch_that_was_not_noted_is_found() {
        let mut recording = recorded();
        let later = recording.running.runs.remove(2);
        recording.running.runs[1].end = later.end;
        assert_eq!(broken(&recording), ["runs_partition_the_kernel"]);
    }

    #[test]
    fn idle_time_that_no_run_holds_is_found() {
        let mut recording = recorded();
        recording.end.idle_ns += 1;
        assert_eq!(broken(&recording), ["runs_partition_the_kernel"]);
    }

    #[test]
    fn a_task_that_the_kernel_does_not_name_is_found() {
        let mut recording = recorded();
        recording.running.contradicted = 1;
        assert_eq!(broken(&recording), ["tasks_confirmed"]);
    }
}
