//! Where the kernel keeps its pointer to the running task: in the processor's per-cpu area.

use firstlight_isa::Isa;
use firstlight_profile::SymbolTable;

const POINTER_BYTES: u64 = 8;

/// The place of the pointer to the running task.
#[derive(Debug, Clone, Copy)]
pub struct CurrentTask {
    per_cpu_offset: u64,
    current: u64,
}

impl CurrentTask {
    /// None where the kernel's symbols lack it.
    pub fn find<I: Isa>(cpu: u32, symbols: &SymbolTable<I>) -> Option<Self> {
        Some(Self {
            per_cpu_offset: symbols.address("__per_cpu_offset")?.wrapping_add(u64::from(cpu) * POINTER_BYTES),
            current: I::CURRENT_TASK.iter().find_map(|name| symbols.address(name))?,
        })
    }

    /// The address of the running task's `task_struct`; `word` reads the kernel's memory.
    pub fn address(&self, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        word(word(self.per_cpu_offset)?.wrapping_add(self.current))
    }
}
