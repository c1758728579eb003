//! The effect of an instruction on the flow of control.

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
    /// `jmp` through a register or memory.
    JumpIndirect,
    /// `iretq`, or `iretd`.
    InterruptReturn,
    /// `sysretq`, `sysretl` or `sysexit`.
    SyscallReturn,
    /// `pop` into a general register.
    Pop,
    /// A load of the stack pointer from memory: another stack is taken.
    TakeStack,
    /// A store of a register to the top of the stack: in a thunk, the return address is replaced.
    Redirect,
    /// `out` of one byte to the port in `dx`, or a call of the hypervisor: what may write to the console.
    Out,
    /// A mark: the number in the displacement of the eight-byte no-operation.
    Mark(u16),
    /// The bytes end before the instruction does.
    Incomplete,
    /// Anything else.
    Other,
}
