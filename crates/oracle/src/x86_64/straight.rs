//! Straight code inside one block: how far the stack pointer has moved before an instruction in its middle, and whether a
//! block's last instruction is one at all.
//!
//! The stack pointer can be read at a block's start only. A function whose first instruction stands in the middle of a
//! block was run into; nothing but pushes and small moves of the stack pointer stands before it.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

const PAGE: u64 = 4096;

fn decode(bytes: &[u8], address: u64) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid() && instruction.len() == bytes.len()).then_some(instruction)
}

/// Whether these bytes are one whole instruction.
///
/// QEMU before 8.0 shows a block's last instruction cut at the page's end when it crosses into the next page, and
/// executes it as the first of the next block. No beginning of an x86 instruction is an instruction itself.
pub fn is_whole(bytes: &[u8], address: u64) -> bool {
    let end = address.wrapping_add(bytes.len() as u64);
    end % PAGE != 0 || decode(bytes, address).is_some()
}

/// How far one instruction moves the stack pointer; nothing where its bytes alone do not show it.
pub fn moves_stack_pointer(bytes: &[u8], address: u64) -> Option<i64> {
    let instruction = decode(bytes, address)?;
    let explicit = instruction.op_count() > 0
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().full_register() == Register::RSP;
    if explicit && instruction.mnemonic() != Mnemonic::Push {
        let immediate = || match instruction.op1_kind() {
            OpKind::Immediate8to64 | OpKind::Immediate32to64 => Some(instruction.immediate(1) as i64),
            _ => None,
        };
        return match instruction.mnemonic() {
            Mnemonic::Add => immediate(),
            Mnemonic::Sub => immediate().map(|moved| -moved),
            Mnemonic::Cmp | Mnemonic::Test => Some(0),
            Mnemonic::Lea
                if instruction.memory_base() == Register::RSP && instruction.memory_index() == Register::None =>
            {
                Some(instruction.memory_displacement64() as i64)
            }
            _ => None,
        };
    }
    match instruction.mnemonic() {
        Mnemonic::Leave | Mnemonic::Enter => None,
        _ => Some(i64::from(instruction.stack_pointer_increment())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushes_and_moves_are_added_up() {
        assert_eq!(moves_stack_pointer(&[0x55], 0), Some(-8)); // push %rbp
        assert_eq!(moves_stack_pointer(&[0x41, 0x5f], 0), Some(8)); // pop %r15
        assert_eq!(moves_stack_pointer(&[0x48, 0x83, 0xec, 0x18], 0), Some(-0x18)); // sub $0x18, %rsp
        assert_eq!(moves_stack_pointer(&[0x48, 0x8d, 0x64, 0x24, 0x08], 0), Some(8)); // lea 8(%rsp), %rsp
        assert_eq!(moves_stack_pointer(&[0x48, 0x89, 0xe5], 0), Some(0)); // mov %rsp, %rbp
    }

    #[test]
    fn a_stack_pointer_from_elsewhere_is_not_known() {
        assert_eq!(moves_stack_pointer(&[0x48, 0x89, 0xc4], 0), None); // mov %rax, %rsp
        assert_eq!(moves_stack_pointer(&[0x5c], 0), None); // pop %rsp
        assert_eq!(moves_stack_pointer(&[0xc9], 0), None); // leave
    }

    #[test]
    fn an_instruction_that_the_page_end_cuts_is_none() {
        // call rel32 with three of its five bytes in the page.
        assert!(!is_whole(&[0xe8, 1, 2], 0xffd));
        assert!(is_whole(&[0x90], 0xfff));
        assert!(is_whole(&[0xe8, 1, 2, 3, 4], 0x100));
    }
}
