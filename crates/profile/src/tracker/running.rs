//! Who has the processor: the stretches between switches, and the names of tasks over time.
//!
//! The kernel's `current` follows a switch a few instructions later than the stack does. So at a switch it names the
//! task that is left: its name is read there, of kernel threads too, and its address shows whether the recorder and the
//! kernel hold the same task for the running one.

use super::mode::since;
use crate::recording::{Instant, Run, Running, TaskName};
use crate::slices::UnderWay;
use crate::tree::NodeId;
use crate::userspace::Spent;
use rustc_hash::FxHashMap;

/// A task as the kernel's memory has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity<'n> {
    /// Where its `task_struct` lies.
    pub address: u64,
    /// Its name.
    pub name: &'n str,
    /// Its state, where that could be read: 0 for one that could go on.
    pub state: Option<u32>,
}

/// A task that gives the processor up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaves {
    /// The context that it leaves in.
    pub node: NodeId,
    /// Its instructions so far.
    pub spent: Spent,
}

/// The task that takes the processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comes {
    pub task: u32,
    /// Its instructions so far.
    pub spent: Spent,
}

/// A stretch of one task.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    task: u32,
    start: Instant,
    /// When it began to change its name and the new one is not read yet.
    renames: Option<Instant>,
    /// The task's instructions before.
    spent: Spent,
    /// The processor that it is on.
    cpu: u32,
}

/// What is recorded of tasks.
#[derive(Debug, Default)]
pub(super) struct TaskLog {
    kept: Running,
    now: Stretch,
    before: Stretch,
    /// By the number of the task: its address, and where its last name stands.
    seen: Vec<(Option<u64>, Option<usize>)>,
    /// The last task that was found at an address.
    owners: FxHashMap<u64, u32>,
    begun: bool,
}

impl TaskLog {
    /// The first task begins; false if it did before.
    pub fn begin(&mut self, at: Instant, cpu: u32) -> bool {
        let begins = self.kept.runs.is_empty();
        if begins {
            self.now.start = at;
            self.now.cpu = cpu;
            // What its processor executed in the firmware is not its own.
            self.now.spent = Spent::default();
        }
        self.begun = true;
        begins
    }

    /// Whether the first task has begun.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The task that runs when the first one begins.
    pub fn first_is(&mut self, task: u32) {
        self.now.task = task;
    }

    /// A processor idles in this task.
    pub fn idles(&mut self, task: u32) {
        self.kept.idle.push(task);
    }

    /// Another processor goes on, and with it another task, which `other` says it is on, and since when it is being renamed.
    /// Returns since when the task that waits now is. Before the first task has begun there are no runs.
    pub fn turn(
        &mut self,
        leaves: Leaves,
        comes: Comes,
        (cpu, renames): (u32, Option<Instant>),
        at: Instant,
    ) -> Option<Instant> {
        let Stretch { task, start, spent, cpu: left, .. } = self.now;
        if self.begun {
            let spent = since(spent, leaves.spent);
            // It could go on: it waits for nothing but its turn.
            let state = Some(0);
            self.kept.runs.push(Run { task, start, end: at, spent, node: Some(leaves.node), state, cpu: left });
        }
        let next = Stretch { task: comes.task, start: at, renames, spent: comes.spent, cpu };
        std::mem::replace(&mut self.now, next).renames
    }

    /// The run that is under way, of a task that has executed so much by now.
    pub fn under_way(&self, spent: Spent) -> UnderWay {
        UnderWay { run: self.kept.runs.len() as u32, spent: since(self.now.spent, spent) }
    }

    /// The running task gives the processor to another.
    pub fn switch(&mut self, leaves: Leaves, comes: Comes, at: Instant) {
        let Stretch { task, start, spent, cpu, .. } = self.now;
        let spent = since(spent, leaves.spent);
        self.kept.runs.push(Run { task, start, end: at, spent, node: Some(leaves.node), state: None, cpu });
        let next = Stretch { task: comes.task, start: at, renames: None, spent: comes.spent, cpu };
        self.before = std::mem::replace(&mut self.now, next);
    }

    /// The running task is about to give a task, mostly itself, another name.
    pub fn renames(&mut self, at: Instant) {
        self.now.renames = Some(at);
    }

    /// What the kernel calls the task that was left at the last switch.
    pub fn left(&mut self, known: Identity<'_>) {
        let stretch = self.before;
        self.before.renames = None;
        if let Some(run) = self.kept.runs.last_mut() {
            run.state = known.state;
        }
        self.check(stretch.task, known.address);
        self.name(stretch, known.name);
    }

    /// What the kernel calls the running task.
    pub fn runs(&mut self, known: Identity<'_>) {
        let stretch = self.now;
        self.now.renames = None;
        self.check(stretch.task, known.address);
        self.name(stretch, known.name);
    }

    /// The running task is on its way to user mode.
    pub fn reached_user(&mut self, name: Option<&str>, at: Instant) {
        let stretch = self.now;
        self.now.renames = None;
        self.entry(stretch.task);
        self.kept.user[stretch.task as usize].get_or_insert(at);
        if let Some(name) = name {
            self.name(stretch, name);
        }
    }

    /// All of it, the running task's stretch ended.
    pub fn until(&self, end: Instant, spent: Spent) -> Running {
        let mut all = self.kept.clone();
        let Stretch { task, start, spent: before, cpu, .. } = self.now;
        all.runs.push(Run { task, start, end, spent: since(before, spent), node: None, state: None, cpu });
        let tasks = all.runs.iter().map(|run| run.task as usize + 1).max().unwrap_or(1);
        all.user.resize(tasks.max(all.user.len()), None);
        all.addresses = self.seen.iter().map(|(address, _)| *address).collect();
        all.addresses.resize(all.user.len(), None);
        all
    }

    fn entry(&mut self, task: u32) -> &mut (Option<u64>, Option<usize>) {
        let place = task as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, (None, None));
            self.kept.user.resize(place + 1, None);
        }
        &mut self.seen[place]
    }

    // A task keeps its address as long as it lives, and the address goes to a younger one when it is gone.
    fn check(&mut self, task: u32, address: u64) {
        let known = *self.entry(task).0.get_or_insert(address);
        let owner = self.owners.entry(address).or_insert(task);
        let younger = *owner <= task;
        *owner = task.max(*owner);
        if known == address && younger {
            self.kept.confirmed += 1;
        } else {
            self.kept.contradicted += 1;
        }
    }

    // A task that changed its own name did so at the call; one that was given another had it when it came to run.
    fn name(&mut self, stretch: Stretch, name: &str) {
        let last = self.entry(stretch.task).1;
        let last = last.and_then(|place| self.kept.names.get(place));
        if last.is_some_and(|last| last.name == name) {
            return;
        }
        let known = stretch.renames.filter(|_| last.is_some()).unwrap_or(stretch.start);
        let at = last.map_or(known, |last| if last.at.instructions > known.instructions { last.at } else { known });
        self.kept.names.push(TaskName { task: stretch.task, at, name: name.to_owned() });
        let place = self.kept.names.len() - 1;
        self.entry(stretch.task).1 = Some(place);
    }
}
