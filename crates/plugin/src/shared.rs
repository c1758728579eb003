//! What QEMU hands back to a callback: the number of the processor, and 64 bits of data.
//!
//! The number of the processor leads to its recording. The data is packed into the pointer that QEMU keeps for the callback: a
//! function's number in the upper bits, and how many instructions of the block follow the event in the lower sixteen.
#![allow(unsafe_code)]

use crate::session::Session;
use firstlight_isa::Isa;
use firstlight_profile::tracker::UNKNOWN;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

// The recording, a `Session` of the architecture that `keep` was called with. QEMU calls back
// with no pointer of the plugin's own at a translation, so this is the one thing that is global.
static SESSION: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Keeps a recording for the callbacks. To be called once, for one architecture, while plugins are installed.
pub fn keep<I: Isa>(session: Session<I>) {
    SESSION.store(Box::into_raw(Box::new(session)).cast(), Ordering::Relaxed);
}

/// The recording, unless it is over. `I` is the architecture that [`keep`] was called with.
#[inline]
pub fn recording<I: Isa>() -> Option<&'static mut Session<I>> {
    let session: *mut Session<I> = SESSION.load(Ordering::Relaxed).cast();
    // SAFETY: null, or from `keep` for the same architecture and never freed. QEMU runs all virtual processors on one thread
    // and calls the exit callback when that thread has stopped: no two callbacks run at a time, and none keeps the reference.
    unsafe { session.as_mut() }.filter(|session| !session.frozen)
}

/// The same at an event. Whose it is shows before, where the guest has several processors: what QEMU says does not
/// ([`firstlight_qemu::Turns`]).
#[inline]
pub fn session<I: Isa>(_cpu: u32) -> Option<&'static mut Session<I>> {
    recording()
}

/// Packs a callback's data.
pub fn pack(function: u32, remaining: usize) -> u64 {
    u64::from(function) << 16 | remaining as u64 & 0xffff
}

/// Packs the data of a callback of a block's last instruction that concerns two functions.
pub fn pack_both(function: u32, other: u32) -> u64 {
    u64::from(other) << 40 | pack(function, 0)
}

/// The number of a block of user code, and its length.
#[inline]
pub fn unpack_block(data: *mut c_void) -> (u32, u64) {
    let data = data as u64;
    ((data >> 16) as u32, data & 0xffff)
}

/// A function's number, and how many instructions of the block follow.
#[inline]
pub fn unpack(data: *mut c_void) -> (u32, u64) {
    let data = data as u64;
    ((data >> 16) as u32 & UNKNOWN, data & 0xffff)
}
