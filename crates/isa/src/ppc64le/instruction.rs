//! The few instructions of 64-bit POWER that move control between functions, decoded from their four bytes.
//!
//! A conditional branch that leaves its return address is a call, and a conditional branch to the link register is a return: what moves
//! control ends a block, whatever its condition is.

use super::{MARK, MARK_STEP};
use crate::Flow;

const MARK_NUMBERS: u32 = 16;
const CONDITIONAL_BRANCH: u32 = 16;
const SYSTEM_CALL: u32 = 17;
const BRANCH: u32 = 18;
const BY_REGISTER: u32 = 19;
const LINKS: u32 = 1;
const IS_ABSOLUTE: u32 = 2;
/// `bcl 20,31,$+4`: reads the program counter. Processors do not take it for a call (Power ISA, I, 2.4, "Branch Instructions").
const READS_COUNTER: u32 = 0x429f_0005;
/// `sc 1`, which calls the hypervisor; and the same in the other order of bytes, in which the firmware runs. That is no
/// instruction in the kernel's order (`lbzu r17, 68(0)`).
const CALLS_HYPERVISOR: [u32; 2] = [0x4400_0022, 0x2200_0044];
/// `mr r1, rS`: the register stands in two places.
const TAKES_STACK: u32 = 0x7c01_0378;
/// Bytes of the instructions in front of a function's local entry.
const TABLE_BYTES: usize = 8;

/// Says what the instruction of these bytes, at this address, does.
///
/// Encodings: Power ISA, version 3.0 B, book I, 2.4 and 2.7; book III, 3.3.1.
///
/// ```
/// use firstlight_isa::{Flow, Isa, Ppc64le};
/// let flow = |word: u32, address| Ppc64le::flow(&word.to_le_bytes(), address);
/// assert_eq!(flow(0x4800_0009, 0x1000), Flow::Call(0x1008));        // bl .+8
/// assert_eq!(flow(0x4e80_0421, 0), Flow::CallIndirect);             // bctrl
/// assert_eq!(flow(0x4d82_0020, 0), Flow::Return);                   // beqlr
/// assert_eq!(flow(0x4c00_0024, 0), Flow::InterruptReturn);          // rfid
/// assert_eq!(Ppc64le::flow(&[0x01, 0], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return Flow::Incomplete };
    if let Some(number) = mark(word) {
        return Flow::Mark(number);
    }
    let links = word & LINKS != 0;
    match word >> 26 {
        _ if CALLS_HYPERVISOR.contains(&word) => Flow::Out,
        CONDITIONAL_BRANCH if links && word != READS_COUNTER => Flow::Call(target(word, 16, address)),
        BRANCH if links => Flow::Call(target(word, 26, address)),
        BRANCH => Flow::Jump(target(word, 26, address)),
        BY_REGISTER => by_register(word >> 1 & 0x3ff, links),
        _ if is_stack_taken(word) => Flow::TakeStack,
        _ => Flow::Other,
    }
}

// BCLR, BCCTR, BCTAR; RFID, HRFID, RFSCV.
fn by_register(operation: u32, links: bool) -> Flow {
    match (operation, links) {
        (16 | 528 | 560, true) => Flow::CallIndirect,
        (16, false) => Flow::Return,
        (528 | 560, false) => Flow::JumpIndirect,
        (18 | 274, _) => Flow::InterruptReturn,
        (82, _) => Flow::SyscallReturn,
        _ => Flow::Other,
    }
}

fn mark(word: u32) -> Option<u16> {
    let steps = word.checked_sub(MARK)?;
    let number = steps / MARK_STEP;
    (steps % MARK_STEP == 0 && number < MARK_NUMBERS).then_some(number as u16)
}

fn is_stack_taken(word: u32) -> bool {
    let (from, again) = (word >> 21 & 31, word >> 11 & 31);
    from == again && from != 1 && word & !(31 << 21 | 31 << 11) == TAKES_STACK
}

// The offset has so many bits with a sign, of which the lowest two say something else.
fn target(word: u32, bits: u32, address: u64) -> u64 {
    let offset = i64::from(((word & !3) << (32 - bits)) as i32 >> (32 - bits));
    if word & IS_ABSOLUTE != 0 {
        return offset as u64;
    }
    address.wrapping_add_signed(offset)
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Isa, Ppc64le};
/// assert!(Ppc64le::runs_through(&0x6000_0000_u32.to_le_bytes()));       // nop
/// assert!(!Ppc64le::runs_through(&0x4182_0008_u32.to_le_bytes()));      // beq
/// assert!(!Ppc64le::runs_through(&[0x1f, 0x20]));                       // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    bytes.chunks(4).all(|bytes| {
        let word = bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
        word.is_some_and(|word| !is_branch(word) && !is_trap(word))
            && matches!(flow(bytes, 0), Flow::Other | Flow::Mark(_) | Flow::TakeStack)
    })
}

// B, BC, SC.
fn is_branch(word: u32) -> bool {
    matches!(word >> 26, CONDITIONAL_BRANCH | SYSTEM_CALL | BRANCH)
}

// TWI, TDI; TW, TD.
fn is_trap(word: u32) -> bool {
    matches!(word >> 26, 2 | 3) || word >> 26 == 31 && matches!(word >> 1 & 0x3ff, 4 | 68)
}

/// Whether these bytes, from a function's symbol on, compute the address of its table of contents: the function has a local
/// entry behind them (64-Bit ELF V2 ABI Specification, Power Architecture, 2.3.2.1, "Function Prologue").
pub(super) fn computes_table(bytes: &[u8]) -> bool {
    let Some((front, behind)) = bytes.get(..TABLE_BYTES).map(|bytes| bytes.split_at(4)) else { return false };
    let [front, behind] =
        [front, behind].map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    match front >> 16 {
        // addis r2, r12, ..., or lis r2, ...; addi r2, r2, ...
        0x3c4c | 0x3c40 => behind >> 16 == 0x3842,
        // ld r2, -8(r12); add r2, r2, r12
        0xe84c => front & 3 == 0 && behind == 0x7c42_6214,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(word: u32) -> Flow {
        flow(&word.to_le_bytes(), 0x1_0000)
    }

    #[test]
    fn calls_and_jumps_know_their_targets() {
        assert_eq!(of(0x4bff_fffd), Flow::Call(0xfffc)); // bl .-4
        assert_eq!(of(0x4800_0101), Flow::Call(0x1_0100)); // bl .+0x100
        assert_eq!(of(0x4800_0103), Flow::Call(0x100)); // bla 0x100
        assert_eq!(of(0x4800_0100), Flow::Jump(0x1_0100)); // b .+0x100
        assert_eq!(of(0x4bff_0000), Flow::Jump(0)); // b .-0x10000
        assert_eq!(of(0x4182_0101), Flow::Call(0x1_0100)); // beql .+0x100
        assert_eq!(of(0x4082_fff1), Flow::Call(0xfff0)); // bnel .-16
        assert_eq!(of(0x4182_0100), Flow::Other); // beq .+0x100
    }

    #[test]
    fn reading_the_program_counter_is_no_call() {
        assert_eq!(of(0x429f_0005), Flow::Other); // bcl 20,31,.+4
    }

    #[test]
    fn calls_jumps_and_returns_by_register() {
        assert_eq!(of(0x4e80_0421), Flow::CallIndirect); // bctrl
        assert_eq!(of(0x4d82_0421), Flow::CallIndirect); // beqctrl
        assert_eq!(of(0x4e80_0021), Flow::CallIndirect); // blrl
        assert_eq!(of(0x4e80_0420), Flow::JumpIndirect); // bctr
        assert_eq!(of(0x4e80_0460), Flow::JumpIndirect); // bctar
        assert_eq!(of(0x4e80_0020), Flow::Return); // blr
        assert_eq!(of(0x4c9e_0020), Flow::Return); // bnelr cr7
    }

    #[test]
    fn what_restores_the_state_leaves_an_exception() {
        assert_eq!(of(0x4c00_0024), Flow::InterruptReturn); // rfid
        assert_eq!(of(0x4c00_0224), Flow::InterruptReturn); // hrfid
        assert_eq!(of(0x4c00_00a4), Flow::SyscallReturn); // rfscv
        assert_eq!(of(0x4c00_012c), Flow::Other); // isync
        assert_eq!(of(0x4c42_1382), Flow::Other); // crset
    }

    #[test]
    fn calls_of_the_hypervisor_may_write_to_the_console_in_either_order_of_bytes() {
        assert_eq!(of(0x4400_0022), Flow::Out); // sc 1
        assert_eq!(flow(&[0x44, 0, 0, 0x22], 0), Flow::Out);
        assert_eq!(of(0x4400_0002), Flow::Other); // sc
        assert_eq!(of(0x4400_0001), Flow::Other); // scv 0
    }

    #[test]
    fn a_switch_takes_its_stack_from_a_register() {
        assert_eq!(of(0x7d01_4378), Flow::TakeStack); // mr r1, r8
        assert_eq!(of(0x7c2a_0b78), Flow::Other); // mr r10, r1
        assert_eq!(of(0x7c21_0b78), Flow::Other); // or r1, r1, r1: a lower priority
        assert_eq!(of(0x3821_fe10), Flow::Other); // addi r1, r1, -496
    }

    #[test]
    fn only_our_no_operation_is_a_mark() {
        assert_eq!(of(0x3e31_0000), Flow::Mark(1)); // addis r17, r17, 0
        assert_eq!(of(0x3e73_0000), Flow::Mark(3));
        assert_eq!(of(0x3fff_0000), Flow::Mark(15));
        assert_eq!(of(0x3e31_0001), Flow::Other);
        assert_eq!(of(0x3def_0000), Flow::Other); // addis r15, r15, 0
        assert_eq!(of(0x6000_0000), Flow::Other); // nop
    }

    #[test]
    fn branches_and_exceptions_end_what_is_run_through() {
        let through =
            |words: &[u32]| runs_through(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        assert!(through(&[0x6000_0000, 0x7c08_02a6]));
        // bdnz; bl; sc; blr; trap; tdnei.
        for word in [0x4200_fff0, 0x4800_0001, 0x4400_0002, 0x4e80_0020, 0x7fe0_0008, 0x0b03_0000] {
            assert!(!through(&[0x6000_0000, word]), "{word:x}");
        }
    }

    #[test]
    fn a_local_entry_follows_what_computes_the_table_of_contents() {
        let computes = |words: [u32; 2]| computes_table(&words.map(u32::to_le_bytes).concat());
        assert!(computes([0x3c4c_0113, 0x3842_6f50])); // addis r2, r12, 275; addi r2, r2, 28496
        assert!(computes([0x3c40_c000, 0x3842_0010])); // lis r2, -16384; addi r2, r2, 16
        assert!(computes([0xe84c_fff8, 0x7c42_6214])); // ld r2, -8(r12); add r2, r2, r12
        assert!(!computes([0x3c4c_0113, 0x7c08_02a6])); // addis r2, r12, 275; mflr r0
        assert!(!computes([0x7c08_02a6, 0xf801_0010])); // mflr r0; std r0, 16(r1)
        assert!(!computes_table(&0x3c4c_0113_u32.to_le_bytes()));
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(word: u32, length in 0_usize..4) {
            prop_assert_eq!(flow(&word.to_le_bytes()[..length], 0), Flow::Incomplete);
        }

        #[test]
        fn offsets_of_calls_are_those_that_were_encoded(words in -(1_i32 << 23)..1 << 23) {
            let word = 0x4800_0001 | (words << 2) as u32 & 0x03ff_fffc;
            let address = 0xc000_0000_0100_0000_u64;
            let expected = address.wrapping_add_signed(i64::from(words) * 4);
            prop_assert_eq!(flow(&word.to_le_bytes(), address), Flow::Call(expected));
        }
    }
}
