//! The instructions of ppc64le guests: marks, and the time base.
//!
//! Each mark is `addis R, R, 0` with R = 16 + NUMBER: it adds nothing to a register, and compilers have no use for it. It is none
//! of the no-operations with a meaning for the processor (Power ISA, "No-op instructions": forms of `ori`, `xori` and `or`).

use super::{MARK, MARK_STEP};
use crate::guest_marks::{mark_function, ready_function};

/// Nanoseconds of 64 counts. QEMU's `pseries` counts 512 million times a second (`SPAPR_TIMEBASE_FREQ`); a program in user mode
/// cannot read the frequency from the processor.
const NS_PER_64_COUNTS: u128 = 125;

mark_function!(guest_start, mark = MARK + 2 * MARK_STEP, ".long {mark}");
mark_function!(switch_root, mark = MARK + 3 * MARK_STEP, ".long {mark}");
ready_function!(
    mark = MARK + MARK_STEP, [".long {mark}", "mftb 3"], ["3" => count: u64],
    nanoseconds(count)
);

/// The time base in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to one period of
/// the time base.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: it reads a counter, which the processor leaves to user mode.
    unsafe { core::arch::asm!("mftb {count}", count = out(reg) count, options(nomem, nostack)) };
    nanoseconds(count)
}

fn nanoseconds(count: u64) -> u64 {
    (u128::from(count) * NS_PER_64_COUNTS / 64) as u64
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    (0x3e10_0000_u32 + number * 0x0021_0000).to_le_bytes().to_vec()
}
