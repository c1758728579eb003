//! What a return ends: the frame whose return address it takes, all that were called from there, and all that this frame
//! had replaced by a jump.

use super::*;

#[test]
fn a_return_past_open_calls_ends_every_function_that_shares_its_address() {
    let mut boot = Boot::played("call work 0x8ff8 10; enter schedule 2; enter __switch_to 3; call helper 0x8fe0 4");
    // `helper` never returns: the stack is unwound to where `start_kernel` goes on.
    boot.ret("__switch_to", 0x8ff8, 5);
    let recording = boot.tree(
        7,
        [
            "[boot]/start_kernel 1 17",
            "__switch_to/helper 1 5",
            "schedule/__switch_to 1 4",
            "start_kernel/work 1 2",
            "work/schedule 1 3",
        ],
    );
    assert_eq!(recording.counts.open_frames, 1, "only `start_kernel` is open");
}

#[test]
fn a_return_past_open_calls_leaves_the_callers_below_alone() {
    let boot = Boot::played(
        "call work 0x8ff8 10; call schedule 0x8ff0 2; enter __switch_to 3; call helper 0x8fe0 4;\
         ret __switch_to 0x8ff0 5; ret work 0x8ff8 6",
    );
    let recording = boot.tree(
        7,
        [
            "[boot]/start_kernel 1 17",
            "__switch_to/helper 1 5",
            "schedule/__switch_to 1 4",
            "start_kernel/work 1 8",
            "work/schedule 1 3",
        ],
    );
    assert_eq!(recording.counts.open_frames, 1, "only `start_kernel` is open");
}
