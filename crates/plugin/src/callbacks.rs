//! What QEMU calls: each callback reads the clock and passes the event on.

use crate::linked;
use crate::prefetch::prefetch;
use crate::session::{Progress, Session};
use crate::shared::{session, unpack, unpack_block};
use firstlight_isa::Isa;
use firstlight_profile::recording::State;
use firstlight_profile::tracker::UNKNOWN;
use firstlight_schema::{Mark, MarkSource};
use std::ffi::c_void;

/// The session, the number that the data has, and the instruction counter at the event.
type Event<I> = (&'static mut Session<I>, u32, u64);

#[inline]
fn at<I: Isa>(session: &'static mut Session<I>, data: *mut c_void) -> Event<I> {
    let (number, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    (session, number, now)
}

/// An instruction was reached.
#[inline]
fn event<I: Isa>(cpu: u32, data: *mut c_void) -> Option<Event<I>> {
    Some(at(session(cpu)?, data))
}

/// An instruction accessed memory; none for the second report of one access.
#[inline]
fn access<I: Isa>(cpu: u32, data: *mut c_void) -> Option<Event<I>> {
    let session = session::<I>(cpu)?;
    if session.is_echo() {
        return None;
    }
    Some(at(session, data))
}

/// The first instruction of an ordinary function.
pub extern "C" fn on_entry<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.enter(function, now);
    session.tracker.next().into_iter().for_each(prefetch);
    session.tick(function, now);
}

/// The first instruction of a function that calls initcalls, and none is known yet.
pub extern "C" fn on_initcall_caller<I: Isa>(cpu: u32, data: *mut c_void) {
    at_block_start::<I>(cpu, data);
    let Some((session, function, _)) = event::<I>(cpu, data) else { return };
    if session.tracker.lacks_initcalls(function) {
        session.find_initcalls();
    }
}

/// The first instruction of a function that something is known to hang on: a mark, an initcall, a way to user mode.
pub extern "C" fn on_watched<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    let request = session.tracker.entry(function, now);
    session.at_entry(function, |session| session.answer(request, now));
    session.tick(function, now);
}

// As for a watched function, where a block begins.
fn at_block_start<I: Isa>(cpu: u32, data: *mut c_void) {
    match I::LINKED {
        Some(_) => linked::on_watched::<I>(cpu, data),
        None => on_watched::<I>(cpu, data),
    }
}

/// The first block of a function that shows something of processes.
pub extern "C" fn on_probed<I: Isa>(cpu: u32, data: *mut c_void) {
    at_block_start::<I>(cpu, data);
    let Some(session) = session::<I>(cpu) else { return };
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    session.given_module(function);
    if let Some(probe) = session.processes.as_ref().and_then(|processes| processes.probe(function)) {
        session.probed(probe, now);
    }
}

/// The first block of a function that a person asks about.
pub extern "C" fn on_asked<I: Isa>(cpu: u32, data: *mut c_void) {
    on_probed::<I>(cpu, data);
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.asked(function, now);
}

/// A block of the kernel that a call may have returned to: the data is as for [`on_unknown`].
pub extern "C" fn on_may_return<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let (address, remaining) = linked::unpack_address::<I>(data);
    let now = session.clock.now(remaining);
    session.may_return(address, now);
}

/// The first instruction of a function that needs care.
pub extern "C" fn on_special<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.idle(session.clock.idle_ns(), now);
    let request = session.tracker.special(function, now);
    session.at_entry(function, |session| {
        session.answer(request, now);
        session.check_limit(now);
    });
}

/// A block of user code: the data is its number, and its length.
pub extern "C" fn on_user_block<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let (number, length) = unpack_block(data);
    let now = session.clock.now(length);
    session.tracker.user_block(number, length, now);
}

/// A block of a split-off part.
pub extern "C" fn on_cold<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.cold(function, now);
}

/// A jump out of a split-off part, or of generated code.
pub extern "C" fn on_leave_part<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.leave_part(function, (data as u64 >> 40) as u32, now);
}

/// A block in the padding of a function.
pub extern "C" fn on_padding<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    let request = session.tracker.padding(function, now);
    session.at_entry(function, |session| session.answer(request, now));
    session.tick(function, now);
}

/// A block that runs into the function behind it.
pub extern "C" fn on_unnamed_padding<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    let request = session.tracker.unnamed_padding(function, now);
    session.at_entry(function, |session| session.answer(request, now));
}

/// A thunk replaces its return address.
pub extern "C" fn on_redirect<I: Isa>(cpu: u32, _data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    session.tracker.redirect();
}

/// A call to the inside of another function wrote its return address.
pub extern "C" fn on_call_inside<I: Isa>(cpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some((session, function, now)) = access::<I>(cpu, data) else { return };
    session.tracker.call_inside(function, (data as u64 >> 40) as u32, address, now);
}

/// A block of kernel code without a symbol: the data is its address, with the length in place of the sign bits.
pub extern "C" fn on_unknown<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let (address, remaining) = linked::unpack_address::<I>(data);
    let now = session.clock.now(remaining);
    session.tracker.unknown(address, now);
    session.tick(UNKNOWN, now);
}

/// The first instruction of a function of a module.
pub extern "C" fn on_loaded<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.enter_loaded(function, now);
    session.tick(function, now);
}

/// A block in the padding of a function of a module.
pub extern "C" fn on_padding_loaded<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.pad_loaded(function, now);
}

/// A block of loaded code without functions of its own.
pub extern "C" fn on_inside_loaded<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, now)) = event::<I>(cpu, data) else { return };
    session.tracker.inside_loaded(function, now);
    session.tick(function, now);
}

/// A call wrote its return address.
pub extern "C" fn on_call<I: Isa>(cpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some((session, function, now)) = access::<I>(cpu, data) else { return };
    session.tracker.call(function, address, now);
}

/// A call through memory read its target or wrote its return address.
pub extern "C" fn on_call_through<I: Isa>(cpu: u32, info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    if session.api.is_store(info) {
        on_call::<I>(cpu, info, address, data);
    }
}

/// A return read its address.
pub extern "C" fn on_return<I: Isa>(cpu: u32, _info: u32, address: u64, data: *mut c_void) {
    let Some((session, function, now)) = access::<I>(cpu, data) else { return };
    session.tracker.ret(function, address, now);
}

/// A `pop` in `__switch_to_asm` read a register.
pub extern "C" fn on_switch<I: Isa>(cpu: u32, info: u32, address: u64, data: *mut c_void) {
    let Some((session, _, now)) = access::<I>(cpu, data) else { return };
    if !session.api.is_store(info) && session.tracker.switch(address, now) {
        session.switched();
    }
}

/// `__switch_to_asm` loads the stack pointer: the load is the last instruction of the task that is left.
pub extern "C" fn on_takes_stack<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, _, now)) = event::<I>(cpu, data) else { return };
    session.tracker.takes_stack(now);
}

/// An `iret` or `sysret` of the entry code.
pub extern "C" fn on_leave_kernel<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, _, now)) = event::<I>(cpu, data) else { return };
    if session.tracker.leave_kernel(now) {
        session.reaches_user(now);
    }
}

/// The block behind an `out`.
pub extern "C" fn on_console<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, _, now)) = event::<I>(cpu, data) else { return };
    session.look_at_console(now);
}

/// The session when it gets this far for the first time, and the instruction counter.
fn reached<I: Isa>(cpu: u32, data: *mut c_void, progress: Progress) -> Option<(&'static mut Session<I>, u64)> {
    let session = session::<I>(cpu)?;
    if session.progress >= progress {
        return None;
    }
    let (session, _, now) = at(session, data);
    if !session.clock.is_ready() {
        session.fail("QEMU's instruction counter was not found");
        return None;
    }
    session.progress = progress;
    Some((session, now))
}

/// The first instruction of the decompressor.
pub extern "C" fn on_decompressor<I: Isa>(cpu: u32, data: *mut c_void) {
    if let Some((session, now)) = reached::<I>(cpu, data, Progress::Decompressor) {
        session.tracker.decompressor(now);
    }
}

/// The first instruction of the kernel's image, where it lies in memory.
pub extern "C" fn on_kernel<I: Isa>(cpu: u32, data: *mut c_void) {
    if let Some((session, now)) = reached::<I>(cpu, data, Progress::KernelLow) {
        session.tracker.kernel(now);
    }
}

/// A mark of the guest's.
pub extern "C" fn on_mark<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, number, now)) = event::<I>(cpu, data) else { return };
    let mark = match number {
        1 => Mark::Ready,
        2 => Mark::GuestStart,
        3 => Mark::SwitchRoot,
        _ => return,
    };
    if mark == Mark::Ready && !session.ready_by_mark {
        return;
    }
    session.tracker.idle(session.clock.idle_ns(), now);
    session.tracker.mark(mark.name(), MarkSource::Instruction, "", now);
    if mark == Mark::Ready {
        session.freeze(State::Ready, now);
    }
}
