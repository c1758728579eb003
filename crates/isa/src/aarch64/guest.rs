//! The instructions of aarch64 guests: marks, and the generic timer.
//!
//! Each mark is `movz xzr, #(0x4c00 + NUMBER), lsl #48`: a write to the register that takes no value. Compilers have no use
//! for it (Arm Architecture Reference Manual, C6.2 "MOVZ").

use super::{MARK, MARK_NUMBER_AT};
use crate::guest_marks::{mark_function, ready_function};

const NS_PER_SECOND: u128 = 1_000_000_000;

mark_function!(guest_start, mark = MARK | 2 << MARK_NUMBER_AT, ".inst {mark}");
mark_function!(switch_root, mark = MARK | 3 << MARK_NUMBER_AT, ".inst {mark}");
ready_function!(
    mark = MARK | 1 << MARK_NUMBER_AT, [".inst {mark}", "mrs x0, cntvct_el0"], ["x0" => count: u64],
    nanoseconds(count)
);

/// The generic timer's count in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to
/// one period of the timer.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: it reads a counter, which Linux leaves to user mode.
    unsafe { core::arch::asm!("mrs {count}, cntvct_el0", count = out(reg) count, options(nomem, nostack)) };
    nanoseconds(count)
}

fn nanoseconds(count: u64) -> u64 {
    (u128::from(count) * NS_PER_SECOND / u128::from(frequency().max(1))) as u64
}

/// Counts of the generic timer in a second.
#[expect(unsafe_code, reason = "the register has no reading that is safe")]
fn frequency() -> u64 {
    let frequency: u64;
    // SAFETY: it reads a register that does not change, which Linux leaves to user mode.
    unsafe { core::arch::asm!("mrs {frequency}, cntfrq_el0", frequency = out(reg) frequency, options(nomem, nostack)) };
    frequency
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    (0xd2e9_801f_u32 | number << 5).to_le_bytes().to_vec()
}
