//! Every invariant can fail: a sound small recording, one fault planted in it, and the invariant that tells.

use crate::{SymbolTable, Tracker};
use firstlight_model::invariants::{check, Concern};
use firstlight_profile::fold::UnknownThunk;
use firstlight_profile::recording::{PhaseRow, State};
use firstlight_profile::slices::NodeRow;
use firstlight_profile::tracker::{Identity, Watch, UNKNOWN};
use firstlight_profile::tree::{FunctionId, Kind, Node};
use firstlight_profile::Recording;
use firstlight_schema::MarkSource;

const KERNEL: &str = "\
1000 T _text
1000 T start_kernel
1100 T do_one_initcall
1200 T first_init
1300 T helper
1400 T second
1500 T __switch_to_asm
1600 T __x86_return_thunk
1700 T _etext
9000 d __initcall__kmod_first__1_2_first_init4
";
const START: u64 = 0x8ff8;

/// Events that go wrong while `helper` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    SwallowedReturn,
    OvertakenReturn,
    StrayReturn,
    NowhereCall,
    Circle,
    BackwardStep,
    OtherClock,
}

/// A boot under way, with the executions of each function's first instruction as QEMU would count them.
struct Boot {
    symbols: SymbolTable,
    tracker: Tracker,
    executed: Vec<u64>,
}

impl Boot {
    fn id(&self, name: &str) -> FunctionId {
        self.symbols.function(name).expect("a function of the small kernel")
    }

    fn entry(&mut self, name: &str, now: u64) {
        let id = self.id(name);
        self.executed[id as usize] += 1;
        self.tracker.special(id, now);
    }

    fn call(&mut self, name: &str, sp: u64, now: u64) {
        self.tracker.call(UNKNOWN, sp, now);
        self.entry(name, now);
    }

    fn ret(&mut self, name: &str, sp: u64, now: u64) {
        self.tracker.ret(self.id(name), sp, now);
    }

    fn switch(&mut self, sp: u64, task: u64, now: u64) {
        self.entry("__switch_to_asm", now - 10);
        assert!(self.tracker.switch(sp, now));
        self.tracker.left(Identity { address: task, name: "task", state: None });
    }
}

/// A kernel that calls an initcall, which calls `helper`; then two tasks take turns.
fn recorded(fault: Fault) -> Recording {
    let symbols = SymbolTable::parse(KERNEL);
    let watch = Watch { marks: vec![("kernel_start".to_owned(), "start_kernel".to_owned())], ..Watch::default() };
    let tracker = Tracker::new(&symbols, watch);
    let executed = vec![0; symbols.functions().len()];
    let mut boot = Boot { symbols, tracker, executed };
    boot.tracker.kernel(100);
    boot.entry("start_kernel", 110);
    boot.call("do_one_initcall", START, 200);
    boot.call("first_init", 0x8ff0, 210);
    boot.call("helper", 0x8fe8, 220);
    match fault {
        Fault::StrayReturn => boot.tracker.ret(UNKNOWN, 0xdead_0000, 225),
        Fault::NowhereCall => {
            boot.tracker.call(UNKNOWN, 0x8fe0, 222);
            boot.call("second", 0x8fd8, 224);
            boot.ret("second", 0x8fd8, 226);
            boot.tracker.ret(UNKNOWN, 0x8fe0, 228);
        }
        Fault::Circle => {
            for name in ["second", "helper"].into_iter().cycle().take(100) {
                boot.entry(name, 225);
            }
        }
        Fault::BackwardStep => {
            boot.call("second", 0x8fe0, 5);
            boot.ret("second", 0x8fe0, 226);
        }
        Fault::OtherClock => boot.tracker.clock_checked(false),
        Fault::None | Fault::SwallowedReturn | Fault::OvertakenReturn => boot.tracker.clock_checked(true),
    }
    match fault {
        Fault::SwallowedReturn => {}
        Fault::OvertakenReturn => {
            boot.call("second", 0x8fe8, 230);
            boot.ret("second", 0x8fe8, 235);
        }
        _ => boot.ret("helper", 0x8fe8, 230),
    }
    boot.ret("first_init", 0x8ff0, 240);
    boot.ret("do_one_initcall", START, 250);
    boot.tracker.call(UNKNOWN, START, 290);
    boot.switch(0xa_0000, 0x100, 300);
    boot.tracker.idle(500, 350);
    boot.tracker.call(UNKNOWN, 0xa_0030, 390);
    boot.switch(START - 0x38, 0x200, 400);
    // Some thunk or other is passed through all the time; it has no entries of its own.
    let thunk = boot.id("__x86_return_thunk") as usize;
    boot.executed[thunk] = 40;
    let mut file = Vec::new();
    boot.tracker.snapshot(State::Ready, &boot.executed, 500).write(&mut file).expect("writes");
    Recording::decode(&file).expect("decodes")
}

fn sound() -> Recording {
    recorded(Fault::None)
}

/// The invariants that do not hold, with the functions that each names.
fn broken_with(recording: &Recording, thunks: &[UnknownThunk], announced: Option<&str>) -> Vec<(String, Vec<String>)> {
    let all = check(recording, thunks, announced).into_iter();
    all.filter(|invariant| !invariant.holds).map(|invariant| (invariant.name.to_owned(), invariant.functions)).collect()
}

fn broken(recording: &Recording) -> Vec<String> {
    broken_with(recording, &[], None).into_iter().map(|(name, _)| name).collect()
}

fn number(recording: &Recording, name: &str) -> usize {
    recording.functions.iter().position(|function| function.name == name).expect("a function of the recording")
}

fn node(recording: &Recording, name: &str) -> usize {
    let function = number(recording, name);
    recording.nodes.iter().position(|node| node.function as usize == function).expect("it was entered")
}

fn set_executed(recording: &mut Recording, name: &str, change: i64) {
    let function = number(recording, name);
    let check = recording.checks.iter_mut().find(|check| check.function as usize == function).expect("it was counted");
    check.executed = check.executed.map(|executed| executed.saturating_add_signed(change));
}

#[test]
fn every_invariant_of_a_sound_recording_holds() {
    let recording = sound();
    assert_eq!(broken(&recording), [""; 0]);
    let all = check(&recording, &[], None);
    assert_eq!(all.len(), 16, "each of them has its fault below");
}

#[test]
fn a_phantom_instruction_is_found() {
    let mut recording = sound();
    let at = node(&recording, "helper");
    recording.nodes[at].self_instructions += 1;
    let row = recording.phases.iter_mut().find(|row| row.node as usize == at).expect("it ran in a phase");
    row.self_instructions += 1;
    slice_row(&mut recording, at).self_instructions += 1;
    assert_eq!(broken(&recording), ["self_sums_to_executed"]);
}

#[test]
fn an_instruction_that_nobody_executed_is_found() {
    let mut recording = sound();
    recording.end.instructions += 1;
    // What ran last ran until the end, so that the runs have the instruction, and no node has.
    recording.running.runs.last_mut().expect("somebody ran").end.instructions += 1;
    recording.slices.last_mut().expect("one is open").end.instructions += 1;
    assert_eq!(broken(&recording), ["self_sums_to_executed"]);
}

#[test]
fn a_phase_row_too_many_is_found() {
    let mut recording = sound();
    let row = *recording.phases.first().expect("a phase");
    recording.phases.push(PhaseRow { self_instructions: 1, ..row });
    assert_eq!(broken(&recording), ["phases_sum_to_tree", "slices_sum_to_phases"]);
}

#[test]
fn an_entry_that_no_phase_has_is_found() {
    let mut recording = sound();
    let at = node(&recording, "helper");
    recording.phases.iter_mut().find(|row| row.node as usize == at).expect("it ran in a phase").calls = 0;
    assert_eq!(broken(&recording), ["phases_sum_to_tree", "slices_sum_to_phases"]);
}

/// What a node did in the first slice that it ran in.
fn slice_row(recording: &mut Recording, node: usize) -> &mut NodeRow {
    let mut rows = recording.slices.iter_mut().flat_map(|slice| &mut slice.rows);
    rows.find(|row| row.node as usize == node).expect("it ran in a slice")
}

#[test]
fn an_instruction_that_no_slice_has_is_found() {
    let mut recording = sound();
    let at = node(&recording, "helper");
    slice_row(&mut recording, at).self_instructions -= 1;
    assert_eq!(broken(&recording), ["slices_sum_to_tree", "slices_sum_to_phases"]);
}

#[test]
fn an_entry_that_a_slice_has_twice_is_found() {
    let mut recording = sound();
    let at = node(&recording, "helper");
    slice_row(&mut recording, at).calls += 1;
    assert_eq!(broken(&recording), ["slices_sum_to_tree", "slices_sum_to_phases"]);
}

#[test]
fn a_slice_in_another_phase_is_found() {
    let mut recording = sound();
    let [first, .., last] = recording.slices.as_mut_slice() else { panic!("a slice for each phase") };
    std::mem::swap(&mut first.rows, &mut last.rows);
    assert_eq!(broken(&recording), ["slices_sum_to_phases"]);
}

#[test]
fn a_slice_that_ends_too_early_is_found() {
    let mut recording = sound();
    recording.slices.first_mut().expect("a slice for each phase").end.instructions = u64::MAX;
    assert_eq!(broken(&recording), ["slices_sum_to_tree"]);
    let mut recording = sound();
    recording.slices.last_mut().expect("a slice for each phase").end.instructions -= 1;
    assert_eq!(broken(&recording), ["slices_sum_to_tree"]);
}

#[test]
fn a_frame_that_is_not_accounted_for_is_found() {
    let mut recording = sound();
    recording.counts.popped -= 1;
    assert_eq!(broken(&recording), ["stacks_accounted"]);
}

#[test]
fn a_return_to_nowhere_is_found_and_the_function_named() {
    let found = broken_with(&recorded(Fault::StrayReturn), &[], None);
    assert_eq!(found, [("returns_matched".to_owned(), vec!["helper".to_owned()])]);
}

#[test]
fn a_swallowed_return_is_found() {
    assert_eq!(broken(&recorded(Fault::SwallowedReturn)), ["frames_returned"]);
}

#[test]
fn a_frame_that_a_later_call_overwrites_is_found_and_named() {
    let found = broken_with(&recorded(Fault::OvertakenReturn), &[], None);
    assert_eq!(found, [("frames_returned".to_owned(), vec!["helper".to_owned()])]);
}

#[test]
fn a_call_that_reaches_no_function_is_found() {
    assert_eq!(broken(&recorded(Fault::NowhereCall)), ["calls_reach_functions"]);
}

#[test]
fn a_circle_that_is_cut_short_is_found() {
    assert_eq!(broken(&recorded(Fault::Circle)), ["circles_kept"]);
}

#[test]
fn an_event_before_the_one_before_it_is_found() {
    assert_eq!(broken(&recorded(Fault::BackwardStep)), ["clock_goes_forward"]);
}

#[test]
fn a_clock_that_disagrees_with_qemus_is_found() {
    assert_eq!(broken(&recorded(Fault::OtherClock)), ["clock_is_qemus"]);
}

#[test]
fn a_thunk_with_a_row_of_its_own_is_found_and_named() {
    let mut recording = sound();
    let thunk = number(&recording, "__x86_return_thunk");
    let row = Node {
        function: FunctionId::try_from(thunk).expect("few functions"),
        parent: 0,
        kind: Kind::Unknown,
        calls: 1,
        self_instructions: 0,
    };
    recording.nodes.push(row);
    let node = u32::try_from(recording.nodes.len() - 1).expect("few nodes");
    recording.phases.insert(0, PhaseRow { node, mark: 0, calls: 1, self_instructions: 0 });
    recording.slices[0].rows.push(NodeRow { node, calls: 1, self_instructions: 0 });
    let found = broken_with(&recording, &[], None);
    assert_eq!(found, [("thunks_are_no_functions".to_owned(), vec!["__x86_return_thunk".to_owned()])]);
}

#[test]
fn a_thunk_that_the_kernel_announces_and_the_tree_has_as_a_function_is_found() {
    let found = broken_with(&sound(), &[], Some("helper"));
    assert_eq!(found, [("thunks_are_no_functions".to_owned(), vec!["helper".to_owned()])]);
}

#[test]
fn an_unknown_thunk_that_was_folded_breaks_nothing_and_is_reported() {
    let recording = sound();
    let function = FunctionId::try_from(number(&recording, "helper")).expect("few functions");
    let thunks = [UnknownThunk { function, transfers: 7 }];
    assert_eq!(broken_with(&recording, &thunks, None), []);
    let told = check(&recording, &thunks, None)
        .into_iter()
        .find(|invariant| invariant.name == "thunks_are_no_functions")
        .expect("it is checked");
    assert_eq!((told.figures, told.functions), (vec![("unknown_transfers", 7)], vec!["helper".to_owned()]));
}

#[test]
fn an_entry_that_the_tree_lacks_is_found_and_named() {
    let mut recording = sound();
    set_executed(&mut recording, "helper", 1);
    let found = broken_with(&recording, &[], None);
    assert_eq!(found, [("entries_counted".to_owned(), vec!["helper".to_owned()])]);
}

#[test]
fn an_entry_too_many_in_the_tree_is_found_and_named() {
    let mut recording = sound();
    set_executed(&mut recording, "do_one_initcall", -1);
    let found = broken_with(&recording, &[], None);
    assert_eq!(found, [("entries_counted".to_owned(), vec!["do_one_initcall".to_owned()])]);
}

#[test]
fn entries_that_make_up_for_one_another_are_found() {
    let mut recording = sound();
    set_executed(&mut recording, "helper", 1);
    set_executed(&mut recording, "first_init", -1);
    assert_eq!(broken(&recording), ["entries_counted"]);
}

#[test]
fn an_initcall_without_a_span_is_found_and_named() {
    let mut recording = sound();
    recording.spans.clear();
    let found = broken_with(&recording, &[], None);
    assert_eq!(found, [("initcalls_entered".to_owned(), vec!["first_init".to_owned()])]);
}

// `static_call_init` is an initcall that the start of the kernel calls by itself, long before.
#[test]
fn an_initcall_that_was_called_before_its_turn_needs_a_span_when_the_initcalls_are_over() {
    let symbols = SymbolTable::parse(KERNEL);
    let executed = vec![0; symbols.functions().len()];
    let mut boot = Boot { tracker: Tracker::new(&symbols, Watch::default()), symbols, executed };
    boot.tracker.kernel(100);
    boot.entry("start_kernel", 110);
    boot.call("first_init", START, 200);
    boot.ret("first_init", START, 210);
    let mut of = |ready: bool| {
        if ready {
            boot.tracker.mark("free_init_memory", MarkSource::Function, "free_initmem", 300);
        }
        let mut file = Vec::new();
        boot.tracker.snapshot(State::Timeout, &boot.executed, 300).write(&mut file).expect("writes");
        broken(&Recording::decode(&file).expect("decodes"))
    };
    assert_eq!(of(false), Vec::<String>::new());
    assert_eq!(of(true), ["initcalls_entered"]);
}

// QEMU counts a first instruction when it executes it, the recorder enters a function before.
#[test]
fn a_recording_that_ends_as_a_function_is_entered_does_not_miss_the_count_of_that_entry() {
    let symbols = SymbolTable::parse(KERNEL);
    let executed = vec![0; symbols.functions().len()];
    let mut boot = Boot { tracker: Tracker::new(&symbols, Watch::default()), symbols, executed };
    boot.tracker.kernel(100);
    boot.entry("start_kernel", 110);
    boot.call("helper", START, 200);
    let (helper, other) = (boot.id("helper"), boot.id("start_kernel"));
    boot.executed[helper as usize] -= 1;
    let mut of = |under_way: Option<FunctionId>| {
        boot.tracker.under_way(under_way);
        let mut file = Vec::new();
        boot.tracker.snapshot(State::Timeout, &boot.executed, 200).write(&mut file).expect("writes");
        broken(&Recording::decode(&file).expect("decodes"))
    };
    assert_eq!(of(Some(helper)), Vec::<String>::new());
    assert_eq!(of(Some(other)), ["entries_counted"]);
    assert_eq!(of(None), ["entries_counted"]);
}

#[test]
fn a_lost_switch_is_found() {
    let mut recording = sound();
    let later = recording.running.runs.remove(1);
    recording.running.runs[0].end = later.end;
    assert_eq!(broken(&recording), ["runs_partition_the_kernel"]);
}

#[test]
fn a_task_that_the_kernel_contradicts_is_found() {
    let mut recording = sound();
    recording.running.contradicted = 1;
    assert_eq!(broken(&recording), ["tasks_confirmed"]);
}

#[test]
fn what_a_broken_invariant_concerns_is_no_more_than_what_it_checks() {
    let concerns = |name: &str| {
        let all = check(&sound(), &[], None);
        all.iter().find(|invariant| invariant.name == name).expect("it is checked").concerns
    };
    for name in ["self_sums_to_executed", "phases_sum_to_tree", "clock_is_qemus", "runs_partition_the_kernel"] {
        assert_eq!(concerns(name), Concern::Everything, "{name}");
    }
    for name in ["returns_matched", "frames_returned", "calls_reach_functions", "entries_counted"] {
        assert_eq!(concerns(name), Concern::Functions, "{name}");
    }
    assert_eq!(concerns("initcalls_entered"), Concern::Initcalls);
}
