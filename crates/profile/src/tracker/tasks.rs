//! Tasks: switches between their stacks, and the names of their user mode.

use super::running::{Comes, Identity, Leaves};
use super::stack::{Frame, Key, Role, Stack, ANY};
use super::{Tracker, UNKNOWN};
use crate::recording::Function;
use crate::tree::{FunctionId, Kind, ROOT};
use firstlight_isa::Isa;

impl<I: Isa> Tracker<I> {
    /// In `__switch_to_asm`, the stack pointer was loaded when `now` instructions had been executed: from there on it is the
    /// other task that runs. The next `pop` shows which one that is.
    pub fn takes_stack(&mut self, now: u64) {
        self.current.stack_taken = self.current.switching.then_some(now);
    }

    /// In `__switch_to_asm`, a `pop` read from `sp`: the first one after its entry stands on the new stack. True when it
    /// was that one: then the kernel still holds the task that was left for the running one, and [`Self::left`] takes it.
    pub fn switch(&mut self, sp: u64, now: u64) -> bool {
        let switched = std::mem::take(&mut self.current.switching);
        if switched {
            let taken = self.current.stack_taken.take();
            self.resume(sp, taken.unwrap_or(now));
        }
        switched
    }

    /// What the kernel's memory says of the task that the last switch left.
    pub fn left(&mut self, known: Identity<'_>) {
        self.timeline.tasks.left(known);
    }

    /// The running task is about to give a task another name; what the kernel's memory says of it before that.
    pub fn renames(&mut self, known: Option<Identity<'_>>, now: u64) {
        if let Some(known) = known {
            self.runs(known);
        }
        let at = self.timeline.instant(now);
        self.timeline.tasks.renames(at);
    }

    /// What the kernel's memory says of the running task, read in the kernel.
    pub fn runs(&mut self, known: Identity<'_>) {
        self.timeline.tasks.runs(known);
    }

    pub(super) fn resume(&mut self, sp: u64, now: u64) {
        self.charge(now);
        self.settle_mode(self.since);
        self.counts.switches += 1;
        let found = self.suspended.range(sp..sp.saturating_add(I::SWITCH_FRAME_BYTES)).next().map(|(key, _)| *key);
        let next = match found.and_then(|key| self.suspended.remove(&key)) {
            Some(stack) => stack,
            None => self.new_task(sp),
        };
        let key = self.current.stack.frames.iter().rev().map(|frame| frame.sp).find(|sp| *sp != ANY);
        self.exchange(next, key);
    }

    /// Makes the stack of another task the current one, and keeps the old one under `key`.
    pub(super) fn exchange(&mut self, next: Stack, key: Option<u64>) {
        let leaves = Leaves { node: self.current.node, spent: self.current.stack.spent };
        let left = std::mem::replace(&mut self.current.stack, next);
        let lost = match key {
            Some(key) => self.suspended.insert(key, left),
            None => Some(left),
        };
        self.counts.abandoned_frames += lost.map_or(0, |lost| lost.frames.len() as u64);
        self.current.pending = None;
        self.current.redirected = None;
        self.current.node = self.context();
        let at = self.timeline.instant(self.since);
        self.timeline.tasks.switch(
            leaves,
            Comes { task: self.current.stack.task, spent: self.current.stack.spent },
            at,
        );
    }

    // A stack that was never seen. What is suspended in the same pages belongs to a task that has ended.
    pub(super) fn new_task(&mut self, sp: u64) -> Stack {
        let bottom = sp & !(I::STACK_BYTES - 1);
        let ended: Vec<u64> = self.suspended.range(bottom..bottom + I::STACK_BYTES).map(|(key, _)| *key).collect();
        for key in ended {
            if let Some(stack) = self.suspended.remove(&key) {
                self.counts.abandoned_frames += stack.frames.len() as u64;
            }
        }
        self.begin_task()
    }

    // It begins inside the second half of the switch, which nothing entered there.
    pub(super) fn begin_task(&mut self) -> Stack {
        let task = self.tasks;
        self.tasks += 1;
        self.counts.tasks += 1;
        let mut stack = Stack { task, user: self.rows.user, ..Stack::default() };
        if let Some(top) = self.current.stack.frames.last().copied().filter(|top| top.function != UNKNOWN) {
            let node = self.tree.child(ROOT, top.function, Kind::Task);
            self.counts.pushed += 1;
            stack.frames.push(Frame::new(Key::NONE, node, top.function, Role::Call));
        }
        stack
    }

    /// Gives the running task's user mode a row of its own, or leaves it in the common one.
    pub fn name_task(&mut self, name: Option<&str>) {
        self.current.stack.named = true;
        let at = self.timeline.instant(self.since);
        self.timeline.tasks.reached_user(name, at);
        let Some(name) = name else { return };
        let row = format!("[user {name}]");
        let known = self.functions.iter().skip(self.classes.len()).position(|function| function.name == row);
        let function = known.map(|index| index + self.classes.len()).unwrap_or_else(|| {
            self.functions.push(Function { name: row, address: 0 });
            self.functions.len() - 1
        });
        self.current.stack.user = self.tree.child(self.rows.user, function as FunctionId, Kind::User);
    }
}
