//! Invented event sequences, and what the tree must say of them.
//!
//! A boot is written as a list of events on a small kernel; `N` instructions pass before each. The outcome is the tree,
//! one line a context: `caller/function calls self`.

use super::*;
use crate::recording::Recording;
use crate::tree::totals;
use firstlight_isa::X86_64;
use proptest::prelude::*;

mod linked;
mod mitigations;
mod processors;
mod returns;
mod slices;
mod tasks;
mod userspace;

type SymbolTable = crate::SymbolTable<X86_64>;
type Tracker = crate::Tracker<X86_64>;

const KERNEL: &str = "\
1000 T _text
1000 T start_kernel
1100 T schedule
1200 T work
1300 T helper
1400 T helper.cold
1500 T __switch_to_asm
1600 T __switch_to
1700 T ret_from_fork
1800 T do_one_initcall
1900 T first_init
1a00 T panic
1b00 T __x86_return_thunk
1c00 T __x86_indirect_thunk_rax
1d00 T srso_safe_ret
1d40 T frob_safe_exit
1d80 T frob_exit
1e00 T error_entry
1f00 T return_to_handler
2000 T __entry_text_start
2000 T asm_sysvec_apic_timer_interrupt
2100 T asm_exc_page_fault
2200 T entry_SYSCALL_64
2300 T irq_entries_start
2400 T asm_common_interrupt
2500 T error_return
2600 T __entry_text_end
2600 T _etext
9000 d __initcall__kmod_first__1_2_first_init6
";

struct Boot {
    tracker: Tracker,
    symbols: SymbolTable,
    now: u64,
}

impl Boot {
    fn new() -> Self {
        let symbols = SymbolTable::parse(KERNEL);
        let mut boot = Self { tracker: Tracker::new(&symbols, Watch::default()), symbols, now: 0 };
        boot.tracker.kernel(0);
        boot
    }

    /// A boot in which `start_kernel` runs.
    fn started() -> Self {
        let mut boot = Self::new();
        boot.enter("start_kernel", 0);
        boot
    }

    /// The same after [`Self::play`].
    fn played(events: &str) -> Self {
        let mut boot = Self::started();
        boot.play(events);
        boot
    }

    fn id(&self, name: &str) -> FunctionId {
        self.symbols.function(name).expect("a function of the small kernel")
    }

    fn pass(&mut self, instructions: u64) -> u64 {
        self.now += instructions;
        self.now
    }

    fn enter(&mut self, name: &str, after: u64) -> Request {
        let (id, now) = (self.id(name), self.pass(after));
        match self.symbols.functions()[id as usize].class {
            Class::Plain => self.tracker.entry(id, now),
            _ => self.tracker.special(id, now),
        }
    }

    fn call(&mut self, name: &str, sp: u64, after: u64) {
        let now = self.pass(after);
        self.tracker.call(UNKNOWN, sp, now);
        self.enter(name, 0);
    }

    fn ret(&mut self, site: &str, sp: u64, after: u64) {
        let (id, now) = (self.id(site), self.pass(after));
        self.tracker.ret(id, sp, now);
    }

    fn leave(&mut self, after: u64) -> bool {
        let now = self.pass(after);
        self.tracker.leave_kernel(now)
    }

    fn switch(&mut self, sp: u64, after: u64) {
        let now = self.pass(after);
        self.tracker.switch(sp, now);
    }

    /// Events, separated by `;`: the name of a function here and its arguments, the instructions that passed last.
    fn play(&mut self, events: &str) {
        let number = |word: &str| match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).expect("a hexadecimal number"),
            None => word.parse().expect("a number"),
        };
        for event in events.split(';') {
            match *event.split_whitespace().collect::<Vec<_>>() {
                ["call", name, sp, after] => self.call(name, number(sp), number(after)),
                ["ret", site, sp, after] => self.ret(site, number(sp), number(after)),
                ["switch", sp, after] => self.switch(number(sp), number(after)),
                ["enter", name, after] => drop(self.enter(name, number(after))),
                ["leave", after] => drop(self.leave(number(after))),
                _ => panic!("no event: {event}"),
            }
        }
    }

    /// What is drawn by chance happens now.
    fn happen(&mut self, event: Event) {
        let (now, functions) = (self.now, self.symbols.functions().len());
        let address = |sp: u8| 0x8000 + u64::from(sp) * 8;
        match event {
            Event::Enter(id) => {
                let name = self.symbols.functions()[id % functions].name.clone();
                self.enter(&name, 0);
            }
            Event::Call(sp) => self.tracker.call(UNKNOWN, address(sp), now),
            Event::Return(site, sp) => self.tracker.ret((site % functions) as u32, address(sp), now),
            Event::Leave => {
                self.tracker.leave_kernel(now);
            }
            Event::Switch(sp) => {
                self.tracker.switch(address(sp), now);
            }
            Event::Cold => {
                let cold = self.id("helper.cold");
                self.tracker.cold(cold, now);
            }
            Event::Unknown(at) => self.tracker.unknown(0xffff_ffff_c000_0000 + u64::from(at), now),
            Event::Mark(mark) => self.tracker.mark(&format!("mark {mark}"), MarkSource::Guest, "", now),
        }
    }

    fn file(&mut self, after: u64) -> Vec<u8> {
        let mut file = Vec::new();
        self.tracker.snapshot(State::Ready, &[], self.now + after).write(&mut file).expect("writes");
        file
    }

    fn end(mut self, after: u64) -> Recording {
        let now = self.now + after;
        let recording = Recording::decode(&self.file(after)).expect("decodes");
        let sum: u64 = recording.nodes.iter().map(|node| node.self_instructions).sum();
        assert_eq!(sum, now, "every instruction is charged once");
        let counts = recording.counts;
        assert_eq!(
            counts.pushed,
            counts.popped + counts.abandoned_frames + counts.open_frames,
            "every frame is accounted for"
        );
        recording
    }

    /// The recording, whose tree must have these lines.
    fn tree<const N: usize>(self, after: u64, expected: [&str; N]) -> Recording {
        let recording = self.end(after);
        assert_eq!(lines(&recording), expected);
        recording
    }
}

fn lines(recording: &Recording) -> Vec<String> {
    let name = |node: &crate::tree::Node| recording.functions[node.function as usize].name.clone();
    let mut lines: Vec<String> = recording
        .nodes
        .iter()
        .skip(1)
        .filter(|node| node.calls > 0 || node.self_instructions > 0)
        .filter(|node| !matches!(node.kind, Kind::Firmware | Kind::Unknown))
        .map(|node| {
            let parent = name(&recording.nodes[node.parent as usize]);
            format!("{parent}/{} {} {}", name(node), node.calls, node.self_instructions)
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn calls_and_returns_nest() {
    let mut boot = Boot::new();
    boot.play(
        "enter start_kernel 5; call work 0x8ff8 10; call helper 0x8ff0 3; ret helper 0x8ff0 4;\
         call helper 0x8ff0 2; ret helper 0x8ff0 4; ret work 0x8ff8 1",
    );
    boot.tree(7, ["[boot]/start_kernel 1 17", "start_kernel/work 1 6", "work/helper 2 8"]);
}

#[test]
fn a_tail_call_returns_together_with_the_function_it_replaced() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 10);
    boot.enter("helper", 6); // a jump: no return address was written
    boot.ret("helper", 0x8ff8, 4);
    let recording = boot.tree(5, ["[boot]/start_kernel 1 15", "start_kernel/work 1 6", "work/helper 1 4"]);
    assert_eq!(recording.counts.tail_calls, 2, "the first function was jumped to, too");
}

#[test]
fn functions_that_jump_to_one_another_in_layers_keep_their_layers() {
    // hmac(sha256) on top of another hmac: each layer's `finup` jumps to the next layer's.
    let boot =
        Boot::played("call work 0x8ff8 1; enter helper 10; enter work 20; enter helper 30; ret helper 0x8ff8 40");
    let recording = boot.tree(
        1,
        [
            "[boot]/start_kernel 1 2",
            "helper/work 1 30",
            "start_kernel/work 1 10",
            "work/helper 1 20",
            "work/helper 1 40",
        ],
    );
    assert_eq!(recording.counts.collapses, 0);
}

#[test]
fn functions_that_jump_to_one_another_for_ever_do_not_grow_the_stack() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 1);
    for _ in 0..1000 {
        boot.play("enter helper 1; enter work 1");
    }
    boot.ret("work", 0x8ff8, 1);
    let recording = boot.end(1);
    assert!(recording.nodes.len() < 2 * LONGEST_RUN);
    let calls = |name: &str| -> u64 {
        let named = |node: &&crate::tree::Node| recording.functions[node.function as usize].name == name;
        recording.nodes.iter().filter(named).map(|node| node.calls).sum()
    };
    assert_eq!((calls("work"), calls("helper")), (1001, 1000));
    assert!(recording.counts.collapses > 0, "and it is counted");
    assert_eq!(recording.doubtful.iter().map(|(_, count)| count).sum::<u64>(), recording.counts.collapses);
}

#[test]
fn an_interrupt_hangs_from_a_row_of_its_own_and_gives_back_what_it_interrupted() {
    let mut boot = Boot::played(
        "call work 0x8ff8 10; enter asm_sysvec_apic_timer_interrupt 3; call helper 0x8f00 2;\
         ret helper 0x8f00 5",
    );
    assert!(!boot.leave(1), "back in the kernel");
    boot.ret("work", 0x8ff8, 4);
    let recording = boot.end(1);
    let expected = [
        "[boot]/start_kernel 1 11",
        "[interrupts]/asm_sysvec_apic_timer_interrupt 1 3",
        "asm_sysvec_apic_timer_interrupt/helper 1 5",
        "start_kernel/work 1 7",
    ];
    assert_eq!(lines(&recording), expected);
}

#[test]
fn an_interrupt_between_a_call_and_its_function_does_not_lose_the_call() {
    let boot =
        Boot::played("call asm_sysvec_apic_timer_interrupt 0x8ff8 10; leave 20; enter work 0; ret work 0x8ff8 5");
    boot.tree(
        1,
        ["[boot]/start_kernel 1 11", "[interrupts]/asm_sysvec_apic_timer_interrupt 1 20", "start_kernel/work 1 5"],
    );
}

#[test]
fn an_interrupt_in_a_tail_call_keeps_both_functions() {
    let boot = Boot::played(
        "call work 0x8ff8 1; enter helper 2; enter asm_sysvec_apic_timer_interrupt 3; leave 4;\
         ret helper 0x8ff8 5",
    );
    boot.tree(
        6,
        [
            "[boot]/start_kernel 1 7",
            "[interrupts]/asm_sysvec_apic_timer_interrupt 1 4",
            "start_kernel/work 1 2",
            "work/helper 1 8",
        ],
    );
}

#[test]
fn the_stub_before_an_interrupt_belongs_to_the_interrupt() {
    let mut boot = Boot::played("enter irq_entries_start 10; enter asm_common_interrupt 2");
    boot.enter("error_return", 6); // a label of the entry code: no function
    boot.leave(3);
    boot.tree(1, ["[boot]/start_kernel 1 11", "[interrupts]/asm_common_interrupt 1 11"]);
}

#[test]
fn an_exception_in_the_kernel_belongs_to_what_raised_it() {
    let boot = Boot::played("call work 0x8ff8 1; enter asm_exc_page_fault 2; leave 3; ret work 0x8ff8 4");
    boot.tree(1, ["[boot]/start_kernel 1 2", "start_kernel/work 1 6", "work/asm_exc_page_fault 1 3"]);
}

#[test]
fn user_mode_is_a_row_and_a_system_call_hangs_from_the_root() {
    let mut boot = Boot::new();
    boot.enter("ret_from_fork", 0);
    assert!(boot.leave(5), "a task's first way out of the kernel");
    boot.play("enter entry_SYSCALL_64 100; call work 0x8ff8 1; ret work 0x8ff8 2");
    boot.tracker.name_task(Some("init"));
    assert!(boot.leave(3));
    boot.tree(
        50,
        [
            "[boot]/[user] 1 100",
            "[boot]/entry_SYSCALL_64 1 4",
            "[boot]/ret_from_fork 1 5",
            "[user]/[user init] 1 50",
            "entry_SYSCALL_64/work 1 2",
        ],
    );
}

#[test]
fn the_way_back_from_a_timer_is_no_entry_of_user_mode() {
    let mut boot = Boot::new();
    boot.enter("ret_from_fork", 0);
    boot.leave(5);
    boot.enter("asm_sysvec_apic_timer_interrupt", 100);
    assert!(boot.leave(3), "it came from user mode");
    let recording = boot.end(50);
    assert!(lines(&recording).contains(&"[boot]/[user] 1 150".to_owned()), "{:?}", lines(&recording));
}

fn known(address: u64, name: &str) -> Identity<'_> {
    Identity { address, name, state: None }
}

fn ran(recording: &Recording) -> Vec<(u32, u64, u64)> {
    let run = |run: &crate::recording::Run| (run.task, run.start.instructions, run.end.instructions);
    recording.running.runs.iter().map(run).collect()
}

fn names(recording: &Recording) -> Vec<(u32, u64, &str)> {
    recording.running.names.iter().map(|name| (name.task, name.at.instructions, name.name.as_str())).collect()
}

/// Task 0 runs, then task 1, then task 0 again; the kernel's memory confirms both switches.
fn two_switches() -> Boot {
    let mut boot = Boot::new();
    boot.play("enter start_kernel 10; call __switch_to_asm 0x8ff0 1");
    boot.switch(0xa_0000, 3);
    boot.tracker.left(known(0x100, "swapper/0"));
    boot.ret("__switch_to_asm", 0xa_0030, 2);
    boot.enter("ret_from_fork", 0);
    boot.call("__switch_to_asm", 0xa_0010, 5);
    boot.switch(0x8fc0, 3);
    boot.tracker.left(known(0x200, "kthreadd"));
    boot.ret("__switch_to_asm", 0x8ff0, 1);
    boot
}

#[test]
fn idle_time_belongs_to_the_stretch_that_it_passes_in() {
    let mut boot = two_switches();
    let now = boot.pass(5);
    boot.tracker.idle(700, now);
    let recording = boot.end(10);
    let last = recording.running.runs[2];
    assert_eq!((last.task, last.end.idle_ns - last.start.idle_ns), (0, 700));
    assert_eq!(last.end, recording.end);
}

#[test]
fn a_file_of_another_version_is_refused_and_its_version_named() {
    let mut bytes = Boot::new().file(1);
    bytes[6] = 2;
    assert!(matches!(Recording::decode(&bytes), Err(crate::recording::RecordingError::OtherVersion(2))));
}

#[test]
fn a_return_past_several_frames_drops_them() {
    let mut boot = Boot::played("call work 0x8ff8 1; call helper 0x8ff0 1; call schedule 0x8fe8 1");
    boot.ret("schedule", 0x8ff8, 1); // as longjmp does
    boot.call("helper", 0x8ff8, 1);
    let recording = boot.end(1);
    assert_eq!((recording.counts.unwinds, recording.counts.unwound_frames), (1, 2));
    assert!(lines(&recording).contains(&"start_kernel/helper 1 1".to_owned()));
}

#[test]
fn a_return_that_nobody_called_changes_nothing_and_is_counted() {
    let boot = Boot::played("call work 0x8ff8 1; ret helper 0x7000 1; ret work 0x8ff8 1");
    let recording = boot.end(0);
    assert_eq!((recording.counts.unmatched_returns, recording.counts.returns), (1, 1));
}

#[test]
fn a_return_on_an_empty_stack_is_counted() {
    let mut boot = Boot::new();
    boot.play("ret helper 0x7000 1; ret helper 0x7000 1");
    assert_eq!(boot.end(0).counts.unmatched_returns, 2);
}

#[test]
fn a_return_does_not_look_behind_an_interrupt() {
    let mut boot = Boot::played("call work 0x8ff8 1; enter asm_sysvec_apic_timer_interrupt 1; ret helper 0x8ff8 1");
    assert_eq!(boot.tracker.counts.unmatched_returns, 1);
    boot.play("leave 1; ret work 0x8ff8 1");
    assert_eq!(boot.end(0).counts.returns, 1);
}

#[test]
fn one_return_reported_twice_is_one() {
    let boot = Boot::played("call work 0x8ff8 1; ret work 0x8ff8 1; ret work 0x8ff8 0");
    let recording = boot.end(0);
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (1, 0));
}

#[test]
fn a_split_off_part_is_entered_and_left_by_jumps() {
    let mut boot = Boot::started();
    boot.call("helper", 0x8ff8, 1);
    let (cold, helper, now) = (boot.id("helper.cold"), boot.id("helper"), boot.pass(2));
    boot.tracker.cold(cold, now);
    let now = boot.pass(3);
    boot.tracker.leave_part(cold, helper, now);
    boot.ret("helper", 0x8ff8, 4);
    boot.tree(0, ["[boot]/start_kernel 1 1", "helper/helper.cold 1 3", "start_kernel/helper 1 6"]);
}

#[test]
fn code_without_a_symbol_is_known_by_its_address() {
    let mut boot = Boot::started();
    let now = boot.pass(1);
    boot.tracker.call(UNKNOWN, 0x8ff8, now);
    boot.tracker.unknown(0xffff_ffff_c000_1000, now);
    let now = boot.pass(5);
    boot.tracker.ret(UNKNOWN, 0x8ff8, now);
    let recording = boot.end(0);
    let function = recording.functions.iter().position(|function| function.address == 0xffff_ffff_c000_1000);
    let node = recording.nodes.iter().find(|node| Some(node.function as usize) == function).expect("a row");
    assert_eq!((node.calls, node.self_instructions), (1, 5));
}

#[test]
fn initcalls_are_spans_and_begin_their_levels() {
    let boot = Boot::played("call do_one_initcall 0x8ff8 10; call first_init 0x8ff0 1; ret first_init 0x8ff0 30");
    let recording = boot.end(1);
    let span = &recording.spans[0];
    assert_eq!(
        (span.level.as_str(), span.start.instructions, span.end.map(|end| end.instructions)),
        ("device", 11, Some(41))
    );
    let marks: Vec<&str> = recording.marks.iter().map(|mark| mark.mark.as_str()).collect();
    assert_eq!(marks, ["power_on", "kernel_entry", "initcall_device"]);
}

#[test]
fn a_panic_asks_for_the_end() {
    let mut boot = Boot::started();
    assert_eq!(boot.enter("panic", 3), Request::Freeze(State::Panic));
}

#[test]
fn what_each_node_did_in_each_phase_sums_to_what_it_did() {
    let mut boot = Boot::new();
    boot.play("enter start_kernel 5; call work 0x8ff8 10");
    let now = boot.pass(4);
    boot.tracker.mark("middle", MarkSource::Guest, "", now);
    boot.ret("work", 0x8ff8, 6);
    let copy = boot.tracker.snapshot(State::Running, &[], boot.now);
    assert_eq!(copy.state, State::Running);
    let recording = boot.end(7);
    let mut sums = vec![(0, 0); recording.nodes.len()];
    for row in &recording.phases {
        sums[row.node as usize].0 += row.calls;
        sums[row.node as usize].1 += row.self_instructions;
    }
    let nodes: Vec<(u64, u64)> = recording.nodes.iter().map(|node| (node.calls, node.self_instructions)).collect();
    assert_eq!(sums, nodes);
    assert_eq!(recording.phases.iter().map(|row| row.mark).max(), Some(2));
}

#[derive(Debug, Clone)]
enum Event {
    Enter(usize),
    Call(u8),
    Return(usize, u8),
    Leave,
    Switch(u8),
    Cold,
    Unknown(u8),
    Mark(u8),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0_usize..16).prop_map(Event::Enter),
        any::<u8>().prop_map(Event::Call),
        ((0_usize..16), any::<u8>()).prop_map(|(site, sp)| Event::Return(site, sp)),
        Just(Event::Leave),
        any::<u8>().prop_map(Event::Switch),
        Just(Event::Cold),
        any::<u8>().prop_map(Event::Unknown),
        (0_u8..4).prop_map(Event::Mark),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_the_sums_hold(events in proptest::collection::vec((event(), 0_u64..50), 0..300)) {
        let mut boot = Boot::new();
        for (event, after) in events {
            boot.pass(after);
            boot.happen(event);
        }
        let encoded = boot.file(9);
        let recording = boot.end(9);
        let total = totals(&recording.nodes);
        for (node, total) in recording.nodes.iter().zip(&total) {
            prop_assert!(node.self_instructions <= *total);
        }
        let phases: u64 = recording.phases.iter().map(|row| row.self_instructions).sum();
        prop_assert_eq!(phases, total[0]);
        let packed = Recording::pack(&encoded).expect("packs");
        prop_assert_eq!(&Recording::pack(&packed).expect("packed already"), &packed);
        prop_assert_eq!(Recording::decode(&packed).expect("decodes"), recording);
    }

    #[test]
    fn a_damaged_profile_is_an_error_and_never_a_crash(
        at in 0_usize..400, value in any::<u8>(), length in 0_usize..400, packed in any::<bool>(),
    ) {
        let mut boot = Boot::new();
        boot.enter("start_kernel", 5);
        let mut bytes = boot.file(1);
        if packed {
            bytes = Recording::pack(&bytes).expect("packs");
        }
        prop_assert!(Recording::decode(&bytes[..length.min(bytes.len() - 1)]).is_err());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
        let _ = Recording::decode(&bytes);
    }
}
