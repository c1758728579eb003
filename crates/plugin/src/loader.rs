//! What runs before the kernel's image where a boot loader starts it: each part is known by the code that it begins with.
//!
//! A boot loader puts the kernel wherever it has room, so no address says what runs. The first bytes of a part do: the launcher
//! takes them from the kernel's file, and they are compared with the guest's memory when a block is translated, which is when it
//! is about to be executed.

use crate::api::Block;
use crate::loader_code::SOUGHT_BYTES;
use crate::parts::Begins;
use crate::session::{Progress, Session};
use crate::shared::{pack, session, unpack};
use firstlight_isa::{Flow, Isa};
use firstlight_profile::code::Memory as _;
use std::ffi::c_void;

/// What stands for a block of no function of the loader's. There are fewer functions.
const NO_FUNCTION: u32 = (1 << 22) - 1;
/// Bytes of the registers of a serial port.
const REGISTERS_BYTES: u64 = 4096;

/// Looks whether a part begins with this block, which is about to be executed for the first time.
pub fn look<I: Isa>(session: &mut Session<I>, block: *mut Block, address: u64, length: usize) {
    for number in 0..session.parts.len() {
        let Some(part) = session.parts.get(number).filter(|part| !part.reached) else { continue };
        let begins = part.begins;
        if part.code.is_empty() {
            // QEMU's counter is not found yet, and nothing has been executed.
            reach(session, number, 0);
            continue;
        }
        let mut buffer = [0; 16];
        let first = session.api.bytes(session.api.instruction(block, 0), &mut buffer);
        if !part.code.starts_with(first) {
            continue;
        }
        let there = session.mapped().and_then(|memory| memory.bytes(address, session.parts.get(number)?.code.len()));
        if there.as_deref() != session.parts.get(number).map(|part| part.code.as_slice()) {
            continue;
        }
        if begins == Begins::Kernel {
            let named = I::IMAGE_ENTRY.iter().find_map(|name| session.symbols.address(name));
            session.image_offset = named.map(|named| named.wrapping_sub(address));
            session.image_found();
        } else {
            session.api.on_block(block, on_part::<I>, pack(number as u32, length));
        }
    }
}

/// Watches what a block before the kernel sends to the console: stores to its registers, or else output to a port.
pub fn watch_console<I: Isa>(session: &mut Session<I>, block: *mut Block, address: u64, length: usize) {
    if session.console_registers.is_some() {
        for index in 0..length {
            let data = pack(0, length - index - 1);
            session.api.on_access(session.api.instruction(block, index), on_store::<I>, data);
        }
        return;
    }
    if session.after_out.contains(&address) {
        session.api.on_block(block, on_sent::<I>, pack(0, length));
    }
    let Some(last) = length.checked_sub(1) else { return };
    let instruction = session.api.instruction(block, last);
    let mut buffer = [0; 16];
    let bytes = session.api.bytes(instruction, &mut buffer);
    let at = session.api.instruction_address(instruction);
    if I::flow(bytes, at) == Flow::Out {
        session.after_out.insert(at.wrapping_add(bytes.len() as u64));
    }
}

/// Charges a block of the boot loader to its function, where those are given.
pub fn follow_functions<I: Isa>(session: &mut Session<I>, block: *mut Block, address: u64, length: usize) {
    let Some(memory) = session.mapped() else { return };
    let Some(code) = &mut session.loader_code else { return };
    let mut bytes = Vec::with_capacity(4 * length);
    for index in 0..length {
        let mut buffer = [0; 16];
        bytes.extend_from_slice(session.api.bytes(session.api.instruction(block, index), &mut buffer));
    }
    let found = code.function(address, &bytes, || memory.bytes(address, SOUGHT_BYTES));
    let number = found.as_ref().map_or(NO_FUNCTION, |function| {
        let tracker = &mut session.tracker;
        *code.known.entry(function.address).or_insert_with(|| tracker.loader_function(&function.name, function.address))
    });
    let begins = found.is_some_and(|function| function.begins);
    session.api.on_block(block, on_function::<I>, pack(number << 1 | u32::from(begins), length));
}

/// A block of the boot loader: the data is the number of its function with whether it begins there, and its length.
extern "C" fn on_function<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    if session.clock.is_ready() && session.progress < Progress::KernelLow {
        let (number, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        let function = Some(number >> 1).filter(|function| *function != NO_FUNCTION);
        session.tracker.loader_block(function, number & 1 != 0, now);
    }
}

/// The block behind an output to a port.
extern "C" fn on_sent<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    sent(session, data);
}

/// A memory access before the kernel.
extern "C" fn on_store<I: Isa>(cpu: u32, info: u32, address: u64, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    let concerned = session.console_registers.is_some_and(|start| address.wrapping_sub(start) < REGISTERS_BYTES);
    if !session.is_echo() && concerned && session.api.is_store(info) {
        sent(session, data);
    }
}

// Until the counter can be read, nothing has been sent but by the first few blocks: those lines are seen at the next look.
fn sent<I: Isa>(session: &mut Session<I>, data: *mut c_void) {
    if session.clock.is_readable() {
        let (_, remaining) = unpack(data);
        let now = session.clock.now(remaining);
        session.look_at_console(now);
    }
}

fn reach<I: Isa>(session: &mut Session<I>, number: usize, now: u64) {
    let Some(part) = session.parts.get_mut(number).filter(|part| !part.reached) else { return };
    part.reached = true;
    match part.begins {
        Begins::Loader => session.tracker.loader(&part.detail, now),
        Begins::Decompressor => session.tracker.decompressor(now),
        Begins::Kernel => {}
    }
}

/// The first instruction of a part: the data is its number, and the length of the block.
extern "C" fn on_part<I: Isa>(cpu: u32, data: *mut c_void) {
    let Some(session) = session::<I>(cpu) else { return };
    if !session.clock.is_ready() {
        return session.fail("QEMU's instruction counter was not found");
    }
    let (number, remaining) = unpack(data);
    let now = session.clock.now(remaining);
    reach(session, number as usize, now);
}
