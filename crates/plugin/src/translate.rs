//! Decides, once for each block that QEMU translates, which of its instructions are events.

use crate::api::{Block, Instruction};
use crate::callbacks::{
    on_call, on_call_through, on_cold, on_console, on_decompressor, on_entry, on_inside_loaded, on_kernel,
    on_leave_cold, on_leave_kernel, on_loaded, on_mark, on_return, on_special, on_switch, on_unknown, on_watched, pack,
};
use crate::session::{Progress, Session, KERNEL_MAP};
use firstlight_profile::code::Shape;
use firstlight_profile::instruction::{flow, Flow};
use firstlight_profile::symbols::{Class, Symbol};
use firstlight_profile::tracker::UNKNOWN;

const KERNEL_HALF: u64 = 0xffff_8000_0000_0000;
// User code in the kernel's half of the addresses.
const VSYSCALL: std::ops::Range<u64> = 0xffff_ffff_ff60_0000..0xffff_ffff_ff60_1000;
// Where the boot protocol puts the compressed kernel (`code32_start`).
const DECOMPRESSOR: u64 = 0x10_0000;
const MARK_BYTES: usize = 8;

/// Registers the callbacks of one block.
pub fn block(session: &mut Session, block: *mut Block) {
    let address = session.api.address(block);
    let length = session.api.length(block);
    if session.clock.is_counted() {
        session.clock.count_at(session.api.counted());
        for index in 0..length {
            session.api.count(session.api.instruction(block, index));
        }
    }
    if address >= KERNEL_HALF && !VSYSCALL.contains(&address) {
        if session.progress < Progress::KernelHigh {
            session.progress = Progress::KernelHigh;
        }
        return kernel(session, block, address, address, length);
    }
    if session.progress == Progress::KernelHigh {
        return user(session, block, length);
    }
    if Some(address) == session.load_address {
        session.api.on_block(block, on_kernel, pack(0, length));
    }
    if address == DECOMPRESSOR && session.progress == Progress::Firmware {
        session.api.on_block(block, on_decompressor, pack(0, length));
    }
    // Before it maps itself high, the kernel runs where it lies; `startup_64` is among the first of that.
    let mapped = address.wrapping_add(KERNEL_MAP);
    if Some(address) >= session.load_address && session.symbols.containing(mapped).is_some() {
        kernel(session, block, address, mapped, length);
    }
}

// Marks are the only events of user mode.
fn user(session: &mut Session, block: *mut Block, length: usize) {
    for index in 0..length {
        let instruction = session.api.instruction(block, index);
        if session.api.size(instruction) == MARK_BYTES {
            let mut buffer = [0; 16];
            if let Flow::Mark(mark) = flow(session.api.bytes(instruction, &mut buffer), 0) {
                session.api.on_instruction(instruction, on_mark, pack(u32::from(mark), length - index - 1));
            }
        }
    }
}

// `address` is where the block runs, `mapped` where its symbols are.
fn kernel(session: &mut Session, block: *mut Block, address: u64, mapped: u64, length: usize) {
    let own = session.symbols.containing(mapped).map(|(id, symbol)| (id, symbol.clone()));
    let loaded = if own.is_some() || session.in_image(mapped) { None } else { session.loaded_code(address) };
    match &loaded {
        Some((function, symbol, shape)) => begin_loaded(session, block, address, length, *function, symbol, *shape),
        None => begin(session, block, address, mapped, length, own.as_ref()),
    }
    let found = own.or(loaded.map(|(function, symbol, _)| (function, symbol)));
    if session.after_out.contains(&address) {
        session.api.on_block(block, on_console, pack(0, length));
    }
    if let Some((function, symbol)) = &found {
        if symbol.class == Class::Switch {
            pops(session, block, length, *function);
        }
    }
    if let Some(last) = length.checked_sub(1) {
        let instruction = session.api.instruction(block, last);
        end(session, instruction, address, mapped, found.as_ref());
    }
}

fn begin(
    session: &Session,
    block: *mut Block,
    address: u64,
    mapped: u64,
    length: usize,
    found: Option<&(u32, Symbol)>,
) {
    let Some((function, symbol)) = found else {
        // Nameless code of the image itself belongs to what jumped there (`.altinstr_aux`).
        if session.in_image(mapped) {
            return;
        }
        let packed = address & 0x0000_ffff_ffff_ffff | (length as u64) << 48;
        return session.api.on_block(block, on_unknown, packed);
    };
    let data = pack(*function, length);
    match symbol.class {
        Class::Stub => session.api.on_block(block, on_special, data),
        Class::Cold => session.api.on_block(block, on_cold, data),
        _ if symbol.address != mapped => {}
        Class::Plain if session.tracker.watches(*function) => session.api.on_block(block, on_watched, data),
        Class::Plain => session.api.on_block(block, on_entry, data),
        _ => session.api.on_block(block, on_special, data),
    }
}

// As with the kernel's own functions, a block in the middle of one is no event.
fn begin_loaded(
    session: &Session,
    block: *mut Block,
    address: u64,
    length: usize,
    function: u32,
    symbol: &Symbol,
    shape: Shape,
) {
    let data = pack(function, length);
    match (shape, symbol.class) {
        (Shape::Row, _) => session.api.on_block(block, on_inside_loaded, data),
        (Shape::Function, Class::Cold) => session.api.on_block(block, on_cold, data),
        (Shape::Function, Class::Thunk | Class::ReturnThunk) => {}
        (Shape::Function, _) if symbol.address == address => session.api.on_block(block, on_loaded, data),
        (Shape::Function, _) => {}
    }
}

fn pops(session: &Session, block: *mut Block, length: usize, function: u32) {
    for index in 0..length {
        let instruction = session.api.instruction(block, index);
        let mut buffer = [0; 16];
        if flow(session.api.bytes(instruction, &mut buffer), 0) == Flow::Pop {
            session.api.on_access(instruction, on_switch, pack(function, length - index - 1));
        }
    }
}

// Only a block's last instruction moves control.
fn end(session: &mut Session, instruction: *mut Instruction, address: u64, mapped: u64, found: Option<&(u32, Symbol)>) {
    let mut buffer = [0; 16];
    let at = session.api.instruction_address(instruction).wrapping_sub(address).wrapping_add(mapped);
    let bytes = session.api.bytes(instruction, &mut buffer);
    let next = at.wrapping_add(bytes.len() as u64);
    let class = found.map_or(Class::Plain, |(_, symbol)| symbol.class);
    let data = pack(found.map_or(UNKNOWN, |(function, _)| *function), 0);
    let inside = |target: u64| {
        target == next || found.is_some_and(|(_, symbol)| (symbol.address + 1..symbol.end).contains(&target))
    };
    match flow(bytes, at) {
        // Calls that stay inside fill the return stack buffer or read the instruction pointer.
        Flow::Call(target) if class != Class::Thunk && !inside(target) => {
            session.api.on_access(instruction, on_call, data);
        }
        Flow::CallIndirect => session.api.on_access(instruction, on_call_through, data),
        // A retpoline's return is its jump.
        Flow::Return if class != Class::Thunk => session.api.on_access(instruction, on_return, data),
        // Elsewhere `iret` goes to the next instruction, to serialise (`sync_core`).
        Flow::InterruptReturn | Flow::SyscallReturn if class != Class::Plain => {
            session.api.on_instruction(instruction, on_leave_kernel, data);
        }
        Flow::Jump(target) if class == Class::Cold && !inside(target) => {
            session.api.on_instruction(instruction, on_leave_cold, data);
        }
        Flow::Out => {
            session.after_out.insert(next.wrapping_sub(mapped).wrapping_add(address));
        }
        _ => {}
    }
}
