//! The riscv64 architecture: RISC-V with registers of 64 bits.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "riscv64"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;
#[cfg(feature = "decode")]
mod userspace;

#[cfg(feature = "decode")]
pub use architecture::Riscv64;

/// A mark's instruction, without the mark's number: `lui x0, 0x4c000`, which does nothing. The number stands in the lowest
/// byte of the immediate, from bit [`MARK_NUMBER_AT`] of the instruction on.
pub const MARK: u32 = 0x4c00_0037;

/// The lowest bit of the mark's number in the instruction.
pub const MARK_NUMBER_AT: u32 = 12;
