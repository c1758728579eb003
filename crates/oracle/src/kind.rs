//! The kinds of kernel text.

/// What stands at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function.
    Function,
    /// The switch of tasks: control leaves one task's stack in it.
    Switch,
    /// Entry code of interrupts.
    Interrupt,
    /// Entry code of exceptions.
    Exception,
    /// Entry code of system calls.
    Syscall,
    /// Stubs in front of an entry: they belong to the entry that they jump to.
    Stub,
    /// Entry code without an entry of its own: a function where it is called, else a part of what ran into it.
    Label,
    /// Belongs to whatever runs: thunks, trampolines, split-off parts, nameless pieces of the image.
    Part,
}
