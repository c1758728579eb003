//! The instructions of x86_64 guests: marks, and the time stamp counter.
//!
//! Each mark is the eight-byte no-operation `0f 1f 84 00 II II II II`, whose displacement is [`MARK_BASE`] plus the mark's
//! number.

use super::MARK_BASE;

/// One mark's instruction. There is no intrinsic for a no-operation with a chosen displacement.
macro_rules! mark_function {
    ($name:ident, $number:literal) => {
        #[inline(never)]
        #[expect(unsafe_code, reason = "a mark is one instruction, and only inline assembly can choose its bytes")]
        pub(crate) fn $name() {
            // SAFETY: the instruction is a no-operation: it touches neither memory, nor registers, nor flags, nor the
            // stack. Without `nomem` the compiler keeps everything that was done before the mark before it.
            unsafe {
                core::arch::asm!(
                    ".byte 0x0f, 0x1f, 0x84, 0x00",
                    ".long {displacement}",
                    displacement = const MARK_BASE + $number,
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
/// Returns the processor's time stamp counter one instruction after the mark. Where QEMU counts instructions, that is
/// the virtual time from power on in nanoseconds (`cpus_get_elapsed_ticks`): a boot without profile knows no other.
#[inline(never)]
#[expect(
    unsafe_code,
    reason = "the mark and the reading have to be neighbours, and only inline assembly keeps them so"
)]
pub fn ready() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: a no-operation, and an instruction that reads a counter into the two registers named; every x86_64 has it.
    unsafe {
        core::arch::asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {displacement}",
            "rdtsc",
            displacement = const MARK_BASE + 1,
            out("eax") low,
            out("edx") high,
            options(nostack, preserves_flags),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// The processor's time stamp counter: where QEMU counts instructions, the virtual time from power on in nanoseconds.
#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
pub fn counter() -> u64 {
    // SAFETY: it reads a counter; every x86_64 has it, and the guests here leave it to user mode.
    unsafe { core::arch::x86_64::_rdtsc() }
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
        for number in 1..=3_u8 {
            let bytes = [0x0f, 0x1f, 0x84, 0x00, number, 0x00, 0x46, 0x4c];
            assert!(binary.windows(8).any(|window| window == bytes), "mark {number}");
        }
    }
}
