//! The processor's state, and what QEMU calls.
//!
//! The processor's registers are read where QEMU keeps them; all else goes through [`firstlight_qemu`].
#![allow(unsafe_code)]
#![allow(clippy::missing_transmute_annotations, reason = "the type stands where each function is kept")]

use crate::architecture::Architecture;
use crate::architectures::by_target;
use crate::config::ConfigError;
use crate::session::{self, Processor, Session, Shown};
use crate::text::Row;
use firstlight_qemu::{function, Block, Counters, Instruction, Interface, Memory};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};

firstlight_qemu::plugin!("firstlight oracle", begin);

// An audited boot has one virtual processor.
const CPU: u32 = 0;
// How much of QEMU's processor object is searched; it is larger than this in 7.2 and in 10.0.
const CPU_BYTES: usize = 64 * 1024;

/// The beginning of GLib's `GByteArray`.
#[repr(C)]
struct Bytes {
    data: *const u8,
    length: u32,
}

struct Qemu {
    interface: Interface,
    architecture: &'static Architecture,
    read_register: extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int,
    new_bytes: extern "C" fn() -> *mut Bytes,
    counters: Counters,
    memory: Option<Memory>,
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

impl Qemu {
    fn load(counters: usize, architecture: &'static Architecture) -> Result<Self, &'static str> {
        for name in [c"qemu_get_cpu", c"cpu_memory_rw_debug"] {
            firstlight_qemu::symbol(name).ok_or(firstlight_qemu::name_of(name))?;
        }
        Ok(Self {
            interface: Interface::load()?,
            architecture,
            read_register: read_register(architecture)?,
            new_bytes: function!(c"g_byte_array_new")?,
            counters: Counters::new(counters)?,
            memory: None,
            cpu: std::ptr::null_mut(),
            counts: std::ptr::null(),
            registers: std::ptr::null(),
        })
    }

    fn shown(&self, instruction: *mut Instruction) -> Shown {
        let mut bytes = [0; 16];
        let size = self.interface.bytes(instruction, &mut bytes).len();
        Shown { address: self.interface.instruction_address(instruction), bytes, size }
    }

    // Plugins are loaded before there is a processor.
    fn find_counts(&mut self) {
        self.cpu = firstlight_qemu::cpu(CPU).unwrap_or(std::ptr::null_mut());
        self.memory = Memory::of(CPU);
        self.counts = self.counters.of(CPU);
    }

    // Asks QEMU for some registers once, and looks for these words side by side in its processor object. At the start
    // of a block all registers are there: translated code writes them back at the end of each.
    fn find_registers(&mut self) -> Result<(), &'static str> {
        let order = self.architecture.registers.order;
        let mut wanted = vec![0_u64; order.len()];
        for (value, number) in wanted.iter_mut().zip(order) {
            let array = (self.new_bytes)();
            let size = (self.read_register)(self.cpu, array.cast(), *number);
            if size != 8 {
                return Err("QEMU gives no 64-bit registers");
            }
            // SAFETY: QEMU has appended `size` bytes to the array, which is never freed.
            *value = unsafe { (*array).data.cast::<u64>().read_unaligned() };
        }
        let words = self.cpu.cast::<u64>();
        // SAFETY: the object is larger than what is searched, see the constant.
        let word = |place: usize| unsafe { words.add(place).read() };
        let found: Vec<usize> = (0..CPU_BYTES / 8 - wanted.len())
            .filter(|place| wanted.iter().enumerate().all(|(index, value)| word(place + index) == *value))
            .collect();
        match found.as_slice() {
            [only] if wanted.iter().any(|value| *value != 0) => {
                // SAFETY: as above.
                self.registers = unsafe { words.add(*only) };
                Ok(())
            }
            _ => Err("QEMU's registers were not found where it keeps them"),
        }
    }
}

impl Processor for Qemu {
    #[inline]
    fn register(&self, place: usize) -> u64 {
        if self.registers.is_null() || place >= self.architecture.registers.order.len() {
            return 0;
        }
        // SAFETY: found in QEMU's own structure, which lives as long as it does; the place is one of those that were found.
        unsafe { self.registers.add(place).read() }
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0_u8; 8];
        self.memory?.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    #[inline]
    fn count(&self, counter: usize) -> u64 {
        // SAFETY: translated code on this thread is all that writes it.
        unsafe { self.counts.add(counter).read_volatile() }
    }
}

// Its name is the architecture's.
fn read_register(
    architecture: &Architecture,
) -> Result<extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int, &'static str> {
    let name = architecture.registers.read;
    let address = firstlight_qemu::symbol(name).ok_or(firstlight_qemu::name_of(name))?;
    // SAFETY: `int x86_cpu_gdb_read_register(CPUState *, GByteArray *, int)` and its like have this type in every version.
    Ok(unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int>(address) })
}

#[inline]
fn oracle() -> Option<&'static mut Oracle> {
    // SAFETY: see `Shared`: no two callbacks run at a time, and none keeps the reference.
    unsafe { (*ORACLE.0.get()).as_mut() }.filter(|oracle| !oracle.session.frozen)
}

fn begin(id: u64, target: String, arguments: &[String]) -> Result<(), ConfigError> {
    let config = firstlight_qemu::config(arguments)?;
    let architecture = by_target(&target).ok_or(ConfigError::Architecture(target))?;
    let session = Session::new(config, architecture)?;
    let qemu = Qemu::load(session.counters(), architecture).map_err(ConfigError::Missing)?;
    qemu.interface.register_translation(id, translated);
    qemu.interface.register_exit(id, exiting);
    // SAFETY: nothing else runs while plugins are installed.
    unsafe { *ORACLE.0.get() = Some(Oracle { qemu, session }) };
    Ok(())
}

extern "C" fn translated(_id: u64, block: *mut Block) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    if qemu.cpu.is_null() {
        qemu.find_counts();
    }
    let length = qemu.interface.length(block);
    let instructions: Vec<*mut Instruction> =
        (0..length).map(|index| qemu.interface.instruction(block, index)).collect();
    let shown: Vec<Shown> = instructions.iter().map(|instruction| qemu.shown(*instruction)).collect();
    let plan = session.plan(&shown, qemu);
    // Blocks stay until QEMU ends: translated code names them.
    let data: *mut session::Block = Box::leak(Box::new(plan.block));
    qemu.interface.on_block(block, executed, data.cast());
    // Callbacks before counts: an instruction's own count is added after its callback.
    for (index, row, moved) in plan.starts {
        let data: *mut (Row, i64) = Box::leak(Box::new((row, moved)));
        qemu.interface.on_instruction(instructions[index], started, data.cast());
    }
    if let Some(index) = plan.ready {
        qemu.interface.on_instruction(instructions[index], marked, std::ptr::null_mut());
    }
    let all = session.executed();
    for (instruction, counter) in instructions.iter().zip(plan.counters) {
        if let Some(counter) = counter {
            qemu.counters.count(*instruction, counter);
            qemu.counters.count(*instruction, all);
        }
    }
}

extern "C" fn executed(_vcpu: u32, data: *mut c_void) {
    let Some(Oracle { qemu, session }) = oracle() else { return };
    // SAFETY: the data of this callback is a block that was leaked for it.
    let block = unsafe { &*data.cast::<session::Block>() };
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
