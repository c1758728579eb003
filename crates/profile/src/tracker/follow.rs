//! How entries were followed: what was seen, and what had to be inferred.
//!
//! An invariant compares, for each function, the entries of the tree with how often its first instruction was executed.
//! What makes the two differ soundly is counted here, where it happens.

use super::followed::Followed;
use super::stack::Redirect;
use super::Tracker;
use crate::recording::{FunctionCheck, How};
use crate::tree::{FunctionId, NodeId};
use firstlight_isa::{Class, Isa};

impl<I: Isa> Tracker<I> {
    pub(super) fn follow(&mut self, function: FunctionId) -> &mut Followed {
        let index = function as usize;
        if index >= self.followed.len() {
            self.followed.resize(index + 1, Followed::default());
        }
        &mut self.followed[index]
    }

    #[cold]
    pub(super) fn again(&mut self, function: FunctionId) {
        if self.current.padded.take() != Some(function) {
            self.follow(function).again += 1;
        }
    }

    /// One entry of this node was followed by inference.
    #[cold]
    pub(super) fn doubt(&mut self, node: NodeId) {
        *self.doubtful.entry(node).or_default() += 1;
    }

    /// This function has calls to code inside itself: it returns from those as well.
    pub fn calls_inside(&mut self, function: FunctionId) {
        self.follow(function).calls_inside = true;
    }

    /// A thunk writes to where its return address stands: its next return is a jump.
    pub fn redirect(&mut self) {
        self.current.redirected = Some(Redirect::Under);
    }

    /// This function's entry has been followed, and its first instruction may not have been counted yet: a recording that ends
    /// here does not compare the two.
    pub fn under_way(&mut self, function: Option<FunctionId>) {
        self.under_way = function;
    }

    /// Whether the event in `site` lies on the way of a thunk's jump. Behind entry code it does only in a thunk: elsewhere the
    /// kernel has finished that jump.
    #[cold]
    pub(super) fn is_on_its_way(&mut self, site: FunctionId) -> bool {
        let way = match self.current.redirected {
            None => false,
            Some(Redirect::Under) => true,
            Some(Redirect::Interrupted) => self.classes.get(site as usize) == Some(&Class::Thunk),
        };
        if !way {
            self.current.redirected = None;
        }
        way
    }

    pub(super) fn checks(&self, entered: &[u64]) -> Vec<FunctionCheck> {
        let mut in_tree = vec![false; self.functions.len()];
        for node in self.tree.nodes().filter(|node| node.calls > 0) {
            in_tree[node.function as usize] = true;
        }
        let rows = self.followed.iter().zip(&self.functions).enumerate();
        rows.map(|(index, (followed, _))| FunctionCheck {
            function: index as FunctionId,
            how: how(self.classes.get(index).copied()),
            executed: entered.get(index).copied().filter(|_| self.under_way != Some(index as FunctionId)),
            tails: followed.tails,
            again: followed.again,
            inside: followed.inside,
            discards: followed.discards,
            is_initcall: self.timeline.is_initcall(index),
        })
        .filter(|check| {
            in_tree[check.function as usize]
                || check.executed.unwrap_or(0) + check.tails + check.again + check.inside + check.discards > 0
        })
        .collect()
    }

    pub(super) fn doubtful(&self) -> Vec<(NodeId, u64)> {
        let mut rows: Vec<(NodeId, u64)> = self.doubtful.iter().map(|(node, count)| (*node, *count)).collect();
        rows.sort_unstable();
        rows
    }
}

fn how(class: Option<Class>) -> How {
    match class {
        None | Some(Class::Plain | Class::Switch) => How::Function,
        Some(Class::Interrupt | Class::Exception | Class::Syscall) => How::Entry,
        Some(Class::Stub | Class::Label) => How::Label,
        Some(Class::Thunk) => How::Thunk,
        Some(Class::Cold) => How::Part,
    }
}
