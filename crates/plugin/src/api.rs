//! What the plugin asks of QEMU beside [`Interface`]: memory accesses, and counts of instructions.
#![allow(unsafe_code)]

use firstlight_qemu::{function, version, Counters, Interface, OnExecution, NO_REGISTERS};
pub use firstlight_qemu::{Block, Instruction};
use std::ffi::{c_int, c_void};
use std::ops::Deref;

pub type OnAccess = extern "C" fn(vcpu: u32, info: u32, address: u64, data: *mut c_void);

const READS_AND_WRITES: c_int = 3;

/// The functions in use.
pub struct Api {
    interface: Interface,
    on_access: extern "C" fn(*mut Instruction, OnAccess, c_int, c_int, *mut c_void),
    is_store: extern "C" fn(u32) -> bool,
    counter: Counters,
    entries: Counters,
    /// Instructions whose memory accesses are watched, as often as they were executed. Only kept before QEMU 8.
    accesses: Option<(Counters, *const u64)>,
    cpu: u32,
}

impl Deref for Api {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.interface
    }
}

impl Api {
    /// Looks everything up, for this processor and a kernel with so many functions.
    ///
    /// # Errors
    ///
    /// The name of the first function that QEMU does not have.
    pub fn load(cpu: u32, functions: usize) -> Result<Self, &'static str> {
        let accesses = match version() {
            // QEMU of that version adds to an address, which is the same for every processor and there from the start.
            1 => Counters::new(1)
                .map(|counters| (counters.of(cpu), counters))
                .map(|(at, counters)| Some((counters, at)))?,
            _ => None,
        };
        Ok(Self {
            interface: Interface::load()?,
            on_access: function!(c"qemu_plugin_register_vcpu_mem_cb")?,
            is_store: function!(c"qemu_plugin_mem_is_store")?,
            counter: Counters::new(1)?,
            entries: Counters::new(functions)?,
            accesses,
            cpu,
        })
    }

    pub fn on_block(&self, block: *mut Block, callback: OnExecution, data: u64) {
        self.interface.on_block(block, callback, data as *mut c_void);
    }

    pub fn on_instruction(&self, instruction: *mut Instruction, callback: OnExecution, data: u64) {
        self.interface.on_instruction(instruction, callback, data as *mut c_void);
    }

    /// Both reads and writes are asked for: with reads alone, QEMU 7.2 misses most of them.
    pub fn on_access(&self, instruction: *mut Instruction, callback: OnAccess, data: u64) {
        (self.on_access)(instruction, callback, NO_REGISTERS, READS_AND_WRITES, data as *mut c_void);
        if let Some((begun, _)) = &self.accesses {
            begun.count(instruction, 0);
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
        self.accesses.as_ref().map(|(_, begun)| unsafe { **begun })
    }

    #[inline]
    pub fn is_store(&self, info: u32) -> bool {
        (self.is_store)(info)
    }

    /// Counts each execution of this instruction.
    pub fn count(&self, instruction: *mut Instruction) {
        self.counter.count(instruction, 0);
    }

    /// Counts each execution of this instruction, the first one of a function.
    pub fn count_entry(&self, instruction: *mut Instruction, function: u32) {
        self.entries.count(instruction, function as usize);
    }

    /// How often each function's first instruction was executed so far; asked once there is a CPU.
    pub fn entered(&self) -> &[u64] {
        self.entries.values(self.cpu)
    }

    /// Where the count of all instructions is; asked once there is a CPU.
    pub fn counted(&self) -> *const u64 {
        self.counter.of(self.cpu)
    }
}
