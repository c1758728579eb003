//! The arm architecture: 32-bit Arm, which distributions call armhf.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "arm"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;

#[cfg(feature = "decode")]
pub use architecture::Arm;

/// A mark's instruction, without the mark's number: `hint #0x40` of A32, which does nothing. The number is added to it.
pub const MARK: u32 = 0xe320_f040;
