//! What is under way on one processor.

use super::stack::{Redirect, Stack};
use crate::recording::Instant;
use crate::tree::{FunctionId, NodeId};

/// The state of a processor: of the one whose turn it is, or of one that waits for its turn.
#[derive(Debug)]
// What every event needs comes first.
#[repr(C)]
pub(super) struct Processor {
    /// The context that runs.
    pub node: NodeId,
    pub in_user: bool,
    /// A new task has been switched to, and has entered no function yet.
    pub first_of_task: bool,
    /// In a stub that leads to an entry: its instructions belong to the entry.
    pub in_stub: bool,
    /// In `__switch_to_asm`, before it took the new stack.
    pub switching: bool,
    /// A call whose function has not been entered yet: where its return address stands.
    pub pending: Option<u64>,
    /// A thunk has replaced its own return address: the next return is its jump.
    pub redirected: Option<Redirect>,
    pub stack: Stack,
    /// When it took that stack.
    pub stack_taken: Option<u64>,
    pub last_return: u64,
    /// Where that return read its address, if it ended a frame.
    pub returned_from: Option<u64>,
    /// When the entry code was left last.
    pub last_left: u64,
    /// How many frames there were when an exception handler had a function entered as if it had been called.
    pub emulated: Option<usize>,
    /// The function whose padding was executed last, and led to its entry.
    pub padded: Option<FunctionId>,
    /// While it waits: when its task began to change its name, where the new one is not read yet.
    pub renames: Option<Instant>,
}

impl Processor {
    /// A processor that is about to execute its first instruction in this context.
    pub fn at(node: NodeId, stack: Stack) -> Self {
        Self {
            stack,
            node,
            pending: None,
            in_user: false,
            in_stub: false,
            switching: false,
            stack_taken: None,
            first_of_task: false,
            last_return: 0,
            returned_from: None,
            last_left: u64::MAX,
            emulated: None,
            redirected: None,
            padded: None,
            renames: None,
        }
    }
}
