//! The x86_64 architecture.

#[cfg(feature = "decode")]
mod architecture;
#[cfg(all(feature = "guest", target_arch = "x86_64"))]
pub(crate) mod guest;
#[cfg(feature = "decode")]
mod instruction;
#[cfg(feature = "decode")]
mod symbols;
#[cfg(feature = "decode")]
mod userspace;

#[cfg(feature = "decode")]
pub use architecture::X86_64;

/// The displacement of a mark, without the mark's number.
pub const MARK_BASE: u32 = 0x4c46_0000;
