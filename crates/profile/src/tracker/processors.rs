//! Several processors, which take turns on one line of time: each has its own stack, and what is under way on it.
//!
//! A turn ends what is charged to one processor and begins what is charged to the other, at an instant that is exact to the
//! instruction. So the sum over all contexts stays the count, and so does the sum over the processors. A turn ends a run, too:
//! the runs follow one another on that line of time, whichever processor they are on.

use super::mode::Mode;
use super::processor::Processor;
use super::running::{Comes, Leaves};
use super::stack::{Stack, NO_TASK};
use super::Tracker;
use crate::recording::Function;
use crate::tree::{FunctionId, Kind, NodeId, ROOT};
use crate::userspace::Spent;
use firstlight_isa::Isa;
use std::mem::replace;

impl<I: Isa> Tracker<I> {
    /// Another processor goes on when `now` instructions have been executed.
    ///
    /// ```
    /// use firstlight_profile::{isa::X86_64, recording::State, tracker::Watch, Recording, SymbolTable, Tracker};
    /// let symbols = SymbolTable::<X86_64>::parse("1000 T _text\n1000 T main\n1040 T second\n1080 T _etext\n");
    /// let mut tracker = Tracker::new(&symbols, Watch::default());
    /// tracker.kernel(10);
    /// tracker.entry(0, 10);
    /// tracker.turn(1, 30);            // the second processor starts, and is not in the kernel yet
    /// tracker.entry(1, 34);
    /// tracker.turn(0, 50);            // the first one goes on in `main`
    /// let mut file = Vec::new();
    /// tracker.snapshot(State::Ready, &[], 100).write(&mut file)?;
    /// let recording = Recording::decode(&file)?;
    /// let of = |name: &str| {
    ///     let is_it = |function: u32| recording.functions[function as usize].name == name;
    ///     recording.nodes.iter().find(|node| is_it(node.function)).map(|node| node.self_instructions)
    /// };
    /// assert_eq!((of("main"), of("second"), of("[processor start]")), (Some(70), Some(16), Some(4)));
    /// let runs: Vec<_> = recording.running.runs.iter().map(|run| (run.cpu, run.end.instructions)).collect();
    /// assert_eq!(runs, [(0, 30), (1, 50), (0, 100)]);
    /// # Ok::<(), firstlight_profile::recording::RecordingError>(())
    /// ```
    pub fn turn(&mut self, cpu: u32, now: u64) {
        if cpu == self.cpu {
            return;
        }
        self.charge(now);
        self.settle_mode(self.since);
        let mut next = match self.parked.remove(&cpu) {
            Some(parked) => parked,
            None => self.starts(),
        };
        let began = self.timeline.tasks.has_begun();
        if began && next.stack.task == NO_TASK {
            next.node = self.begins_to_run(&mut next.stack);
        }
        let at = self.timeline.instant(self.since);
        let leaves = Leaves { node: self.current.node, spent: self.current.stack.spent };
        let comes = Comes { task: next.stack.task, spent: next.stack.spent };
        let renames = next.renames.take();
        let left_renaming = self.timeline.tasks.turn(leaves, comes, (cpu, renames), at);
        self.counts.turns += u64::from(began);
        let mut parked = replace(&mut self.current, next);
        parked.renames = left_renaming;
        self.parked.insert(replace(&mut self.cpu, cpu), parked);
        if self.current.stack.mode == Mode::User {
            self.reaches_user_code(self.since);
        }
    }

    /// The task that a processor began with is the one that it idles in.
    pub(super) fn idle_task_of(&mut self, task: u32) {
        self.timeline.tasks.idles(task);
    }

    /// Frames on the stacks of the tasks that other processors run.
    pub(super) fn parked_frames(&self) -> usize {
        self.parked.values().map(|parked| parked.stack.frames.len()).sum()
    }

    /// The first task is that of the processor that enters the kernel's image, which need not be the first one.
    pub(super) fn takes_first_task(&mut self) {
        if self.current.stack.task == NO_TASK {
            let first = self.parked.values_mut().find(|parked| parked.stack.task == 0);
            first.into_iter().for_each(|parked| parked.stack.task = NO_TASK);
            self.current.stack.task = 0;
            self.timeline.tasks.first_is(0);
        }
    }

    // A processor that has executed nothing yet: its own start is the firmware's.
    fn starts(&mut self) -> Processor {
        self.tree.enter(self.rows.firmware);
        let stack = Stack { task: NO_TASK, user: self.rows.user, ..Stack::default() };
        Processor::at(self.rows.firmware, stack)
    }

    // The kernel has a processor started: its task begins, in code of the kernel's and the firmware's that no symbol names.
    fn begins_to_run(&mut self, stack: &mut Stack) -> NodeId {
        stack.task = self.tasks;
        stack.spent = Spent::default();
        self.tasks += 1;
        self.counts.tasks += 1;
        self.idle_task_of(stack.task);
        let node = match self.rows.start {
            Some(node) => node,
            None => {
                self.functions.push(Function { name: "[processor start]".to_owned(), address: 0 });
                let row = (self.functions.len() - 1) as FunctionId;
                *self.rows.start.insert(self.tree.child(ROOT, row, Kind::Unknown))
            }
        };
        self.tree.enter(node);
        node
    }
}
