//! Switches between tasks, and who had the processor.

use super::*;

#[test]
fn a_switch_leaves_one_stack_and_comes_back_to_it() {
    let mut boot = Boot::played("call schedule 0x8ff8 1; call __switch_to_asm 0x8ff0 1");
    boot.switch(0xa_0000, 3); // a stack never seen before: a new task
    boot.switch(0xa_0008, 0); // the further registers
    boot.enter("__switch_to", 1);
    boot.ret("__switch_to", 0xa_0030, 2);
    boot.enter("ret_from_fork", 0);
    boot.call("work", 0xa_0020, 4);
    boot.call("schedule", 0xa_0018, 1);
    boot.call("__switch_to_asm", 0xa_0010, 1);
    boot.switch(0x8fc0, 3); // the saved registers lie below the first task's return address
    boot.play("enter __switch_to 1; ret __switch_to 0x8ff0 2; ret schedule 0x8ff8 5");
    let recording = boot.tree(
        10,
        [
            "[boot]/__switch_to_asm 0 1",
            "[boot]/ret_from_fork 1 4",
            "[boot]/start_kernel 1 11",
            "__switch_to_asm/__switch_to 1 2",
            "__switch_to_asm/__switch_to 1 2",
            "ret_from_fork/work 1 1",
            "schedule/__switch_to_asm 1 3",
            "schedule/__switch_to_asm 1 4",
            "start_kernel/schedule 1 6",
            "work/schedule 1 1",
        ],
    );
    assert_eq!((recording.counts.tasks, recording.counts.switches, recording.counts.unmatched_returns), (2, 2, 0));
}

#[test]
fn the_stretches_of_tasks_follow_one_another_to_the_end() {
    let recording = two_switches().end(10);
    assert_eq!(ran(&recording), [(0, 0, 14), (1, 14, 24), (0, 24, 35)]);
    assert_eq!(names(&recording), [(0, 0, "swapper/0"), (1, 14, "kthreadd")]);
    assert_eq!((recording.running.confirmed, recording.running.contradicted), (2, 0));
    assert_eq!(recording.running.user, [None, None]);
}

#[test]
fn a_task_that_renames_itself_has_the_new_name_from_the_call_on() {
    let mut boot = two_switches();
    boot.tracker.renames(Some(known(0x100, "swapper/0")), 30);
    boot.tracker.name_task(Some("init"));
    let recording = boot.end(20);
    assert_eq!(names(&recording).last(), Some(&(0, 30, "init")));
    assert!(recording.running.user[0].is_some() && recording.running.user[1].is_none());
}

#[test]
fn a_task_that_was_renamed_by_another_has_the_new_name_from_its_next_stretch_on() {
    let mut boot = two_switches();
    boot.call("__switch_to_asm", 0x8ff0, 1);
    boot.switch(0xa_0000, 3);
    boot.tracker.left(known(0x100, "swapper/0"));
    boot.tracker.runs(known(0x200, "kworker/0:1"));
    let recording = boot.end(1);
    assert_eq!(names(&recording), [(0, 0, "swapper/0"), (1, 14, "kthreadd"), (1, 29, "kworker/0:1")]);
}

#[test]
fn a_switch_that_was_missed_contradicts_the_kernels_own_pointer() {
    let mut boot = two_switches();
    // Task 1 ran unseen, and is the one that is left now.
    boot.call("__switch_to_asm", 0x8ff0, 1);
    boot.switch(0xc_0000, 3);
    boot.tracker.left(known(0x200, "kthreadd"));
    assert_eq!(boot.end(1).running.contradicted, 1);
}

#[test]
fn the_address_of_a_task_that_ended_may_be_a_younger_ones() {
    let mut boot = two_switches();
    boot.call("__switch_to_asm", 0x8ff0, 1);
    boot.switch(0xc_0000, 3);
    boot.tracker.left(known(0x100, "swapper/0"));
    boot.tracker.runs(known(0x200, "kworker/0:2"));
    assert_eq!(boot.end(1).running.contradicted, 0);
}

#[test]
fn a_stack_that_is_used_again_belongs_to_a_new_task() {
    let mut boot = Boot::started();
    boot.call("__switch_to_asm", 0x8ff0, 1);
    boot.switch(0xa_3f00, 1);
    boot.ret("__switch_to_asm", 0xa_3f30, 1);
    boot.enter("ret_from_fork", 0);
    boot.call("__switch_to_asm", 0xa_3e00, 1); // the task ends: it never comes back
    boot.play("switch 0x8fc0 1; ret __switch_to_asm 0x8ff0 1; call __switch_to_asm 0x8ff0 1");
    boot.switch(0xa_3f00, 1); // the same pages, another task
    boot.ret("__switch_to_asm", 0xa_3f30, 1);
    boot.enter("ret_from_fork", 1);
    let recording = boot.end(1);
    assert_eq!(recording.counts.tasks, 3);
    assert_eq!(recording.counts.abandoned_frames, 2, "what the ended task had open");
}

#[test]
fn what_follows_the_new_stack_is_the_new_tasks() {
    let mut boot = Boot::started();
    boot.call("__switch_to_asm", 0x8ff0, 1);
    let now = boot.pass(8); // its registers pushed, the stack pointer loaded
    boot.tracker.takes_stack(now);
    boot.switch(0xa_3f00, 81); // the return stack buffer filled, the first register popped
    let recording = boot.end(6);
    let own: Vec<u64> = recording
        .nodes
        .iter()
        .filter(|node| recording.functions[node.function as usize].name == "__switch_to_asm")
        .map(|node| node.self_instructions)
        .collect();
    assert_eq!(own, [8, 87]);
    assert_eq!(recording.running.runs.iter().map(|run| run.end.instructions).collect::<Vec<_>>(), [9, 96]);
}
