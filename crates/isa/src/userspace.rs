//! What an architecture says of the border between kernel and user mode.

use std::ffi::CStr;

/// Reads the word at a physical address; nothing where there is no memory.
pub type ReadPhysical<'m> = &'m mut dyn FnMut(u64) -> Option<u64>;

/// How wide registers are, as QEMU keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterWidth {
    /// Four bytes.
    Bits32,
    /// Eight bytes.
    Bits64,
}

impl RegisterWidth {
    /// Bytes of a register.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }
}

/// In the order of a [`RegisterFile`] a word that stands between registers, whatever it holds.
pub const BETWEEN_REGISTERS: i32 = -1;

/// Where the general registers are, and what the kernel's calling convention passes in them.
#[derive(Debug, Clone, Copy)]
pub struct RegisterFile {
    /// Names of QEMU's function that reads a register for a debugger; the first that exists counts.
    pub read: &'static [&'static CStr],
    /// The debugger's numbers of registers, in the order in which QEMU keeps them side by side, or [`BETWEEN_REGISTERS`].
    pub order: &'static [i32],
    /// How wide they are.
    pub width: RegisterWidth,
    /// The stack pointer's place in that order.
    pub stack_pointer: usize,
    /// The places of the arguments of a function that are passed in registers.
    pub arguments: [usize; 6],
    /// The place of a function's result.
    pub result: usize,
}

/// How wide the steps of a walk through page tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// Bits of an address within a page.
    pub page_bits: u32,
    /// Bits of an address that the tables translate.
    pub address_bits: u32,
}

impl Paging {
    /// The bytes of a page.
    pub fn page_bytes(self) -> u64 {
        1 << self.page_bits
    }

    /// The lowest address of the kernel's half.
    pub fn kernel_half(self) -> u64 {
        u64::MAX << self.address_bits
    }
}

/// Where the kernel's own page table is found.
#[derive(Debug, Clone, Copy)]
pub enum KernelTable {
    /// Names of its symbol, of which the first that exists counts, and its form.
    Symbol(&'static [&'static str], Paging),
    /// A register of the processor has its address, within the kernel's image. The forms in the order in which they are to be tried.
    Register(&'static [Paging]),
    /// In the kernel's image, as far behind its head as these symbols are apart; of each the first that exists counts.
    Image {
        /// The table.
        table: &'static [&'static str],
        /// The head.
        head: &'static [&'static str],
        /// The forms in the order in which they are to be tried.
        forms: &'static [Paging],
    },
}

/// The area that maps all physical memory.
#[derive(Debug, Clone, Copy)]
pub enum DirectMap {
    /// It begins here, with the physical address 0.
    Area(Area),
    /// The lower half of the kernel's half, from an address on that differs from boot to boot.
    LowerHalf,
    /// It begins here, with the first memory of the machine.
    Memory(Area),
}

/// The array of `struct page`.
#[derive(Debug, Clone, Copy)]
pub enum PageArray {
    /// It begins here, with the page at the physical address 0.
    Area(Area),
    /// Versions of the kernel had it at these addresses, for page tables of a form and a description of so many bytes. It begins with
    /// the page where the direct map begins.
    Candidates(fn(Paging, u64) -> Vec<u64>),
}

/// A member of the caller's registers (`struct pt_regs`): its name, and its place where it is an array of words.
pub type Member = (&'static str, u64);

/// Where the number of a system call is.
#[derive(Debug, Clone, Copy)]
pub enum CallNumber {
    /// The second argument of the function that each system call enters.
    Argument,
    /// In the caller's registers.
    Member(Member),
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
    /// The kernel's own page table.
    pub kernel_table: KernelTable,
    /// The area that maps all physical memory, one to one.
    pub direct_map: DirectMap,
    /// The array of `struct page`.
    pub page_array: PageArray,
    /// Names of the symbol of the code that each process is given (`struct vdso_image`); the first that exists counts.
    pub vdso: &'static [&'static str],
    /// The physical address behind a virtual one, by the page table at a physical address.
    pub translate: fn(paging: Paging, root: u64, address: u64, read: ReadPhysical<'_>) -> Option<u64>,
    /// The function that each system call enters; its first argument points to the caller's registers.
    pub entry: &'static str,
    /// Where the number of the system call is then.
    pub number: CallNumber,
    /// Functions that a system call passes on its way back to user mode, before a signal is delivered; the first that exists counts.
    /// The first argument points to the caller's registers.
    pub exits: &'static [&'static str],
    /// The members of the caller's registers with the arguments of a system call.
    pub arguments: [Member; 6],
    /// The member that its result is left in.
    pub result: Member,
    /// The name of a system call by its number.
    pub name: fn(u64) -> Option<&'static str>,
}
