//! Decides, once for each block that QEMU translates, which of its instructions are events.

use crate::api::{Block, Instruction};
use crate::callbacks::{
    on_asked, on_call, on_call_inside, on_call_through, on_cold, on_console, on_decompressor, on_entry,
    on_initcall_caller, on_inside_loaded, on_kernel, on_leave_kernel, on_leave_part, on_loaded, on_mark, on_may_return,
    on_padding, on_padding_loaded, on_probed, on_redirect, on_return, on_special, on_switch, on_takes_stack,
    on_unknown, on_unnamed_padding, on_user_block, on_watched,
};
use crate::entry_points::{entry_point, EntryPoint};
use crate::linked;
use crate::loader;
use crate::session::{Loaded, Progress, Session};
use crate::shared::{pack, pack_both};
use firstlight_isa::{Class, Flow, Isa, Linked};
use firstlight_profile::code::{Memory as _, Shape};
use firstlight_profile::symbols::Extent;
use firstlight_profile::tracker::UNKNOWN;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;
/// So much code of a kernel's copy is compared with the original.
const COMPARED_BYTES: usize = 32;

/// A block, as far as it is executed.
struct Code {
    block: *mut Block,
    /// Where it runs.
    address: u64,
    /// Where its symbols are: before the kernel maps itself high, it runs elsewhere.
    mapped: u64,
    length: usize,
}

/// Registers the callbacks of one block.
pub fn block<I: Isa>(session: &mut Session<I>, block: *mut Block) {
    let address = session.api.address(block);
    let length = executed(session, block);
    // Before all else: what comes is the other processor's.
    session.watch_turns(block, length);
    // Where no firmware runs before the kernel, QEMU's counter is not found yet when that begins.
    let is_early = I::LINKED.is_some() && session.cpus == 1 && !session.polls() && !session.clock.is_ready();
    if session.clock.is_counted() || is_early {
        session.clock.count_at(session.api.counted());
        for index in 0..length {
            session.api.count(session.api.instruction(block, index));
        }
    }
    // Where the image is entered at the addresses at which it is mapped, it runs as before until QEMU's counter is found.
    let is_early = I::ENTERED_MAPPED && (session.progress < Progress::KernelLow || !session.clock.is_ready());
    if I::is_kernel_code(address) && !is_early {
        if session.progress < Progress::KernelHigh {
            session.progress = Progress::KernelHigh;
            if let Some(linked) = I::LINKED {
                if !session.clock.is_ready() {
                    return session.fail("QEMU's instruction counter was not found");
                }
                if !session.linkage.find(session.cpu, linked) {
                    return session.fail("QEMU does not show the guest's registers");
                }
            }
        }
        let fixed = I::fixed_at(address).filter(|_| !session.symbols.in_image(address));
        return kernel(session, &Code { block, address, mapped: fixed.unwrap_or(address), length });
    }
    if session.progress == Progress::KernelHigh {
        return match own_code_below(session, address) {
            Some(mapped) => kernel(session, &Code { block, address, mapped, length }),
            None => user(session, block, address, length),
        };
    }
    if session.polls() {
        loader::look(session, block, address, length);
        if session.progress == Progress::Firmware {
            loader::follow_functions(session, block, address, length);
        }
        loader::watch_console(session, block, address, length);
    }
    if let Some(linked) = I::LINKED {
        return low::<I>(session, linked, block, address, length);
    }
    if Some(address) == session.entry_address() {
        session.api.on_block(block, on_kernel::<I>, pack(0, length));
    }
    let is_known_by_code = !session.parts.is_empty();
    if Some(address) == I::DECOMPRESSOR && session.progress == Progress::Firmware && !is_known_by_code {
        session.api.on_block(block, on_decompressor::<I>, pack(0, length));
    }
    // Before it maps itself high, the kernel runs where it lies; `startup_64` is among the first of that.
    if let Some(mapped) = session.low_code(address) {
        kernel(session, &Code { block, address, mapped, length });
    }
}

// Code of the kernel's where it lies in memory, which arm64 runs while it changes its page table (`idmap_cpu_replace_ttbr1`): with a stack of
// the kernel's, as user mode never has. While a block is translated, registers are up to date.
fn own_code_below<I: Isa>(session: &Session<I>, address: u64) -> Option<u64> {
    I::LINKED?;
    session.low_code(address).filter(|_| I::is_kernel_code(session.linkage.stack_pointer()))
}

// Before the kernel has mapped itself. While a block is translated, QEMU says how many instructions were executed.
fn low<I: Isa>(session: &mut Session<I>, linked: &Linked, block: *mut Block, address: u64, length: usize) {
    if session.progress < Progress::KernelLow {
        let head = session.mapped().and_then(|memory| memory.bytes(address, linked.head_bytes));
        let decompresses =
            Some(address) == I::DECOMPRESSOR || head.as_deref().is_some_and(|head| I::begins_decompressor(head));
        if decompresses && session.progress == Progress::Firmware && session.parts.is_empty() {
            session.progress = Progress::Decompressor;
            if let Some(now) = session.clock.between_blocks() {
                session.tracker.decompressor(now);
            }
        }
        let entry = head.as_ref().and_then(|head| I::image_entry(head, address));
        let named = I::IMAGE_ENTRY.iter().find_map(|name| session.symbols.address(name));
        if let Some((entry, named)) = entry.zip(named) {
            session.image_offset = Some(named.wrapping_sub(entry));
            let ends = session.symbols.ends().map(|end| end.wrapping_sub(named).wrapping_add(entry));
            let stated = head.as_deref().and_then(I::image_bytes).map(|bytes| address.saturating_add(bytes));
            // The entry may lie in the middle.
            let start = session.symbols.begins().map(|start| start.wrapping_sub(named).wrapping_add(entry));
            if let Some(end) = stated.or(ends) {
                session.found_image(start.map_or(address, |start| start.min(address))..end);
            }
            session.progress = Progress::KernelLow;
            if let Some(now) = session.clock.between_blocks() {
                session.tracker.kernel(now);
            }
        }
    } else if let Some(to) = I::COPIED_TO {
        follow_copy(session, to, address);
    }
    // Firmware may run in the other order of bytes, in which QEMU shows the registers.
    let is_visible = session.progress == Progress::KernelLow
        && session.clock.is_readable()
        && session.linkage.find(session.cpu, linked);
    if let Some(mapped) = session.low_code(address).filter(|_| is_visible) {
        return kernel(session, &Code { block, address, mapped, length });
    }
    if !session.polls() && session.clock.is_readable() {
        loader::watch_console(session, block, address, length);
    }
    // Such as the head of the image and the code of riscv64 that is linked to run at any address: both call functions.
    let in_image = session.image_offset.is_some_and(|offset| session.symbols.in_image(address.wrapping_add(offset)));
    let in_head = session.image.as_ref().is_some_and(|image| image.contains(&address));
    if is_visible && length > 0 && (in_image || in_head) {
        let first = session.api.instruction(block, 0);
        if linked.entry_calls_by_jumps || linked::is_behind_call(session, linked, first, address) {
            let data = linked::pack_site(address, UNKNOWN, length);
            session.api.on_block(block, linked::on_nameless_site::<I>, data);
        }
    }
    if in_image {
        session.api.on_block(block, linked::on_nameless::<I>, 0);
    }
}

// A kernel that copies itself goes on in the copy, while the same code still stands where it was.
fn follow_copy<I: Isa>(session: &mut Session<I>, to: u64, address: u64) {
    let outside = |image: &Range<u64>| image.start != to && !image.contains(&address);
    let Some(image) = session.image.clone().filter(outside) else { return };
    let distance = image.start.wrapping_sub(to);
    let original = address.wrapping_add(distance);
    let Some(memory) = session.mapped().filter(|_| image.contains(&original)) else { return };
    let [code, original] = [address, original].map(|at| memory.bytes(at, COMPARED_BYTES));
    if code.is_some() && code == original {
        session.image_offset = session.image_offset.map(|offset| offset.wrapping_add(distance));
        session.found_image(to..image.end.wrapping_sub(distance));
    }
}

// QEMU before 8.0 ends a block before an instruction that crosses into the next page, after it has shown the plugin as much
// of it as lies in this one (`advance_pc` in target/i386/tcg/translate.c). That piece is not executed with the block.
fn executed<I: Isa>(session: &Session<I>, block: *mut Block) -> usize {
    let length = session.api.length(block);
    let Some(last) = length.checked_sub(1).filter(|last| *last > 0) else { return length };
    let instruction = session.api.instruction(block, last);
    let address = session.api.instruction_address(instruction);
    if address % PAGE_BYTES + I::LONGEST_INSTRUCTION <= PAGE_BYTES {
        return length;
    }
    let mut buffer = [0; 16];
    match I::flow(session.api.bytes(instruction, &mut buffer), address) {
        Flow::Incomplete => last,
        _ => length,
    }
}

// Marks are events of user mode; blocks are where its code is followed.
fn user<I: Isa>(session: &mut Session<I>, block: *mut Block, address: u64, length: usize) {
    if let Some(number) = session.user_block(address) {
        session.api.on_block(block, on_user_block::<I>, pack(number, length));
    }
    for index in 0..length {
        let instruction = session.api.instruction(block, index);
        if session.api.size(instruction) == I::MARK_BYTES {
            let mut buffer = [0; 16];
            if let Flow::Mark(mark) = I::flow(session.api.bytes(instruction, &mut buffer), 0) {
                session.api.on_instruction(instruction, on_mark::<I>, pack(u32::from(mark), length - index - 1));
            }
        }
    }
}

fn kernel<I: Isa>(session: &mut Session<I>, code: &Code) {
    let own = session.symbols.extent(code.mapped);
    // Of what lies outside the image the kernel's lists know the name now.
    let outside = own.is_none() && !session.symbols.in_image(code.mapped);
    let loaded = if outside { session.loaded_code(code.address) } else { None };
    if let Some(linked) = I::LINKED {
        // Before all else: what has returned is over when the block begins. The function in front of one may end with a call.
        let begins = own.is_some_and(|(_, extent)| extent.address == code.mapped)
            || loaded
                .as_ref()
                .is_some_and(|loaded| loaded.shape == Shape::Function && loaded.extent.address == code.address);
        let first = session.api.instruction(code.block, 0);
        // What stubs call has no frame.
        let is_stub = own.is_some_and(|(_, extent)| extent.class == Class::Stub);
        if !begins && !is_stub && linked::is_behind_call(session, linked, first, code.address) {
            let function = own.map_or(UNKNOWN, |(function, _)| function);
            let data = linked::pack_site(code.address, function, code.length);
            session.api.on_block(code.block, linked::on_return_site::<I>, data);
        } else if linked.entry_calls_by_jumps && own.is_some_and(|(_, extent)| extent.class == Class::Label) {
            let data = linked::pack_site(code.address, UNKNOWN, code.length);
            session.api.on_block(code.block, linked::on_entry_site::<I>, data);
        }
    }
    match &loaded {
        Some(loaded) => begin_loaded(session, code, loaded),
        None => begin(session, code, own),
    }
    let found = own.or(loaded.as_ref().map(|loaded| (loaded.function, loaded.extent)));
    if session.after_out.contains(&code.address) {
        session.api.on_block(code.block, on_console::<I>, pack(0, code.length));
    }
    if session.asks_for_results() && session.symbols.starting(code.mapped).is_none() {
        session.api.on_block(code.block, on_may_return::<I>, linked::pack_address(code.address, code.length));
    }
    if let Some((function, extent)) = found {
        match extent.class {
            Class::Switch => {
                each(session, code, Flow::Pop, |session, instruction, remaining| {
                    session.api.on_access(instruction, on_switch::<I>, pack(function, remaining));
                });
                each(session, code, Flow::TakeStack, |session, instruction, remaining| {
                    let callback = if I::LINKED.is_some() { linked::on_takes_stack::<I> } else { on_takes_stack::<I> };
                    session.api.on_instruction(instruction, callback, pack(function, remaining));
                });
            }
            Class::Thunk => each(session, code, Flow::Redirect, |session, instruction, remaining| {
                session.api.on_instruction(instruction, on_redirect::<I>, pack(function, remaining));
            }),
            _ => {}
        }
    }
    if let (Some(linked), Some((function, _))) = (I::LINKED, own) {
        console_stores(session, linked, code, function);
    }
    entries(session, code, found);
    end(session, code, own, loaded.as_ref());
}

// What happens where the block begins.
fn begin<I: Isa>(session: &Session<I>, code: &Code, found: Option<(u32, Extent)>) {
    let Some((function, extent)) = found else {
        // Nameless code of the image itself belongs to what jumped there (`.altinstr_aux`), and a jump through a register
        // is no more than a detour of a call (the thunks of indirect target selection).
        let is_own = session.symbols.in_image(code.mapped);
        if is_own && I::LINKED.is_some() {
            session.api.on_block(code.block, linked::on_nameless::<I>, 0);
        }
        if is_own || is_detour(session, code) {
            return;
        }
        let callback = if I::LINKED.is_some() { linked::on_unknown::<I> } else { on_unknown::<I> };
        return session.api.on_block(code.block, callback, linked::pack_address(code.address, code.length));
    };
    let data = pack(function, code.length);
    match extent.class {
        Class::Stub => session.api.on_block(code.block, on_special::<I>, data),
        Class::Cold => session.api.on_block(code.block, on_cold::<I>, data),
        Class::Plain if code.mapped < extent.address => session.api.on_block(code.block, on_padding::<I>, data),
        Class::Plain if code.mapped > extent.address => {
            let behind = session.symbols.starting(extent.end).filter(|_| reaches(session, code, extent.end));
            if let Some(next) = behind {
                session.api.on_block(code.block, on_unnamed_padding::<I>, pack(next, code.length));
            }
        }
        _ => {}
    }
}

// Whether the block has an instruction at this address, or behind it.
fn reaches<I: Isa>(session: &Session<I>, code: &Code, address: u64) -> bool {
    let last = session.api.instruction(code.block, code.length.saturating_sub(1));
    session.api.instruction_address(last).wrapping_sub(code.address).wrapping_add(code.mapped) >= address
}

// As with the kernel's own functions, a block in the middle of one is not an event.
fn begin_loaded<I: Isa>(session: &Session<I>, code: &Code, loaded: &Loaded) {
    let Loaded { function, extent, shape } = *loaded;
    let data = pack(function, code.length);
    match (shape, extent.class) {
        (Shape::Row, _) => {
            let callback = if I::LINKED.is_some() { linked::on_inside_loaded::<I> } else { on_inside_loaded::<I> };
            return session.api.on_block(code.block, callback, data);
        }
        (Shape::Function, Class::Cold) => return session.api.on_block(code.block, on_cold::<I>, data),
        (Shape::Function, Class::Thunk) => return,
        (Shape::Function, _) if code.address < extent.address => {
            session.api.on_block(code.block, on_padding_loaded::<I>, data);
        }
        (Shape::Function, _) => {}
    }
    let starting = |address: u64| (address == extent.address).then_some(function);
    for index in 0..code.length {
        let instruction = session.api.instruction(code.block, index);
        let address = session.api.instruction_address(instruction);
        if entry_point(session, code.block, index, code.length, address, starting).is_some() {
            let data = pack(function, code.length - index);
            match index {
                0 if I::LINKED.is_some() => session.api.on_block(code.block, linked::on_loaded::<I>, data),
                0 => session.api.on_block(code.block, on_loaded::<I>, data),
                _ => session.api.on_instruction(instruction, on_loaded::<I>, data),
            }
        }
    }
}

// A function's first instruction is an event wherever it stands in its block: what is in front of it may run into it.
fn entries<I: Isa>(session: &Session<I>, code: &Code, found: Option<(u32, Extent)>) {
    let Some(last) = code.length.checked_sub(1) else { return };
    let at = |index: usize| {
        let instruction = session.api.instruction(code.block, index);
        (instruction, session.api.instruction_address(instruction).wrapping_sub(code.address).wrapping_add(code.mapped))
    };
    let behind = code.mapped.saturating_sub(I::LOCAL_ENTRY_BYTES);
    if found.is_some_and(|(_, extent)| extent.address < behind && at(last).1 < extent.end) {
        return;
    }
    let starting = |address: u64| session.symbols.starting(address);
    for index in 0..code.length {
        let (instruction, address) = at(index);
        let Some(entry) = entry_point(session, code.block, index, code.length, address, starting) else { continue };
        let function = entry.function();
        let class = session.symbols.functions().get(function as usize).map_or(Class::Plain, |symbol| symbol.class);
        match entry {
            EntryPoint::Global(_, further) => {
                session.count_entry(session.api.instruction(code.block, index + further), function);
            }
            EntryPoint::Parted(_) => {}
            EntryPoint::Only(_) | EntryPoint::Local(_) => session.count_entry(instruction, function),
        }
        let callback = match class {
            Class::Cold | Class::Stub => continue,
            Class::Plain if index == 0 && session.is_asked(function) => on_asked::<I>,
            Class::Plain if index == 0 && session.is_probed(function) => on_probed::<I>,
            Class::Plain if session.tracker.lacks_initcalls(function) => on_initcall_caller::<I>,
            Class::Plain if index == 0 && session.is_given_tasks(function) => linked::on_given_tasks::<I>,
            Class::Plain if index == 0 && matches!(entry, EntryPoint::Parted(_)) => linked::on_global_entry::<I>,
            // Where a block begins, registers are up to date. In its middle nothing but the code in front of it leads there.
            Class::Plain if index == 0 && I::LINKED.is_some() => match session.tracker.watches(function) {
                true => linked::on_watched::<I>,
                false => linked::on_entry::<I>,
            },
            Class::Plain if session.tracker.watches(function) => on_watched::<I>,
            Class::Plain => on_entry::<I>,
            Class::Switch if I::LINKED.is_some() => linked::on_switch::<I>,
            _ => on_special::<I>,
        };
        let data = pack(function, code.length - index);
        match index {
            0 => session.api.on_block(code.block, callback, data),
            _ => session.api.on_instruction(instruction, callback, data),
        }
    }
}

// The instructions of the block that do this, each with how many follow.
fn each<I: Isa>(session: &Session<I>, code: &Code, wanted: Flow, act: impl Fn(&Session<I>, *mut Instruction, usize)) {
    for index in 0..code.length {
        let instruction = session.api.instruction(code.block, index);
        let mut buffer = [0; 16];
        if I::flow(session.api.bytes(instruction, &mut buffer), 0) == wanted {
            act(session, instruction, code.length - index - 1);
        }
    }
}

// Where the console's registers are memory, a store to them is what sends a byte.
fn console_stores<I: Isa>(session: &Session<I>, linked: &Linked, code: &Code, function: u32) {
    let name = session.symbols.functions().get(function as usize).map_or("", |symbol| &symbol.name);
    if linked.console.iter().any(|prefix| name.starts_with(prefix)) {
        for index in 0..code.length {
            let instruction = session.api.instruction(code.block, index);
            session.api.on_access(instruction, linked::on_console_store::<I>, pack(function, code.length - index - 1));
        }
    }
}

fn is_detour<I: Isa>(session: &Session<I>, code: &Code) -> bool {
    let mut buffer = [0; 16];
    let only = session.api.instruction(code.block, 0);
    code.length == 1 && I::flow(session.api.bytes(only, &mut buffer), 0) == Flow::JumpIndirect
}

// The instruction that moves control is a block's last one, or the one in front of its delay slot.
fn moving<I: Isa>(session: &Session<I>, code: &Code) -> Option<usize> {
    let last = code.length.checked_sub(1)?;
    let front = last.checked_sub(1).filter(|_| I::DELAY_SLOT_BYTES > 0);
    let has_slot = |index: usize| {
        let instruction = session.api.instruction(code.block, index);
        let mut buffer = [0; 16];
        let flow = I::flow(session.api.bytes(instruction, &mut buffer), session.api.instruction_address(instruction));
        matches!(flow, Flow::Call(_) | Flow::CallIndirect | Flow::Return | Flow::Jump(_) | Flow::JumpIndirect)
    };
    Some(front.filter(|front| has_slot(*front)).unwrap_or(last))
}

// Only a block's end moves control.
fn end<I: Isa>(session: &mut Session<I>, code: &Code, own: Option<(u32, Extent)>, loaded: Option<&Loaded>) {
    let Some(last) = moving(session, code) else { return };
    let instruction = session.api.instruction(code.block, last);
    let mut buffer = [0; 16];
    let at = session.api.instruction_address(instruction).wrapping_sub(code.address).wrapping_add(code.mapped);
    let bytes = session.api.bytes(instruction, &mut buffer);
    let next = at.wrapping_add(bytes.len() as u64 + I::DELAY_SLOT_BYTES);
    // Mostly a block ends in the function that it begins in.
    let own = own.filter(|(_, extent)| at < extent.end).or_else(|| session.symbols.extent(at));
    let site = own.or(loaded.map(|loaded| (loaded.function, loaded.extent)));
    let is_row = loaded.is_some_and(|loaded| loaded.shape == Shape::Row);
    let function = site.map_or(UNKNOWN, |(function, _)| function);
    let class = site.map_or(Class::Plain, |(_, extent)| extent.class);
    let data = pack(function, 0);
    let far = || {
        let front = session.api.instruction(code.block, last.checked_sub(1)?);
        let mut buffer = [0; 16];
        let front = session.api.bytes(front, &mut buffer);
        I::far_call(front, bytes, at.wrapping_sub(front.len() as u64))
    };
    let flow = match I::flow(bytes, at) {
        Flow::CallIndirect if I::LINKED.is_some() => far().map_or(Flow::CallIndirect, Flow::Call),
        flow => flow,
    };
    match flow {
        // A function that begins at the target sees the call itself. Generated code calls the inside of functions.
        Flow::Call(target)
            if I::LINKED.is_some()
                && (session.symbols.starting(target).is_some()
                    || (own.is_some() && session.symbols.containing(target).is_some())) => {}
        Flow::Call(_) | Flow::CallIndirect if I::LINKED.is_some() => {
            let behind = next.wrapping_sub(code.mapped).wrapping_add(code.address);
            let link = if I::links_elsewhere(bytes) { linked::on_link_elsewhere::<I> } else { linked::on_link::<I> };
            session.api.on_instruction(instruction, link, behind);
        }
        Flow::Return if I::LINKED.is_some() => {}
        Flow::Call(target) if target != next && loaded.is_some_and(|loaded| loaded.is_inside(target)) => {
            session.tracker.calls_inside(function);
        }
        Flow::Call(target) => call(session, instruction, function, class, next, target),
        Flow::CallIndirect => session.api.on_access(instruction, on_call_through::<I>, data),
        Flow::Return => session.api.on_access(instruction, on_return::<I>, data),
        // Elsewhere `iret` goes to the next instruction, to serialise (`sync_core`).
        // Nameless code leaves by it where the kernel has a copy of its entry code for user mode (`tramp_exit` of arm64).
        Flow::InterruptReturn | Flow::SyscallReturn
            if !matches!(class, Class::Plain | Class::Stub) || (I::LINKED.is_some() && function == UNKNOWN) =>
        {
            session.api.on_instruction(instruction, on_leave_kernel::<I>, data);
        }
        Flow::Jump(target) if class == Class::Cold || function == UNKNOWN || is_row => {
            let own = session.symbols.extent(target).map(|(to, extent)| (to, extent.address));
            let to = match loaded {
                Some(_) if own.is_none() => session.loaded_code(target).map(|to| (to.function, to.extent.address)),
                _ => own,
            };
            if let Some((to, _)) = to.filter(|(to, begins)| *begins != target && *to != function) {
                session.api.on_instruction(instruction, on_leave_part::<I>, pack_both(function, to));
            }
        }
        Flow::Out => {
            session.after_out.insert(next.wrapping_sub(code.mapped).wrapping_add(code.address));
        }
        _ => {}
    }
}

fn call<I: Isa>(
    session: &mut Session<I>,
    instruction: *mut Instruction,
    function: u32,
    class: Class,
    next: u64,
    target: u64,
) {
    let callee = session.symbols.extent(target);
    match callee {
        // Calls that stay inside a function fill the return stack buffer, or read the instruction pointer.
        _ if target == next => {}
        Some((_, extent)) if target > extent.address && session.runs_into_next(extent, target) => {
            session.api.on_access(instruction, on_call::<I>, pack(function, 0));
        }
        Some((id, extent)) if id == function && !is_entry::<I>(extent, target) => {
            session.tracker.calls_inside(function)
        }
        // What a thunk calls inside its section is a part of its trick.
        Some((_, extent)) if class == Class::Thunk && extent.class == Class::Thunk => {}
        Some((id, extent)) if extent.class == Class::Plain && target > extent.address => {
            session.api.on_access(instruction, on_call_inside::<I>, pack_both(function, id));
        }
        _ => session.api.on_access(instruction, on_call::<I>, pack(function, 0)),
    }
}

fn is_entry<I: Isa>(extent: Extent, target: u64) -> bool {
    target <= extent.address || target == extent.address + I::LANDING_PAD_BYTES
}
