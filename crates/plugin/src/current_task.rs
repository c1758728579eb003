//! The running task: by the kernel's pointer to it in the processor's per-cpu area, or by the switches that were seen.

use firstlight_isa::Isa;
use firstlight_profile::SymbolTable;

const POINTER_BYTES: u64 = 8;

/// How the running task is known.
#[derive(Debug, Clone, Copy)]
pub enum CurrentTask {
    /// By the kernel's pointer to it.
    Pointer {
        /// Where the offsets of the processors' areas are kept.
        per_cpu_offset: u64,
        /// The processor.
        cpu: u32,
        /// The pointer's place in that area.
        current: u64,
    },
    /// By the last switch, where a register holds the pointer; nothing before the first one.
    Switched(Option<u64>),
}

impl CurrentTask {
    /// None where the kernel's symbols lack it.
    pub fn find<I: Isa>(cpu: u32, symbols: &SymbolTable<I>) -> Option<Self> {
        if I::CURRENT_TASK.is_empty() {
            return Some(Self::Switched(None));
        }
        Some(Self::Pointer {
            per_cpu_offset: symbols.address("__per_cpu_offset")?,
            cpu,
            current: I::CURRENT_TASK.iter().find_map(|name| symbols.address(name))?,
        })
    }

    /// The address of the running task's `task_struct`; `word` reads the kernel's memory.
    pub fn address(&self, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        match *self {
            Self::Pointer { per_cpu_offset, cpu, current } => {
                word(word(per_cpu_offset.wrapping_add(u64::from(cpu) * POINTER_BYTES))?.wrapping_add(current))
            }
            Self::Switched(task) => task,
        }
    }

    /// Another processor goes on; `running` is the task that was switched to there last.
    pub fn turn(&mut self, to: u32, running: Option<u64>) {
        match self {
            Self::Pointer { cpu, .. } => *cpu = to,
            Self::Switched(task) => *task = running,
        }
    }

    /// A switch gave the processor to this task.
    pub fn switched(&mut self, task: u64) {
        if let Self::Switched(running) = self {
            *running = Some(task);
        }
    }
}
