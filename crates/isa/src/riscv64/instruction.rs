//! The few instructions of RV64GC that move control between functions, decoded from their four bytes, or two where they are
//! compressed.

use super::{MARK, MARK_NUMBER_AT};
use crate::Flow;

const MARK_NUMBERS: u32 = 0xff << MARK_NUMBER_AT;
const STACK_POINTER: u32 = 2;
const ALTERNATE_LINK: u32 = 5;

/// Says what the instruction of these bytes, at this address, does.
///
/// Encodings: the RISC-V Unprivileged ISA, "RV32/64G Instruction Set Listings" and "RVC Instruction Set Listings". A jump that
/// leaves its return address in `ra` or `t0` is a call, and one to the address in either is a return ("Unconditional Jumps").
///
/// ```
/// use firstlight_isa::{Flow, Isa, Riscv64};
/// let flow = |word: u32, address| Riscv64::flow(&word.to_le_bytes(), address);
/// assert_eq!(flow(0x00c0_00ef, 0x1000), Flow::Call(0x100c));        // jal ra, .+12
/// assert_eq!(Riscv64::flow(&[0x82, 0x80], 0), Flow::Return);        // c.jr ra
/// assert_eq!(flow(0x1020_0073, 0), Flow::InterruptReturn);          // sret
/// assert_eq!(Riscv64::flow(&[0xef, 0], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    let Some(half) = bytes.first_chunk().map(|half| u16::from_le_bytes(*half)) else { return Flow::Incomplete };
    if half & 3 != 3 {
        return compressed(u32::from(half), address);
    }
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return Flow::Incomplete };
    let (to, from) = (word >> 7 & 31, word >> 15 & 31);
    match word & 0x7f {
        _ if word & !MARK_NUMBERS == MARK => Flow::Mark(((word & MARK_NUMBERS) >> MARK_NUMBER_AT) as u16),
        // JAL.
        0x6f if is_link(to) => Flow::Call(address.wrapping_add_signed(jump_offset(word))),
        0x6f => Flow::Jump(address.wrapping_add_signed(jump_offset(word))),
        // JALR.
        0x67 if word >> 12 & 7 == 0 => match () {
            () if is_link(to) => Flow::CallIndirect,
            () if is_link(from) => Flow::Return,
            () => Flow::JumpIndirect,
        },
        // SRET, MRET.
        0x73 if matches!(word, 0x1020_0073 | 0x3020_0073) => Flow::InterruptReturn,
        // `ld sp, OFFSET(xN)`.
        0x03 if word >> 12 & 7 == 3 && to == STACK_POINTER => Flow::TakeStack,
        _ => Flow::Other,
    }
}

fn compressed(half: u32, address: u64) -> Flow {
    let (register, other) = (half >> 7 & 31, half >> 2 & 31);
    match (half & 3, half >> 13, half >> 12 & 1) {
        // C.J.
        (1, 0b101, _) => Flow::Jump(address.wrapping_add_signed(short_offset(half))),
        // C.JR, C.JALR.
        (2, 0b100, 0) if other == 0 && is_link(register) => Flow::Return,
        (2, 0b100, 0) if other == 0 && register != 0 => Flow::JumpIndirect,
        (2, 0b100, 1) if other == 0 && register != 0 => Flow::CallIndirect,
        // `c.ldsp sp, OFFSET(sp)`.
        (2, 0b011, _) if register == STACK_POINTER => Flow::TakeStack,
        _ => Flow::Other,
    }
}

/// Where an `auipc` at this address and the `jalr` behind it go, if the one takes the other's register and leaves its return address:
/// what assemblers make of `call` ("Unconditional Jumps").
///
/// ```
/// use firstlight_isa::{Isa, Riscv64};
/// let far = |front: u32, call: u32| Riscv64::far_call(&front.to_le_bytes(), &call.to_le_bytes(), 0x8000_1000);
/// assert_eq!(far(0x0000_2097, 0xff00_80e7), Some(0x8000_2ff0));     // auipc ra, 2; jalr ra, -16(ra)
/// assert_eq!(far(0x0000_2297, 0xff00_80e7), None);                  // auipc t0, 2; jalr ra, -16(ra)
/// ```
pub(super) fn far_call(front: &[u8], call: &[u8], address: u64) -> Option<u64> {
    let word = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).ok().map(u32::from_le_bytes);
    let (front, call) = word(front).zip(word(call))?;
    let (computed, taken, to) = (front >> 7 & 31, call >> 15 & 31, call >> 7 & 31);
    let is_pair = front & 0x7f == 0x17 && call & 0x707f == 0x67 && computed == taken && computed != 0 && is_link(to);
    let (upper, lower) = ((front & !0xfff) as i32, call as i32 >> 20);
    is_pair.then(|| address.wrapping_add_signed(i64::from(upper)).wrapping_add_signed(i64::from(lower)))
}

/// Whether this call leaves its return address in `t0`, as calls of tracers and of BPF's trampolines do (arch/riscv/kernel/ftrace.c).
///
/// ```
/// use firstlight_isa::{Isa, Riscv64};
/// assert!(Riscv64::links_elsewhere(&0xff02_82e7_u32.to_le_bytes()));   // jalr t0, -16(t0)
/// assert!(!Riscv64::links_elsewhere(&0xff00_80e7_u32.to_le_bytes()));  // jalr ra, -16(ra)
/// ```
pub(super) fn links_elsewhere(call: &[u8]) -> bool {
    let word = call.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    matches!(word & 0x7f, 0x67 | 0x6f) && word >> 7 & 31 == ALTERNATE_LINK
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Isa, Riscv64};
/// assert!(Riscv64::runs_through(&[0x01, 0, 0x13, 0, 0, 0]));        // c.nop; nop
/// assert!(!Riscv64::runs_through(&[0x01, 0xc1]));                   // c.beqz a0
/// assert!(!Riscv64::runs_through(&[0x13, 0]));                      // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [low, ..] = *rest {
        let length = if low & 3 == 3 { 4 } else { 2 };
        let Some((instruction, behind)) = rest.split_at_checked(length) else { return false };
        let passes = matches!(flow(instruction, 0), Flow::Other | Flow::Mark(_) | Flow::TakeStack);
        if !passes || is_conditional(instruction) || is_exception(instruction) {
            return false;
        }
        rest = behind;
    }
    true
}

// BEQ and its like; C.BEQZ, C.BNEZ.
fn is_conditional(instruction: &[u8]) -> bool {
    match *instruction {
        [low, high] => low & 3 == 1 && high >> 6 == 0b11,
        [low, ..] => low & 0x7f == 0x63,
        [] => false,
    }
}

// ECALL, EBREAK, WFI and their like; C.EBREAK.
fn is_exception(instruction: &[u8]) -> bool {
    match *instruction {
        [0x02, 0x90] => true,
        [low, high, ..] => low & 0x7f == 0x73 && high >> 4 & 7 == 0,
        _ => false,
    }
}

// `ra` and `t0`.
fn is_link(register: u32) -> bool {
    matches!(register, 1 | ALTERNATE_LINK)
}

// Twenty bits with a sign, in half words, in the order 20, 10..1, 11, 19..12.
fn jump_offset(word: u32) -> i64 {
    let high = i64::from((word as i32) >> 31) << 20;
    let middle = word & 0xf_f000 | word >> 9 & 0x800 | word >> 20 & 0x7fe;
    high | i64::from(middle)
}

// Eleven bits with a sign, in half words, in the order 11, 4, 9..8, 10, 6, 7, 3..1, 5.
fn short_offset(half: u32) -> i64 {
    let bit = |from: u32, to: u32| (half >> from & 1) << to;
    let low = bit(3, 1) | bit(4, 2) | bit(5, 3) | bit(11, 4) | bit(2, 5) | bit(7, 6) | bit(6, 7);
    let high = bit(9, 8) | bit(10, 9) | bit(8, 10);
    i64::from(low | high) - (i64::from(bit(12, 11)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(word: u32) -> Flow {
        flow(&word.to_le_bytes(), 0x1000)
    }

    fn short(half: u16) -> Flow {
        flow(&half.to_le_bytes(), 0x1000)
    }

    #[test]
    fn calls_and_jumps_know_their_targets() {
        assert_eq!(of(0x0080_00ef), Flow::Call(0x1008)); // jal ra, .+8
        assert_eq!(of(0xffdf_f0ef), Flow::Call(0xffc)); // jal ra, .-4
        assert_eq!(of(0x0000_12ef), Flow::Call(0x2000)); // jal t0, .+0x1000
        assert_eq!(of(0x0010_00ef), Flow::Call(0x1800)); // jal ra, .+0x800
        assert_eq!(of(0x0080_006f), Flow::Jump(0x1008)); // j .+8
        assert_eq!(short(0xa021), Flow::Jump(0x1008)); // c.j .+8
        assert_eq!(short(0xbff5), Flow::Jump(0xffc)); // c.j .-4
        assert_eq!(short(0xa801), Flow::Jump(0x1010)); // c.j .+16
    }

    #[test]
    fn calls_jumps_and_returns_by_register() {
        // jalr ra, 0(a5); jalr t0, 0(t0); jalr ra, -8(ra).
        for word in [0x0007_80e7, 0x0002_82e7, 0xff80_80e7] {
            assert_eq!(of(word), Flow::CallIndirect, "{word:x}");
        }
        assert_eq!(of(0x0007_8067), Flow::JumpIndirect); // jr a5
        assert_eq!(of(0x0000_8067), Flow::Return); // ret
        assert_eq!(of(0x0002_8067), Flow::Return); // jr t0
        assert_eq!(short(0x9782), Flow::CallIndirect); // c.jalr a5
        assert_eq!(short(0x8782), Flow::JumpIndirect); // c.jr a5
        assert_eq!(short(0x8082), Flow::Return); // c.jr ra
        assert_eq!(short(0x8282), Flow::Return); // c.jr t0
        assert_eq!(short(0x87aa), Flow::Other); // c.mv a5, a0
        assert_eq!(short(0x97aa), Flow::Other); // c.add a5, a0
        assert_eq!(short(0x9002), Flow::Other); // c.ebreak
        assert_eq!(of(0x3020_0073), Flow::InterruptReturn); // mret
    }

    #[test]
    fn a_switch_takes_its_stack_from_memory() {
        assert_eq!(of(0x0087_3103), Flow::TakeStack); // ld sp, 8(a4)
        assert_eq!(of(0x0087_3083), Flow::Other); // ld ra, 8(a4)
        assert_eq!(short(0x6142), Flow::TakeStack); // c.ldsp sp, 16(sp)
    }

    #[test]
    fn only_our_no_operation_is_a_mark() {
        assert_eq!(of(0x4c00_1037), Flow::Mark(1));
        assert_eq!(of(0x4c00_3037), Flow::Mark(3));
        assert_eq!(of(0x4c00_1537), Flow::Other); // into a0
        assert_eq!(of(0x0000_0013), Flow::Other); // nop
    }

    #[test]
    fn branches_and_exceptions_end_what_is_run_through() {
        assert!(runs_through(&[0x01, 0x00, 0x01, 0x00]));
        // beq a0, a1; jal; ecall; ebreak; wfi.
        for word in [0x00b5_0463_u32, 0x0080_00ef, 0x0000_0073, 0x0010_0073, 0x1050_0073] {
            assert!(!runs_through(&word.to_le_bytes()), "{word:x}");
        }
        // c.bnez a0; c.j; c.ebreak.
        for half in [0xe111_u16, 0xa021, 0x9002] {
            assert!(!runs_through(&half.to_le_bytes()), "{half:x}");
        }
        assert!(runs_through(&0x1000_2573_u32.to_le_bytes())); // csrr a0, sstatus
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(word: u32, length in 0_usize..4) {
            let bytes = (word | 3).to_le_bytes();
            prop_assert_eq!(flow(&bytes[..length], 0), Flow::Incomplete);
        }

        #[test]
        fn offsets_of_jumps_are_those_that_were_encoded(offset in -(1_i64 << 19)..1 << 19) {
            let offset = offset * 2;
            let bits = offset as u32;
            let word = (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12 | 0xef;
            prop_assert_eq!(flow(&word.to_le_bytes(), 1 << 40), Flow::Call((1_u64 << 40).wrapping_add_signed(offset)));
        }
    }
}
