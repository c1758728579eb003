//! The few instructions of A64 that move control between functions, decoded from their four bytes.

use super::{MARK, MARK_NUMBER_AT};
use crate::Flow;

const MARK_NUMBERS: u32 = 0xff << MARK_NUMBER_AT;

/// Says what the instruction of these bytes, at this address, does.
///
/// Encodings: Arm Architecture Reference Manual, C4.1 and C6.2; with pointer authentication `BLRAA`, `RETAA`, `ERETAA` and
/// their like.
///
/// ```
/// use firstlight_isa::{Aarch64, Flow, Isa};
/// let flow = |word: u32, address| Aarch64::flow(&word.to_le_bytes(), address);
/// assert_eq!(flow(0x9400_0003, 0x1000), Flow::Call(0x100c));
/// assert_eq!(flow(0xd65f_03c0, 0), Flow::Return);
/// assert_eq!(flow(0xd69f_03e0, 0), Flow::InterruptReturn);
/// assert_eq!(Aarch64::flow(&[0x03, 0], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return Flow::Incomplete };
    match word {
        _ if word & !MARK_NUMBERS == MARK => Flow::Mark(((word & MARK_NUMBERS) >> MARK_NUMBER_AT) as u16),
        _ if word >> 26 == 0b100_101 => Flow::Call(target(word, address)),
        _ if word >> 26 == 0b000_101 => Flow::Jump(target(word, address)),
        // BLR; BLRAA, BLRAB, BLRAAZ, BLRABZ.
        _ if word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800 => Flow::CallIndirect,
        // BR; BRAA, BRAB, BRAAZ, BRABZ.
        _ if word & 0xffff_fc1f == 0xd61f_0000 || word & 0xfeff_f800 == 0xd61f_0800 => Flow::JumpIndirect,
        // RET; RETAA, RETAB and those that take an address or a register besides; RETAASPPC, RETABSPPC.
        _ if word & 0xffff_fc1f == 0xd65f_0000 || word & 0xffff_fbe0 == 0xd65f_0be0 => Flow::Return,
        _ if word & 0xffc0_001f == 0x5500_001f => Flow::Return,
        // ERET, ERETAA, ERETAB.
        0xd69f_03e0 | 0xd69f_0bff | 0xd69f_0fff => Flow::InterruptReturn,
        // `mov sp, xN`.
        _ if word & 0xffff_fc1f == 0x9100_001f => Flow::TakeStack,
        _ => Flow::Other,
    }
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Aarch64, Isa};
/// assert!(Aarch64::runs_through(&0xd503_201f_u32.to_le_bytes()));   // nop
/// assert!(!Aarch64::runs_through(&0x5400_0040_u32.to_le_bytes()));  // b.eq
/// assert!(!Aarch64::runs_through(&[0x1f, 0x20]));                   // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    bytes.chunks(4).all(|bytes| {
        let word = bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
        word.is_some_and(|word| !is_conditional(word) && !is_exception(word))
            && matches!(flow(bytes, 0), Flow::Other | Flow::Mark(_) | Flow::TakeStack)
    })
}

// B.cond and BC.cond; CBZ, CBNZ, TBZ, TBNZ.
fn is_conditional(word: u32) -> bool {
    word >> 24 == 0x54 || word >> 26 & 0b11_111 == 0b01_101
}

// SVC, HVC, SMC, BRK and their like.
fn is_exception(word: u32) -> bool {
    word >> 24 == 0xd4
}

fn target(word: u32, address: u64) -> u64 {
    // Twenty-six bits with a sign, in words.
    let offset = i64::from(((word << 6) as i32) >> 4);
    address.wrapping_add_signed(offset)
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
        assert_eq!(of(0x97ff_ffff), Flow::Call(0xffc));
        assert_eq!(of(0x1400_0040), Flow::Jump(0x1100));
        assert_eq!(of(0x17ff_fc00), Flow::Jump(0));
    }

    #[test]
    fn calls_jumps_and_returns_by_register_with_and_without_authentication() {
        // blr x19; blraa x8, x9; blrab x8, sp; blraaz x8; blrabz x8.
        for word in [0xd63f_0260, 0xd73f_0909, 0xd73f_0d1f, 0xd63f_091f, 0xd63f_0d1f] {
            assert_eq!(of(word), Flow::CallIndirect, "{word:x}");
        }
        // br x16; braa x8, x9; braaz x8.
        for word in [0xd61f_0200, 0xd71f_0909, 0xd61f_091f] {
            assert_eq!(of(word), Flow::JumpIndirect, "{word:x}");
        }
        // ret; ret x1; retaa; retab; retaasppcr x1; retaasppc #0; retabsppc #4.
        for word in [0xd65f_03c0, 0xd65f_0020, 0xd65f_0bff, 0xd65f_0fff, 0xd65f_0be1, 0x5500_001f, 0x5520_003f] {
            assert_eq!(of(word), Flow::Return, "{word:x}");
        }
        for word in [0xd69f_03e0, 0xd69f_0bff, 0xd69f_0fff] {
            assert_eq!(of(word), Flow::InterruptReturn, "{word:x}");
        }
    }

    #[test]
    fn a_switch_takes_its_stack_from_a_register() {
        assert_eq!(of(0x9100_013f), Flow::TakeStack); // mov sp, x9
        assert_eq!(of(0x9100_03fd), Flow::Other); // mov x29, sp
        assert_eq!(of(0x9100_43ff), Flow::Other); // add sp, sp, #16
    }

    #[test]
    fn only_our_no_operation_is_a_mark() {
        assert_eq!(of(0xd2e9_803f), Flow::Mark(1));
        assert_eq!(of(0xd2e9_807f), Flow::Mark(3));
        assert_eq!(of(0xd2e9_8020), Flow::Other); // into x0
        assert_eq!(of(0xd503_201f), Flow::Other); // nop
    }

    #[test]
    fn branches_and_exceptions_end_what_is_run_through() {
        let through =
            |words: &[u32]| runs_through(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        assert!(through(&[0xd503_201f, 0xd503_201f]));
        // cbz x0; tbnz w0; bl; svc; brk.
        for word in [0xb400_0040, 0x3700_0040, 0x9400_0001, 0xd400_0001, 0xd420_0000] {
            assert!(!through(&[0xd503_201f, word]), "{word:x}");
        }
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(word: u32, length in 0_usize..4) {
            prop_assert_eq!(flow(&word.to_le_bytes()[..length], 0), Flow::Incomplete);
        }
    }
}
