//! The few x86_64 instructions that move control between functions, told from their bytes.

/// What an instruction does to the flow of control, as far as a shadow stack cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// `call rel32`; the target's address.
    Call(u64),
    /// `call` through a register or memory.
    CallIndirect,
    /// `ret`, with or without an immediate.
    Return,
    /// An unconditional `jmp rel8/rel32`; the target's address.
    Jump(u64),
    /// `iretq`, or `iretd`.
    InterruptReturn,
    /// `sysretq`, `sysretl` or `sysexit`.
    SyscallReturn,
    /// `pop` into a general register.
    Pop,
    /// `out` of one byte to the port in `dx`.
    Out,
    /// A mark: the number in the displacement of the eight-byte no-operation.
    Mark(u16),
    /// Anything else.
    Other,
}

/// The displacement of a mark, without the mark's number.
pub const MARK_BASE: u32 = 0x4c46_0000;

/// Tells what the instruction of these bytes, at this address, does.
///
/// Opcodes: Intel SDM volume 2, CALL, RET, JMP, IRET, SYSRET, POP, OUT, NOP.
///
/// ```
/// use firstlight_profile::instruction::{flow, Flow};
/// assert_eq!(flow(&[0xe8, 0x0b, 0, 0, 0], 0x1000), Flow::Call(0x1010));
/// assert_eq!(flow(&[0xf3, 0xc3], 0), Flow::Return);
/// assert_eq!(flow(&[0x48, 0xcf], 0), Flow::InterruptReturn);
/// ```
pub fn flow(bytes: &[u8], address: u64) -> Flow {
    let next = address.wrapping_add(bytes.len() as u64);
    let prefixes = bytes.iter().take_while(|byte| matches!(byte, 0x66 | 0xf2 | 0xf3 | 0x2e | 0x3e)).count();
    let rest = &bytes[prefixes..];
    let (rex, rest) = match rest {
        [rex @ 0x40..=0x4f, rest @ ..] => (*rex, rest),
        _ => (0, rest),
    };
    match rest {
        [0xe8, a, b, c, d] => Flow::Call(relative(next, i32::from_le_bytes([*a, *b, *c, *d]))),
        [0xe9, a, b, c, d] => Flow::Jump(relative(next, i32::from_le_bytes([*a, *b, *c, *d]))),
        [0xeb, a] => Flow::Jump(relative(next, i32::from(*a as i8))),
        [0xff, modrm, ..] if modrm >> 3 & 7 == 2 => Flow::CallIndirect,
        [0xc3] | [0xc2, _, _] => Flow::Return,
        [0xcf] => Flow::InterruptReturn,
        [0x0f, 0x07] | [0x0f, 0x35] => Flow::SyscallReturn,
        [0x58..=0x5f] if rex & 0x0e == 0 => Flow::Pop,
        [0xee] => Flow::Out,
        [0x0f, 0x1f, 0x84, 0x00, a, b, c, d] if rex == 0 => {
            let displacement = u32::from_le_bytes([*a, *b, *c, *d]);
            match displacement & 0xffff_0000 {
                MARK_BASE => Flow::Mark((displacement & 0xffff) as u16),
                _ => Flow::Other,
            }
        }
        _ => Flow::Other,
    }
}

fn relative(next: u64, displacement: i32) -> u64 {
    next.wrapping_add_signed(i64::from(displacement))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(flow(&[0xff, 0xe0], 0), Flow::Other);
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
    fn nothing_is_read_past_the_bytes() {
        assert_eq!(flow(&[], 0), Flow::Other);
        assert_eq!(flow(&[0xe8], 0), Flow::Other);
        assert_eq!(flow(&[0x48], 0), Flow::Other);
    }
}
