//! QEMU's plugin interface, resolved when the plugin is loaded.
//!
//! Debian ships no header for it, and its versions differ, so every function is looked up by name. The declarations
//! follow `include/qemu/qemu-plugin.h` of QEMU 7.2 and 10.0.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void, CStr};

/// A block that is being translated.
#[repr(C)]
pub struct Block(c_void);

/// One of its instructions.
#[repr(C)]
pub struct Instruction(c_void);

pub type OnTranslation = extern "C" fn(id: u64, block: *mut Block);
pub type OnExecution = extern "C" fn(vcpu: u32, data: *mut c_void);
pub type OnAccess = extern "C" fn(vcpu: u32, info: u32, address: u64, data: *mut c_void);
pub type OnExit = extern "C" fn(id: u64, data: *mut c_void);

const NO_REGISTERS: c_int = 0;
const READS_AND_WRITES: c_int = 3;
const ADD: c_int = 0;

#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    scoreboard: *mut c_void,
    offset: usize,
}

/// The functions in use.
pub struct Api {
    /// The interface's version, as this plugin told QEMU.
    pub version: c_int,
    register_translation: extern "C" fn(u64, OnTranslation),
    register_exit: extern "C" fn(u64, OnExit, *mut c_void),
    block_length: extern "C" fn(*const Block) -> usize,
    block_address: extern "C" fn(*const Block) -> u64,
    block_instruction: extern "C" fn(*const Block, usize) -> *mut Instruction,
    instruction_size: extern "C" fn(*const Instruction) -> usize,
    instruction_address: extern "C" fn(*const Instruction) -> u64,
    instruction_data: *mut c_void,
    on_block: extern "C" fn(*mut Block, OnExecution, c_int, *mut c_void),
    on_instruction: extern "C" fn(*mut Instruction, OnExecution, c_int, *mut c_void),
    on_access: extern "C" fn(*mut Instruction, OnAccess, c_int, c_int, *mut c_void),
    is_store: extern "C" fn(u32) -> bool,
    counter: Counter,
    entries: Entries,
    functions: usize,
    cpu: u32,
    accesses: Option<(AddToAddress, *mut u64)>,
}

type AddToAddress = extern "C" fn(*mut Instruction, c_int, *mut c_void, u64);

// How to have every instruction counted: the old way adds to an address, the new one to a scoreboard.
enum Counter {
    Address(AddToAddress, *mut u64),
    Scoreboard(
        extern "C" fn(*mut Instruction, c_int, Entry, u64),
        Entry,
        extern "C" fn(*mut c_void, u32) -> *mut c_void,
    ),
}

// How often each function's first instruction was executed.
enum Entries {
    Address(AddToAddress, *mut u64),
    Scoreboard(
        extern "C" fn(*mut Instruction, c_int, Entry, u64),
        *mut c_void,
        extern "C" fn(*mut c_void, u32) -> *mut c_void,
    ),
}

/// The address of a symbol of the running program, if it has it.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym only reads the name, which ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

macro_rules! function {
    ($name:literal) => {
        // SAFETY: the type at the place of use is that of QEMU's header for this name; see the module's comment.
        symbol($name).map(|address| unsafe { std::mem::transmute::<*mut c_void, _>(address) })
    };
}

/// The newest interface version that both this plugin and the running QEMU speak.
fn version() -> c_int {
    let has = |name: &CStr| symbol(name).is_some();
    if has(c"qemu_plugin_translate_vaddr") {
        5
    } else if has(c"qemu_plugin_read_memory_vaddr") {
        4
    } else if has(c"qemu_plugin_insn_data") && has(c"qemu_plugin_register_vcpu_tb_exec_cond_cb") {
        3
    } else if has(c"qemu_plugin_scoreboard_new") {
        2
    } else {
        1
    }
}

impl Api {
    /// Looks everything up, for this processor and a kernel with so many functions.
    ///
    /// # Errors
    ///
    /// The name of the first function that QEMU does not have.
    pub fn load(cpu: u32, functions: usize) -> Result<Self, &'static str> {
        let (counter, entries) = match function!(c"qemu_plugin_scoreboard_new") {
            Some(new) => {
                let new: extern "C" fn(usize) -> *mut c_void = new;
                let find: extern "C" fn(*mut c_void, u32) -> *mut c_void =
                    function!(c"qemu_plugin_scoreboard_find").ok_or("qemu_plugin_scoreboard_find")?;
                let add = function!(c"qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu")
                    .ok_or("qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu")?;
                let scoreboard = new(std::mem::size_of::<u64>());
                let board = new(std::mem::size_of::<u64>() * functions.max(1));
                (Counter::Scoreboard(add, Entry { scoreboard, offset: 0 }, find), Entries::Scoreboard(add, board, find))
            }
            None => {
                let add: AddToAddress = function!(c"qemu_plugin_register_vcpu_insn_exec_inline")
                    .ok_or("qemu_plugin_register_vcpu_insn_exec_inline")?;
                (Counter::Address(add, counts(1)), Entries::Address(add, counts(functions)))
            }
        };
        Ok(Self {
            version: version(),
            register_translation: function!(c"qemu_plugin_register_vcpu_tb_trans_cb")
                .ok_or("qemu_plugin_register_vcpu_tb_trans_cb")?,
            register_exit: function!(c"qemu_plugin_register_atexit_cb").ok_or("qemu_plugin_register_atexit_cb")?,
            block_length: function!(c"qemu_plugin_tb_n_insns").ok_or("qemu_plugin_tb_n_insns")?,
            block_address: function!(c"qemu_plugin_tb_vaddr").ok_or("qemu_plugin_tb_vaddr")?,
            block_instruction: function!(c"qemu_plugin_tb_get_insn").ok_or("qemu_plugin_tb_get_insn")?,
            instruction_size: function!(c"qemu_plugin_insn_size").ok_or("qemu_plugin_insn_size")?,
            instruction_address: function!(c"qemu_plugin_insn_vaddr").ok_or("qemu_plugin_insn_vaddr")?,
            instruction_data: symbol(c"qemu_plugin_insn_data").ok_or("qemu_plugin_insn_data")?,
            on_block: function!(c"qemu_plugin_register_vcpu_tb_exec_cb")
                .ok_or("qemu_plugin_register_vcpu_tb_exec_cb")?,
            on_instruction: function!(c"qemu_plugin_register_vcpu_insn_exec_cb")
                .ok_or("qemu_plugin_register_vcpu_insn_exec_cb")?,
            on_access: function!(c"qemu_plugin_register_vcpu_mem_cb").ok_or("qemu_plugin_register_vcpu_mem_cb")?,
            is_store: function!(c"qemu_plugin_mem_is_store").ok_or("qemu_plugin_mem_is_store")?,
            counter,
            entries,
            functions,
            cpu,
            accesses: match version() {
                1 => function!(c"qemu_plugin_register_vcpu_insn_exec_inline").map(|add| (add, counts(1))),
                _ => None,
            },
        })
    }

    pub fn register_translation(&self, id: u64, callback: OnTranslation) {
        (self.register_translation)(id, callback);
    }

    pub fn register_exit(&self, id: u64, callback: OnExit) {
        (self.register_exit)(id, callback, std::ptr::null_mut());
    }

    pub fn address(&self, block: *mut Block) -> u64 {
        (self.block_address)(block)
    }

    pub fn length(&self, block: *mut Block) -> usize {
        (self.block_length)(block)
    }

    pub fn instruction(&self, block: *mut Block, index: usize) -> *mut Instruction {
        (self.block_instruction)(block, index)
    }

    pub fn size(&self, instruction: *mut Instruction) -> usize {
        (self.instruction_size)(instruction)
    }

    pub fn instruction_address(&self, instruction: *mut Instruction) -> u64 {
        (self.instruction_address)(instruction)
    }

    /// The instruction's bytes: at most 16, as x86 allows 15.
    pub fn bytes<'a>(&self, instruction: *mut Instruction, buffer: &'a mut [u8; 16]) -> &'a [u8] {
        let size = self.size(instruction).min(buffer.len());
        if self.version >= 3 {
            // SAFETY: from version 3 on this is the function's signature; it writes at most `size` bytes.
            let copy: extern "C" fn(*const Instruction, *mut c_void, usize) -> usize =
                unsafe { std::mem::transmute(self.instruction_data) };
            copy(instruction, buffer.as_mut_ptr().cast(), size);
        } else {
            // SAFETY: before version 3 the function returns a pointer to the instruction's `size` bytes.
            unsafe {
                let at: extern "C" fn(*const Instruction) -> *const u8 = std::mem::transmute(self.instruction_data);
                std::ptr::copy_nonoverlapping(at(instruction), buffer.as_mut_ptr(), size);
            }
        }
        &buffer[..size]
    }

    pub fn on_block(&self, block: *mut Block, callback: OnExecution, data: u64) {
        (self.on_block)(block, callback, NO_REGISTERS, data as *mut c_void);
    }

    pub fn on_instruction(&self, instruction: *mut Instruction, callback: OnExecution, data: u64) {
        (self.on_instruction)(instruction, callback, NO_REGISTERS, data as *mut c_void);
    }

    /// Both reads and writes are asked for: with reads alone, QEMU 7.2 misses most of them.
    pub fn on_access(&self, instruction: *mut Instruction, callback: OnAccess, data: u64) {
        (self.on_access)(instruction, callback, NO_REGISTERS, READS_AND_WRITES, data as *mut c_void);
        if let Some((add, begun)) = self.accesses {
            add(instruction, ADD, begun.cast(), 1);
        }
    }

    /// How many watched accesses were begun; `None` where callbacks can be trusted without.
    ///
    /// QEMU before 8.0 leaves an instruction's callbacks in force after a block that ends in it, and calls them for
    /// whatever its helpers read next: an interrupt's frame, a 16-byte exchange, saved registers. A callback without a
    /// new execution of a watched instruction is such an echo.
    #[inline]
    pub fn accesses(&self) -> Option<u64> {
        // SAFETY: translated code adds to it on the thread that calls this.
        self.accesses.map(|(_, begun)| unsafe { *begun })
    }

    #[inline]
    pub fn is_store(&self, info: u32) -> bool {
        (self.is_store)(info)
    }

    /// Has this instruction counted whenever it is executed.
    pub fn count(&self, instruction: *mut Instruction) {
        match &self.counter {
            Counter::Address(add, at) => add(instruction, ADD, at.cast(), 1),
            Counter::Scoreboard(add, entry, _) => add(instruction, ADD, *entry, 1),
        }
    }

    /// Has executions of this instruction counted as those of this function's first.
    pub fn count_entry(&self, instruction: *mut Instruction, function: u32) {
        let index = function as usize;
        if index >= self.functions {
            return;
        }
        match &self.entries {
            // SAFETY: the index lies within the counts.
            Entries::Address(add, counts) => add(instruction, ADD, unsafe { counts.add(index) }.cast(), 1),
            Entries::Scoreboard(add, scoreboard, _) => {
                let offset = index * std::mem::size_of::<u64>();
                add(instruction, ADD, Entry { scoreboard: *scoreboard, offset }, 1);
            }
        }
    }

    /// How often each function's first instruction was executed so far; asked once there is a CPU.
    pub fn entered(&self) -> &[u64] {
        let counts: *const u64 = match &self.entries {
            Entries::Address(_, counts) => *counts,
            Entries::Scoreboard(_, scoreboard, find) => find(*scoreboard, self.cpu).cast_const().cast(),
        };
        // SAFETY: there are as many as functions; translated code that adds to them runs on this thread, not meanwhile.
        unsafe { std::slice::from_raw_parts(counts, self.functions) }
    }

    /// Where those counts are; asked once there is a CPU.
    pub fn counted(&self) -> *const u64 {
        match &self.counter {
            Counter::Address(_, at) => *at,
            Counter::Scoreboard(_, entry, find) => find(entry.scoreboard, self.cpu).cast_const().cast(),
        }
    }
}

// Counts that translated code adds to for as long as QEMU runs.
fn counts(number: usize) -> *mut u64 {
    Box::leak(vec![0_u64; number].into_boxed_slice()).as_mut_ptr()
}

/// What QEMU's loader reads to learn which version of the interface the plugin wants.
#[no_mangle]
pub static mut qemu_plugin_version: c_int = 1;

// The loader calls constructors inside `dlopen`, before it reads the version.
#[used]
#[link_section = ".init_array"]
static CHOOSE_VERSION: extern "C" fn() = choose_version;

extern "C" fn choose_version() {
    // SAFETY: runs once, before anybody can read the variable.
    unsafe { qemu_plugin_version = version() };
}

/// The beginning of what QEMU says of itself (`qemu_info_t`), the same in every version.
#[repr(C)]
pub struct Info {
    target: *const c_char,
}

/// QEMU's name of the processor that it emulates.
///
/// # Safety
///
/// `info` must be what QEMU passes to a plugin: its first member is a string that ends in NUL.
pub unsafe fn target(info: *const Info) -> String {
    unsafe { CStr::from_ptr((*info).target) }.to_string_lossy().into_owned()
}

/// The `KEY=VALUE` arguments given behind `-plugin FILE,`.
///
/// # Safety
///
/// `argv` must hold `argc` pointers to strings that end in NUL, as QEMU passes them.
pub unsafe fn arguments(argc: c_int, argv: *const *const c_char) -> Vec<String> {
    (0..usize::try_from(argc).unwrap_or(0))
        .map(|index| unsafe { CStr::from_ptr(*argv.add(index)) }.to_string_lossy().into_owned())
        .collect()
}
