//! How control passes through a function of the kernel.

/// How control passes through a function, where that differs from an ordinary call and return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Called and left like any other.
    Plain,
    /// Entry code that interrupts whatever ran (`asm_common_interrupt`, `asm_sysvec_*`, `asm_exc_nmi`).
    Interrupt,
    /// Entry code of an exception (`asm_exc_*`, `early_idt_handler_common`).
    Exception,
    /// Entry code of a system call (`entry_SYSCALL_64`, ...).
    Syscall,
    /// Stubs that push a vector and jump to an entry (`irq_entries_start`, `early_idt_handler_array`).
    Stub,
    /// A label inside the entry code: belongs to the entry that ran into it.
    Label,
    /// Code that passes control on and is not a function: retpolines, static calls, what functions jump to instead of
    /// returning, and what is called to untrain predictors.
    Thunk,
    /// `__switch_to_asm`: leaves one task's stack and continues on another's.
    Switch,
    /// A split-off part of a function (`.cold`), entered and left by jumps.
    Cold,
}
