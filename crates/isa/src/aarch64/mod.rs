//! The aarch64 architecture, which distributions call arm64.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "aarch64"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;
#[cfg(feature = "decode")]
mod userspace;

#[cfg(feature = "decode")]
pub use architecture::Aarch64;

/// A mark's instruction, without the mark's number: `movz xzr, #0x4c00, lsl #48`, which does nothing. The number stands
/// in the lowest byte of the immediate, from bit [`MARK_NUMBER_AT`] of the instruction on.
pub const MARK: u32 = 0xd2e9_801f;

/// The lowest bit of the mark's number in the instruction.
pub const MARK_NUMBER_AT: u32 = 5;
