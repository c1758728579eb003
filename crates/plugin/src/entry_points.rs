//! Where functions are entered: some architectures have two entries of a function.
//!
//! The global entry, at the symbol, computes the address of the table of contents. The local entry behind that is where calls from the same
//! module go. Every way into the function passes the local entry, so that is where executions are counted.

use crate::api::{Block, Instruction};
use crate::session::Session;
use firstlight_isa::Isa;
use firstlight_profile::code::Memory as _;

/// The longest code in front of a local entry.
const MOST_BYTES: usize = 8;

/// What begins at an instruction of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryPoint {
    /// The function, where it has one entry.
    Only(u32),
    /// The function, with its local entry at a later instruction of the block, so many further.
    Global(u32, usize),
    /// The function, with its local entry in the next block.
    Parted(u32),
    /// The function's local entry, with its symbol in front of the block.
    Local(u32),
}

impl EntryPoint {
    /// The function.
    pub fn function(self) -> u32 {
        match self {
            Self::Only(function) | Self::Global(function, _) | Self::Parted(function) | Self::Local(function) => {
                function
            }
        }
    }
}

/// What begins at the instruction `index` of a block of `length` instructions: its symbol would be at `address`.
///
/// `starting` says which function has its symbol at an address.
pub fn entry_point<I: Isa>(
    session: &Session<I>,
    block: *mut Block,
    index: usize,
    length: usize,
    address: u64,
    starting: impl Fn(u64) -> Option<u32>,
) -> Option<EntryPoint> {
    let symbol = starting(address);
    if I::LOCAL_ENTRY_BYTES == 0 {
        return symbol.map(EntryPoint::Only);
    }
    let instruction = session.api.instruction(block, index);
    if let Some(function) = symbol {
        let at = session.api.instruction_address(instruction);
        let bytes = session.memory()?.bytes(at, MOST_BYTES);
        let further = (I::LOCAL_ENTRY_BYTES / I::LONGEST_INSTRUCTION) as usize;
        return Some(match bytes.is_some_and(|bytes| I::has_local_entry(&bytes)) {
            false => EntryPoint::Only(function),
            true if index + further < length => EntryPoint::Global(function, further),
            true => EntryPoint::Parted(function),
        });
    }
    let function = starting(address.wrapping_sub(I::LOCAL_ENTRY_BYTES))?;
    let in_front = index as u64 * I::LONGEST_INSTRUCTION;
    let is_local = in_front < I::LOCAL_ENTRY_BYTES && has_local_entry(session, instruction);
    is_local.then_some(EntryPoint::Local(function))
}

// Whether what stands in front of this instruction leads to a local entry.
fn has_local_entry<I: Isa>(session: &Session<I>, instruction: *mut Instruction) -> bool {
    let near = session.api.bytes_before::<MOST_BYTES>(instruction).map(|bytes| bytes.to_vec());
    let bytes = near.or_else(|| {
        let start = session.api.instruction_address(instruction).wrapping_sub(I::LOCAL_ENTRY_BYTES);
        session.memory()?.bytes(start, MOST_BYTES)
    });
    bytes.is_some_and(|bytes| I::has_local_entry(&bytes))
}
