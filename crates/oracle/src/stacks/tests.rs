//! The rules of the stacks, as sequences of blocks.

use super::*;

const TASK: u64 = 0xffff_c900_0000_8000;
const OTHER_TASK: u64 = 0xffff_c900_0001_8000;
const INTERRUPT_STACK: u64 = 0xffff_c900_0010_8000;

const ROOT: Row = 0;
const NAMELESS: Row = 1;
const A: Row = 2;
const B: Row = 3;
const C: Row = 4;
const SWITCH: Row = 5;
const SWITCH_TO: Row = 6;
const INTERRUPT: Row = 7;
const FAULT: Row = 8;
const SYSCALL: Row = 9;
const LABEL: Row = 10;
const CHILD: Row = 11;

struct Boot {
    stacks: Stacks,
    now: u64,
    floating: u64,
    last_end: u64,
    last_call: u64,
    word: Option<u64>,
    link: Option<u64>,
    from_user: bool,
}

impl Boot {
    fn new() -> Self {
        let stacks = Stacks::new(12, ROOT, NAMELESS, Some(SWITCH));
        Self { stacks, now: 0, floating: 0, last_end: 0, last_call: 0, word: None, link: None, from_user: false }
    }

    // A block of `length` instructions begins with this stack pointer.
    fn block(&mut self, place: Place, sp: u64, length: u64) -> &mut Self {
        let address = self.last_end + 0x100;
        self.block_at(address, place, sp, length)
    }

    fn block_at(&mut self, address: u64, place: Place, sp: u64, length: u64) -> &mut Self {
        let (now, floating) = (self.now, self.floating);
        let (last_end, last_call) = (self.last_end, self.last_call);
        let word = self.word.take();
        let from_user = std::mem::take(&mut self.from_user);
        let link = self.link;
        let state = State { address, sp, link, now, floating, last_end, last_call, from_user };
        self.stacks.block(place, state, &|_| word);
        self.now += length;
        self.floating += if matches!(place, Place::Part | Place::Stub | Place::Firmware) { length } else { 0 };
        self.last_end = address + length;
        if place != Place::Part {
            self.last_call = self.last_end;
        }
        self
    }

    fn enter(&mut self, row: Row, sp: u64, length: u64) -> &mut Self {
        self.block(Place::Start(row, Kind::Function), sp, length)
    }

    fn inside(&mut self, row: Row, sp: u64, length: u64) -> &mut Self {
        self.block(Place::Inside(row), sp, length)
    }

    fn entry(&mut self, row: Row, kind: Kind, sp: u64, length: u64) -> &mut Self {
        self.block(Place::Start(row, kind), sp, length)
    }

    fn user(&mut self, length: u64) -> &mut Self {
        self.block(Place::Outside, 0, length)
    }

    fn end(&mut self) -> &Stacks {
        self.stacks.finish(self.now, self.floating);
        &self.stacks
    }
}

fn edge(stacks: &Stacks, from: Row, to: Row) -> u64 {
    stacks.edges().get(&(from, to)).copied().unwrap_or(0)
}

fn total(stacks: &Stacks, row: Row) -> u64 {
    stacks.found()[row as usize].total
}

fn entries(stacks: &Stacks, row: Row) -> u64 {
    stacks.found()[row as usize].entries
}

#[test]
fn a_lower_stack_pointer_at_a_first_instruction_is_a_call_and_a_higher_one_has_returned() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).enter(B, TASK - 32, 5).inside(A, TASK - 24, 3).enter(B, TASK - 32, 5);
    let stacks = boot.inside(A, TASK - 24, 1).end();
    assert_eq!((edge(stacks, ROOT, A), edge(stacks, A, B)), (1, 2));
    assert_eq!((total(stacks, A), total(stacks, B)), (24, 10));
}

#[test]
fn the_same_stack_pointer_in_another_function_is_a_jump_in_tail_position() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 4).enter(B, TASK - 32, 5).enter(C, TASK - 32, 6).inside(A, TASK - 24, 2);
    let stacks = boot.end();
    assert_eq!((edge(stacks, A, B), edge(stacks, B, C), edge(stacks, A, C)), (1, 1, 0));
    assert_eq!((total(stacks, B), total(stacks, C)), (11, 6));
    assert_eq!(stacks.happened().tail_calls, 1);
}

#[test]
fn the_same_stack_pointer_in_the_same_function_is_a_loop_and_no_entry() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 4).enter(A, TASK - 8, 4).enter(A, TASK - 8, 4);
    let stacks = boot.end();
    assert_eq!((entries(stacks, A), stacks.found()[A as usize].again), (1, 2));
}

#[test]
fn a_circle_of_tail_calls_is_followed_and_only_an_endless_one_collapses() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 1).enter(B, TASK - 8, 1).enter(A, TASK - 8, 1).enter(B, TASK - 8, 1);
    assert_eq!((edge(&boot.stacks, A, B), edge(&boot.stacks, B, A)), (2, 1));
    assert_eq!(boot.stacks.happened().collapsed, 0);
    for _ in 0..1000 {
        boot.enter(A, TASK - 8, 1).enter(B, TASK - 8, 1);
    }
    let stacks = boot.end();
    assert!(stacks.happened().collapsed > 0);
    assert!(stacks.happened().deepest <= LONGEST_TAIL as u64 + 1);
    assert_eq!((entries(stacks, A), entries(stacks, B)), (1002, 1002));
}

#[test]
fn recursion_counts_once_in_a_total() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).enter(A, TASK - 64, 10).inside(A, TASK - 24, 10);
    let stacks = boot.end();
    assert_eq!((entries(stacks, A), total(stacks, A)), (2, 30));
}

#[test]
fn frames_that_are_left_at_once_end_where_the_stack_pointer_passed_them() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 1).enter(B, TASK - 64, 2).enter(C, TASK - 128, 3).inside(A, TASK - 24, 4);
    let stacks = boot.end();
    assert_eq!((total(stacks, A), total(stacks, B), total(stacks, C)), (10, 5, 3));
}

#[test]
fn thunks_and_split_off_parts_belong_to_whatever_runs() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).block(Place::Part, TASK - 32, 3).enter(B, TASK - 32, 5).block(
        Place::Part,
        TASK - 32,
        2,
    );
    let stacks = boot.inside(A, TASK - 24, 1).end();
    assert_eq!(edge(stacks, A, B), 1);
    assert_eq!((stacks.found()[A as usize].floating, stacks.found()[B as usize].floating), (3, 2));
    assert_eq!(total(stacks, B), 7);
}

#[test]
fn an_interrupt_hangs_from_the_root_and_is_in_no_total() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).entry(INTERRUPT, Kind::Interrupt, TASK - 64, 20).enter(B, TASK - 128, 30);
    let stacks = boot.inside(A, TASK - 8, 5).end();
    assert_eq!((edge(stacks, ROOT, INTERRUPT), edge(stacks, INTERRUPT, B)), (1, 1));
    assert_eq!((total(stacks, A), total(stacks, INTERRUPT), total(stacks, B)), (15, 50, 30));
}

#[test]
fn a_function_that_an_interrupt_also_runs_counts_both() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).entry(INTERRUPT, Kind::Interrupt, TASK - 64, 1).enter(A, TASK - 128, 7);
    let stacks = boot.inside(A, TASK - 8, 5).end();
    assert_eq!((entries(stacks, A), total(stacks, A)), (2, 22));
}

#[test]
fn an_interrupt_runs_on_a_stack_of_its_own_and_comes_back() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).entry(INTERRUPT, Kind::Interrupt, TASK - 64, 1).enter(B, INTERRUPT_STACK - 8, 2);
    boot.enter(C, INTERRUPT_STACK - 64, 3).inside(B, INTERRUPT_STACK - 32, 4).inside(INTERRUPT, TASK - 128, 5);
    let stacks = boot.inside(A, TASK - 8, 6).end();
    assert_eq!((total(stacks, B), total(stacks, C)), (9, 3));
    assert_eq!((total(stacks, INTERRUPT), total(stacks, A)), (15, 16));
}

#[test]
fn stubs_belong_to_the_entry_that_they_jump_to() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).block(Place::Stub, TASK - 56, 2).entry(INTERRUPT, Kind::Interrupt, TASK - 64, 20);
    let stacks = boot.inside(A, TASK - 8, 5).end();
    assert_eq!((total(stacks, A), total(stacks, INTERRUPT)), (15, 22));
    assert_eq!((stacks.found()[INTERRUPT as usize].floating, stacks.found()[A as usize].floating), (2, 0));
}

#[test]
fn an_exception_in_the_kernel_belongs_to_what_raised_it() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).entry(FAULT, Kind::Exception, TASK - 64, 20);
    let stacks = boot.inside(A, TASK - 8, 5).end();
    assert_eq!(edge(stacks, A, FAULT), 1);
    assert_eq!((total(stacks, A), total(stacks, FAULT)), (35, 20));
}

#[test]
fn an_entry_from_user_mode_ends_where_user_mode_goes_on() {
    let mut boot = Boot::new();
    // The stack pointer at the entry of a system call is the program's own.
    boot.user(100).entry(SYSCALL, Kind::Syscall, 0x7fff_0000, 3).enter(A, TASK - 64, 7).inside(SYSCALL, TASK - 56, 2);
    let stacks = boot.user(100).end();
    assert_eq!((edge(stacks, ROOT, SYSCALL), edge(stacks, SYSCALL, A)), (1, 1));
    assert_eq!((total(stacks, SYSCALL), total(stacks, A)), (12, 7));
}

#[test]
fn a_program_that_cannot_be_fetched_faults_before_any_of_its_blocks_begins() {
    let mut boot = Boot::new();
    boot.user(1).entry(SYSCALL, Kind::Syscall, 0x7fff_0000, 3);
    boot.from_user = true;
    let stacks = boot.entry(FAULT, Kind::Exception, TASK - 48, 4).user(1).end();
    assert_eq!((edge(stacks, ROOT, FAULT), edge(stacks, SYSCALL, FAULT)), (1, 0));
    assert_eq!((total(stacks, SYSCALL), total(stacks, FAULT)), (3, 4));
}

#[test]
fn time_of_another_task_is_in_no_total_and_a_new_stack_hangs_from_the_root() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).enter(SWITCH, TASK - 64, 2);
    boot.inside(SWITCH, OTHER_TASK - 256, 1).enter(SWITCH_TO, OTHER_TASK - 208, 4).enter(CHILD, OTHER_TASK - 200, 50);
    boot.enter(SWITCH, OTHER_TASK - 264, 2);
    boot.inside(SWITCH, TASK - 112, 1).enter(SWITCH_TO, TASK - 64, 4).inside(A, TASK - 56, 5);
    let stacks = boot.end();
    assert_eq!(stacks.happened().switches, 2);
    assert_eq!((edge(stacks, ROOT, SWITCH_TO), edge(stacks, SWITCH, SWITCH_TO), edge(stacks, ROOT, CHILD)), (1, 1, 1));
    assert_eq!((total(stacks, A), total(stacks, CHILD)), (22, 52));
}

#[test]
fn a_stack_of_a_task_that_ended_is_taken_over_empty() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 1).enter(SWITCH, TASK - 64, 1);
    boot.inside(SWITCH, OTHER_TASK - 256, 1).enter(CHILD, OTHER_TASK - 200, 1).enter(SWITCH, OTHER_TASK - 512, 1);
    boot.inside(SWITCH, TASK - 112, 1).inside(A, TASK - 56, 1).enter(SWITCH, TASK - 64, 1);
    boot.inside(SWITCH, OTHER_TASK - 256, 1).enter(CHILD, OTHER_TASK - 200, 1);
    let stacks = boot.end();
    assert_eq!(stacks.happened().abandoned_stacks, 1);
    assert_eq!((edge(stacks, ROOT, CHILD), edge(stacks, CHILD, CHILD)), (2, 0));
}

#[test]
fn entry_code_is_a_function_where_it_was_called_and_returns_where_it_was_called_from() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10).entry(FAULT, Kind::Exception, TASK - 64, 4);
    let back = boot.last_end;
    boot.word = Some(back);
    boot.entry(LABEL, Kind::Label, TASK - 72, 20);
    // It returns with a lower stack pointer than it was called with.
    let stacks = boot.block_at(back, Place::Inside(FAULT), TASK - 192, 5).inside(A, TASK - 8, 1).end();
    assert_eq!((edge(stacks, FAULT, LABEL), total(stacks, LABEL)), (1, 20));
}

#[test]
fn entry_code_that_is_run_into_is_no_function() {
    let mut boot = Boot::new();
    boot.entry(SYSCALL, Kind::Syscall, TASK - 8, 4).entry(LABEL, Kind::Label, TASK - 64, 20);
    let stacks = boot.user(1).end();
    assert_eq!(entries(stacks, LABEL), 0);
    assert_eq!(total(stacks, SYSCALL), 24);
}

#[test]
fn code_without_a_symbol_that_passes_a_call_on_is_no_function() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10);
    boot.word = Some(boot.last_end);
    boot.block(Place::Nameless, TASK - 32, 2).enter(B, TASK - 32, 5);
    let stacks = boot.inside(A, TASK - 24, 1).end();
    assert_eq!((edge(stacks, A, B), entries(stacks, NAMELESS)), (1, 0));
}

#[test]
fn code_without_a_symbol_that_was_called_and_stays_is_one() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10);
    boot.word = Some(boot.last_end);
    boot.block(Place::Nameless, TASK - 32, 2).enter(B, TASK - 64, 5).block(Place::Nameless, TASK - 56, 3);
    let stacks = boot.inside(A, TASK - 24, 1).end();
    assert_eq!((edge(stacks, A, NAMELESS), edge(stacks, NAMELESS, B)), (1, 1));
    assert_eq!(total(stacks, NAMELESS), 10);
}

#[test]
fn code_without_a_symbol_is_called_through_a_thunk_too() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10);
    let back = boot.last_end;
    boot.block(Place::Part, TASK - 32, 1);
    boot.word = Some(back);
    boot.block(Place::Nameless, TASK - 32, 2).block(Place::Nameless, TASK - 48, 3).inside(A, TASK - 24, 1);
    let stacks = boot.end();
    assert_eq!((edge(stacks, A, NAMELESS), total(stacks, NAMELESS)), (1, 5));
}

#[test]
fn a_function_entered_in_its_middle_is_reported_as_evidence() {
    let mut boot = Boot::new();
    let stacks = boot.enter(A, TASK - 8, 10).inside(B, TASK - 8, 4).inside(A, TASK - 8, 2).end();
    assert_eq!(stacks.elsewhere().get(&(A, B)), Some(&4));
}

#[test]
fn a_function_that_is_run_into_begins_in_the_middle_of_a_block() {
    let mut boot = Boot::new();
    boot.enter(A, TASK - 8, 10);
    let state = State {
        address: 0,
        sp: TASK - 8,
        link: None,
        now: 7,
        floating: 0,
        last_end: 0,
        last_call: 0,
        from_user: false,
    };
    boot.stacks.inside(B, state);
    let stacks = boot.end();
    assert_eq!((edge(stacks, A, B), total(stacks, B), total(stacks, A)), (1, 3, 10));
}

// Architectures with a link register: a call leaves the stack pointer as it is, and the register has the address behind it.
mod linked {
    use super::*;

    impl Boot {
        // A call to a first instruction from the end of the block before.
        fn call(&mut self, row: Row, sp: u64, length: u64) -> u64 {
            let back = self.last_end;
            self.link = Some(back);
            self.block_at(back + 0x1000, Place::Start(row, Kind::Function), sp, length);
            back
        }

        fn at(&mut self, address: u64, row: Row, sp: u64, length: u64) -> &mut Self {
            self.block_at(address, Place::Inside(row), sp, length)
        }
    }

    fn linked() -> Boot {
        let mut boot = Boot::new();
        boot.link = Some(0x10);
        boot
    }

    #[test]
    fn a_function_has_returned_where_control_is_behind_its_call_with_its_stack_pointer() {
        let mut boot = linked();
        boot.enter(A, TASK, 10);
        let behind = boot.call(B, TASK - 32, 5);
        boot.at(behind, A, TASK - 32, 3);
        let behind = boot.call(B, TASK - 32, 5);
        boot.at(behind, A, TASK - 32, 2);
        let stacks = boot.end();
        assert_eq!((edge(stacks, ROOT, A), edge(stacks, A, B), edge(stacks, B, B)), (1, 2, 0));
        assert_eq!((total(stacks, A), total(stacks, B)), (25, 10));
        assert_eq!(stacks.found()[B as usize].again, 0);
    }

    #[test]
    fn a_jump_in_tail_position_ends_with_what_jumped() {
        let mut boot = linked();
        boot.enter(A, TASK, 1);
        let behind = boot.call(B, TASK - 32, 2);
        boot.block_at(0x9000, Place::Start(C, Kind::Function), TASK - 32, 4);
        boot.at(behind, A, TASK - 32, 8);
        let stacks = boot.end();
        assert_eq!((edge(stacks, A, B), edge(stacks, B, C)), (1, 1));
        assert_eq!((total(stacks, A), total(stacks, B), total(stacks, C)), (15, 6, 4));
    }

    #[test]
    fn the_inner_call_of_a_recursion_does_not_end_where_the_outer_one_goes_on() {
        let mut boot = linked();
        boot.enter(A, TASK, 1);
        let behind = boot.call(B, TASK - 32, 1);
        // The same place of `B` calls `B` once more, and that calls `C`.
        boot.block_at(0x5000, Place::Inside(B), TASK - 64, 1);
        let inner = boot.call(B, TASK - 64, 1);
        boot.block_at(inner - 1, Place::Inside(B), TASK - 96, 1);
        let leaf = boot.call(C, TASK - 96, 1);
        assert_eq!(leaf, inner);
        boot.at(leaf, B, TASK - 96, 1).at(inner, B, TASK - 64, 1).at(behind, A, TASK - 32, 1);
        let stacks = boot.end();
        assert_eq!((edge(stacks, A, B), edge(stacks, B, B), edge(stacks, B, C)), (1, 1, 1));
        assert_eq!((total(stacks, B), total(stacks, C), total(stacks, A)), (7, 1, 9));
    }

    #[test]
    fn an_entry_from_the_kernel_ends_where_the_stack_pointer_is_above_its_first_call() {
        let mut boot = linked();
        boot.enter(A, TASK, 10);
        // Its first blocks have the stack pointer of what was interrupted; then it makes room for the registers.
        boot.entry(FAULT, Kind::Exception, TASK - 32, 3).inside(FAULT, TASK - 32, 2);
        let behind = boot.call(B, TASK - 400, 5);
        boot.at(behind, FAULT, TASK - 400, 4).at(0x7000, A, TASK - 32, 6);
        let stacks = boot.end();
        assert_eq!((edge(stacks, A, FAULT), edge(stacks, FAULT, B)), (1, 1));
        assert_eq!((total(stacks, FAULT), total(stacks, A)), (14, 30));
    }

    #[test]
    fn a_task_goes_on_behind_the_call_of_the_switch_that_it_was_left_in() {
        let mut boot = linked();
        boot.enter(A, TASK, 1);
        let behind = boot.call(SWITCH, TASK - 32, 2);
        boot.block_at(0xa000, Place::Start(CHILD, Kind::Function), OTHER_TASK, 4);
        let other = boot.call(SWITCH, OTHER_TASK - 32, 8);
        boot.at(behind, A, TASK - 32, 16);
        let again = boot.call(SWITCH, TASK - 32, 2);
        boot.at(other, CHILD, OTHER_TASK - 32, 32);
        let _ = again;
        let stacks = boot.end();
        assert_eq!(stacks.happened().switches, 3);
        assert_eq!((edge(stacks, ROOT, CHILD), edge(stacks, A, SWITCH), edge(stacks, CHILD, SWITCH)), (1, 2, 1));
        assert_eq!((total(stacks, A), total(stacks, CHILD)), (21, 44));
    }

    #[test]
    fn firmware_belongs_to_what_runs_whatever_its_stack_is() {
        let mut boot = linked();
        boot.block(Place::Firmware, 0x8004_0000, 100).enter(A, TASK, 10);
        boot.block(Place::Firmware, 0x8004_0000, 7)
            .inside(A, TASK - 32, 5)
            .user(1)
            .block(Place::Firmware, 0, 3)
            .user(1);
        let stacks = boot.end();
        assert_eq!(stacks.found()[A as usize].floating, 7);
        assert_eq!(total(stacks, A), 22);
        assert_eq!(stacks.floating_outside(), 103);
    }
}
