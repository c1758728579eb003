//! What stands on a stack.

use crate::text::Row;

/// The stack pointer of a frame that no stack pointer ends: an entry from user mode ends where user mode goes on.
pub const FOREVER: u64 = u64::MAX;

// Bits of an address in a stack: `THREAD_SIZE` is 16 KiB on every architecture that the oracle knows, and stacks are aligned to it.
const STACK_BITS: u32 = 14;

/// One function that is alive.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub row: Row,
    /// The stack pointer at its first instruction.
    pub sp: u64,
    /// Its path's clock at its first instruction.
    pub started: u64,
    /// No frame of the same row stands below it.
    pub outermost: bool,
    /// Where it returns to, if that was read; else 0.
    pub back: u64,
    /// An entry of the kernel that takes its place on the stack only later: the first function that it calls shows it.
    pub settles: bool,
}

/// What runs one after another on one task, between interrupts: its own clock stands still while others run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// Its first frame.
    pub base: usize,
    /// Instructions executed on it, up to the last time it went on.
    pub ran: u64,
}

/// Which stack an address lies on; the end of a stack belongs to it.
pub fn stack(sp: u64) -> u64 {
    sp.wrapping_sub(1) >> STACK_BITS
}

/// Whether two addresses lie on one stack.
pub fn same_stack(one: u64, other: u64) -> bool {
    stack(one) == stack(other)
}
