//! Callbacks of architectures with a link register.

use crate::api::Instruction;
use crate::prefetch::prefetch;
use crate::session::Session;
use crate::shared::{session, unpack};
use firstlight_isa::{Flow, Isa, Linked};
use firstlight_profile::code::Memory as _;
use firstlight_profile::tracker::{Link, UNKNOWN};
use std::ffi::c_void;

/// The longest call of any architecture, without its delay slot and with it.
const CALL_BYTES: usize = 4;
const SLOTTED_CALL_BYTES: usize = 8;
/// The function of a site that lies in none. There are fewer functions, and no block has a thousand instructions.
const NO_SITE: u32 = (1 << 22) - 1;
/// What an address is packed without.
const PACKED: u64 = 0xfff << PACKED_AT;
const PACKED_AT: u32 = 52;
/// The bits that repeat the one below them in an address of the kernel's.
const SIGN: u64 = 0xffff << 48;

/// Whether a block that begins with this instruction at this address may be what a call returns to.
pub fn is_behind_call<I: Isa>(
    session: &mut Session<I>,
    linked: &Linked,
    first: *mut Instruction,
    address: u64,
) -> bool {
    match I::DELAY_SLOT_BYTES {
        0 => ends_with_call::<I, CALL_BYTES>(session, linked, first, address),
        _ => ends_with_call::<I, SLOTTED_CALL_BYTES>(session, linked, first, address),
    }
}

// Whether the last of the `N` bytes in front of this instruction are a call, with its delay slot.
fn ends_with_call<I: Isa, const N: usize>(
    session: &mut Session<I>,
    linked: &Linked,
    first: *mut Instruction,
    address: u64,
) -> bool {
    let near = session.api.bytes_before::<N>(first);
    let bytes = near.or_else(|| session.mapped()?.bytes(address.wrapping_sub(N as u64), N)?.try_into().ok());
    let Some(bytes) = bytes else { return false };
    linked.call_bytes.iter().any(|length| {
        let call = bytes.get(N - length..).unwrap_or_default();
        matches!(I::flow(call, address.wrapping_sub(*length as u64)), Flow::Call(_) | Flow::CallIndirect)
    })
}

/// Packs what is to be known of a block behind a call: the lower half of its address, its function and its length.
pub fn pack_site(address: u64, function: u32, length: usize) -> u64 {
    address & 0xffff_ffff | u64::from(function & NO_SITE) << 32 | (length as u64) << 54
}

/// Packs an address of the kernel's with how many instructions of the block follow.
pub fn pack_address(address: u64, remaining: usize) -> u64 {
    address & !PACKED | (remaining as u64) << PACKED_AT
}

/// The address, and how many instructions of the block follow.
#[inline]
pub fn unpack_address<I: Isa>(data: *mut c_void) -> (u64, u64) {
    let data = data as u64;
    (data & !PACKED | I::UPPER_BITS << PACKED_AT, data >> PACKED_AT)
}

/// The session, the function, what is known of its call, and the instruction counter.
type Entry<I> = (&'static mut Session<I>, u32, Link, u64);

#[inline]
fn entered<I: Isa>(cpu: u32, data: *mut c_void) -> Option<Entry<I>> {
    let session = session::<I>(cpu)?;
    let (function, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let link = session.linkage.link();
    Some((session, function, link, now))
}

/// The first instruction of an ordinary function, at the start of a block.
pub extern "C" fn on_entry<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, link, now)) = entered::<I>(cpu, data) else { return };
    let symbols = &session.symbols;
    session.tracker.enter_linked(function, link, || site(symbols, session.image_offset, link.address), now);
    session.tracker.next().into_iter().for_each(prefetch);
    session.tick(function, now);
}

/// The same of a function that something is known to hang on.
pub extern "C" fn on_watched<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, link, now)) = entered::<I>(cpu, data) else { return };
    let symbols = &session.symbols;
    let request =
        session.tracker.entry_linked(function, link, || site(symbols, session.image_offset, link.address), now);
    session.at_entry(function, |session| session.answer(request, now));
    session.tick(function, now);
}

/// The same of a function of a module.
pub extern "C" fn on_loaded<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, link, now)) = entered::<I>(cpu, data) else { return };
    session.tracker.enter_loaded_linked(function, link, now);
    session.tick(function, now);
}

/// A block of loaded code without functions of its own.
pub extern "C" fn on_inside_loaded<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some((session, function, link, now)) = entered::<I>(cpu, data) else { return };
    session.tracker.anywhere_linked(function, link, now);
    session.tick(function, now);
}

/// A function is entered in front of its local entry, which begins the next block.
pub extern "C" fn on_global_entry<I: Isa>(cpu: u32, data: *mut c_void) {
    on_watched::<I>(cpu, data);
    let Some(session) = session::<I>(cpu) else { return };
    session.tracker.nears_local_entry(unpack(data).0);
}

/// A function that is given the task that is left and the one that comes is entered: it calls the one that switches.
pub extern "C" fn on_given_tasks<I: Isa>(cpu: u32, data: *mut c_void) {
    on_watched::<I>(cpu, data);
    let (Some(session), Some(linked)) = (session::<I>(cpu), I::LINKED) else { return };
    session.linkage.switch_begins(linked);
}

/// The function that switches between tasks is entered.
pub extern "C" fn on_switch<I: Isa>(cpu: u32, data: *mut c_void) {
    on_watched::<I>(cpu, data);
    let (Some(session), Some(linked)) = (session::<I>(cpu), I::LINKED) else { return };
    if linked.given_tasks.is_none() {
        session.linkage.switch_begins(linked);
    }
    session.tracker.switches();
}

/// In that function the stack of the next task is taken: this instruction is the last one of the task that is left.
pub extern "C" fn on_takes_stack<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let (_, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    let (left, next) = session.linkage.switch_ends();
    session.tracker.switch_linked(left, next, now);
    session.switched();
}

/// A call through a register, or to code that begins no known function: the data is where it returns to.
pub extern "C" fn on_link<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    session.tracker.links(data as u64);
}

/// The same of a call that leaves its return address in another register.
pub extern "C" fn on_link_elsewhere<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    session.tracker.links_elsewhere(data as u64);
}

/// A block behind a call.
pub extern "C" fn on_return_site<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let data = data as u64;
    let now = session.clock.now(data >> 54);
    let link = Link { sp: session.linkage.stack_pointer(), address: data & 0xffff_ffff };
    let function = (data >> 32) as u32 & NO_SITE;
    session.tracker.returned_linked(link, if function == NO_SITE { UNKNOWN } else { function }, now);
}

/// A block behind a call in code without a symbol: the data is as for [`on_return_site`].
pub extern "C" fn on_nameless_site<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let data = data as u64;
    let now = session.clock.now(data >> 54);
    let link = Link { sp: session.linkage.stack_pointer(), address: data & 0xffff_ffff };
    session.tracker.returned_nameless(link, now);
}

/// A block of entry code that may be what a function returns to: the data is as for [`on_return_site`].
pub extern "C" fn on_entry_site<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let data = data as u64;
    let now = session.clock.now(data >> 54);
    let link = Link { sp: session.linkage.stack_pointer(), address: data & 0xffff_ffff };
    session.tracker.returned_to_entry(link, now);
}

/// A block of the kernel's image without a symbol.
pub extern "C" fn on_nameless<I: Isa>(cpu: u32, _data: *mut c_void) {
    if let Some(session) = session::<I>(cpu) {
        session.tracker.nameless_linked();
    }
}

/// A block of kernel code without a symbol.
pub extern "C" fn on_unknown<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let (address, remaining) = unpack_address::<I>(data);
    let now = session.clock.now(remaining);
    let link = session.linkage.link();
    session.tracker.unknown_linked(address, link, now);
    session.tick(UNKNOWN, now);
}

/// An instruction wrote to the console's registers, or to other memory.
pub extern "C" fn on_console_store<I: Isa>(cpu: u32, info: u32, _address: u64, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    if !session.is_echo() && session.api.is_store(info) {
        let (_, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        session.look_at_console(now);
    }
}

// The function of a call, by the address behind it: of the kernel's own code, also while it runs where it lies in memory.
fn site<I: Isa>(symbols: &firstlight_profile::SymbolTable<I>, image_offset: Option<u64>, address: u64) -> u32 {
    let inside = address.wrapping_sub(1);
    // The highest bit below those that a processor may use otherwise shows the half.
    let inside = if inside & SIGN >> 1 & !SIGN == 0 { inside } else { inside | SIGN };
    let low = || symbols.containing(inside.wrapping_add(image_offset?));
    symbols.containing(inside).or_else(low).map_or(UNKNOWN, |(function, _)| function)
}
