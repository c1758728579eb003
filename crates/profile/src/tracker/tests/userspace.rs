//! Processes: what a task's instructions were executed for, and its system calls.

use super::*;
use crate::userspace::Spent;

const USER: u64 = 5_000;

/// A kernel with an entry of each kind; the first task runs.
fn entered() -> (Tracker, impl Fn(&str) -> u32) {
    let symbols = SymbolTable::parse(
        "1000 T _text\n1000 T __entry_text_start\n1000 T entry_SYSCALL_64\n1040 T asm_common_interrupt\n1080 T asm_exc_page_fault\n\
         10c0 T __entry_text_end\n1100 T do_syscall_64\n1200 T _etext\n",
    );
    let tracker = Tracker::new(&symbols, Watch::default());
    (tracker, move |name: &str| symbols.function(name).expect("a symbol"))
}

fn spent(tracker: &mut Tracker, now: u64) -> Spent {
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], now).write(&mut file).expect("memory is written");
    let recording = Recording::decode(&file).expect("what was written is read");
    recording.running.runs.last().expect("a task ran").spent
}

#[test]
fn every_instruction_is_the_users_the_kernels_or_an_interrupts() {
    let (mut tracker, function) = entered();
    tracker.kernel(1_000);
    assert!(tracker.leave_kernel(1_100));
    tracker.special(function("entry_SYSCALL_64"), USER);
    tracker.special(function("asm_common_interrupt"), USER + 40);
    tracker.special(function("asm_exc_page_fault"), USER + 43);
    assert!(!tracker.leave_kernel(USER + 45));
    assert!(!tracker.leave_kernel(USER + 50));
    assert!(tracker.leave_kernel(USER + 90));
    tracker.special(function("asm_exc_page_fault"), USER + 100);
    assert!(tracker.leave_kernel(USER + 130));
    let expected = Spent { user: 3_900 + 10 + 70, kernel: 100 + 40 + 40 + 30, interrupts: 10 };
    assert_eq!(spent(&mut tracker, USER + 200), expected);
}

#[test]
fn without_processes_no_user_code_is_followed() {
    let (mut tracker, _) = entered();
    tracker.follow_user_code();
    tracker.kernel(1_000);
    tracker.leave_kernel(1_100);
    tracker.snapshot(State::Running, &[], 1_200);
    tracker.processes_missing(crate::userspace::Missing::Types);
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], 1_300).write(&mut file).expect("memory is written");
    let recording = Recording::decode(&file).expect("what was written is read");
    assert!(!recording.processes.code.followed);
}

#[test]
fn a_system_call_has_its_own_instructions_and_no_interrupts() {
    let (mut tracker, function) = entered();
    tracker.kernel(1_000);
    tracker.leave_kernel(1_100);
    tracker.special(function("entry_SYSCALL_64"), USER);
    let row = tracker.system_call("openat", [1, 2, 3], Some("/etc/passwd"), USER + 5);
    tracker.special(function("asm_common_interrupt"), USER + 40);
    assert!(!tracker.leave_kernel(USER + 50));
    assert!(tracker.leave_kernel(USER + 90));
    assert_eq!(tracker.returns_from_call(USER + 90), Some(row));
    tracker.call_returned(row, -2, None);
    assert_eq!(tracker.returns_from_call(USER + 91), None);
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], USER + 100).write(&mut file).expect("memory is written");
    let recording = Recording::decode(&file).expect("what was written is read");
    let [call] = recording.processes.calls.as_slice() else { panic!("one call") };
    assert_eq!((call.start.instructions, call.end.map(|end| end.instructions)), (USER + 5, Some(USER + 90)));
    assert_eq!(call.spent, Spent { user: 0, kernel: 75, interrupts: 10 });
    assert_eq!(
        (call.result, call.path.map(|path| recording.processes.texts[path as usize].as_str())),
        (Some(-2), Some("/etc/passwd"))
    );
}
