//! The mips64el architecture: 64-bit MIPS with little-endian bytes.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "mips64", target_endian = "little"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;

#[cfg(feature = "decode")]
pub use architecture::Mips64el;

/// A mark's instruction, without the mark's number: `lui $0, 0x4c00`, which writes to the register that takes no value. The
/// number is added to it.
pub const MARK: u32 = 0x3c00_4c00;
