//! Several processors of QEMU's, which take turns on one thread: whose turn it is.
//!
//! QEMU calls no plugin when another processor goes on, and the number that it hands to callbacks is not to be relied on: where
//! processors share a thread, QEMU 10 translates it as a constant, that of the processor for which the block was translated
//! (`gen_cpu_index` in accel/tcg/plugin-gen.c). What says it is QEMU's own variable for the running processor.

use crate::{cpu, symbol};
use std::ffi::c_void;

/// Whose turn it is, of several processors.
#[derive(Debug)]
pub struct Turns {
    /// `current_cpu` of the thread that runs them.
    current: *const *mut c_void,
    cpus: Vec<*mut c_void>,
}

impl Turns {
    /// None where QEMU does not say it. To be asked on the thread that runs the processors, once they are there.
    pub fn find(cpus: u32) -> Option<Self> {
        // A variable of each thread: its address is that of the thread that asks.
        let current = symbol(c"current_cpu")?.cast_const().cast();
        Some(Self { current, cpus: (0..cpus).map(cpu).collect::<Option<_>>()? })
    }

    /// The processor whose turn it is, if it is another than this one. To be asked in a callback of translation or execution.
    #[inline]
    pub fn other_than(&self, cpu: u32) -> Option<u32> {
        // SAFETY: `extern __thread CPUState *current_cpu` in every version from 7.2 on, of the thread that calls back.
        let running = unsafe { *self.current };
        if self.cpus.get(cpu as usize) == Some(&running) {
            return None;
        }
        self.place(running)
    }

    #[cold]
    fn place(&self, running: *mut c_void) -> Option<u32> {
        self.cpus.iter().zip(0..).find(|(cpu, _)| **cpu == running).map(|(_, index)| index)
    }
}
