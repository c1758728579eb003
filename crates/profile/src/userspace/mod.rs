//! What a recording holds of processes: how they came to be, what they ran, whom they woke, and what they asked of the kernel.

pub mod code;
mod text;

use crate::instant::Instant;
use code::{BlockId, UserCode};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
pub use text::TextId;

/// What a recording lacks where processes cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// The architecture's module does not describe user mode.
    Architecture,
    /// The kernel was built without a description of its types (`CONFIG_DEBUG_INFO_BTF`).
    Types,
    /// The description of types lacks a structure or a member that is needed.
    Members,
    /// QEMU does not show the guest's registers or memory.
    Emulator,
}

/// Instructions of one thread, by what they were executed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// In user mode.
    pub user: u64,
    /// In the kernel, on the thread's behalf: system calls, page faults, the switch away from it.
    pub kernel: u64,
    /// In interrupts that came while it had the processor.
    pub interrupts: u64,
}

/// A task was created. It may never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// When it could run first.
    pub at: Instant,
    /// The task that created it.
    pub by: u32,
    /// Where its `task_struct` lies.
    pub address: u64,
    /// The number that the kernel gave it.
    pub pid: u32,
    /// The number of its process.
    pub tgid: u32,
}

/// What a task is about to run in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its first instruction.
    pub at: Instant,
    /// The task.
    pub task: u32,
    /// The number that the kernel gave it.
    pub pid: u32,
    /// The number of its process.
    pub tgid: u32,
    /// The executable's path.
    pub file: TextId,
    /// The arguments, each ended by a NUL.
    pub arguments: TextId,
    /// Its control group.
    pub cgroup: TextId,
}

/// A task ended itself, or was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When the kernel began to end it.
    pub at: Instant,
    /// The task.
    pub task: u32,
    /// As `wait` reports it.
    pub status: u32,
    /// Its control group.
    pub cgroup: TextId,
}

/// A task was made runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wakeup {
    /// When.
    pub at: Instant,
    /// The task that had the processor.
    pub by: u32,
    /// Whether an interrupt did it.
    pub interrupt: bool,
    /// Where the `task_struct` of the task that was woken lies.
    pub address: u64,
}

/// A system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCall {
    /// The task that made it.
    pub task: u32,
    /// Its name.
    pub name: TextId,
    /// When the kernel began to serve it.
    pub start: Instant,
    /// When user mode went on; nothing where it did not.
    pub end: Option<Instant>,
    /// The task's instructions from `start` to `end`.
    pub spent: Spent,
    /// The task's instructions in the kernel up to `start`, since it first ran.
    pub kernel_before: u64,
    /// The first arguments, as they were passed.
    pub arguments: [u64; 3],
    /// What it returned, negative for an error.
    pub result: Option<i64>,
    /// The path that it was given, if its kind has one.
    pub path: Option<TextId>,
    /// The block of user mode that made it, where user code is followed.
    pub block: Option<BlockId>,
}

/// Processes, as the recorder saw them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Userspace {
    /// Why there is nothing, or less than there could be.
    pub missing: Option<Missing>,
    /// Texts, each once.
    pub texts: Vec<String>,
    /// Tasks, in the order in which they were created.
    pub created: Vec<Created>,
    /// What they ran.
    pub images: Vec<Image>,
    /// Their ends.
    pub ended: Vec<Ended>,
    /// Wake-ups.
    pub wakeups: Vec<Wakeup>,
    /// System calls, in the order in which they began.
    pub calls: Vec<SystemCall>,
    /// Events at which the guest's stack pointer, as read from QEMU, stood at the return address of the call before.
    pub registers_confirmed: u64,
    /// Events at which it stood elsewhere.
    pub registers_contradicted: u64,
    /// The code of user mode.
    pub code: UserCode,
}

impl Userspace {
    /// Whether every number of a text and of a task is that of one.
    pub fn is_consistent(&self, tasks: usize) -> bool {
        let text = |number: TextId| (number as usize) < self.texts.len();
        let task = |number: u32| (number as usize) < tasks;
        self.created.iter().all(|row| task(row.by))
            && self
                .images
                .iter()
                .all(|row| task(row.task) && [row.file, row.arguments, row.cgroup].into_iter().all(text))
            && self.ended.iter().all(|row| task(row.task) && text(row.cgroup))
            && self.wakeups.iter().all(|row| task(row.by))
            && self.calls.iter().all(|row| {
                task(row.task)
                    && text(row.name)
                    && row.path.is_none_or(text)
                    && row.block.is_none_or(|block| (block as usize) < self.code.blocks.len())
            })
            && self.code.is_consistent(tasks, self.images.len(), self.texts.len())
    }
}

/// Collects what is seen while a boot is followed.
#[derive(Debug, Default)]
pub struct Log {
    /// What was seen so far.
    pub seen: Userspace,
    numbers: FxHashMap<String, TextId>,
}

impl Log {
    /// The number of a text.
    pub fn text(&mut self, text: &str) -> TextId {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.seen.texts.len() as TextId;
        self.seen.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}
