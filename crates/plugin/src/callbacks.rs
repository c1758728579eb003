//! What QEMU calls: each callback reads the clock and passes the event on.
//!
//! A callback's data is packed into the pointer that QEMU hands back: the function's number in the upper bits, and
//! how many instructions of the block follow the event in the lower sixteen.
#![allow(unsafe_code)]

use crate::api::{arguments, Block};
use crate::config::Config;
use crate::prefetch::prefetch;
use crate::session::{Progress, Session};
use crate::status::Status;
use crate::translate;
use firstlight_profile::recording::State;
use firstlight_profile::tracker::UNKNOWN;
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};

struct Shared(UnsafeCell<Option<Session>>);
// SAFETY: QEMU runs one virtual CPU on one thread, and calls the exit callback when that thread has stopped.
unsafe impl Sync for Shared {}
static SESSION: Shared = Shared(UnsafeCell::new(None));

#[inline]
fn session() -> Option<&'static mut Session> {
    // SAFETY: see `Shared`: no two callbacks run at a time, and none keeps the reference.
    unsafe { (*SESSION.0.get()).as_mut() }.filter(|session| !session.frozen)
}

/// Packs a callback's data.
pub fn pack(function: u32, remaining: usize) -> u64 {
    u64::from(function) << 16 | remaining as u64 & 0xffff
}

/// Packs the data of a callback of a block's last instruction that concerns two functions.
pub fn pack_both(function: u32, other: u32) -> u64 {
    u64::from(other) << 40 | pack(function, 0)
}

#[inline]
fn unpack(data: *mut c_void) -> (u32, u64) {
    let data = data as u64;
    ((data >> 16) as u32 & UNKNOWN, data & 0xffff)
}

/// Called by QEMU when it loads the plugin.
///
/// # Safety
///
/// As QEMU calls it: `argv` holds `argc` strings.
#[no_mangle]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _info: *const c_void,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let config = match Config::from_arguments(&unsafe { arguments(argc, argv) }) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("firstlight: {error}");
            return 1;
        }
    };
    match Session::new(config) {
        Ok(session) => {
            session.api.register_translation(id, on_translation);
            session.api.register_exit(id, on_exit);
            // SAFETY: nothing else runs while plugins are installed.
            unsafe { *SESSION.0.get() = Some(session) };
            0
        }
        Err((status, error)) => {
            let detail = error.to_string();
            status.write(&Status {
                state: "error",
                phase: "",
                instructions: 0,
                virtual_ns: 0,
                idle_ns: 0,
                detail: &detail,
            });
            eprintln!("firstlight: {error}");
            1
        }
    }
}

extern "C" fn on_translation(_id: u64, block: *mut Block) {
    if let Some(session) = session() {
        if let Some(equal) = session.clock.at_translation() {
            session.tracker.clock_checked(equal);
        }
        translate::block(session, block);
    }
}

extern "C" fn on_exit(_id: u64, _data: *mut c_void) {
    if let Some(session) = session() {
        session.stop();
    }
}

/// The first instruction of an ordinary function.
pub extern "C" fn on_entry(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.enter(function, now);
    session.tracker.next().into_iter().for_each(prefetch);
    session.tick(function, now);
}

/// The first instruction of a function that something is known to hang on: a mark, an initcall, a way to user mode.
pub extern "C" fn on_watched(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let request = session.tracker.entry(function, now);
    session.at_entry(function, |session| session.answer(request, now));
    session.tick(function, now);
}

/// The first instruction of a function that needs care.
pub extern "C" fn on_special(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.idle(session.clock.idle_ns(), now);
    let request = session.tracker.special(function, now);
    session.at_entry(function, |session| {
        session.answer(request, now);
        session.check_limit(now);
    });
}

/// A block of a split-off part.
pub extern "C" fn on_cold(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.cold(function, now);
}

/// A jump out of a split-off part, or of generated code.
pub extern "C" fn on_leave_part(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.leave_part(function, (data as u64 >> 40) as u32, now);
}

/// A block in the padding of a function.
pub extern "C" fn on_padding(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let request = session.tracker.padding(function, now);
    session.at_entry(function, |session| session.answer(request, now));
    session.tick(function, now);
}

/// A block that runs into the function behind it.
pub extern "C" fn on_unnamed_padding(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let request = session.tracker.unnamed_padding(function, now);
    session.at_entry(function, |session| session.answer(request, now));
}

/// A thunk replaces its return address.
pub extern "C" fn on_redirect(_vcpu: u32, _data: *mut c_void) {
    let Some(session) = session() else { return };
    session.tracker.redirect();
}

/// A call to the inside of another function wrote its return address.
pub extern "C" fn on_call_inside(_vcpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.is_echo() {
        return;
    }
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.call_inside(function, (data as u64 >> 40) as u32, address, now);
}

/// A block of kernel code without a symbol: the data is its address, with the length in place of the sign bits.
pub extern "C" fn on_unknown(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let data = data as u64;
    let now = session.clock.now(data >> 48);
    session.tracker.unknown(data | 0xffff << 48, now);
    session.tick(UNKNOWN, now);
}

/// The first instruction of a function of a module.
pub extern "C" fn on_loaded(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.enter_loaded(function, now);
    session.tick(function, now);
}

/// A block in the padding of a function of a module.
pub extern "C" fn on_padding_loaded(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.pad_loaded(function, now);
}

/// A block of loaded code without functions of its own.
pub extern "C" fn on_inside_loaded(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.inside_loaded(function, now);
    session.tick(function, now);
}

/// A call wrote its return address.
pub extern "C" fn on_call(_vcpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.is_echo() {
        return;
    }
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.call(function, address, now);
}

/// A call through memory read its target or wrote its return address.
pub extern "C" fn on_call_through(vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.api.is_store(info) {
        on_call(vcpu, info, address, data);
    }
}

/// A return read its address.
pub extern "C" fn on_return(_vcpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.is_echo() {
        return;
    }
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.ret(function, address, now);
}

/// A `pop` in `__switch_to_asm` read a register.
pub extern "C" fn on_switch(_vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session() else { return };
    if !session.api.is_store(info) {
        let (_, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        if session.tracker.switch(address, now) {
            session.switched();
        }
    }
}

/// `__switch_to_asm` loads the stack pointer: the load is the last instruction of the task that is left.
pub extern "C" fn on_takes_stack(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (_, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.tracker.takes_stack(now);
}

/// An `iret` or `sysret` of the entry code.
pub extern "C" fn on_leave_kernel(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (_, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    if session.tracker.leave_kernel(now) {
        session.tracker.user_start(now);
    }
}

/// The block behind an `out`.
pub extern "C" fn on_console(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (_, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.look_at_console(now);
}

/// The first instruction of the decompressor.
pub extern "C" fn on_decompressor(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.progress == Progress::Firmware {
        let (_, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        if !session.clock.is_ready() {
            return session.fail("QEMU's instruction counter was not found");
        }
        session.progress = Progress::Decompressor;
        session.tracker.decompressor(now);
    }
}

/// The first instruction of the kernel's image, where it lies in memory.
pub extern "C" fn on_kernel(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    if session.progress < Progress::KernelLow {
        let (_, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        if !session.clock.is_ready() {
            return session.fail("QEMU's instruction counter was not found");
        }
        session.progress = Progress::KernelLow;
        session.tracker.kernel(now);
    }
}

/// A mark of the guest's.
pub extern "C" fn on_mark(_vcpu: u32, data: *mut c_void) {
    let Some(session) = session() else { return };
    let (mark, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let name = match mark {
        1 => "ready",
        2 => "guest_start",
        3 => "switch_root",
        _ => return,
    };
    if name == "ready" && !session.ready_by_mark {
        return;
    }
    session.tracker.idle(session.clock.idle_ns(), now);
    session.tracker.mark(name, "no-operation", "", now);
    if name == "ready" {
        session.freeze(State::Ready, now);
    }
}
