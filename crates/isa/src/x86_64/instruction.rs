//! The few x86_64 instructions that move control between functions, decoded from their bytes.

use super::MARK_BASE;
use crate::Flow;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// Says what the instruction of these bytes, at this address, does.
///
/// No x86 instruction begins with the whole of another one, so bytes that were cut are recognised as such
/// ([`Flow::Incomplete`]). Opcodes: Intel SDM volume 2; decoded by iced-x86.
///
/// ```
/// use firstlight_isa::{Flow, Isa, X86_64};
/// assert_eq!(X86_64::flow(&[0xe8, 0x0b, 0, 0, 0], 0x1000), Flow::Call(0x1010));
/// assert_eq!(X86_64::flow(&[0xf3, 0xc3], 0), Flow::Return);
/// assert_eq!(X86_64::flow(&[0x48, 0xcf], 0), Flow::InterruptReturn);
/// assert_eq!(X86_64::flow(&[0xe8, 0x0b], 0), Flow::Incomplete);
/// ```
pub(super) fn flow(bytes: &[u8], address: u64) -> Flow {
    if let [0x0f, 0x1f, 0x84, 0x00, displacement @ ..] = bytes {
        return match displacement {
            [a, b, c, d] => mark(u32::from_le_bytes([*a, *b, *c, *d])),
            _ => Flow::Incomplete,
        };
    }
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        let cut = decoder.last_error() == iced_x86::DecoderError::NoMoreBytes;
        return if cut { Flow::Incomplete } else { Flow::Other };
    }
    of(&instruction)
}

/// Whether these bytes are whole instructions that control runs through from the first to behind the last.
///
/// ```
/// use firstlight_isa::{Isa, X86_64};
/// assert!(X86_64::runs_through(&[0x90, 0x48, 0x89, 0xc4]));  // nop; mov %rax,%rsp
/// assert!(!X86_64::runs_through(&[0x74, 0x00]));             // je
/// assert!(!X86_64::runs_through(&[0x90, 0x48, 0x89]));       // cut short
/// ```
pub(super) fn runs_through(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            return false;
        }
    }
    true
}

fn of(instruction: &Instruction) -> Flow {
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    match instruction.mnemonic() {
        Mnemonic::Call if near => Flow::Call(instruction.near_branch_target()),
        Mnemonic::Call => Flow::CallIndirect,
        Mnemonic::Ret => Flow::Return,
        Mnemonic::Jmp if near => Flow::Jump(instruction.near_branch_target()),
        Mnemonic::Jmp => Flow::JumpIndirect,
        Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => Flow::InterruptReturn,
        Mnemonic::Sysret | Mnemonic::Sysretq | Mnemonic::Sysexit | Mnemonic::Sysexitq => Flow::SyscallReturn,
        Mnemonic::Pop if matches!(instruction.code(), Code::Pop_r64 | Code::Pop_r16) => Flow::Pop,
        Mnemonic::Mov if loads_stack_pointer(instruction) => Flow::TakeStack,
        Mnemonic::Mov if stores_to_top(instruction) => Flow::Redirect,
        Mnemonic::Out if instruction.code() == Code::Out_DX_AL => Flow::Out,
        _ => Flow::Other,
    }
}

fn mark(displacement: u32) -> Flow {
    match displacement & 0xffff_0000 {
        MARK_BASE => Flow::Mark((displacement & 0xffff) as u16),
        _ => Flow::Other,
    }
}

// `mov TASK_threadsp(%rsi), %rsp`.
fn loads_stack_pointer(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == Register::RSP
        && instruction.op1_kind() == OpKind::Memory
}

// `mov %reg, (%rsp)`.
fn stores_to_top(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Memory
        && instruction.op1_kind() == OpKind::Register
        && instruction.memory_base() == Register::RSP
        && instruction.memory_index() == Register::None
        && instruction.memory_displacement64() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_and_jumps_know_their_targets() {
        assert_eq!(flow(&[0xe8, 0xfb, 0xff, 0xff, 0xff], 0x2000), Flow::Call(0x2000));
        assert_eq!(flow(&[0x2e, 0xe8, 0, 0, 0, 0], 0x2000), Flow::Call(0x2006));
        assert_eq!(flow(&[0xeb, 0xfe], 0x2000), Flow::Jump(0x2000));
        assert_eq!(flow(&[0xe9, 0x00, 0x01, 0, 0], 0x2000), Flow::Jump(0x2105));
    }

    #[test]
    fn indirect_calls_are_told_from_indirect_jumps() {
        assert_eq!(flow(&[0xff, 0xd0], 0), Flow::CallIndirect);
        assert_eq!(flow(&[0x41, 0xff, 0xd3], 0), Flow::CallIndirect);
        assert_eq!(flow(&[0xff, 0x14, 0xc5, 0, 0, 0, 0], 0), Flow::CallIndirect);
        assert_eq!(flow(&[0xff, 0xe0], 0), Flow::JumpIndirect);
    }

    #[test]
    fn only_our_no_operation_is_a_mark() {
        assert_eq!(flow(&[0x0f, 0x1f, 0x84, 0x00, 0x01, 0x00, 0x46, 0x4c], 0), Flow::Mark(1));
        assert_eq!(flow(&[0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0], 0), Flow::Other);
        assert_eq!(flow(&[0x0f, 0x1f, 0x44, 0x00, 0x00], 0), Flow::Other);
    }

    #[test]
    fn pops_of_new_and_old_registers() {
        assert_eq!(flow(&[0x41, 0x5f], 0), Flow::Pop);
        assert_eq!(flow(&[0x5d], 0), Flow::Pop);
    }

    #[test]
    fn a_retpoline_replaces_its_return_address() {
        assert_eq!(flow(&[0x48, 0x89, 0x04, 0x24], 0), Flow::Redirect); // mov %rax,(%rsp)
        assert_eq!(flow(&[0x4c, 0x89, 0x1c, 0x24], 0), Flow::Redirect); // mov %r11,(%rsp)
        assert_eq!(flow(&[0x48, 0x89, 0x44, 0x24, 0x08], 0), Flow::Other); // mov %rax,8(%rsp)
    }

    #[test]
    fn a_switch_takes_its_stack_from_memory() {
        assert_eq!(flow(&[0x48, 0x8b, 0xa6, 0x58, 0x0b, 0, 0], 0), Flow::TakeStack); // mov 0xb58(%rsi),%rsp
        assert_eq!(flow(&[0x48, 0x89, 0xa7, 0x58, 0x0b, 0, 0], 0), Flow::Other); // mov %rsp,0xb58(%rdi)
        assert_eq!(flow(&[0x48, 0x89, 0xc4], 0), Flow::Other); // mov %rax,%rsp
    }

    #[test]
    fn nothing_is_read_past_the_bytes() {
        for cut in [&[][..], &[0xe8], &[0x48], &[0x0f, 0x1f, 0x84, 0x00, 0x01], &[0x48, 0xc7, 0xc0, 1, 0]] {
            assert_eq!(flow(cut, 0), Flow::Incomplete, "{cut:x?}");
        }
    }

    proptest! {
        #[test]
        fn an_instruction_that_is_cut_anywhere_is_incomplete(bytes in proptest::collection::vec(any::<u8>(), 15)) {
            let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
            let instruction = decoder.decode();
            if !instruction.is_invalid() {
                for length in 0..instruction.len() {
                    prop_assert_eq!(flow(&bytes[..length], 0), Flow::Incomplete);
                }
            }
        }
    }
}
