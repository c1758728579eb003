//! A processor that does not have its turn.

use super::stack::{Redirect, Stack, NO_TASK};
use crate::recording::Instant;
use crate::tree::{FunctionId, NodeId};

/// What is under way on a processor while it is another's turn.
#[derive(Debug)]
pub(super) struct Parked {
    pub stack: Stack,
    pub node: NodeId,
    pub pending: Option<u64>,
    pub in_user: bool,
    pub in_stub: bool,
    pub switching: bool,
    pub stack_taken: Option<u64>,
    pub first_of_task: bool,
    pub last_return: u64,
    pub returned_from: Option<u64>,
    pub last_left: u64,
    pub emulated: Option<usize>,
    pub redirected: Option<Redirect>,
    pub padded: Option<FunctionId>,
    /// When its task began to change its name, where the new one is not read yet.
    pub renames: Option<Instant>,
}

impl Parked {
    /// A processor that has executed nothing yet, and is about to in this context.
    pub fn at(node: NodeId, user: NodeId) -> Self {
        Self {
            stack: Stack { task: NO_TASK, user, ..Stack::default() },
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
