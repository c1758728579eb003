//! The ppc64le architecture: 64-bit POWER with little-endian bytes, which distributions call ppc64el.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "powerpc64", target_endian = "little"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;

#[cfg(feature = "decode")]
pub use architecture::Ppc64le;

/// A mark's instruction, without the mark's number: `addis 16, 16, 0`, which adds nothing.
pub const MARK: u32 = 0x3e10_0000;

/// What the next mark has more: both registers are the next one.
pub const MARK_STEP: u32 = 0x0021_0000;
