//! What processors' weaknesses and tracers put between functions.

use super::*;

#[test]
fn a_retpoline_is_no_function_and_its_return_no_return() {
    let mut boot = Boot::started();
    boot.call("__x86_indirect_thunk_rax", 0x8ff8, 1);
    boot.tracker.redirect();
    boot.enter("__x86_return_thunk", 3);
    boot.ret("__x86_return_thunk", 0x8ff0, 1); // its own call's return address, overwritten with the target
    boot.play("enter work 0; enter __x86_return_thunk 5; ret __x86_return_thunk 0x8ff8 1");
    let recording = boot.tree(2, ["[boot]/start_kernel 1 7", "start_kernel/work 1 6"]);
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn a_retpoline_in_tail_position_leads_to_the_function_it_names() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 1);
    boot.enter("__x86_indirect_thunk_rax", 4); // with locals still on the stack
    boot.tracker.redirect();
    boot.play("ret __x86_indirect_thunk_rax 0x8fd0 2; enter helper 0; ret helper 0x8ff8 5");
    let recording = boot.tree(1, ["[boot]/start_kernel 1 2", "start_kernel/work 1 6", "work/helper 1 5"]);
    assert_eq!((recording.counts.unmatched_returns, recording.counts.unwinds), (0, 0));
}

// An interrupt between `srso_return_thunk` and the return: the kernel finishes the return for what it interrupted, and
// goes back to where that return led (`fixup` of the SRSO thunks; measured on Linux 6.12, EPYC-Milan, QEMU 10.0).
#[test]
fn a_retpoline_whose_return_the_kernel_finished_leads_to_its_function() {
    let mut boot = Boot::started();
    boot.call("__x86_indirect_thunk_rax", 0x8ff8, 1);
    boot.tracker.redirect();
    boot.play(
        "enter __x86_return_thunk 3; enter asm_sysvec_apic_timer_interrupt 0; leave 4; enter work 0;\
         call helper 0x8fe8 2; ret helper 0x8fe8 5; ret work 0x8ff8 1",
    );
    let recording = boot.tree(
        2,
        [
            "[boot]/start_kernel 1 6",
            "[interrupts]/asm_sysvec_apic_timer_interrupt 1 4",
            "start_kernel/work 1 3",
            "work/helper 1 5",
        ],
    );
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn a_retpoline_that_goes_on_behind_an_interrupt_is_no_function() {
    let mut boot = Boot::started();
    boot.call("__x86_indirect_thunk_rax", 0x8ff8, 1);
    boot.tracker.redirect();
    boot.play(
        "enter asm_sysvec_apic_timer_interrupt 0; leave 4; enter __x86_return_thunk 3;\
         ret __x86_return_thunk 0x8ff0 1; enter work 0; ret work 0x8ff8 5",
    );
    let recording = boot.end(2);
    assert!(lines(&recording).contains(&"start_kernel/work 1 5".to_owned()), "{:?}", lines(&recording));
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn a_jump_table_whose_jump_the_kernel_finished_hides_no_call_and_no_return() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 1);
    boot.tracker.redirect();
    boot.play("enter asm_sysvec_apic_timer_interrupt 0; leave 4");
    boot.call("helper", 0x8fe8, 2); // in the middle of `work`
    boot.play("ret helper 0x8fe8 5; ret work 0x8ff8 1");
    let recording = boot.end(2);
    let found = lines(&recording);
    for line in ["[boot]/start_kernel 1 3", "start_kernel/work 1 3", "work/helper 1 5"] {
        assert!(found.contains(&line.to_owned()), "{found:?}");
    }
    assert_eq!(recording.counts.returns, 2);
}

#[test]
fn a_return_thunk_that_drops_its_own_call_returns_for_the_function() {
    // srso_return_thunk calls srso_safe_ret, which takes the return address off the stack: no event but the return.
    let boot = Boot::played("call work 0x8ff8 1; enter srso_safe_ret 5; ret srso_safe_ret 0x8ff8 2");
    let recording = boot.tree(3, ["[boot]/start_kernel 1 4", "start_kernel/work 1 7"]);
    assert_eq!((recording.counts.returns, recording.counts.unwinds), (1, 0));
}

#[test]
fn a_predictor_is_untrained_by_a_call_that_goes_nowhere() {
    let boot =
        Boot::played("call srso_safe_ret 0x8ff8 1; ret srso_safe_ret 0x8ff8 3; call work 0x8ff8 1; ret work 0x8ff8 1");
    let recording = boot.tree(1, ["[boot]/start_kernel 1 6", "start_kernel/work 1 1"]);
    assert_eq!(recording.counts.late_calls, 0);
}

#[test]
fn a_thunk_that_nothing_announces_is_found_by_what_it_does() {
    let text: String = (0..200).map(|index| format!("{:x} T caller_{index}\n", 0x10_0000 + index * 16)).collect();
    let text = format!("{}{text}200000 T _etext\n", KERNEL.replace("2600 T _etext\n", ""));
    let symbols = SymbolTable::parse(&text);
    let id = |name: &str| symbols.function(name).expect("known");
    let mut tracker = Tracker::new(&symbols, Watch::default());
    let mut now = 0;
    tracker.entry(id("start_kernel"), now);
    for round in 0..2_000 {
        now += 1;
        tracker.call(UNKNOWN, 0x8ff8, now);
        tracker.entry(id(&format!("caller_{}", round % 200)), now);
        now += 5;
        tracker.entry(id("frob_exit"), now); // a jump
        now += 1;
        tracker.call(id("frob_exit"), 0x8ff0, now);
        tracker.entry(id("frob_safe_exit"), now);
        now += 2;
        tracker.ret(id("frob_safe_exit"), 0x8ff8, now);
    }
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], now).write(&mut file).expect("writes");
    let mut recording = Recording::decode(&file).expect("decodes");
    assert_eq!((recording.counts.unwinds, recording.counts.discarded_addresses), (0, 2_000));
    let thunks = crate::fold::unknown_thunks(&recording);
    let names: Vec<&str> =
        thunks.iter().map(|thunk| recording.functions[thunk.function as usize].name.as_str()).collect();
    assert_eq!(names, ["frob_safe_exit", "frob_exit"]);
    assert_eq!(thunks.iter().map(|thunk| thunk.transfers).sum::<u64>(), 4_000);
    crate::fold::fold(&mut recording, |function| thunks.iter().any(|thunk| thunk.function == function));
    let callers = recording.nodes.iter().filter(|node| node.self_instructions == 80);
    assert_eq!(callers.map(|node| node.calls).collect::<Vec<_>>(), vec![10; 200], "8 instructions each, ten times");
}

#[test]
fn a_retpoline_jumps_by_way_of_a_thunk_that_nothing_announces() {
    let mut boot = Boot::started();
    boot.call("__x86_indirect_thunk_rax", 0x8ff8, 1);
    boot.tracker.redirect();
    boot.play(
        "enter frob_exit 2; call frob_safe_exit 0x8fe8 1; ret frob_safe_exit 0x8ff0 2; enter work 0;\
         ret work 0x8ff8 4",
    );
    let recording = boot.tree(1, ["[boot]/start_kernel 1 7", "start_kernel/work 1 4"]);
    assert_eq!((recording.counts.late_calls, recording.counts.unwinds), (0, 0));
}

#[test]
fn a_function_that_is_jumped_to_often_is_no_thunk_when_it_works() {
    let mut boot = Boot::started();
    for _ in 0..2_000 {
        boot.play("call work 0x8ff8 1; enter helper 1; ret helper 0x8ff8 3");
    }
    assert_eq!(crate::fold::unknown_thunks(&boot.end(0)), []);
}

#[test]
fn a_function_may_take_its_return_address_along() {
    let mut boot = Boot::started();
    boot.call("error_entry", 0x8ff8, 1);
    boot.ret("__x86_return_thunk", 0x8f80, 7); // it pushed registers above its return address
    boot.play("call work 0x8f80 1; ret work 0x8f80 1");
    let recording = boot.tree(1, ["[boot]/start_kernel 1 3", "start_kernel/error_entry 1 7", "start_kernel/work 1 1"]);
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn calls_inside_a_function_return_inside_it() {
    let mut boot = Boot::new();
    let work = boot.id("work");
    boot.tracker.calls_inside(work);
    boot.play(
        "enter start_kernel 0; call work 0x8ff8 1; ret work 0x8fe8 3; ret __x86_return_thunk 0x8fe0 3;\
         ret work 0x8ff8 3",
    );
    boot.tree(1, ["[boot]/start_kernel 1 2", "start_kernel/work 1 9"]);
}

#[test]
fn a_return_to_the_start_of_a_function_was_put_there() {
    // The graph tracer replaces the return address of `work` by its trampoline, which returns where `work` would have.
    let boot = Boot::played(
        "call work 0x8ff8 1; ret work 0x8ff8 5; enter return_to_handler 0; call helper 0x8fe0 2;\
         ret helper 0x8fe0 3; ret return_to_handler 0x8ff8 1",
    );
    let recording = boot.tree(
        4,
        [
            "[boot]/start_kernel 1 5",
            "return_to_handler/helper 1 3",
            "start_kernel/return_to_handler 1 3",
            "start_kernel/work 1 5",
        ],
    );
    assert_eq!((recording.counts.replaced_returns, recording.counts.tail_calls), (1, 1));
}

#[test]
fn a_call_that_an_exception_handler_makes_up_returns_to_where_the_exception_was() {
    let mut boot = Boot::played("call work 0x8ff8 1; enter asm_exc_page_fault 3");
    boot.leave(2); // to `helper`, with a return address pushed
    boot.play("enter helper 0; ret helper 0x8fe0 4; ret work 0x8ff8 5");
    let recording = boot.tree(
        1,
        ["[boot]/start_kernel 1 2", "start_kernel/work 1 8", "work/asm_exc_page_fault 1 2", "work/helper 1 4"],
    );
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn padding_without_a_name_belongs_to_the_function_that_is_called_there() {
    let mut boot = Boot::started();
    let (helper, now) = (boot.id("helper"), boot.pass(1));
    boot.tracker.call(UNKNOWN, 0x8ff8, now);
    boot.tracker.unnamed_padding(helper, now); // the last instructions of `work`, as far as symbols know
    boot.play("enter helper 2; ret helper 0x8ff8 5");
    // `work` itself runs into `helper`: a jump in tail position.
    boot.call("work", 0x8ff8, 1);
    let now = boot.pass(3);
    boot.tracker.unnamed_padding(helper, now);
    boot.play("enter helper 1; ret helper 0x8ff8 5");
    boot.tree(1, ["[boot]/start_kernel 1 3", "start_kernel/helper 1 7", "start_kernel/work 1 4", "work/helper 1 5"]);
}

#[test]
fn a_call_above_a_frame_ends_it() {
    let mut boot = Boot::played("call work 0x8ff8 1; call helper 0x8ff0 1");
    // Both ended without a return that was seen; what follows is the caller's again.
    boot.play("call schedule 0x8ff8 5; ret schedule 0x8ff8 1");
    let recording = boot.end(1);
    assert!(lines(&recording).contains(&"start_kernel/schedule 1 1".to_owned()));
    assert_eq!(recording.counts.lost_returns, 2);
    assert_eq!(recording.doubtful.len(), 2, "the frames whose ends were inferred");
}

#[test]
fn a_call_past_the_first_instruction_is_an_entry_all_the_same() {
    let mut boot = Boot::started();
    let (work, now) = (boot.id("work"), boot.pass(1));
    boot.tracker.call_inside(UNKNOWN, work, 0x8ff8, now);
    boot.ret("work", 0x8ff8, 5);
    let recording = boot.tree(1, ["[boot]/start_kernel 1 2", "start_kernel/work 1 5"]);
    assert!(recording.checks.iter().any(|check| check.inside == 1));
}

#[test]
fn padding_in_front_of_a_function_belongs_to_it() {
    let mut boot = Boot::started();
    let (work, now) = (boot.id("work"), boot.pass(1));
    boot.tracker.call(UNKNOWN, 0x8ff8, now);
    boot.tracker.padding(work, now);
    boot.play("enter work 2; ret work 0x8ff8 5");
    let recording = boot.tree(1, ["[boot]/start_kernel 1 2", "start_kernel/work 1 7"]);
    assert_eq!(recording.checks.iter().map(|check| check.again).sum::<u64>(), 0, "one entry, not a loop");
}

#[test]
fn a_call_that_went_nowhere_is_forgotten_only_by_its_own_return() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 1);
    let now = boot.pass(2);
    boot.tracker.call(UNKNOWN, 0x8ff0, now);
    boot.ret("work", 0x8ff8, 3); // not by the address that the call wrote
    let recording = boot.end(1);
    assert_eq!((recording.counts.late_calls, recording.counts.discarded_addresses), (1, 1));
}

// The kernel patches the call in its own `_raw_spin_unlock`: the breakpoint's handler pushes a return address and leaves for
// the padding in front of the function, where call depth tracking counts (Linux 7.3, `retbleed=stuff`).
#[test]
fn a_call_that_a_breakpoint_emulates_into_padding_ends_alone() {
    let mut boot = Boot::played("call work 0x8ff8 1; enter asm_exc_page_fault 0; leave 4");
    let helper = boot.id("helper");
    let now = boot.pass(0);
    boot.tracker.unnamed_padding(helper, now);
    boot.play("enter helper 1; ret __x86_return_thunk 0x8ff0 5; ret work 0x8ff8 3");
    let recording = boot.end(2);
    let found = lines(&recording);
    for line in ["[boot]/start_kernel 1 3", "start_kernel/work 1 3", "work/helper 1 6"] {
        assert!(found.contains(&line.to_owned()), "{found:?}");
    }
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (2, 0));
}
