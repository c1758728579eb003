//! The few instructions of 64-bit MIPS that move control between functions, decoded from their four bytes.
//!
//! The instruction behind a jump or branch, in its *delay slot*, is executed before control moves. So a call returns to the second instruction
//! behind it.

use super::MARK;
use crate::Flow;

const MARK_NUMBERS: u32 = 0xff;
const STACK_POINTER: u32 = 29;
const LINK: u32 = 31;
/// Bytes of a jump or branch with its delay slot.
const CALL_BYTES: u64 = 8;

// Major opcodes, in the upper six bits.
const SPECIAL: u32 = 0x00;
const REGIMM: u32 = 0x01;
const JUMP: u32 = 0x02;
const JUMP_AND_LINK: u32 = 0x03;
const COPROCESSOR_0: u32 = 0x10;
const COPROCESSOR_1: u32 = 0x11;
const LOAD_DOUBLEWORD: u32 = 0x37;
/// `b`, which is `beq $0, $0`: the register numbers are zero.
const BRANCH_ALWAYS: u32 = 0x1000;

/// Says what the instruction of these bytes, at this address, does.
///
/// Encodings: MIPS Architecture For Programmers, volume II-A, revision 5, "Instruction Encoding" (second release).
///
/// ```
/// use firstlight_isa::{Flow, Isa, Mips64el};
/// let flow = |word: u32, address| Mips64el::flow(&word.to_le_bytes(), address);
/// assert_eq!(flow(0x0c04_5bc8, 0xffff_ffff_8010_0424), Flow::Call(0xffff_ffff_8011_6f20)); // jal
/// assert_eq!(flow(0x0040_f809, 0), Flow::CallIndirect);             // jalr v0
/// assert_eq!(flow(0x03e0_0008, 0), Flow::Return);                   // jr ra
/// assert_eq!(flow(0x4200_0018, 0), Flow::InterruptReturn);          // eret
/// assert_eq!(Mips64el::flow(&[0x08, 0, 0xe0], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return Flow::Incomplete };
    if word & !MARK_NUMBERS == MARK {
        return Flow::Mark((word & MARK_NUMBERS) as u16);
    }
    let (from, to) = (word >> 21 & 31, word >> 16 & 31);
    match word >> 26 {
        SPECIAL => by_register(word, from),
        JUMP => Flow::Jump(in_region(word, address)),
        JUMP_AND_LINK => Flow::Call(in_region(word, address)),
        // BLTZAL, BGEZAL, BLTZALL, BGEZALL. What calls the instruction behind it reads the program counter.
        REGIMM if matches!(to, 0x10..=0x13) => match relative(word, address) {
            target if target == address.wrapping_add(CALL_BYTES) => Flow::Other,
            target => Flow::Call(target),
        },
        _ if word >> 16 == BRANCH_ALWAYS => Flow::Jump(relative(word, address)),
        // ERET, ERETNC, DERET.
        COPROCESSOR_0 if matches!(word, 0x4200_0018 | 0x4200_0058 | 0x4200_001f) => Flow::InterruptReturn,
        // `ld sp, OFFSET(BASE)`.
        LOAD_DOUBLEWORD if to == STACK_POINTER => Flow::TakeStack,
        _ => Flow::Other,
    }
}

// JR, JALR, whatever they hint at (`jr.hb`).
fn by_register(word: u32, from: u32) -> Flow {
    match word & 0x3f {
        0x08 if from == LINK => Flow::Return,
        0x08 => Flow::JumpIndirect,
        0x09 => Flow::CallIndirect,
        _ => Flow::Other,
    }
}

// The 256 MiB that have the instruction in the delay slot.
fn in_region(word: u32, address: u64) -> u64 {
    address.wrapping_add(4) & !0xfff_ffff | u64::from(word & 0x3ff_ffff) << 2
}

// Sixteen bits with a sign, in words, from the delay slot on.
fn relative(word: u32, address: u64) -> u64 {
    address.wrapping_add(4).wrapping_add_signed(i64::from(word as i16) * 4)
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Isa, Mips64el};
/// assert!(Mips64el::runs_through(&[0, 0, 0, 0]));                           // nop
/// assert!(!Mips64el::runs_through(&0x1440_fff9_u32.to_le_bytes()));         // bnez v0
/// assert!(!Mips64el::runs_through(&[0, 0]));                                // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    bytes.chunks(4).all(|bytes| {
        let word = bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
        word.is_some_and(|word| !is_branch(word) && !is_exception(word))
            && matches!(flow(bytes, 0), Flow::Other | Flow::Mark(_) | Flow::TakeStack)
    })
}

// Branches that do not always go elsewhere; and traps by an immediate, in REGIMM with them.
fn is_branch(word: u32) -> bool {
    match word >> 26 {
        REGIMM => true,
        // BEQ, BNE, BLEZ, BGTZ; the same, likely.
        0x04..=0x07 | 0x14..=0x17 => true,
        COPROCESSOR_1 => word >> 21 & 31 == 0x08,
        _ => false,
    }
}

// SYSCALL, BREAK, TGE and its like; WAIT.
fn is_exception(word: u32) -> bool {
    match word >> 26 {
        SPECIAL => matches!(word & 0x3f, 0x0c | 0x0d | 0x30..=0x36),
        COPROCESSOR_0 => word >> 25 & 1 == 1 && word & 0x3f == 0x20,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AT: u64 = 0xffff_ffff_8010_0000;

    fn of(word: u32) -> Flow {
        flow(&word.to_le_bytes(), AT)
    }

    // Words and targets as the assembler of GNU binutils writes them, and its disassembler reads them.
    #[test]
    fn calls_and_jumps_know_their_targets() {
        assert_eq!(of(0x0c04_5bc8), Flow::Call(0xffff_ffff_8011_6f20)); // jal
        assert_eq!(of(0x0804_0fa6), Flow::Jump(0xffff_ffff_8010_3e98)); // j
        assert_eq!(of(0x0411_0003), Flow::Call(AT + 16)); // bal .+16
        assert_eq!(of(0x0411_fffd), Flow::Call(AT - 8)); // bal .-8
        assert_eq!(of(0x0491_0003), Flow::Call(AT + 16)); // bgezal a0, .+16
        assert_eq!(of(0x0490_0003), Flow::Call(AT + 16)); // bltzal a0, .+16
        assert_eq!(of(0x0493_0003), Flow::Call(AT + 16)); // bgezall a0, .+16
        assert_eq!(of(0x1000_0003), Flow::Jump(AT + 16)); // b .+16
        assert_eq!(of(0x1000_ffff), Flow::Jump(AT)); // b .
        assert_eq!(of(0x1080_0003), Flow::Other); // beqz a0, .+16
        assert_eq!(of(0x0481_0003), Flow::Other); // bgez a0, .+16
    }

    #[test]
    fn a_jump_stays_in_the_region_of_its_delay_slot() {
        let at = 0xffff_ffff_8fff_fffc_u64;
        assert_eq!(flow(&0x0800_0004_u32.to_le_bytes(), at), Flow::Jump(0xffff_ffff_9000_0010));
    }

    #[test]
    fn reading_the_program_counter_is_no_call() {
        assert_eq!(of(0x0411_0001), Flow::Other); // bal .+8
    }

    #[test]
    fn calls_jumps_and_returns_by_register() {
        assert_eq!(of(0x0040_f809), Flow::CallIndirect); // jalr v0
        assert_eq!(of(0x0320_fc09), Flow::CallIndirect); // jalr.hb t9
        assert_eq!(of(0x0040_0008), Flow::JumpIndirect); // jr v0
        assert_eq!(of(0x0040_0408), Flow::JumpIndirect); // jr.hb v0
        assert_eq!(of(0x03e0_0008), Flow::Return); // jr ra
        assert_eq!(of(0x03e0_0408), Flow::Return); // jr.hb ra
    }

    #[test]
    fn what_restores_the_state_leaves_an_exception() {
        assert_eq!(of(0x4200_0018), Flow::InterruptReturn); // eret
        assert_eq!(of(0x4200_001f), Flow::InterruptReturn); // deret
        assert_eq!(of(0x4200_0020), Flow::Other); // wait
        assert_eq!(of(0x4200_0008), Flow::Other); // tlbp
    }

    #[test]
    fn a_switch_takes_its_stack_from_memory() {
        assert_eq!(of(0xdcbd_0b00), Flow::TakeStack); // ld sp, 2816(a1)
        assert_eq!(of(0xdcbe_0b08), Flow::Other); // ld s8, 2824(a1)
        assert_eq!(of(0x67bd_0020), Flow::Other); // daddiu sp, sp, 32
    }

    #[test]
    fn only_our_write_to_the_zero_register_is_a_mark() {
        assert_eq!(of(0x3c00_4c01), Flow::Mark(1));
        assert_eq!(of(0x3c00_4c03), Flow::Mark(3));
        assert_eq!(of(0x3c01_4c01), Flow::Other); // lui at, 0x4c01
        assert_eq!(of(0x3c00_4d01), Flow::Other);
        assert_eq!(of(0), Flow::Other); // nop
    }

    #[test]
    fn branches_and_exceptions_end_what_is_run_through() {
        let through =
            |words: &[u32]| runs_through(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        assert!(through(&[0, 0x67bd_ffe0, 0x400c_6000]));
        // bnez; beql; bc1t; bltz; jal; jr ra; syscall; break; teq; wait; eret.
        for word in [
            0x1440_fff9,
            0x5080_0003,
            0x4501_0003,
            0x0480_0003,
            0x0c04_5bc8,
            0x03e0_0008,
            0x0000_000c,
            0x0000_000d,
            0x0085_0034,
            0x4200_0020,
            0x4200_0018,
        ] {
            assert!(!through(&[0, word]), "{word:x}");
        }
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(word: u32, length in 0_usize..4) {
            prop_assert_eq!(flow(&word.to_le_bytes()[..length], 0), Flow::Incomplete);
        }

        #[test]
        fn offsets_of_branches_are_those_that_were_encoded(words: i16) {
            let expected = AT.wrapping_add(4).wrapping_add_signed(i64::from(words) * 4);
            prop_assume!(expected != AT + 8);
            let word = 0x0411_0000 | u32::from(words as u16);
            prop_assert_eq!(flow(&word.to_le_bytes(), AT), Flow::Call(expected));
        }
    }
}
