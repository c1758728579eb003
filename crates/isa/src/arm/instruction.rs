//! The few instructions of A32 that move control between functions, decoded from their four bytes.
//!
//! Almost every instruction has a condition in its upper four bits. What is executed under one ends a block like any other that
//! moves control, so a call, a return or a jump counts as one whatever its condition is.

use super::MARK;
use crate::Flow;

const MARK_NUMBERS: u32 = 0xf;
const ALWAYS: u32 = 0xe;
const UNCONDITIONAL: u32 = 0xf;
const STACK_POINTER: u32 = 13;
const LINK: u32 = 14;
const PROGRAM_COUNTER: u32 = 15;

/// Says what the instruction of these bytes, at this address, does.
///
/// Encodings: Arm Architecture Reference Manual, Armv7-A and Armv7-R edition, A5 and A8.8. A jump to the address in the link
/// register is a return, and so is a load of the program counter from the stack.
///
/// ```
/// use firstlight_isa::{Arm, Flow, Isa};
/// let flow = |word: u32, address| Arm::flow(&word.to_le_bytes(), address);
/// assert_eq!(flow(0xeb00_0001, 0x1000), Flow::Call(0x100c));        // bl .+12
/// assert_eq!(flow(0x012f_ff1e, 0), Flow::Return);                   // bxeq lr
/// assert_eq!(flow(0xe8bd_8800, 0), Flow::Return);                   // pop {fp, pc}
/// assert_eq!(flow(0xe8dd_ffff, 0), Flow::InterruptReturn);          // ldm sp, {r0-pc}^
/// assert_eq!(Arm::flow(&[0x01, 0], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return Flow::Incomplete };
    let condition = word >> 28;
    match word >> 25 & 7 {
        _ if word & !MARK_NUMBERS == MARK => Flow::Mark((word & MARK_NUMBERS) as u16),
        // BLX to Thumb; BL; B.
        0b101 if condition == UNCONDITIONAL => {
            Flow::Call(target(word, address).wrapping_add(u64::from(word >> 23 & 2)))
        }
        0b101 if word >> 24 & 1 == 1 => Flow::Call(target(word, address)),
        0b101 if condition == ALWAYS => Flow::Jump(target(word, address)),
        // RFE.
        0b100 if condition == UNCONDITIONAL && word >> 20 & 0b101 == 0b001 => Flow::InterruptReturn,
        _ if condition == UNCONDITIONAL => Flow::Other,
        0b000 if word & 0x0fff_ffd0 == 0x012f_ff10 => branch(word & 15, word >> 5 & 1 == 1),
        // LDM.
        0b100 if word >> 20 & 1 == 1 => loads(word),
        // LDR.
        0b010 | 0b011 if is_word_load(word) => match word >> 12 & 15 {
            STACK_POINTER => Flow::TakeStack,
            PROGRAM_COUNTER if word >> 16 & 15 == STACK_POINTER => Flow::Return,
            PROGRAM_COUNTER => Flow::JumpIndirect,
            _ => Flow::Other,
        },
        0b000 | 0b001 => computes(word),
        _ => Flow::Other,
    }
}

// BX, BLX.
fn branch(register: u32, links: bool) -> Flow {
    match (links, register) {
        (true, _) => Flow::CallIndirect,
        (false, LINK) => Flow::Return,
        (false, _) => Flow::JumpIndirect,
    }
}

fn loads(word: u32) -> Flow {
    let has = |register: u32| word >> register & 1 == 1;
    match (has(PROGRAM_COUNTER), word >> 22 & 1 == 1) {
        (true, true) => Flow::InterruptReturn,
        // Registers of user mode.
        (false, true) => Flow::Other,
        (_, false) if has(STACK_POINTER) => Flow::TakeStack,
        (true, false) => Flow::Return,
        (false, false) => Flow::Other,
    }
}

fn is_word_load(word: u32) -> bool {
    // With a register and bit 4 it is a media instruction.
    word >> 20 & 0b101 == 0b001 && word & 0x0200_0010 != 0x0200_0010
}

// Data processing that writes to the program counter, or to the stack pointer by MOV.
fn computes(word: u32) -> Flow {
    let (operation, to, sets_flags) = (word >> 21 & 15, word >> 12 & 15, word >> 20 & 1 == 1);
    // Of these bits, multiplications and loads of other sizes have both.
    let is_other = word & 0x0200_0090 == 0x0000_0090;
    // TST, TEQ, CMP, CMN and, without flags, what stands in their place write to no register.
    if is_other || operation >> 2 == 0b10 {
        return Flow::Other;
    }
    let moved = word & 0x0fef_0ff0 == 0x01a0_0000;
    match to {
        PROGRAM_COUNTER if sets_flags => Flow::InterruptReturn,
        PROGRAM_COUNTER if moved && word & 15 == LINK => Flow::Return,
        PROGRAM_COUNTER => Flow::JumpIndirect,
        STACK_POINTER if moved && !sets_flags => Flow::TakeStack,
        _ => Flow::Other,
    }
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Arm, Isa};
/// assert!(Arm::runs_through(&0xe1a0_0000_u32.to_le_bytes()));       // nop
/// assert!(!Arm::runs_through(&0x0a00_0001_u32.to_le_bytes()));      // beq
/// assert!(!Arm::runs_through(&[0x1f, 0x20]));                       // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    bytes.chunks(4).all(|bytes| {
        let word = bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
        word.is_some_and(|word| !is_branch(word) && !is_exception(word) && !loads_counter(word))
            && matches!(flow(bytes, 0), Flow::Other | Flow::Mark(_) | Flow::TakeStack)
    })
}

fn is_branch(word: u32) -> bool {
    word >> 25 & 7 == 0b101
}

// SVC; BKPT, HVC, SMC; UDF.
fn is_exception(word: u32) -> bool {
    word >> 24 & 15 == 15 || word & 0x0f90_00f0 == 0x0100_0070 || word & 0x0ff0_00f0 == 0x07f0_00f0
}

// With the stack pointer.
fn loads_counter(word: u32) -> bool {
    word >> 25 & 7 == 0b100 && word >> 20 & 1 == 1 && word >> PROGRAM_COUNTER & 1 == 1
}

// Twenty-four bits with a sign, in words, from two instructions behind; addresses have 32 bits.
fn target(word: u32, address: u64) -> u64 {
    let offset = ((word << 8) as i32) >> 6;
    u64::from((address as u32).wrapping_add_signed(offset).wrapping_add(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(word: u32) -> Flow {
        flow(&word.to_le_bytes(), 0x1000)
    }

    #[test]
    fn calls_and_jumps_know_their_targets() {
        assert_eq!(of(0xebff_ffff), Flow::Call(0x1004)); // bl .+4
        assert_eq!(of(0x1bff_fffd), Flow::Call(0xffc)); // blne .-4
        assert_eq!(of(0xfa00_0001), Flow::Call(0x100c)); // blx .+12
        assert_eq!(of(0xfb00_0001), Flow::Call(0x100e)); // blx .+14
        assert_eq!(of(0xea00_003e), Flow::Jump(0x1100)); // b .+0x100
        assert_eq!(of(0x0a00_003e), Flow::Other); // beq .+0x100
        assert_eq!(flow(&0xeaff_fffc_u32.to_le_bytes(), 0), Flow::Jump(0xffff_fff8));
        assert_eq!(flow(&0xeb04_402e_u32.to_le_bytes(), 0x4020_8000), Flow::Call(0x4031_80c0));
    }

    #[test]
    fn calls_jumps_and_returns_by_register() {
        assert_eq!(of(0xe12f_ff32), Flow::CallIndirect); // blx r2
        assert_eq!(of(0x112f_ff33), Flow::CallIndirect); // blxne r3
        assert_eq!(of(0xe12f_ff1e), Flow::Return); // bx lr
        assert_eq!(of(0xe12f_ff13), Flow::JumpIndirect); // bx r3
        assert_eq!(of(0xe1a0_f00e), Flow::Return); // mov pc, lr
        assert_eq!(of(0x11a0_f005), Flow::JumpIndirect); // movne pc, r5
        assert_eq!(of(0xe08f_f102), Flow::JumpIndirect); // add pc, pc, r2, lsl #2
    }

    #[test]
    fn loads_of_the_program_counter_jump_or_return() {
        assert_eq!(of(0x08bd_8010), Flow::Return); // popeq {r4, pc}
        assert_eq!(of(0xe49d_f004), Flow::Return); // pop {pc}
        assert_eq!(of(0x3798_f10a), Flow::JumpIndirect); // ldrcc pc, [r8, sl, lsl #2]
        assert_eq!(of(0xe59f_f414), Flow::JumpIndirect); // ldr pc, [pc, #1044]
        assert_eq!(of(0xe8bd_4010), Flow::Other); // pop {r4, lr}
    }

    #[test]
    fn what_restores_the_status_leaves_an_exception() {
        assert_eq!(of(0xe8dd_ffff), Flow::InterruptReturn); // ldm sp, {r0-pc}^
        assert_eq!(of(0xe1b0_f00e), Flow::InterruptReturn); // movs pc, lr
        assert_eq!(of(0xe25e_f004), Flow::InterruptReturn); // subs pc, lr, #4
        assert_eq!(of(0xf8bd_0a00), Flow::InterruptReturn); // rfeia sp!
        assert_eq!(of(0xe952_7fff), Flow::Other); // ldmdb r2, {r0-lr}^
    }

    #[test]
    fn a_switch_takes_its_stack_from_a_register_or_from_memory() {
        assert_eq!(of(0xe1a0_d00c), Flow::TakeStack); // mov sp, ip
        assert_eq!(of(0xe894_aff0), Flow::TakeStack); // ldm r4, {r4-fp, sp, pc}
        assert_eq!(of(0xe59f_d014), Flow::TakeStack); // ldr sp, [pc, #20]
        assert_eq!(of(0xe1a0_b00d), Flow::Other); // mov fp, sp
        assert_eq!(of(0xe24d_d048), Flow::Other); // sub sp, sp, #72
    }

    #[test]
    fn other_instructions_do_nothing() {
        // cmp r5, #0; msr SPSR_fsxc, r1; mul; strh; ldrd; mcr; cpsid i; strex; movw pc-like; vldr.
        for word in
            [0xe355_0000, 0xe16f_f001, 0xe000_0f91, 0xe1c0_f0b0, 0xe1c0_f0d0, 0xee0d_1f70, 0xf10c_0080, 0xe180_1f92]
        {
            assert_eq!(of(word), Flow::Other, "{word:x}");
        }
    }

    #[test]
    fn only_our_no_operation_is_a_mark() {
        assert_eq!(of(0xe320_f041), Flow::Mark(1));
        assert_eq!(of(0xe320_f043), Flow::Mark(3));
        assert_eq!(of(0xe320_f000), Flow::Other); // nop
        assert_eq!(of(0xe320_f014), Flow::Other); // csdb
    }

    #[test]
    fn branches_and_exceptions_end_what_is_run_through() {
        let through =
            |words: &[u32]| runs_through(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        assert!(through(&[0xe1a0_0000, 0xe320_f000, 0xe24d_d048]));
        // beq; bl; svc; bkpt; udf; ldm with sp and pc.
        for word in [0x0a00_0001, 0xeb00_0001, 0xef00_0000, 0xe120_0070, 0xe7f0_01f2, 0xe894_aff0] {
            assert!(!through(&[0xe1a0_0000, word]), "{word:x}");
        }
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(word: u32, length in 0_usize..4) {
            prop_assert_eq!(flow(&word.to_le_bytes()[..length], 0), Flow::Incomplete);
        }

        #[test]
        fn offsets_of_calls_are_those_that_were_encoded(words in -(1_i32 << 23)..1 << 23) {
            let word = 0xeb00_0000 | words as u32 & 0x00ff_ffff;
            let address = 0x8000_0000_u32;
            let expected = address.wrapping_add(8).wrapping_add_signed(words * 4);
            prop_assert_eq!(flow(&word.to_le_bytes(), u64::from(address)), Flow::Call(u64::from(expected)));
        }
    }
}
