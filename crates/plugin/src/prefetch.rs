//! Asks the processor for memory before it is needed.
//!
//! QEMU fills the caches with its own, so that what the tree of a boot needs at a call has mostly left them; between a
//! function's entry and its first call there is time to bring it back.
#![allow(unsafe_code)]

/// Has the cache line of `address` fetched, and does not wait for it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn prefetch(address: *const u8) {
    // SAFETY: a hint reads nothing, and any address will do.
    unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast()) };
}

/// Other processors are left to their own foresight: stable Rust has no such hint for them.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch(_address: *const u8) {}
