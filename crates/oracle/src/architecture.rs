//! What the oracle has to know of a processor architecture, in one form.
//!
//! Each architecture states its own, without the recorder's module of it: the audit finds an error in either statement because
//! there are two (`docs/design/oracle.md`).

use crate::kind::Kind;
use std::ffi::{c_int, CStr};

/// How an architecture's kernel is laid out, entered and left.
#[derive(Debug)]
pub struct Architecture {
    /// QEMU's name of it.
    pub target: &'static str,
    /// Where the image lies before it is mapped.
    pub image: Image,
    /// Where the image is entered; of several names the first that exists.
    pub image_entry: &'static [&'static str],
    /// Firmware goes on to run below the image, and the kernel calls it.
    pub has_firmware: bool,
    /// The bounds of the entry code.
    pub entry_code: (&'static str, &'static str),
    /// How the names of padding begin.
    pub padding: &'static [&'static str],
    /// The switch of tasks.
    pub switch: &'static str,
    /// How the names of thunks begin that stand at both ends of their section.
    pub thunks: &'static [&'static str],
    /// The guest's mark *ready*, `docs/reference/formats/guest-report.md`.
    pub ready: &'static [u8],
    /// Where registers are.
    pub registers: Registers,
    /// Which blocks may end with a byte for the console.
    pub console: ConsoleCode,
    /// The functions at whose entry [`Architecture::raised`] is asked, beside the entries of exceptions.
    pub fault_handlers: &'static [&'static str],
    /// Whether code at this address is the kernel's, once it has mapped itself.
    pub is_kernel: fn(u64) -> bool,
    /// What entry code is that stands among thunks or has a name of its own.
    pub stub_or_entry: fn(&str) -> Option<Kind>,
    /// What other entry code is.
    pub entry: fn(&str) -> Option<Kind>,
    /// Whether a name is that of a thunk that stands outside of their section.
    pub is_thunk: fn(&str) -> bool,
    /// Whether these bytes, at this address, are one whole instruction.
    pub is_whole: fn(&[u8], u64) -> bool,
    /// How far one instruction moves the stack pointer; nothing where its bytes alone do not show it.
    pub moves_stack_pointer: fn(&[u8], u64) -> Option<i64>,
    /// Whether the kernel's entry of this name, reached with this stack pointer, was reached from user mode. Where neither
    /// says it, false.
    pub is_from_user: fn(&str, u64) -> bool,
    /// What is known at the first instruction of an exception's entry or of a function that handles faults.
    pub raised: fn(&str, &dyn Look) -> Raised,
}

/// Where a kernel's image lies before it is mapped.
#[derive(Debug, Clone, Copy)]
pub enum Image {
    /// Its addresses are always this far above the memory that it lies in.
    Offset(u64),
    /// Anywhere. Its head has this sign at the offset 0x38, and goes on to the entry.
    Signed(u32),
}

/// The order of thirty-two registers that the debugger numbers as QEMU keeps them.
pub const NUMBERED_ALIKE: [c_int; 32] = {
    let mut order = [0; 32];
    let mut place = 0;
    while place < order.len() {
        order[place] = place as c_int;
        place += 1;
    }
    order
};

/// Where the registers are that the oracle reads.
#[derive(Debug)]
pub struct Registers {
    /// QEMU's function that reads a register for a debugger.
    pub read: &'static CStr,
    /// The debugger's numbers of some registers, in the order in which QEMU keeps them.
    pub order: &'static [c_int],
    /// The stack pointer's place in that order.
    pub stack_pointer: usize,
    /// The place of a function's first argument.
    pub argument: usize,
    /// The place of the register in which a call leaves the address behind it; none where that is on the stack.
    pub link: Option<usize>,
}

/// Which blocks may end with a byte for the console.
#[derive(Debug)]
pub enum ConsoleCode {
    /// Those that end with this instruction.
    Instruction(&'static [u8]),
    /// Those of functions whose names begin so: the console's registers are memory.
    Functions(&'static [&'static str]),
}

/// Registers, by their places, and the guest's memory.
pub trait Look {
    /// A register.
    fn register(&self, place: usize) -> u64;
    /// A word of memory; 0 where none is mapped.
    fn word(&self, address: u64) -> u64;
}

/// What the processor, or the kernel, has noted of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// It came from user mode.
    pub from_user: bool,
    /// The address of the instruction that raised it.
    pub from: u64,
    /// That instruction was counted, and will be again when it is done again.
    pub again: bool,
}

impl Raised {
    /// Nothing that was counted is done again.
    pub const NOTHING: Self = Self { from_user: false, from: 0, again: false };
}
