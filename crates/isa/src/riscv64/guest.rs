//! The instructions of riscv64 guests: marks, and the counter of time.
//!
//! Each mark is `lui x0, 0x4c000 + NUMBER`: a write to the register that takes no value. The specification leaves these
//! instructions to programs ("HINT Instructions" of RV32I in the RISC-V Unprivileged ISA); compilers have no use for them.

use super::{MARK, MARK_NUMBER_AT};

/// Nanoseconds of one count. QEMU's `virt` counts ten million times a second (`RISCV_ACLINT_DEFAULT_TIMEBASE_FREQ`); a
/// program in user mode cannot read the frequency from the processor.
const NS_PER_COUNT: u64 = 100;

/// One mark's instruction. There is no intrinsic for a no-operation with a chosen immediate.
macro_rules! mark_function {
    ($name:ident, $number:literal) => {
        #[inline(never)]
        #[expect(unsafe_code, reason = "a mark is one instruction, and only inline assembly can choose its bytes")]
        pub(crate) fn $name() {
            // SAFETY: the instruction is a no-operation: it touches neither memory, nor registers, nor the stack. Without
            // `nomem` the compiler keeps everything that was done before the mark before it.
            unsafe {
                core::arch::asm!(
                    ".4byte {mark}",
                    mark = const MARK | $number << MARK_NUMBER_AT,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

mark_function!(guest_start, 2);
mark_function!(switch_root, 3);

/// Gives the mark at which the recorded boot ends.
///
/// Returns the counter of time one instruction after the mark, in nanoseconds. Where QEMU counts instructions, that is the
/// virtual time from power on, rounded down to one period of the counter: a boot without profile knows no other.
#[inline(never)]
#[expect(
    unsafe_code,
    reason = "the mark and the reading have to be neighbours, and only inline assembly keeps them so"
)]
pub fn ready() -> u64 {
    let count: u64;
    // SAFETY: a no-operation, and an instruction that reads a counter into the register named; Linux leaves the counter to
    // user mode. The register is chosen here, so that the bytes of the mark and the reading are the same in every build.
    unsafe {
        core::arch::asm!(
            ".4byte {mark}",
            "rdtime a0",
            mark = const MARK | 1 << MARK_NUMBER_AT,
            out("a0") count,
            options(nostack, preserves_flags),
        );
    }
    count.saturating_mul(NS_PER_COUNT)
}

/// The counter of time in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to one
/// period of the counter.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: it reads a counter, which Linux leaves to user mode.
    unsafe { core::arch::asm!("rdtime {count}", count = out(reg) count, options(nomem, nostack)) };
    count.saturating_mul(NS_PER_COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_holds_each_mark_exactly_as_specified() {
        guest_start();
        switch_root();
        assert!(ready() > 0);
        let binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for number in 1..=3_u32 {
            let bytes = (0x4c00_0037_u32 | number << 12).to_le_bytes();
            assert!(binary.windows(4).any(|window| window == bytes), "mark {number}");
        }
    }
}
