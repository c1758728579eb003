//! Marks: single instructions that do nothing, which the plugin sees from outside.
//!
//! Each mark is the eight-byte no-operation `0f 1f 84 00 II II II II`, whose displacement is `0x4c46_0000` plus the
//! mark's number. Each stands at the start of a function of its own that is never inlined: the plugin notices a mark
//! when the block that holds it is translated, so nothing may stand before it in that block that could fault.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the marks are defined for x86_64 only, see docs/reference/formats/guest-report.md");

/// A named instant that the guest gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// First line of the helper's `main`, as first process.
    GuestStart,
    /// About to execute the new root's init.
    SwitchRoot,
}

/// One mark's instruction. There is no intrinsic for a no-operation with a chosen displacement.
macro_rules! mark_function {
    ($name:ident, $number:literal) => {
        #[inline(never)]
        #[expect(unsafe_code, reason = "a mark is one instruction, and only inline assembly can choose its bytes")]
        fn $name() {
            // SAFETY: the instruction is a no-operation: it touches neither memory, nor registers, nor flags, nor the
            // stack. Without `nomem` the compiler keeps everything that was done before the mark before it.
            unsafe {
                core::arch::asm!(
                    ".byte 0x0f, 0x1f, 0x84, 0x00",
                    ".long {displacement}",
                    displacement = const 0x4c46_0000_i32 + $number,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

mark_function!(guest_start, 2);
mark_function!(switch_root, 3);

/// Gives a mark.
pub fn give(mark: Mark) {
    match mark {
        Mark::GuestStart => guest_start(),
        Mark::SwitchRoot => switch_root(),
    }
}

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
            displacement = const 0x4c46_0001_i32,
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
        for mark in [Mark::GuestStart, Mark::SwitchRoot] {
            give(mark);
        }
        assert!(ready() > 0);
        let binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for number in 1..=3_u8 {
            let bytes = [0x0f, 0x1f, 0x84, 0x00, number, 0x00, 0x46, 0x4c];
            assert!(binary.windows(8).any(|window| window == bytes), "mark {number}");
        }
    }
}
