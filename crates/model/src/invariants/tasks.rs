//! What must hold of who had the processor.

use super::{Concern, Invariant};
use firstlight_profile::recording::{Instant, Recording};
use firstlight_profile::tree::Kind;

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
            holds: apart == 0
                && whole == Some(sums)
                && stretches == recording.counts.switches + recording.counts.turns + 1,
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
                ("turns", recording.counts.turns),
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

/// What must hold of processes; nothing where none was followed.
pub fn of_processes(recording: &Recording) -> Vec<Invariant> {
    let seen = &recording.processes;
    if seen.created.is_empty() && seen.registers_confirmed + seen.registers_contradicted == 0 {
        return Vec::new();
    }
    let own = |wanted: &dyn Fn(usize) -> bool| -> u64 {
        let nodes = recording.nodes.iter().enumerate();
        nodes.filter(|(index, _)| wanted(*index)).map(|(_, node)| node.self_instructions).sum()
    };
    let mut in_interrupts = vec![false; recording.nodes.len()];
    for (index, node) in recording.nodes.iter().enumerate().skip(1) {
        in_interrupts[index] = node.kind == Kind::Group || in_interrupts[node.parent as usize];
    }
    let user = own(&|index| recording.nodes[index].kind == Kind::User);
    let interrupts = own(&|index| in_interrupts[index]);
    let runs = &recording.running.runs;
    let [spent_user, spent_kernel, spent_interrupts] = [
        runs.iter().map(|run| run.spent.user).sum::<u64>(),
        runs.iter().map(|run| run.spent.kernel).sum(),
        runs.iter().map(|run| run.spent.interrupts).sum(),
    ];
    let whole = runs.first().map_or(0, |run| recording.end.instructions.saturating_sub(run.start.instructions));
    vec![
        Invariant {
            name: "modes_partition_the_runs",
            holds: (spent_user, spent_interrupts) == (user, interrupts)
                && spent_user + spent_kernel + spent_interrupts == whole,
            value: spent_user,
            limit: None,
            concerns: Concern::Processes,
            functions: vec![],
            figures: vec![
                ("user_in_the_tree", user),
                ("kernel", spent_kernel),
                ("interrupts", spent_interrupts),
                ("interrupts_in_the_tree", interrupts),
                ("executed", whole),
            ],
        },
        Invariant {
            name: "registers_confirmed",
            // At a function's first instruction the stack pointer stands at the return address of its call.
            holds: seen.registers_contradicted == 0,
            value: seen.registers_contradicted,
            limit: None,
            concerns: Concern::Processes,
            functions: vec![],
            figures: vec![("confirmed", seen.registers_confirmed)],
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
                tracker.left(Identity { address: task, name: "task", state: None });
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
    fn a_turn_that_was_not_counted_is_found() {
        let mut recording = recorded();
        recording.counts.switches -= 1;
        recording.counts.turns += 1;
        assert_eq!(broken(&recording), [""; 0]);
        recording.counts.turns -= 1;
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

    fn broken_of_processes(recording: &Recording) -> Vec<&'static str> {
        of_processes(recording).iter().filter(|invariant| !invariant.holds).map(|invariant| invariant.name).collect()
    }

    fn followed() -> Recording {
        let mut recording = recorded();
        recording.processes.registers_confirmed = 1;
        recording
    }

    #[test]
    fn what_tasks_did_in_each_mode_adds_up() {
        let invariants = of_processes(&followed());
        assert_eq!(invariants.len(), 2);
        assert_eq!(broken_of_processes(&followed()), [""; 0]);
        assert!(of_processes(&recorded()).is_empty());
    }

    #[test]
    fn an_instruction_of_the_kernel_that_is_nobodys_is_found() {
        let mut recording = followed();
        recording.running.runs[0].spent.kernel -= 1;
        assert_eq!(broken_of_processes(&recording), ["modes_partition_the_runs"]);
    }

    #[test]
    fn an_instruction_of_user_mode_that_the_tree_does_not_have_is_found() {
        let mut recording = followed();
        recording.running.runs[0].spent.kernel -= 1;
        recording.running.runs[0].spent.user += 1;
        assert_eq!(broken_of_processes(&recording), ["modes_partition_the_runs"]);
    }

    #[test]
    fn a_stack_pointer_that_stood_elsewhere_is_found() {
        let mut recording = followed();
        recording.processes.registers_contradicted = 1;
        assert_eq!(broken_of_processes(&recording), ["registers_confirmed"]);
    }
}
