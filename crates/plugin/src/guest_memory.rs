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
    current: Option<CurrentTask>,
    init_task: Option<u64>,
    name_offset: Option<u64>,
    hopeless: bool,
}

impl<I: Isa> TaskNames<I> {
    /// None when the kernel lacks what is needed: then user mode stays in one row.
    pub fn find(memory: Mapped<I>, cpu: u32, symbols: &SymbolTable<I>) -> Option<Self> {
        Some(Self {
            memory,
            current: CurrentTask::find(cpu, symbols),
            init_task: symbols.address("init_task"),
            name_offset: None,
            hopeless: false,
        })
    }

    /// Another processor goes on, with its memory.
    pub fn turn(&mut self, to: u32, memory: Mapped<I>, running: Option<u64>) {
        self.memory = memory;
        self.current.iter_mut().for_each(|current| current.turn(to, running));
    }

    /// The running task's address; the kernel's address space must be the current one.
    pub fn running(&self) -> Option<u64> {
        self.current?.address(|at| self.memory.word(at))
    }

    /// The name of the task at an address; the kernel's address space must be the current one. `first` is the first task of the
    /// boot, where no symbol says it.
    pub fn of(&mut self, task: u64, first: Option<u64>) -> Option<String> {
        if self.name_offset.is_none() && !self.hopeless {
            self.name_offset = self.find_name(self.init_task.or(first)?);
            self.hopeless = self.name_offset.is_none();
        }
        let mut name = [0_u8; NAME_BYTES];
        self.memory.read(task.wrapping_add(self.name_offset?), &mut name).then_some(())?;
        let text = name.split(|byte| *byte == 0).next().filter(|text| !text.is_empty())?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn find_name(&self, first: u64) -> Option<u64> {
        let mut task = vec![0_u8; TASK_BYTES];
        self.memory.read(first, &mut task).then_some(())?;
        task.windows(9).position(|bytes| bytes == b"swapper/0" || bytes == b"swapper\0\0").map(|at| at as u64)
    }
}
