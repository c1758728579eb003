//! The instructions of x86_64 guests: marks, and the time stamp counter.
//!
//! Each mark is the eight-byte no-operation `0f 1f 84 00 II II II II`, whose displacement is [`MARK_BASE`] plus the mark's
//! number.

use super::MARK_BASE;
use crate::guest_marks::{mark_function, ready_function};

mark_function!(guest_start, mark = MARK_BASE + 2, ".byte 0x0f, 0x1f, 0x84, 0x00", ".long {mark}");
mark_function!(switch_root, mark = MARK_BASE + 3, ".byte 0x0f, 0x1f, 0x84, 0x00", ".long {mark}");
ready_function!(
    mark = MARK_BASE + 1, [".byte 0x0f, 0x1f, 0x84, 0x00", ".long {mark}", "rdtsc"],
    ["eax" => low: u32, "edx" => high: u32],
    u64::from(high) << 32 | u64::from(low)
);

/// The processor's time stamp counter: where QEMU counts instructions, the virtual time from power on in nanoseconds.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    // SAFETY: it reads a counter; every x86_64 has it, and the guests here leave it to user mode.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    [&[0x0f, 0x1f, 0x84, 0x00][..], &(0x4c46_0000_u32 + number).to_le_bytes()].concat()
}
