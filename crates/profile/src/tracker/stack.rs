//! One task's shadow stack.

use super::mode::Mode;
use crate::tree::{FunctionId, NodeId};
use crate::userspace::Spent;
use firstlight_isa::Isa;

/// The stack address of a frame that no call pushed: entries from outside and first frames of tasks.
pub(super) const ANY: u64 = u64::MAX;

/// The task of a processor that the kernel has not started yet.
pub(super) const NO_TASK: u32 = u32::MAX;

/// What names a frame. Functions that call one another in tail position share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Where the call stands on the stack: the place of its return address, or where a link register holds that, the stack
    /// pointer at the call. [`ANY`] where no call pushed the frame.
    pub sp: u64,
    /// Where a link register holds the return address its lower half, else 0.
    pub link: u32,
}

impl Key {
    /// That of a frame that no call pushed.
    pub const NONE: Self = Self::at(ANY);

    /// The key of a call that stored its return address at `sp`.
    pub const fn at(sp: u64) -> Self {
        Self { sp, link: 0 }
    }
}

/// What a frame is, beyond a called function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A function that was called or jumped to.
    Call,
    /// A function whose end is of interest: see [`Stack::spans`].
    Watched,
    /// Entry code: a return instruction never looks below it.
    Entry,
}

/// One frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// As in [`Key`], whose parts stand apart so that a frame has 24 bytes.
    pub sp: u64,
    pub link: u32,
    pub node: NodeId,
    pub function: FunctionId,
    pub role: Role,
}

impl Frame {
    #[inline]
    pub fn new(key: Key, node: NodeId, function: FunctionId, role: Role) -> Self {
        Self { sp: key.sp, link: key.link, node, function, role }
    }

    #[inline]
    pub fn key(&self) -> Key {
        Key { sp: self.sp, link: self.link }
    }
}

/// A thunk has replaced its own return address: the next return is its jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirect {
    /// Nothing has come in between.
    Under,
    /// Entry code has: the kernel may have finished the thunk's return for it, so that none will be seen.
    Interrupted,
}

/// What was under way when entry code came in between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interrupted {
    pub pending: Option<u64>,
    pub redirected: bool,
    pub padded: Option<FunctionId>,
    pub in_user: bool,
    pub mode: Mode,
}

/// One task's frames, and what belongs to them.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Stack {
    /// First, as every event needs them.
    pub frames: Vec<Frame>,
    /// One for each frame of role [`Role::Entry`], in the same order.
    pub interrupted: Vec<Interrupted>,
    /// One for each frame of role [`Role::Watched`]: indices into the recording's spans.
    pub spans: Vec<usize>,
    pub task: u32,
    /// The row that user mode is charged to.
    pub user: NodeId,
    /// Whether `user` is the task's own row by now.
    pub named: bool,
    /// What its instructions are executed for.
    pub mode: Mode,
    /// Its instructions up to the last change of that.
    pub spent: Spent,
    /// The row of the system call that it is in.
    pub call: Option<usize>,
    /// Whether it is known what it runs in user mode.
    pub has_image: bool,
    /// What its user code is counted for.
    pub context: Option<u32>,
}

impl Stack {
    /// The frame on top that has this key, looked for down to the nearest entry.
    pub fn holding(&self, key: Key) -> Option<usize> {
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if frame.key() == key {
                return Some(index);
            }
            if frame.role == Role::Entry {
                return None;
            }
        }
        None
    }

    /// How many frames on top share one key (tail calls), and the lowest of `function` among them.
    pub fn run(&self, function: FunctionId) -> (usize, Option<usize>) {
        let Some(key) = self.frames.last().map(Frame::key) else { return (0, None) };
        let on_top = self.frames.iter().enumerate().rev();
        let run = on_top.take_while(|(_, frame)| frame.key() == key && frame.role != Role::Entry);
        run.fold((0, None), |(length, found), (index, frame)| {
            (length + 1, if frame.function == function { Some(index) } else { found })
        })
    }
}

/// Whether two addresses lie on one stack: the kernel's stacks are aligned to their size.
pub(super) fn on_one_stack<I: Isa>(a: u64, b: u64) -> bool {
    a != ANY && b != ANY && a / I::STACK_BYTES == b / I::STACK_BYTES
}
