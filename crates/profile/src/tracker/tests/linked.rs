//! A processor with a link register: keys are the stack pointer and the return address.

use crate::recording::{Recording, State};
use crate::tracker::{Link, Watch, UNKNOWN};
use crate::{SymbolTable, Tracker};
use firstlight_isa::{Aarch64, Class, Isa, Mips64el};

const KERNEL: &str = "\
1000 T _stext
1000 T start_kernel
1100 T schedule
1200 T work
1300 T helper
1400 T cpu_switch_to
1500 T ret_from_fork
1600 T do_task_dead
2000 T __entry_text_start
2000 T vectors
2100 t el1h_64_irq
2200 t el0t_64_sync
2300 t ret_to_user
2400 T __entry_text_end
2400 D _etext
";
const STACK: u64 = 0x8_0000;

struct Boot<I: Isa = Aarch64> {
    tracker: Tracker<I>,
    symbols: SymbolTable<I>,
    now: u64,
}

impl Boot {
    /// A boot in which `start_kernel` runs, which was jumped to.
    fn started() -> Self {
        Self::of(KERNEL)
    }
}

impl<I: Isa> Boot<I> {
    /// The same of another kernel.
    fn of(kernel: &str) -> Self {
        let symbols = SymbolTable::parse(kernel);
        let mut boot = Self { tracker: Tracker::new(&symbols, Watch::default()), symbols, now: 0 };
        boot.tracker.kernel(0);
        boot.enter("start_kernel", STACK + 0x100, 0x40, 0);
        boot
    }

    fn id(&self, name: &str) -> u32 {
        self.symbols.function(name).expect("a function of the small kernel")
    }

    /// Enters a function by these registers, after so many instructions.
    fn enter(&mut self, name: &str, sp: u64, address: u64, after: u64) {
        self.now += after;
        let (id, now) = (self.id(name), self.now);
        match self.symbols.functions()[id as usize].class {
            Class::Plain | Class::Switch => {
                let symbols = &self.symbols;
                let site = || symbols.containing(address - 1).map_or(UNKNOWN, |(id, _)| id);
                self.tracker.enter_linked(id, Link { sp, address }, site, now);
            }
            _ => {
                self.tracker.special(id, now);
            }
        }
    }

    /// Executes the block behind a call in this function, after so many instructions.
    fn behind(&mut self, site: &str, sp: u64, address: u64, after: u64) {
        self.now += after;
        let site = self.id(site);
        self.tracker.returned_linked(Link { sp, address }, site, self.now);
    }

    fn switch(&mut self, left: u64, next: u64, after: u64) {
        self.now += after;
        self.tracker.switches();
        self.tracker.switch_linked(left, next, self.now);
    }

    /// Each context that did something, as `path calls self`; and the recording.
    fn outcome(&mut self) -> (Vec<String>, Recording) {
        let mut file = Vec::new();
        self.tracker.snapshot(State::Ready, &[], self.now).write(&mut file).expect("written");
        let recording = Recording::decode(&file).expect("read");
        let mut paths: Vec<String> = Vec::new();
        for node in &recording.nodes {
            let name = &recording.functions[node.function as usize].name;
            let path = paths.get(node.parent as usize).map_or(name.clone(), |above| format!("{above} > {name}"));
            paths.push(path);
        }
        let rows = recording.nodes.iter().zip(&paths).filter(|(node, _)| node.self_instructions > 0);
        let text = rows.map(|(node, path)| {
            format!("{} {} {}", path.trim_start_matches("[boot] > "), node.calls, node.self_instructions)
        });
        (text.collect(), recording)
    }
}

const TOP: u64 = STACK + 0xf0;

#[test]
fn a_call_and_its_return_are_seen_by_the_registers_alone() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.enter("helper", TOP - 0x20, 0x1210, 3);
    boot.behind("work", TOP - 0x20, 0x1210, 2);
    boot.behind("start_kernel", TOP, 0x1010, 5);
    boot.now += 1;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 5", "start_kernel > work 1 8", "start_kernel > work > helper 1 2"]);
    assert_eq!((recording.counts.calls, recording.counts.returns, recording.counts.unmatched_returns), (3, 2, 0));
}

#[test]
fn what_is_entered_by_the_key_on_top_was_jumped_to_and_returns_with_it() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.enter("helper", TOP, 0x1010, 3);
    boot.behind("start_kernel", TOP, 0x1010, 2);
    boot.now += 1;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 5", "start_kernel > work 1 3", "start_kernel > work > helper 1 2"]);
    assert_eq!((recording.counts.tail_calls, recording.counts.unwound_frames), (1, 0));
}

#[test]
fn a_local_entry_in_a_block_of_its_own_is_no_second_entry() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 10);
    let work = boot.id("work");
    boot.tracker.nears_local_entry(work);
    // The block of the local entry begins, and behind that the function jumps to its own start.
    boot.enter("work", TOP, 0x1010, 2);
    boot.enter("work", TOP, 0x1010, 3);
    boot.behind("start_kernel", TOP, 0x1010, 4);
    let (contexts, recording) = boot.outcome();
    assert_eq!(contexts, ["start_kernel 1 10", "start_kernel > work 1 9"]);
    let again: u64 = recording.checks.iter().map(|check| check.again).sum();
    assert_eq!(again, 1);
}

#[test]
fn a_jump_to_the_block_behind_a_call_is_no_return() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.behind("work", TOP - 0x20, 0x1210, 3);
    boot.behind("start_kernel", TOP, 0x1010, 2);
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 4", "start_kernel > work 1 5"]);
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (1, 0));
}

#[test]
fn control_in_another_function_than_the_stack_says_is_counted() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.behind("helper", TOP - 0x20, 0x1310, 3);
    assert_eq!(boot.outcome().1.counts.unmatched_returns, 1);
}

#[test]
fn a_return_that_was_not_seen_shows_at_the_next_call() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    // `work` returned to 0x1010, and nothing was seen of it: the next call stands where its own stood.
    boot.enter("helper", TOP, 0x1020, 3);
    boot.behind("start_kernel", TOP, 0x1020, 2);
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 4", "start_kernel > work 1 3", "start_kernel > helper 1 2"]);
    assert_eq!(recording.counts.lost_returns, 1);
}

#[test]
fn code_that_keeps_its_link_in_a_register_calls_at_the_same_place() {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.enter("helper", TOP, 0x1210, 3);
    boot.behind("work", TOP, 0x1210, 2);
    boot.behind("start_kernel", TOP, 0x1010, 1);
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 4", "start_kernel > work 1 4", "start_kernel > work > helper 1 2"]);
    assert_eq!((recording.counts.lost_returns, recording.counts.tail_calls), (0, 0));
}

#[test]
fn an_interrupt_between_a_call_and_its_function_changes_nothing() {
    let mut boot = Boot::started();
    boot.tracker.links(0x1010);
    boot.enter("vectors", 0, 0, 4);
    boot.enter("el1h_64_irq", 0, 0, 2);
    boot.enter("helper", TOP - 0x150, 0x2110, 1);
    boot.behind("el1h_64_irq", TOP - 0x150, 0x2110, 3);
    boot.now += 2;
    assert!(!boot.tracker.leave_kernel(boot.now));
    boot.enter("work", TOP, 0x1010, 0);
    boot.behind("start_kernel", TOP, 0x1010, 5);
    let (tree, recording) = boot.outcome();
    let expected = [
        "start_kernel 1 4",
        "[interrupts] > el1h_64_irq 1 5",
        "[interrupts] > el1h_64_irq > helper 1 3",
        "start_kernel > work 1 5",
    ];
    let mut sorted = tree.clone();
    sorted.sort();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    let seen = &recording.processes;
    assert_eq!((seen.registers_confirmed, seen.registers_contradicted), (1, 0));
}

#[test]
fn a_stub_of_several_blocks_belongs_to_the_entry() {
    let mut boot = Boot::started();
    boot.now += 4;
    assert!(boot.tracker.leave_kernel(boot.now), "a task's first way out of the kernel");
    boot.enter("vectors", 0, 0, 9);
    boot.enter("vectors", 0, 0, 1);
    boot.enter("vectors", 0, 0, 4);
    boot.enter("el0t_64_sync", 0, 0, 3);
    boot.now += 2;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["[user] 1 9", "start_kernel 1 4", "el0t_64_sync 1 10"]);
    assert_eq!(recording.running.runs[0].spent.user, 9);
}

/// A system call whose function was jumped to with the label `ret_to_user` in the link register, and jumped on.
fn served(boot: &mut Boot) {
    boot.now += 4;
    assert!(boot.tracker.leave_kernel(boot.now));
    boot.enter("el0t_64_sync", 0, 0, 9);
    boot.enter("work", TOP, 0x2300, 2);
    boot.enter("helper", TOP, 0x2300, 3);
}

/// `start_kernel` calls `work`, which calls a trampoline without a symbol at its beginning, by another register.
fn traced() -> Boot {
    let mut boot = Boot::started();
    boot.enter("work", TOP, 0x1010, 4);
    boot.tracker.links_elsewhere(0x1208);
    boot.now += 2;
    boot.tracker.unknown_linked(0x7000, Link { sp: TOP, address: 0x1010 }, boot.now);
    boot.now += 3;
    boot
}

#[test]
fn a_trampoline_that_was_called_by_another_register_returns_by_it() {
    let mut boot = traced();
    boot.behind("work", TOP, 0x1208, 0);
    boot.behind("start_kernel", TOP, 0x1010, 5);
    boot.now += 1;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["start_kernel 1 5", "start_kernel > work 1 7", "start_kernel > work >  1 3"]);
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (2, 0));
    assert_eq!(recording.processes.registers_contradicted, 0);
}

#[test]
fn a_trampoline_may_call_its_function_behind_the_call_of_itself() {
    let mut boot = traced();
    boot.tracker.links(0x7040);
    boot.behind("work", TOP - 0x40, 0x1208, 2);
    boot.now += 4;
    boot.tracker.returned_linked(Link { sp: TOP - 0x40, address: 0x7040 }, UNKNOWN, boot.now);
    boot.behind("work", TOP, 0x1208, 1);
    boot.behind("start_kernel", TOP, 0x1010, 5);
    boot.now += 1;
    let (tree, recording) = boot.outcome();
    let expected = [
        "start_kernel 1 5",
        "start_kernel > work 1 7",
        "start_kernel > work >  1 6",
        "start_kernel > work >  > work 1 4",
    ];
    assert_eq!(tree, expected);
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (3, 0));
}

#[test]
fn a_trampoline_may_return_in_place_of_its_function() {
    let mut boot = traced();
    boot.behind("start_kernel", TOP, 0x1010, 0);
    boot.now += 1;
    let (_, recording) = boot.outcome();
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (1, 0));
    assert_eq!((recording.counts.unwinds, recording.counts.unwound_frames), (0, 0));
}

#[test]
fn entry_code_is_returned_to_without_a_call_in_front() {
    let mut boot = Boot::started();
    served(&mut boot);
    boot.now += 5;
    boot.tracker.returned_to_entry(Link { sp: TOP, address: 0x2300 }, boot.now);
    boot.now += 1;
    let (tree, recording) = boot.outcome();
    let expected = ["el0t_64_sync 1 3", "el0t_64_sync > work 1 3", "el0t_64_sync > work > helper 1 5"];
    assert_eq!(tree[2..], expected);
    assert_eq!((recording.counts.returns, recording.counts.unmatched_returns), (1, 0));
}

#[test]
fn what_entry_code_called_has_ended_where_that_runs_again() {
    let mut boot = Boot::started();
    served(&mut boot);
    boot.now += 5;
    boot.tracker.returned_to_entry(Link { sp: TOP + 8, address: 0x2380 }, boot.now);
    boot.now += 1;
    // Nothing is left that it called.
    boot.tracker.returned_to_entry(Link { sp: TOP + 8, address: 0x2390 }, boot.now);
    let (tree, recording) = boot.outcome();
    let expected = ["el0t_64_sync 1 3", "el0t_64_sync > work 1 3", "el0t_64_sync > work > helper 1 5"];
    assert_eq!(tree[2..], expected);
    assert_eq!((recording.counts.returns, recording.counts.unwound_frames), (1, 0));
}

#[test]
fn calls_of_a_function_that_entry_code_called_go_on() {
    let mut boot = Boot::started();
    served(&mut boot);
    boot.enter("schedule", TOP - 0x20, 0x1310, 1);
    boot.tracker.returned_to_entry(Link { sp: TOP + 8, address: 0x2380 }, boot.now);
    boot.now += 5;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree.last().map(String::as_str), Some("el0t_64_sync > work > helper > schedule 1 5"));
    assert_eq!(recording.counts.returns, 0);
}

#[test]
fn nameless_code_in_front_of_an_entry_belongs_to_user_mode() {
    let mut boot = Boot::started();
    assert!(boot.tracker.leave_kernel(4));
    // The trampoline calls inside itself, and returns to the vectors.
    boot.tracker.unknown_linked(0x7000, Link { sp: STACK, address: 0x77 }, 10);
    boot.tracker.links(0x7010);
    boot.tracker.unknown_linked(0x7020, Link { sp: STACK, address: 0x7010 }, 12);
    boot.now = 10;
    boot.enter("vectors", 0, 0, 5);
    boot.enter("el0t_64_sync", 0, 0, 1);
    boot.now += 3;
    let (tree, recording) = boot.outcome();
    assert_eq!(tree, ["[user] 1 11", "start_kernel 1 4", "el0t_64_sync 1 4"]);
    assert_eq!(recording.counts.unmatched_returns, 0);
}

#[test]
fn tasks_are_named_by_where_the_kernel_keeps_them() {
    let mut boot = Boot::started();
    boot.enter("schedule", TOP, 0x1010, 1);
    boot.enter("cpu_switch_to", TOP - 0x40, 0x1110, 1);
    boot.switch(0xa000, 0xb000, 2);
    // The new task begins by the return of the switch.
    boot.enter("ret_from_fork", 0x9_0000, 0x1500, 3);
    boot.enter("work", 0x9_0000, 0x1510, 1);
    boot.enter("cpu_switch_to", 0x9_0000 - 0x40, 0x1210, 1);
    boot.switch(0xb000, 0xa000, 2);
    boot.behind("schedule", TOP - 0x40, 0x1110, 3);
    boot.behind("start_kernel", TOP, 0x1010, 1);
    let (tree, recording) = boot.outcome();
    assert!(tree.contains(&"start_kernel > schedule > cpu_switch_to 1 5".to_owned()), "{tree:?}");
    assert!(tree.contains(&"ret_from_fork 1 1".to_owned()), "{tree:?}");
    assert!(tree.contains(&"ret_from_fork > work > cpu_switch_to 1 2".to_owned()), "{tree:?}");
    let counts = recording.counts;
    assert_eq!((counts.tasks, counts.switches, counts.unmatched_returns, counts.unwound_frames), (2, 2, 0, 0));
}

#[test]
fn the_place_of_a_task_that_ended_belongs_to_the_next_one() {
    let mut boot = Boot::started();
    boot.enter("schedule", TOP, 0x1010, 1);
    boot.enter("cpu_switch_to", TOP - 0x40, 0x1110, 1);
    boot.switch(0xa000, 0xb000, 2);
    boot.enter("ret_from_fork", 0x9_0000, 0x1500, 3);
    boot.enter("do_task_dead", 0x9_0000, 0x1510, 1);
    boot.enter("cpu_switch_to", 0x9_0000 - 0x40, 0x1610, 1);
    boot.switch(0xb000, 0xa000, 2);
    boot.behind("schedule", TOP - 0x40, 0x1110, 3);
    boot.enter("cpu_switch_to", TOP - 0x40, 0x1120, 1);
    boot.switch(0xa000, 0xb000, 2);
    boot.enter("ret_from_fork", 0x9_0000, 0x1500, 3);
    let counts = boot.outcome().1.counts;
    assert_eq!((counts.tasks, counts.abandoned_frames, counts.lost_returns), (3, 3, 0));
    assert_eq!(counts.calls, counts.popped + counts.abandoned_frames + counts.open_frames);
}

#[test]
fn a_new_task_goes_on_behind_the_call_of_what_serves_a_system_call() {
    let mut boot = Boot::started();
    boot.enter("schedule", TOP, 0x1010, 1);
    boot.switch(1, 2, 1);
    let top = 0xa_0000;
    boot.enter("ret_from_fork", top, 0x1500, 1);
    // The entry of system calls has called what serves them in front of this address.
    boot.behind("el0t_64_sync", top, 0x2210, 2);
    boot.enter("helper", top, 0x2220, 3);
    boot.behind("el0t_64_sync", top, 0x2220, 4);
    assert!(boot.tracker.leave_kernel(boot.now + 2));
    boot.now += 2;
    let (tree, recording) = boot.outcome();
    assert!(tree.contains(&"ret_from_fork 1 7".to_owned()), "{tree:?}");
    assert!(tree.contains(&"ret_from_fork > helper 1 4".to_owned()), "{tree:?}");
    assert_eq!((recording.counts.unmatched_returns, recording.counts.lost_returns), (0, 0));
}

const MIPS_KERNEL: &str = "\
1000 T _stext
1000 T start_kernel
1100 T sys_rt_sigreturn
1200 T schedule_tail
1300 T handle_sys
1400 T handle_ri_rdhwr
1500 T handle_ri
1600 T do_ri
1700 T ret_from_fork
1708 T syscall_exit
1800 t restore_all
1900 D _etext
";

#[test]
fn an_entry_that_does_not_serve_an_exception_goes_on_in_another() {
    let mut boot: Boot<Mips64el> = Boot::of(MIPS_KERNEL);
    assert!(boot.tracker.leave_kernel(2));
    boot.enter("exception_vectors", 0, 0, 4);
    boot.enter("handle_ri_rdhwr", 0, 0, 2);
    boot.enter("handle_ri", 0, 0, 3);
    boot.enter("do_ri", TOP, 0x1508, 5);
    boot.behind("handle_ri", TOP, 0x1508, 2);
    boot.enter("restore_all", 0, 0, 1);
    assert!(boot.tracker.leave_kernel(boot.now + 1));
    boot.now += 2;
    let (tree, recording) = boot.outcome();
    // The vector's instructions are the entry's.
    assert!(tree.contains(&"handle_ri_rdhwr 1 12".to_owned()), "{tree:?}");
    assert!(tree.contains(&"handle_ri_rdhwr > do_ri 1 2".to_owned()), "{tree:?}");
    assert!(!tree.iter().any(|row| row.starts_with("handle_ri ")), "{tree:?}");
    assert_eq!((recording.counts.interrupts, recording.counts.unmatched_returns), (1, 0));
}

#[test]
fn a_system_call_that_jumps_to_the_way_out_has_ended() {
    let mut boot: Boot<Mips64el> = Boot::of(MIPS_KERNEL);
    assert!(boot.tracker.leave_kernel(2));
    boot.enter("handle_sys", 0, 0, 4);
    boot.enter("sys_rt_sigreturn", TOP, 0x1308, 5);
    boot.now += 3;
    let now = boot.now;
    boot.tracker.returned_to_entry(Link { sp: TOP, address: 0x1708 }, now);
    boot.enter("syscall_exit", 0, 0, 0);
    assert!(boot.tracker.leave_kernel(boot.now + 4));
    boot.now += 4;
    let (tree, recording) = boot.outcome();
    assert!(tree.contains(&"handle_sys 1 9".to_owned()), "{tree:?}");
    assert!(tree.contains(&"handle_sys > sys_rt_sigreturn 1 3".to_owned()), "{tree:?}");
    assert_eq!((recording.counts.unmatched_returns, recording.counts.lost_returns), (0, 0));
}
