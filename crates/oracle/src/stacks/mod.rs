//! Stacks by the stack pointer: which functions are alive, from where control is and where the stack pointer points.
//!
//! A frame is a function and the stack pointer at its first instruction. It is alive while the stack pointer is at or
//! below its own: a function that returned has left the word above. So calls, returns, unwinds and longjmps are one case,
//! and none of them is looked at. Where a call leaves nothing on the stack, its return leaves the stack pointer as it was: there a
//! frame ends too where control is at the address that its link register had. `docs/design/oracle.md` states the rules.

mod frame;
#[cfg(test)]
mod tests;

use crate::kind::Kind;
use crate::text::Row;
use frame::{same_stack, Frame, Path, FOREVER};
use rustc_hash::FxHashMap;

/// Collapses begin when so many frames were entered at one stack address: circles of tail calls are not followed without end.
const LONGEST_TAIL: usize = 256;

/// Where control is at the start of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the kernel, or in user mode.
    Outside,
    /// In a function, not at its first instruction.
    Inside(Row),
    /// At the first instruction of a function, or of the padding in front of it.
    Start(Row, Kind),
    /// In a stub in front of an entry.
    Stub,
    /// In firmware that goes on below the kernel: it belongs to whatever runs, and has a stack of its own.
    Firmware,
    /// In what belongs to whatever runs.
    Part,
    /// In code without a symbol outside of the image.
    Nameless,
}

/// What the processor's state says at the start of a block.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// The block's address.
    pub address: u64,
    /// The stack pointer.
    pub sp: u64,
    /// What the link register has; none where there is no such register.
    pub link: Option<u64>,
    /// Instructions executed before this block.
    pub now: u64,
    /// How many of these belong to whatever ran.
    pub floating: u64,
    /// Where the block before ended.
    pub last_end: u64,
    /// Where the last block ended that was not a thunk: a call through one returns there.
    pub last_call: u64,
    /// At the entry of an exception: the processor's frame says that it came from user mode. Its first instruction there
    /// may be one that could not be fetched, so that no block of user mode began.
    pub from_user: bool,
}

impl State {
    /// The address behind the call that led here, when the link register, or the word at the stack pointer, is that.
    fn called(&self, word: &dyn Fn(u64) -> Option<u64>) -> Option<u64> {
        let back = self.link.or_else(|| word(self.sp));
        back.filter(|back| *back == self.last_end || *back == self.last_call)
    }
}

/// What was found of one row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// How often it was entered.
    pub entries: u64,
    /// How often its first instruction was reached without that being an entry: loops, and instructions done again.
    pub again: u64,
    /// Instructions of it and of all it called; recursion counted once.
    pub total: u64,
    /// Instructions of thunks and parts executed on its behalf.
    pub floating: u64,
}

/// What happened beside calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Happened {
    /// Switches from one task to another.
    pub switches: u64,
    /// Stacks taken over from a task that had ended.
    pub abandoned_stacks: u64,
    /// Interrupts, exceptions and system calls entered.
    pub kernel_entries: u64,
    /// Frames entered by a jump.
    pub tail_calls: u64,
    /// Circles of tail calls that were cut short.
    pub collapsed: u64,
    /// The deepest stack.
    pub deepest: u64,
}

#[derive(Debug, Default)]
struct Task {
    frames: Vec<Frame>,
    /// Interrupts stand on what they interrupted: each path begins at a frame of its own.
    paths: Vec<Path>,
}

/// A call to code without a symbol, until it is known whether that is a function or passes the call on.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    sp: u64,
    link: Option<u64>,
    since: u64,
}

impl Waiting {
    /// The state at its beginning.
    fn at(self, state: State) -> State {
        State { sp: self.sp, link: self.link, now: self.since, ..state }
    }
}

/// The stacks of a boot under way.
#[derive(Debug)]
pub struct Stacks {
    task: Task,
    suspended: FxHashMap<u64, Task>,
    found: Vec<Found>,
    edges: FxHashMap<(Row, Row), u64>,
    elsewhere: FxHashMap<(Row, Row), u64>,
    visiting: Option<(Row, Row, u64)>,
    happened: Happened,
    root: Row,
    nameless: Row,
    switch: Option<Row>,
    since: u64,
    floating: u64,
    in_user: bool,
    floating_outside: u64,
    stub: Option<u64>,
    waiting: Option<Waiting>,
    was_part: bool,
}

impl Stacks {
    /// Stacks with nothing on them, for a text with so many rows.
    pub fn new(rows: usize, root: Row, nameless: Row, switch: Option<Row>) -> Self {
        Self {
            task: Task { frames: Vec::new(), paths: vec![Path::default()] },
            suspended: FxHashMap::default(),
            found: vec![Found::default(); rows],
            edges: FxHashMap::default(),
            elsewhere: FxHashMap::default(),
            visiting: None,
            happened: Happened::default(),
            root,
            nameless,
            switch,
            since: 0,
            floating: 0,
            in_user: true,
            floating_outside: 0,
            stub: None,
            waiting: None,
            was_part: false,
        }
    }

    /// A block begins. `word` reads the guest's memory, where the rules ask for it.
    #[inline]
    pub fn block(&mut self, place: Place, state: State, word: &dyn Fn(u64) -> Option<u64>) {
        if self.stub.is_none() {
            self.share_floating(state.floating);
        }
        if let Some((top, row, since)) = self.visiting.take() {
            *self.elsewhere.entry((top, row)).or_default() += state.now - since;
        }
        match place {
            Place::Outside => return self.outside(state.now),
            Place::Firmware => return,
            Place::Stub => {
                self.stub.get_or_insert(state.now);
                return;
            }
            Place::Start(row, kind @ (Kind::Interrupt | Kind::Exception | Kind::Syscall)) => {
                return self.enter_kernel(row, kind, state);
            }
            _ => {}
        }
        self.in_user = false;
        self.look_for_switch(state);
        self.settle_waiting(place, state);
        self.pop(state);
        match place {
            Place::Start(row, Kind::Label) => {
                if let Some(back) = state.called(word) {
                    self.start(row, state);
                    if let Some(top) = self.task.frames.last_mut() {
                        top.back = back;
                    }
                }
            }
            Place::Start(row, _) => self.start(row, state),
            Place::Nameless => self.nameless(state, word),
            Place::Inside(row) => {
                let top = self.top();
                self.returned(state);
                if top != row && self.top() != row {
                    self.visiting = Some((self.top(), row, state.now));
                }
            }
            _ => self.returned(state),
        }
        self.was_part = place == Place::Part;
    }

    /// A function's first instruction in the middle of a block, which was run into.
    pub fn inside(&mut self, row: Row, state: State) {
        self.share_floating(state.floating);
        if let Some((top, visited, since)) = self.visiting.take() {
            *self.elsewhere.entry((top, visited)).or_default() += state.now - since;
        }
        self.pop(state);
        self.start(row, state);
    }

    fn share_floating(&mut self, floating: u64) {
        let passed = floating - std::mem::replace(&mut self.floating, floating);
        if passed > 0 && self.in_user {
            self.floating_outside += passed;
        } else if passed > 0 {
            let top = self.top();
            self.found[top as usize].floating += passed;
        }
    }

    /// The function that runs.
    pub fn top(&self) -> Row {
        let base = self.task.paths.last().map_or(0, |path| path.base);
        self.task.frames[base.min(self.task.frames.len())..].last().map_or(self.root, |frame| frame.row)
    }

    fn clock(&self, now: u64) -> u64 {
        self.task.paths.last().map_or(0, |path| path.ran) + (now - self.since)
    }

    fn suspend(&mut self, now: u64) {
        let passed = now - std::mem::replace(&mut self.since, now);
        if let Some(path) = self.task.paths.last_mut() {
            path.ran += passed;
        }
    }

    fn outside(&mut self, now: u64) {
        self.stub = None;
        self.waiting = None;
        if !self.in_user {
            self.drop_to(0, now);
            self.in_user = true;
        }
        self.since = now;
    }

    // Ends the frames from this one on.
    fn drop_to(&mut self, keep: usize, now: u64) {
        while self.task.frames.len() > keep {
            let clock = self.clock(now);
            let Some(frame) = self.task.frames.pop() else { return };
            if frame.outermost {
                self.found[frame.row as usize].total += clock - frame.started;
            }
            if self.task.paths.len() > 1
                && self.task.paths.last().is_some_and(|path| path.base == self.task.frames.len())
            {
                self.task.paths.pop();
                self.since = now;
            }
        }
    }

    #[inline]
    fn pop(&mut self, state: State) {
        let sp = state.sp;
        let mut keep = self.task.frames.len();
        while let Some(frame) = keep.checked_sub(1).map(|last| &self.task.frames[last]) {
            let gone = if frame.sp == FOREVER {
                false
            } else if same_stack(frame.sp, sp) {
                frame.sp < sp || (state.link.is_some() && frame.sp == sp && frame.back == state.address)
            } else {
                // Another stack was left for good when control is back on one further down.
                self.task.frames[..keep - 1].iter().rev().any(|below| below.sp != FOREVER && same_stack(below.sp, sp))
            };
            if !gone {
                break;
            }
            keep -= 1;
        }
        if keep < self.task.frames.len() {
            self.drop_to(keep, state.now);
        }
    }

    // Code of the entry section may return with its stack pointer lower than it was called with (`error_entry`).
    fn returned(&mut self, state: State) {
        if state.link.is_none() && self.task.frames.last().is_some_and(|top| top.back == state.address) {
            self.drop_to(self.task.frames.len() - 1, state.now);
        }
    }

    fn start(&mut self, row: Row, state: State) {
        let State { sp, now, link, .. } = state;
        let base = self.task.paths.last().map_or(0, |path| path.base);
        if let Some(top) = self.task.frames[base..].last().filter(|top| top.sp == sp) {
            if top.row == row {
                self.found[row as usize].again += 1;
                return;
            }
            self.happened.tail_calls += 1;
            self.collapse(row, sp, now);
        }
        self.push(row, sp, link, now);
    }

    // Frames that one another jumped to for hundreds of times, all at one stack address, go back to the first of this row.
    fn collapse(&mut self, row: Row, sp: u64, now: u64) {
        let frames = &self.task.frames;
        let run = frames.iter().rev().take_while(|frame| frame.sp == sp).count();
        if run >= LONGEST_TAIL {
            let first = frames.len() - run;
            if let Some(at) = frames[first..].iter().position(|frame| frame.row == row) {
                self.happened.collapsed += 1;
                self.drop_to(first + at, now);
            }
        }
    }

    fn push(&mut self, row: Row, sp: u64, link: Option<u64>, now: u64) {
        let caller = self.top();
        if let Some(entry) = self.task.frames.last_mut().filter(|top| top.settles) {
            (entry.sp, entry.settles) = (sp, false);
        }
        *self.edges.entry((caller, row)).or_default() += 1;
        self.found[row as usize].entries += 1;
        let base = self.task.paths.last().map_or(0, |path| path.base);
        let outermost = !self.task.frames[base..].iter().any(|frame| frame.row == row);
        let started = self.clock(now);
        self.task.frames.push(Frame { row, sp, started, outermost, back: link.unwrap_or(0), settles: false });
        self.happened.deepest = self.happened.deepest.max(self.task.frames.len() as u64);
    }

    fn enter_kernel(&mut self, row: Row, kind: Kind, state: State) {
        let now = self.stub.take().unwrap_or(state.now);
        if let Some(waiting) = self.waiting.take() {
            self.start(self.nameless, waiting.at(state));
        }
        self.happened.kernel_entries += 1;
        let from_user = std::mem::replace(&mut self.in_user, false) || state.from_user || kind == Kind::Syscall;
        if from_user {
            self.drop_to(0, now);
            self.since = now;
        } else if kind == Kind::Interrupt {
            self.suspend(now);
            self.task.paths.push(Path { base: self.task.frames.len(), ran: 0 });
        } else {
            self.pop(State { now, ..state });
        }
        // With a link register, the processor has left nothing on the stack: the entry's own code does.
        let settles = !from_user && state.link.is_some();
        self.push(row, if from_user || settles { FOREVER } else { state.sp }, None, now);
        if let Some(top) = self.task.frames.last_mut() {
            top.settles = settles;
        }
        // What the stub did belongs to the entry.
        self.share_floating(state.floating);
    }

    // Only the switch goes on to another task's stack.
    fn look_for_switch(&mut self, state: State) {
        let Some(top) = self.task.frames.last() else { return };
        if Some(top.row) != self.switch || same_stack(top.sp, state.sp) {
            return;
        }
        self.happened.switches += 1;
        let left = frame::stack(top.sp);
        self.suspend(state.now);
        let next = self.suspended.remove(&frame::stack(state.sp)).unwrap_or_default();
        let before = std::mem::replace(&mut self.task, next);
        self.suspended.insert(left, before);
        if self.task.paths.is_empty() {
            self.task.paths.push(Path::default());
        } else if self.task.frames.last().is_none_or(|top| top.sp < state.sp) {
            // A task that was left goes on where it was left. This one begins: the stack was an ended task's.
            self.happened.abandoned_stacks += 1;
            self.drop_to(0, state.now);
            self.task.paths = vec![Path::default()];
        }
    }

    fn nameless(&mut self, state: State, word: &dyn Fn(u64) -> Option<u64>) {
        let top = self.top();
        let called = state.called(word).is_some();
        if called || (top != self.nameless && !self.was_part && self.at_top(state.sp)) {
            self.waiting = Some(Waiting { sp: state.sp, link: state.link, since: state.now });
        }
    }

    fn at_top(&self, sp: u64) -> bool {
        self.task.frames.last().is_some_and(|top| top.sp == sp)
    }

    // Nameless code that went on to a function at the stack pointer that it was called with has passed the call on.
    fn settle_waiting(&mut self, place: Place, state: State) {
        let Some(waiting) = self.waiting.take() else { return };
        let passed_on = matches!(place, Place::Start(..)) && state.sp == waiting.sp;
        if !passed_on {
            self.start(self.nameless, waiting.at(state));
        }
    }

    /// Ends all frames: the count is over.
    pub fn finish(&mut self, now: u64, floating: u64) {
        self.share_floating(floating);
        self.drop_to(0, now);
        for task in std::mem::take(&mut self.suspended).into_values() {
            self.task = task;
            self.since = now;
            self.drop_to(0, now);
        }
    }

    /// What was found, by row.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// How often each row entered each other.
    pub fn edges(&self) -> &FxHashMap<(Row, Row), u64> {
        &self.edges
    }

    /// Instructions executed in a row (second) while another's frame (first) was on top.
    pub fn elsewhere(&self) -> &FxHashMap<(Row, Row), u64> {
        &self.elsewhere
    }

    /// Instructions of firmware executed before the kernel, and in user mode.
    pub fn floating_outside(&self) -> u64 {
        self.floating_outside
    }

    /// What happened beside calls.
    pub fn happened(&self) -> Happened {
        self.happened
    }
}
