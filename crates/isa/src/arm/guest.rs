//! The instructions of guests on 32-bit Arm: marks, and the generic timer.
//!
//! Each mark is `hint #(0x40 + NUMBER)` of the instruction set A32. The architecture gives these hints no meaning, so every
//! processor executes them as no-operations (Arm Architecture Reference Manual, Armv7-A, A5.2.11); compilers do not use them.

use super::MARK;

const NS_PER_SECOND: u128 = 1_000_000_000;

/// One mark's instruction. There is no intrinsic for a no-operation with a chosen immediate.
macro_rules! mark_function {
    ($name:ident, $number:literal) => {
        #[inline(never)]
        #[expect(unsafe_code, reason = "a mark is one instruction, and only inline assembly can choose its bytes")]
        pub(crate) fn $name() {
            // SAFETY: the instruction is a no-operation: it touches neither memory, nor registers, nor flags, nor the
            // stack. Without `nomem` the compiler keeps everything that was done before the mark before it.
            unsafe {
                core::arch::asm!(
                    ".inst {mark}",
                    mark = const MARK + $number,
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
/// Returns the generic timer's count one instruction after the mark, in nanoseconds. Where QEMU counts instructions, that is
/// the virtual time from power on, rounded down to one period of the timer: a boot without profile knows no other.
#[inline(never)]
#[expect(
    unsafe_code,
    reason = "the mark and the reading have to be neighbours, and only inline assembly keeps them so"
)]
pub fn ready() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: a no-operation, and an instruction that reads a counter into the registers named; Linux leaves the counter to
    // user mode. The registers are chosen here, so that the bytes of the mark and the reading are the same in every build.
    unsafe {
        core::arch::asm!(
            ".inst {mark}",
            "mrrc p15, 1, r0, r1, c14",
            mark = const MARK + 1,
            out("r0") low,
            out("r1") high,
            options(nostack, preserves_flags),
        );
    }
    nanoseconds(low, high)
}

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
            let bytes = (0xe320_f040_u32 + number).to_le_bytes();
            assert!(binary.windows(4).any(|window| window == bytes), "mark {number}");
        }
    }
}
