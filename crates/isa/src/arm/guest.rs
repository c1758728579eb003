//! The instructions of guests on 32-bit Arm: marks, and the generic timer.
//!
//! Each mark is `hint #(0x40 + NUMBER)` of the instruction set A32. The architecture gives these hints no meaning, so every
//! processor executes them as no-operations (Arm Architecture Reference Manual, Armv7-A, A5.2.11); compilers do not use them.

use super::MARK;
use crate::guest_marks::{mark_function, ready_function};

const NS_PER_SECOND: u128 = 1_000_000_000;

mark_function!(guest_start, mark = MARK + 2, ".inst {mark}");
mark_function!(switch_root, mark = MARK + 3, ".inst {mark}");
ready_function!(
    mark = MARK + 1, [".inst {mark}", "mrrc p15, 1, r0, r1, c14"], ["r0" => low: u32, "r1" => high: u32],
    nanoseconds(low, high)
);

/// The generic timer's count in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to
/// one period of the timer.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: it reads a counter, which Linux leaves to user mode.
    unsafe {
        core::arch::asm!(
            "mrrc p15, 1, {low}, {high}, c14",
            low = out(reg) low,
            high = out(reg) high,
            options(nomem, nostack)
        );
    }
    nanoseconds(low, high)
}

fn nanoseconds(low: u32, high: u32) -> u64 {
    let count = u128::from(high) << 32 | u128::from(low);
    (count * NS_PER_SECOND / u128::from(frequency().max(1))) as u64
}

/// Counts of the generic timer in a second.
#[expect(unsafe_code, reason = "the register has no reading that is safe")]
fn frequency() -> u32 {
    let frequency: u32;
    // SAFETY: it reads a register that does not change, which Linux leaves to user mode.
    unsafe {
        core::arch::asm!("mrc p15, 0, {frequency}, c14, c0, 0", frequency = out(reg) frequency, options(nomem, nostack));
    }
    frequency
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    (0xe320_f040_u32 + number).to_le_bytes().to_vec()
}
