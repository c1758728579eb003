//! What must hold of who had the processor.

use super::{Concern, Invariant};
use firstlight_profile::recording::{Instant, Recording};

/// What must hold of who had the processor; nothing where the recording does not have it.
pub fn of_tasks(recording: &Recording) -> Vec<Invariant> {
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
            limit: None,
            concerns: Concern::Everything,
            functions: vec![],
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
            limit: None,
            concerns: Concern::Everything,
            functions: vec![],
            figures: vec![("confirmed", running.confirmed), ("switches", recording.counts.switches)],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstlight_profile::recording::State;
    use firstlight_profile::tracker::{Identity, Watch, UNKNOWN};
    use firstlight_profile::{isa::X86_64, SymbolTable, Tracker};

    /// Two tasks take turns on a small kernel.
    fn recorded() -> Recording {
        let symbols = SymbolTable::<X86_64>::parse("1000 T _text\n1000 T __switch_to_asm\n1100 T _etext\n");
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
        tracker.snapshot(State::Ready, &[], 500).write(&mut file).expect("writes");
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
