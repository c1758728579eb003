//! What an architecture says of calls through a link register.

use crate::RegisterFile;

/// Calls that leave their return address in a register, and switches between tasks by a function that is given both.
///
/// Such a call and its return touch no memory. But at the first instruction of a function the link register has the return
/// address, and the stack pointer is that of the caller; at the instruction behind the call it is the same again.
#[derive(Debug, Clone, Copy)]
pub struct Linked {
    /// The general registers, as they are at the first instruction of a block.
    pub registers: RegisterFile,
    /// The place of the link register.
    pub link: usize,
    /// The places of the task that is left and of the one that comes, at the entry of the function that is given both.
    pub tasks: (usize, usize),
    /// The function that is given both tasks, where it calls the one that switches.
    pub given_tasks: Option<&'static str>,
    /// Bytes of the call in front of an address, in the order in which they are to be tried.
    pub call_bytes: &'static [usize],
    /// Whether entry code, and the head of the image, call functions by jumps with a return address that they compute, or functions jump
    /// back to entry code.
    pub entry_calls_by_jumps: bool,
    /// How the names of the functions begin that write to the console's registers in memory.
    pub console: &'static [&'static str],
    /// Bytes of the head of the kernel's file that [`crate::Isa::image_entry`] wants.
    pub head_bytes: usize,
}
