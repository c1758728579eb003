//! What an architecture says of the border between kernel and user mode.

use std::ffi::CStr;

/// Reads the word at a physical address; nothing where there is no memory.
pub type ReadPhysical<'m> = &'m mut dyn FnMut(u64) -> Option<u64>;

/// Where the general registers are, and what the kernel's calling convention passes in them.
#[derive(Debug, Clone, Copy)]
pub struct RegisterFile {
    /// Names of QEMU's function that reads a register for a debugger; the first that exists counts.
    pub read: &'static [&'static CStr],
    /// The debugger's numbers of registers, in the order in which QEMU keeps them side by side.
    pub order: &'static [i32],
    /// The stack pointer's place in that order.
    pub stack_pointer: usize,
    /// The places of the arguments of a function that are passed in registers.
    pub arguments: [usize; 6],
    /// The place of a function's result.
    pub result: usize,
}

/// Where an area of the kernel's memory begins.
#[derive(Debug, Clone, Copy)]
pub struct Area {
    /// The symbol of the variable that holds the address.
    pub symbol: &'static str,
    /// The address in kernels without that variable.
    pub address: u64,
}

/// How the kernel meets user mode on an architecture.
#[derive(Debug, Clone, Copy)]
pub struct Userspace {
    /// The general registers.
    pub registers: RegisterFile,
    /// Names of the symbol of the kernel's own page table; the first that exists counts.
    pub page_table: &'static [&'static str],
    /// The area that maps all physical memory, one to one.
    pub direct_map: Area,
    /// The array of `struct page`.
    pub page_array: Area,
    /// Names of the symbol of the code that each process is given (`struct vdso_image`); the first that exists counts.
    pub vdso: &'static [&'static str],
    /// The physical address behind a virtual one, by the page table at a physical address.
    pub translate: fn(root: u64, address: u64, read: ReadPhysical<'_>) -> Option<u64>,
    /// The function that each system call enters; its first argument points to the caller's registers, its second is the number.
    pub entry: &'static str,
    /// Functions that a system call passes on its way back to user mode, before a signal is delivered; the first that exists counts.
    /// The first argument points to the caller's registers.
    pub exits: &'static [&'static str],
    /// The members of `struct pt_regs` with the arguments of a system call.
    pub arguments: [&'static str; 6],
    /// The member that its result is left in.
    pub result: &'static str,
    /// The name of a system call by its number.
    pub name: fn(u64) -> Option<&'static str>,
}
