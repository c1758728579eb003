//! Counters that translated code adds to, without a callback.

use crate::{function, symbol, Instruction};
use std::ffi::{c_int, c_void};

const ADD: c_int = 0;
const WORD: usize = std::mem::size_of::<u64>();

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Entry {
    scoreboard: *mut c_void,
    offset: usize,
}

// The old way adds to an address, the new one to a scoreboard.
#[derive(Debug)]
enum Place {
    Addresses(extern "C" fn(*mut Instruction, c_int, *mut u64, u64), *mut u64),
    Scoreboard {
        add: extern "C" fn(*mut Instruction, c_int, Entry, u64),
        board: *mut c_void,
        find: extern "C" fn(*mut c_void, u32) -> *mut c_void,
    },
}

/// Some counters, by number. They stay for as long as QEMU runs.
#[derive(Debug)]
pub struct Counters {
    place: Place,
    number: usize,
}

impl Counters {
    /// So many counters, at zero.
    ///
    /// # Errors
    ///
    /// The name of a function that QEMU does not have.
    pub fn new(number: usize) -> Result<Self, &'static str> {
        let place = if symbol(c"qemu_plugin_scoreboard_new").is_some() {
            let new: extern "C" fn(usize) -> *mut c_void = function!(c"qemu_plugin_scoreboard_new")?;
            Place::Scoreboard {
                add: function!(c"qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu")?,
                board: new(number.max(1) * WORD),
                find: function!(c"qemu_plugin_scoreboard_find")?,
            }
        } else {
            let counts = Box::leak(vec![0_u64; number].into_boxed_slice());
            Place::Addresses(function!(c"qemu_plugin_register_vcpu_insn_exec_inline")?, counts.as_mut_ptr())
        };
        Ok(Self { place, number })
    }

    /// Adds one to a counter at each execution of this instruction. A number behind the last counter is ignored.
    pub fn count(&self, instruction: *mut Instruction, counter: usize) {
        if counter >= self.number {
            return;
        }
        match &self.place {
            // SAFETY: the number lies within the counters.
            Place::Addresses(add, counts) => add(instruction, ADD, unsafe { counts.add(counter) }, 1),
            Place::Scoreboard { add, board, .. } => {
                add(instruction, ADD, Entry { scoreboard: *board, offset: counter * WORD }, 1);
            }
        }
    }

    /// Where a processor's counters stand, one behind the other; to be asked once there is a processor.
    pub fn of(&self, cpu: u32) -> *const u64 {
        match &self.place {
            Place::Addresses(_, counts) => *counts,
            Place::Scoreboard { board, find, .. } => find(*board, cpu).cast_const().cast(),
        }
    }

    /// What a processor's counters say; to be asked once there is a processor.
    pub fn values(&self, cpu: u32) -> &[u64] {
        // SAFETY: there are as many; translated code that adds to them runs on the thread that calls this, not meanwhile.
        unsafe { std::slice::from_raw_parts(self.of(cpu), self.number) }
    }
}
