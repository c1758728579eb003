//! QEMU's plugin interface and the processor's state, resolved when the oracle is loaded; and what QEMU calls.
//!
//! Debian ships no header for the interface, and its versions differ, so every function is looked up by name. The
//! declarations follow `include/qemu/qemu-plugin.h` of QEMU 7.2 and 10.0.
#![allow(unsafe_code)]
#![allow(clippy::missing_transmute_annotations, reason = "the type stands where each function is kept")]

use crate::config::{Config, ConfigError};
use crate::session::{Block, Processor, Session, Shown};
use crate::text::Row;
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void, CStr};

type OnTranslation = extern "C" fn(u64, *mut c_void);
type OnExecution = extern "C" fn(u32, *mut c_void);
type OnExit = extern "C" fn(u64, *mut c_void);

const NO_REGISTERS: c_int = 0;
const ADD: c_int = 0;
// How much of QEMU's processor object is searched; it is larger than this in 7.2 and in 10.0.
const CPU_BYTES: usize = 32 * 1024;
// GDB's numbers of the registers in the order in which QEMU keeps them (`target/i386/gdbstub.c`).
const GDB_ORDER: [c_int; 8] = [0, 2, 3, 1, 7, 6, 4, 5];
const STACK_POINTER: usize = 4;

#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    scoreboard: *mut c_void,
    offset: usize,
}

/// The beginning of GLib's `GByteArray`.
#[repr(C)]
struct Bytes {
    data: *const u8,
    length: u32,
}

enum Counters {
    Addresses(extern "C" fn(*mut c_void, c_int, *mut u64, u64), *mut u64),
    Scoreboard {
        add: extern "C" fn(*mut c_void, c_int, Entry, u64),
        board: *mut c_void,
        find: extern "C" fn(*mut c_void, u32) -> *mut c_void,
    },
}

struct Qemu {
    block_length: extern "C" fn(*const c_void) -> usize,
    block_instruction: extern "C" fn(*const c_void, usize) -> *mut c_void,
    instruction_size: extern "C" fn(*const c_void) -> usize,
    instruction_address: extern "C" fn(*const c_void) -> u64,
    instruction_data: *mut c_void,
    copies_data: bool,
    on_block: extern "C" fn(*mut c_void, OnExecution, c_int, *mut c_void),
    on_instruction: extern "C" fn(*mut c_void, OnExecution, c_int, *mut c_void),
    get_cpu: extern "C" fn(c_int) -> *mut c_void,
    read_memory: extern "C" fn(*mut c_void, u64, *mut c_void, usize, bool) -> c_int,
    read_register: extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int,
    new_bytes: extern "C" fn() -> *mut Bytes,
    counters: Counters,
    cpu: *mut c_void,
    counts: *const u64,
    registers: *const u64,
}

struct Oracle {
    qemu: Qemu,
    session: Session,
}

struct Shared(UnsafeCell<Option<Oracle>>);
// SAFETY: QEMU runs one virtual CPU on one thread, and calls the exit callback when that thread has stopped.
unsafe impl Sync for Shared {}
static ORACLE: Shared = Shared(UnsafeCell::new(None));

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

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym only reads the name, which ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The newest interface version that both this plugin and the running QEMU speak.
fn version() -> c_int {
    let has = |name: &CStr| symbol(name).is_some();
    match () {
        () if has(c"qemu_plugin_translate_vaddr") => 5,
        () if has(c"qemu_plugin_read_memory_vaddr") => 4,
        () if has(c"qemu_plugin_register_vcpu_tb_exec_cond_cb") => 3,
        () if has(c"qemu_plugin_scoreboard_new") => 2,
        () => 1,
    }
}

macro_rules! function {
    ($name:literal) => {
        match symbol($name) {
            // SAFETY: the type at the place of use is that of QEMU's header for this name; see the module's comment.
            Some(address) => unsafe { std::mem::transmute::<*mut c_void, _>(address) },
            None => return Err(ConfigError::Missing(name_of($name))),
        }
    };
}

fn name_of(name: &'static CStr) -> &'static str {
    name.to_str().unwrap_or("a function")
}

impl Qemu {
    fn load(counters: usize) -> Result<Self, ConfigError> {
        let counters = if symbol(c"qemu_plugin_scoreboard_new").is_some() {
            let new: extern "C" fn(usize) -> *mut c_void = function!(c"qemu_plugin_scoreboard_new");
            Counters::Scoreboard {
                add: function!(c"qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu"),
                board: new(counters * std::mem::size_of::<u64>()),
                find: function!(c"qemu_plugin_scoreboard_find"),
            }
        } else {
            let counts = Box::leak(vec![0_u64; counters].into_boxed_slice());
            Counters::Addresses(function!(c"qemu_plugin_register_vcpu_insn_exec_inline"), counts.as_mut_ptr())
        };
        Ok(Self {
            block_length: function!(c"qemu_plugin_tb_n_insns"),
            block_instruction: function!(c"qemu_plugin_tb_get_insn"),
            instruction_size: function!(c"qemu_plugin_insn_size"),
            instruction_address: function!(c"qemu_plugin_insn_vaddr"),
            instruction_data: symbol(c"qemu_plugin_insn_data").ok_or(ConfigError::Missing("qemu_plugin_insn_data"))?,
            copies_data: version() >= 3,
            on_block: function!(c"qemu_plugin_register_vcpu_tb_exec_cb"),
            on_instruction: function!(c"qemu_plugin_register_vcpu_insn_exec_cb"),
            get_cpu: function!(c"qemu_get_cpu"),
            read_memory: function!(c"cpu_memory_rw_debug"),
            read_register: function!(c"x86_cpu_gdb_read_register"),
            new_bytes: function!(c"g_byte_array_new"),
            counters,
            cpu: std::ptr::null_mut(),
            counts: std::ptr::null(),
            registers: std::ptr::null(),
        })
    }

    fn shown(&self, instruction: *mut c_void) -> Shown {
        let mut bytes = [0; 16];
        let size = (self.instruction_size)(instruction).min(bytes.len());
        // SAFETY: from version 3 on the function copies at most `size` bytes; before, it returns a pointer to as many.
        unsafe {
            if self.copies_data {
                let copy: extern "C" fn(*const c_void, *mut c_void, usize) -> usize =
                    std::mem::transmute(self.instruction_data);
                copy(instruction, bytes.as_mut_ptr().cast(), size);
            } else {
                let at: extern "C" fn(*const c_void) -> *const u8 = std::mem::transmute(self.instruction_data);
                std::ptr::copy_nonoverlapping(at(instruction), bytes.as_mut_ptr(), size);
            }
        }
        Shown { address: (self.instruction_address)(instruction), bytes, size }
    }

    fn count(&self, instruction: *mut c_void, counter: usize) {
        match &self.counters {
            // SAFETY: counters are numbered by the session that said how many there are.
            Counters::Addresses(add, counts) => add(instruction, ADD, unsafe { counts.add(counter) }, 1),
            Counters::Scoreboard { add, board, .. } => {
                add(instruction, ADD, Entry { scoreboard: *board, offset: counter * std::mem::size_of::<u64>() }, 1);
            }
        }
    }

    // Plugins are loaded before there is a processor.
    fn find_counts(&mut self) {
        self.cpu = (self.get_cpu)(0);
        self.counts = match &self.counters {
            Counters::Addresses(_, counts) => counts.cast_const(),
            Counters::Scoreboard { board, find, .. } => find(*board, 0).cast_const().cast(),
        };
    }

    // Asks QEMU for eight registers once, and looks for the eight words side by side in its processor object. At the start
    // of a block all registers are there: translated code writes them back at the end of each.
    fn find_registers(&mut self) -> Result<(), &'static str> {
        let mut wanted = [0_u64; 8];
        for (value, number) in wanted.iter_mut().zip(GDB_ORDER) {
            let array = (self.new_bytes)();
            let size = (self.read_register)(self.cpu, array.cast(), number);
            if size != 8 {
                return Err("QEMU gives no 64-bit registers");
            }
            // SAFETY: QEMU has appended `size` bytes to the array, which is never freed.
            *value = unsafe { (*array).data.cast::<u64>().read_unaligned() };
        }
        let found: Vec<usize> = (0..CPU_BYTES - 64)
            .step_by(8)
            // SAFETY: the object is larger than what is searched, see the constant.
            .filter(|offset| unsafe { *self.cpu.add(*offset).cast::<[u64; 8]>() } == wanted)
            .collect();
        match found.as_slice() {
            [only] if wanted.iter().any(|value| *value != 0) => {
                // SAFETY: as above.
                self.registers = unsafe { self.cpu.add(*only).cast() };
                Ok(())
            }
            _ => Err("QEMU's registers were not found where it keeps them"),
        }
    }
}

impl Processor for Qemu {
    #[inline]
    fn stack_pointer(&self) -> u64 {
        // SAFETY: found in QEMU's own structure, which lives as long as it does.
        unsafe { self.registers.add(STACK_POINTER).read() }
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0_u8; 8];
        let status = (self.read_memory)(self.cpu, address, bytes.as_mut_ptr().cast(), bytes.len(), false);
        (status == 0).then(|| u64::from_le_bytes(bytes))
    }

    #[inline]
    fn count(&self, counter: usize) -> u64 {
        // SAFETY: translated code on this thread is all that writes it.
        unsafe { self.counts.add(counter).read_volatile() }
    }
}

#[inline]
fn oracle() -> Option<&'static mut Oracle> {
    // SAFETY: see `Shared`: no two callbacks run at a time, and none keeps the reference.
    unsafe { (*ORACLE.0.get()).as_mut() }.filter(|oracle| !oracle.session.frozen)
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
    let arguments: Vec<String> = (0..usize::try_from(argc).unwrap_or(0))
        .map(|index| unsafe { CStr::from_ptr(*argv.add(index)) }.to_string_lossy().into_owned())
        .collect();
    let installed = Config::from_arguments(&arguments).and_then(|config| {
        let session = Session::new(config)?;
        let qemu = Qemu::load(session.counters())?;
        let on_translation: extern "C" fn(u64, OnTranslation) = function!(c"qemu_plugin_register_vcpu_tb_trans_cb");
        let on_exit: extern "C" fn(u64, OnExit, *mut c_void) = function!(c"qemu_plugin_register_atexit_cb");
        on_translation(id, translated);
        on_exit(id, exiting, std::ptr::null_mut());
        Ok(Oracle { qemu, session })
    });
    match installed {
        Ok(oracle) => {
            // SAFETY: nothing else runs while plugins are installed.
            unsafe { *ORACLE.0.get() = Some(oracle) };
            0
        }
        Err(error) => {
            eprintln!("firstlight oracle: {error}");
            1
        }
    }
}

extern "C" fn translated(_id: u64, block: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    if qemu.cpu.is_null() {
        qemu.find_counts();
    }
    let instructions: Vec<*mut c_void> =
        (0..(qemu.block_length)(block)).map(|index| (qemu.block_instruction)(block, index)).collect();
    let shown: Vec<Shown> = instructions.iter().map(|instruction| qemu.shown(*instruction)).collect();
    let plan = session.plan(&shown);
    // Blocks stay until QEMU ends: translated code names them.
    let data: *mut Block = Box::leak(Box::new(plan.block));
    (qemu.on_block)(block, executed, NO_REGISTERS, data.cast());
    // Callbacks before counts: an instruction's own count is added after its callback.
    for (index, row, moved) in plan.starts {
        let data: *mut (Row, i64) = Box::leak(Box::new((row, moved)));
        (qemu.on_instruction)(instructions[index], started, NO_REGISTERS, data.cast());
    }
    if let Some(index) = plan.ready {
        (qemu.on_instruction)(instructions[index], marked, NO_REGISTERS, std::ptr::null_mut());
    }
    let all = session.executed();
    for (instruction, counter) in instructions.iter().zip(plan.counters) {
        if let Some(counter) = counter {
            qemu.count(*instruction, counter);
            qemu.count(*instruction, all);
        }
    }
}

extern "C" fn executed(_vcpu: u32, data: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    // SAFETY: the data of this callback is a block that was leaked for it.
    let block = unsafe { &*data.cast::<Block>() };
    if qemu.registers.is_null() && block.is_kernel() {
        if let Err(problem) = qemu.find_registers() {
            return session.fail(problem);
        }
    }
    session.at_block(block, qemu);
}

extern "C" fn started(_vcpu: u32, data: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    // SAFETY: the data of this callback is a pair that was leaked for it.
    let (row, moved) = unsafe { *data.cast::<(Row, i64)>() };
    session.at_start(row, moved, qemu);
}

extern "C" fn marked(_vcpu: u32, _data: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    session.at_ready(qemu);
}

extern "C" fn exiting(_id: u64, _data: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    if qemu.cpu.is_null() {
        return session.fail("QEMU ended before it executed anything");
    }
    session.stop(qemu);
}
