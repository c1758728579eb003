//! The guest's memory, and the name of the running task in it.
//!
//! The variable with the running task stands in the processor's per-cpu area; where a task keeps its name is found by looking for that of
//! the first one, `swapper`, in `init_task`. Reading memory changes nothing in the guest.

use crate::current_task::CurrentTask;
use firstlight_isa::Isa;
use firstlight_profile::code::Memory;
use firstlight_profile::SymbolTable;
use std::marker::PhantomData;

const TASK_BYTES: usize = 16 * 1024;
const NAME_BYTES: usize = 16;

/// The memory as the processor has it mapped now.
#[derive(Clone, Copy)]
pub struct Mapped<I> {
    memory: firstlight_qemu::Memory,
    isa: PhantomData<I>,
}

impl<I> Mapped<I> {
    /// The memory of this processor; none when QEMU lacks what is needed. To be asked once there is a processor.
    pub fn find(cpu: u32) -> Option<Self> {
        Some(Self { memory: firstlight_qemu::Memory::of(cpu)?, isa: PhantomData })
    }
}

impl<I: Isa> Memory for Mapped<I> {
    type Isa = I;

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.memory.read(address, buffer)
    }
}

/// Where tasks keep their names.
pub struct TaskNames<I> {
    memory: Mapped<I>,
    current: CurrentTask,
    init_task: u64,
    name_offset: Option<u64>,
    hopeless: bool,
}

impl<I: Isa> TaskNames<I> {
    /// None when QEMU or the kernel lacks what is needed: then user mode stays in one row.
    pub fn find(memory: Mapped<I>, cpu: u32, symbols: &SymbolTable<I>) -> Option<Self> {
        Some(Self {
            memory,
            current: CurrentTask::find(cpu, symbols)?,
            init_task: symbols.address("init_task")?,
            name_offset: None,
            hopeless: false,
        })
    }

    /// The running task's address and name; the kernel's address space must be the current one.
    pub fn running(&mut self) -> Option<(u64, String)> {
        if self.name_offset.is_none() && !self.hopeless {
            self.name_offset = self.find_name();
            self.hopeless = self.name_offset.is_none();
        }
        let task = self.current.address(|at| self.memory.word(at))?;
        let mut name = [0_u8; NAME_BYTES];
        self.memory.read(task.wrapping_add(self.name_offset?), &mut name).then_some(())?;
        let text = name.split(|byte| *byte == 0).next().filter(|text| !text.is_empty())?;
        Some((task, String::from_utf8_lossy(text).into_owned()))
    }

    fn find_name(&self) -> Option<u64> {
        let mut task = vec![0_u8; TASK_BYTES];
        self.memory.read(self.init_task, &mut task).then_some(())?;
        task.windows(9).position(|bytes| bytes == b"swapper/0" || bytes == b"swapper\0\0").map(|at| at as u64)
    }
}
