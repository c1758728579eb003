//! One task's shadow stack.

use crate::tree::{FunctionId, NodeId};

/// The stack address of a frame that no call pushed: entries from outside and first frames of tasks.
pub(super) const ANY: u64 = u64::MAX;

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
    /// Where the return address stands, or [`ANY`].
    pub sp: u64,
    pub node: NodeId,
    pub function: FunctionId,
    pub role: Role,
}

/// What was under way when entry code came in between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interrupted {
    pub pending: Option<u64>,
    pub in_user: bool,
}

/// One task's frames, and what belongs to them.
#[derive(Debug, Default)]
pub(super) struct Stack {
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
}

impl Stack {
    /// The frame on top whose return address stands at `sp`, looked for down to the nearest entry.
    pub fn holding(&self, sp: u64) -> Option<usize> {
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if frame.sp == sp {
                return Some(index);
            }
            if frame.role == Role::Entry {
                return None;
            }
        }
        None
    }

    /// The frame of `function` among those on top that share one return address (tail calls).
    pub fn in_tail(&self, function: FunctionId) -> Option<usize> {
        let sp = self.frames.last()?.sp;
        let on_top = self.frames.iter().enumerate().rev();
        let mut tail = on_top.take_while(|(_, frame)| frame.sp == sp && frame.role != Role::Entry);
        tail.find(|(_, frame)| frame.function == function).map(|(index, _)| index)
    }
}
