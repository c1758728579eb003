//! Several processors: turns, and tasks that move between them.

use super::*;

/// By run: its processor, its task, its end, and whether it ended by a turn.
fn runs(recording: &Recording) -> Vec<(u32, u32, u64, bool)> {
    let runs = recording.running.runs.iter();
    runs.map(|run| (run.cpu, run.task, run.end.instructions, run.state == Some(0))).collect()
}

#[test]
fn what_is_under_way_on_a_processor_goes_on_at_its_next_turn() {
    let mut boot = Boot::started();
    // A call whose function is not entered yet.
    boot.now += 5;
    boot.tracker.call(boot.symbols.function("start_kernel").unwrap_or(UNKNOWN), 0x8ff8, boot.now);
    let before = boot.now;
    boot.tracker.turn(1, before);
    boot.enter("work", 4);
    boot.call("helper", 0xb_0ff8, 3);
    let second = boot.now;
    boot.tracker.turn(0, second);
    boot.enter("schedule", 0);
    boot.ret("schedule", 0x8ff8, 6);
    let third = boot.now;
    boot.tracker.turn(1, third);
    boot.ret("helper", 0xb_0ff8, 2);
    let recording = boot.end(10);
    assert_eq!((recording.counts.unmatched_returns, recording.counts.late_calls, recording.counts.turns), (0, 0, 3));
    assert_eq!(recording.running.idle, [1]);
    let ended = recording.end.instructions;
    assert_eq!(
        runs(&recording),
        [(0, 0, before, true), (1, 1, second, true), (0, 0, third, true), (1, 1, ended, false)]
    );
    let own = |name: &str| -> u64 {
        let is_it = |node: &&crate::tree::Node| recording.functions[node.function as usize].name == name;
        recording.nodes.iter().filter(is_it).map(|node| node.self_instructions).sum()
    };
    assert_eq!((own("schedule"), own("[processor start]")), (6, 4));
    assert_eq!(recording.nodes.iter().map(|node| node.self_instructions).sum::<u64>(), ended);
}

#[test]
fn the_task_of_the_processor_that_enters_the_kernel_is_the_first_one() {
    let symbols = SymbolTable::parse(KERNEL);
    let mut tracker = Tracker::new(&symbols, Watch::default());
    tracker.turn(1, 30);
    tracker.kernel(50);
    tracker.turn(0, 70);
    let mut file = Vec::new();
    assert!(tracker.snapshot(State::Ready, &[], 100).write(&mut file).is_ok());
    let recording = Recording::decode(&file).expect("it was just written");
    assert_eq!(runs(&recording), [(1, 0, 70, true), (0, 1, 100, false)]);
    assert_eq!((recording.counts.turns, recording.running.idle.as_slice()), (1, [1].as_slice()));
    let spent: u64 = recording.running.runs.iter().map(|run| run.spent.kernel).sum();
    assert_eq!(spent, 50);
}

#[test]
fn a_task_goes_on_with_its_stack_on_another_processor() {
    let mut boot = Boot::played("call schedule 0x8ff8 1; call __switch_to_asm 0x8ff0 1");
    boot.switch(0xa_0000, 3);
    let now = boot.now;
    boot.tracker.turn(1, now);
    boot.enter("work", 2);
    boot.call("schedule", 0xb_0ff8, 1);
    boot.call("__switch_to_asm", 0xb_0ff0, 1);
    // The first processor's first task.
    boot.switch(0x8fc0, 3);
    boot.play("enter __switch_to 1; ret __switch_to 0x8ff0 2; ret schedule 0x8ff8 5");
    let recording = boot.end(10);
    assert_eq!((recording.counts.unmatched_returns, recording.counts.switches), (0, 2));
    let tasks: Vec<_> = recording.running.runs.iter().map(|run| (run.cpu, run.task)).collect();
    assert_eq!(tasks, [(0, 0), (0, 1), (1, 2), (1, 0)]);
}
