//! The instructions of riscv64 guests: marks, and the counter of time.
//!
//! Each mark is `lui x0, 0x4c000 + NUMBER`: a write to the register that takes no value. The specification leaves these
//! instructions to programs ("HINT Instructions" of RV32I in the RISC-V Unprivileged ISA); compilers have no use for them.

use super::{MARK, MARK_NUMBER_AT};
use crate::guest_marks::{mark_function, ready_function};

/// Nanoseconds of one count. QEMU's `virt` counts ten million times a second (`RISCV_ACLINT_DEFAULT_TIMEBASE_FREQ`); a
/// program in user mode cannot read the frequency from the processor.
const NS_PER_COUNT: u64 = 100;

mark_function!(guest_start, mark = MARK | 2 << MARK_NUMBER_AT, ".4byte {mark}");
mark_function!(switch_root, mark = MARK | 3 << MARK_NUMBER_AT, ".4byte {mark}");
ready_function!(
    mark = MARK | 1 << MARK_NUMBER_AT, [".4byte {mark}", "rdtime a0"], ["a0" => count: u64],
    count.saturating_mul(NS_PER_COUNT)
);

/// The counter of time in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to one
/// period of the counter.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: it reads a counter, which Linux leaves to user mode.
    unsafe { core::arch::asm!("rdtime {count}", count = out(reg) count, options(nomem, nostack)) };
    count.saturating_mul(NS_PER_COUNT)
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    (0x4c00_0037_u32 | number << 12).to_le_bytes().to_vec()
}
