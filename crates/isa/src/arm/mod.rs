//! The arm architecture: 32-bit Arm, which distributions call armhf.

#[cfg(all(feature = "guest", target_arch = "arm"))]
pub(crate) mod guest;

/// A mark's instruction, without the mark's number: `hint #0x40` of A32, which does nothing. The number is added to it.
pub const MARK: u32 = 0xe320_f040;
