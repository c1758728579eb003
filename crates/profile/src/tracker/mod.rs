//! Follows a boot's control flow, event by event, and charges every instruction to one calling context.
//!
//! The clock of every event is the number of instructions executed up to and including the event's own; what lies
//! between two events is charged to the context that was current. So the sum over all contexts is the count, whatever
//! happens to the stacks. The rules are written down in `docs/design/shadow-stacks.md`.

mod code;
mod entries;
mod follow;
mod followed;
mod linked;
mod loader;
mod marks;
mod mode;
mod processor;
mod processors;
mod returns;
mod running;
mod stack;
mod tasks;
mod timeline;
mod userspace;

use crate::recording::{Counts, Function, Instant, State};
use crate::snapshot::Snapshot;
use crate::symbols::SymbolTable;
use crate::tree::{CallTree, FunctionId, Kind, NodeId, ROOT};
use crate::userspace::code::CodeLog;
use crate::userspace::{Log, Spent};
use firstlight_isa::{Class, Isa};
use firstlight_schema::{CallRow, Mark, MarkSource};
use followed::Followed;
pub use linked::Link;
use processor::Processor;
pub use running::Identity;
use rustc_hash::FxHashMap;
use stack::{on_one_stack, Frame, Key, Redirect, Role, Stack};
use std::collections::BTreeMap;
use std::marker::PhantomData;
pub use timeline::Watch;
use timeline::{Checked, Timeline};
pub use userspace::Program;

// A loop of jumps between symbols of one piece of assembler would grow a stack without end. Functions that call one another
// in tail position nest a few times at most: two layers of HMAC are four frames.
const LONGEST_RUN: usize = 64;
// Deeper than any kernel stack can be: one of 16 KiB holds 2,048 return addresses.
const DEEPEST: usize = 8192;

/// What entering a function asks of the caller of the tracker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing.
    None,
    /// A new phase began: a good moment to keep a copy.
    NewPhase,
    /// The task is about to return to user mode and has no row of its own yet: [`Tracker::name_task`].
    NameTask,
    /// The running task is about to give a task another name, mostly itself: [`Tracker::renames`].
    Renames,
    /// The recording ends here.
    Freeze(State),
}

/// The rows that are not functions.
#[derive(Debug, Clone, Copy)]
struct Rows {
    firmware: NodeId,
    unknown: NodeId,
    user: NodeId,
    interrupts: NodeId,
    decompressor: NodeId,
    /// Where further processors start, once one does.
    start: Option<NodeId>,
}

/// Shadow stacks, calling-context tree and timeline of a boot under way.
///
/// ```
/// use firstlight_profile::{isa::X86_64, tracker::Watch, SymbolTable, Tracker};
/// let symbols = SymbolTable::<X86_64>::parse("1000 T _text\n1000 T main\n1040 T leaf\n1080 T _etext\n");
/// let mut tracker = Tracker::new(&symbols, Watch::default());
/// tracker.entry(0, 10);           // at 10 instructions, `main` begins
/// tracker.call(0, 0xff8, 14);     // it calls, the return address is written to 0xff8
/// tracker.entry(1, 14);
/// tracker.ret(1, 0xff8, 20);      // `leaf` returns after 6 instructions
/// let mut file = Vec::new();
/// tracker.snapshot(firstlight_profile::recording::State::Ready, &[], 25).write(&mut file)?;
/// let recording = firstlight_profile::Recording::decode(&file)?;
/// let leaf = recording.nodes.iter().find(|node| recording.functions[node.function as usize].name == "leaf").expect("seen");
/// assert_eq!((leaf.calls, leaf.self_instructions), (1, 6));
/// # Ok::<(), firstlight_profile::recording::RecordingError>(())
/// ```
#[derive(Debug)]
// What every event needs stands together, in few cache lines: QEMU leaves little of it in the caches between two events.
#[repr(C, align(64))]
pub struct Tracker<I> {
    /// Since when the context of the running processor runs.
    since: u64,
    /// The count of instructions at which the clock reaches the next edge of a slice, if it does not idle before.
    edge: u64,
    /// Entries of that context that its counts lack: they are added with its instructions, when its memory has come.
    entered: u64,
    /// Returns of the frame on top, and pushes of functions: added to the counts in the end.
    plain_returns: u64,
    plain_pushes: u64,
    /// The processor whose turn it is.
    current: Processor,
    tree: CallTree,
    functions: Vec<Function>,
    classes: Vec<Class>,
    by_address: FxHashMap<u64, FunctionId>,
    /// Loaded code by its address and name.
    loaded: FxHashMap<(u64, String), FunctionId>,
    cpu: u32,
    /// What is under way on the other processors.
    parked: BTreeMap<u32, Processor>,
    /// The function whose first instruction is about to be executed, while what its entry asked for is done.
    under_way: Option<FunctionId>,
    /// Stacks of tasks that do not run, by the address of their topmost frame.
    suspended: BTreeMap<u64, Stack>,
    tasks: u32,
    rows: Rows,
    /// The row of the boot loader, once that runs.
    loader: Option<NodeId>,
    timeline: Timeline,
    /// Since when the running task's mode lasts.
    mode_since: u64,
    processes: Log,
    /// The code of user mode, where it is followed.
    code: Option<CodeLog>,
    counts: Counts,
    entries: u64,
    /// By function, where there is something to say.
    followed: Vec<Followed>,
    /// Entries of nodes that were followed by inference.
    doubtful: FxHashMap<NodeId, u64>,
    isa: PhantomData<I>,
}

impl<I: Isa> Tracker<I> {
    /// A tracker at power-on, for a kernel with these functions.
    pub fn new(symbols: &SymbolTable<I>, watch: Watch) -> Self {
        let mut functions: Vec<Function> = symbols
            .functions()
            .iter()
            .map(|symbol| Function { name: symbol.name.clone(), address: symbol.address })
            .collect();
        let classes: Vec<Class> = symbols.functions().iter().map(|symbol| symbol.class).collect();
        let followed = vec![Followed::default(); classes.len()];
        let mut row = |name: &str| {
            functions.push(Function { name: name.to_owned(), address: 0 });
            (functions.len() - 1) as FunctionId
        };
        let root = row(CallRow::Boot.name());
        let mut tree = CallTree::new(root);
        let mut child = |name: CallRow, kind: Kind| tree.child(ROOT, row(name.name()), kind);
        let firmware = child(CallRow::Firmware, Kind::Firmware);
        let decompressor = child(CallRow::Decompressor, Kind::Decompressor);
        let unknown = child(CallRow::KernelWithoutSymbol, Kind::Unknown);
        let user = child(CallRow::User, Kind::User);
        let interrupts = child(CallRow::Interrupts, Kind::Group);
        child(CallRow::Idle, Kind::Idle);
        tree.enter(firmware);
        let timeline = Timeline::new(symbols, watch);
        let edge = timeline.edge();
        Self {
            tree,
            functions,
            classes,
            by_address: FxHashMap::default(),
            loaded: FxHashMap::default(),
            cpu: 0,
            parked: BTreeMap::new(),
            current: Processor::at(firmware, Stack { user, ..Stack::default() }),
            since: 0,
            edge,
            entered: 0,
            under_way: None,
            suspended: BTreeMap::new(),
            tasks: 1,
            rows: Rows { firmware, unknown, user, interrupts, decompressor, start: None },
            loader: None,
            timeline,
            mode_since: 0,
            processes: Log::default(),
            code: None,
            counts: Counts { tasks: 1, ..Counts::default() },
            plain_returns: 0,
            plain_pushes: 0,
            entries: 0,
            followed,
            doubtful: FxHashMap::default(),
            isa: PhantomData,
        }
    }

    /// The decompressor's first instruction.
    pub fn decompressor(&mut self, now: u64) {
        self.mark(Mark::DecompressionStart.name(), MarkSource::Address, "", now);
        self.move_to(self.rows.decompressor, now);
    }

    /// The first instruction of the kernel's image.
    pub fn kernel(&mut self, now: u64) {
        self.mark(Mark::KernelEntry.name(), MarkSource::Address, "", now);
        self.takes_first_task();
        let at = self.timeline.instant(now);
        if self.timeline.tasks.begin(at, self.cpu) {
            self.current.stack.spent = Spent::default();
        }
        self.mode_since = now;
        self.move_to(self.rows.unknown, now);
    }

    fn move_to(&mut self, node: NodeId, now: u64) {
        self.charge(now);
        self.current.node = node;
        self.tree.enter(node);
    }

    #[inline]
    fn charge(&mut self, now: u64) {
        self.reach(now);
        let passed = now.checked_sub(self.since);
        self.tree.charge(self.current.node, std::mem::take(&mut self.entered), passed.unwrap_or(0));
        match passed {
            Some(_) => self.since = now,
            None => self.counts.backward_steps += 1,
        }
    }

    // Divides what was executed up to here at the edges of slices; the entry is in the first part.
    #[cold]
    fn cross(&mut self, now: u64) {
        while now >= self.edge {
            let passed = self.edge.saturating_sub(self.since);
            self.tree.charge(self.current.node, std::mem::take(&mut self.entered), passed);
            self.since = self.edge.max(self.since);
            self.cut(self.edge);
        }
    }

    // Ends a slice; none ends before the one before it.
    fn cut(&mut self, now: u64) {
        let at = now.max(self.since);
        if at > self.mode_since {
            self.settle_mode(at);
        }
        let code = self.code.as_mut().map_or_else(Vec::new, CodeLog::cut);
        self.timeline.cut(&mut self.tree, self.current.stack.spent, code, at);
        self.edge = self.timeline.edge();
    }

    // Ends the slices whose edges lie before this instant, before what happens now is counted.
    #[inline]
    fn reach(&mut self, now: u64) {
        if now >= self.edge {
            self.cross(now);
        }
    }

    /// A call instruction in `site` wrote its return address to `sp`.
    #[inline]
    pub fn call(&mut self, site: FunctionId, sp: u64, now: u64) {
        if self.current.redirected.is_some() && self.is_on_its_way(site) {
            // Between a retpoline's write and its jump there is nothing but the way of that jump.
            return;
        }
        if self.current.pending.is_some_and(|pending| pending != sp) {
            self.settle(site, now);
        }
        if self.current.stack.frames.last().is_some_and(|top| top.sp <= sp) {
            self.overtaken(sp, now);
        }
        self.current.pending = Some(sp);
    }

    /// A call went to the inside of `function`, behind its first instruction: past an `endbr`, or past its tracer's call.
    pub fn call_inside(&mut self, site: FunctionId, function: FunctionId, sp: u64, now: u64) {
        if self.current.redirected.is_some() && self.is_on_its_way(site) {
            return;
        }
        self.call(site, sp, now);
        self.current.pending = None;
        self.follow(function).inside += 1;
        self.push(function, Kind::Function, Key::at(sp), Role::Call, now);
    }

    // A call went to code that begins no known function; `site` is where control is now.
    fn settle(&mut self, site: FunctionId, now: u64) {
        if let Some(sp) = self.current.pending.take() {
            self.counts.late_calls += 1;
            if site == UNKNOWN || self.classes.get(site as usize) == Some(&Class::Thunk) {
                self.push_row(self.rows.unknown, sp, now);
            } else {
                self.follow(site).inside += 1;
                self.push(site, Kind::Function, Key::at(sp), Role::Call, now);
            }
            self.doubt(self.current.node);
        }
    }

    // The return address of a call stands where the return addresses of frames stood: they have ended, and their returns
    // were not seen.
    #[cold]
    fn overtaken(&mut self, sp: u64, now: u64) {
        while let Some(top) = self.current.stack.frames.last().copied() {
            if top.role == Role::Entry || top.sp > sp || !on_one_stack::<I>(top.sp, sp) {
                break;
            }
            self.counts.lost_returns += 1;
            self.doubt(top.node);
            self.drop_to(self.current.stack.frames.len() - 1, now);
        }
    }

    fn push_row(&mut self, node: NodeId, sp: u64, now: u64) {
        self.charge(now);
        self.counts.pushed += 1;
        self.current.stack.frames.push(Frame::new(Key::at(sp), node, UNKNOWN, Role::Call));
        self.tree.enter(node);
        self.current.node = node;
    }

    /// The first instruction of an ordinary function is about to be executed.
    pub fn entry(&mut self, function: FunctionId, now: u64) -> Request {
        if self.enter(function, now) && self.timeline.watches(function) {
            return self.watched(function, now);
        }
        Request::None
    }

    /// Whether entering this function may ask for something; if not, [`Self::enter`] is enough.
    pub fn watches(&self, function: FunctionId) -> bool {
        self.timeline.watches(function)
    }

    /// As [`Self::entry`], for a function that is not watched. Says whether it was entered anew.
    #[inline]
    pub fn enter(&mut self, function: FunctionId, now: u64) -> bool {
        if self.current.redirected == Some(Redirect::Interrupted) && self.current.last_left == now {
            // Entry code left for the function that the thunk was to jump to: the kernel has finished the jump.
            self.current.redirected = None;
        } else if self.current.redirected.is_some() {
            // A return thunk that is not known as one, on the way of a retpoline's jump.
            self.again(function);
            return false;
        }
        if let Some(sp) = self.current.pending.take() {
            self.push(function, Kind::Function, Key::at(sp), Role::Call, now);
        } else if self.current.stack.frames.last().is_some_and(|top| top.function == function) {
            // A loop to its own start, or the same instruction again after a fault.
            self.again(function);
            return false;
        } else {
            self.tail(function, now);
        }
        true
    }

    /// The padding in front of a function is about to be executed: it belongs to the function.
    pub fn padding(&mut self, function: FunctionId, now: u64) -> Request {
        if self.is_inside(function) {
            return Request::None;
        }
        let request = self.entry(function, now);
        // Its first instruction follows, and is not a second entry.
        self.current.padded = Some(function);
        request
    }

    // Whether this function runs, and nothing is being called.
    fn is_inside(&self, function: FunctionId) -> bool {
        self.current.pending.is_none() && self.current.stack.frames.last().is_some_and(|top| top.function == function)
    }

    /// Code in front of a function that runs into it, and is not named padding: it belongs to the function that is called there,
    /// also where an exception handler has it entered as if it had been called; and else to the function that it stands in.
    pub fn unnamed_padding(&mut self, function: FunctionId, now: u64) -> Request {
        match self.current.pending {
            None if self.current.last_left != now => Request::None,
            _ => self.padding(function, now),
        }
    }

    /// What the next return and the next call will need first, to be fetched before.
    #[inline]
    pub fn next(&self) -> [*const u8; 2] {
        self.tree.next(self.current.node)
    }

    #[inline(always)]
    fn push(&mut self, function: FunctionId, kind: Kind, key: Key, role: Role, now: u64) {
        self.charge(now);
        if self.current.stack.frames.len() >= DEEPEST {
            self.abandon_all();
        }
        let node = self.tree.child(self.current.node, function, kind);
        self.entered = 1;
        self.plain_pushes += 1;
        self.current.stack.frames.push(Frame::new(key, node, function, role));
        self.current.node = node;
    }

    // Control came to a function's first instruction without a call: a jump in tail position.
    fn tail(&mut self, function: FunctionId, now: u64) {
        let Some(top) = self.current.stack.frames.last().copied() else {
            // The stack is new: what begins here is a task, and its context hangs from the root.
            self.counts.tail_calls += 1;
            self.charge(now);
            self.current.node = ROOT;
            return self.push(function, Kind::Task, Key::NONE, Role::Call, now);
        };
        if let Some(sp) = self.current.returned_from.filter(|_| self.current.last_return == now) {
            // No return goes to where a function begins, but for one whose address was replaced, to see the function end:
            // a rethook's or the graph tracer's trampoline. It returns by the place that the replaced address stood at.
            self.counts.replaced_returns += 1;
            return self.push(function, Kind::Function, Key::at(sp), Role::Call, now);
        }
        if let (LONGEST_RUN.., Some(index)) = self.current.stack.run(function) {
            self.counts.collapses += 1;
            self.drop_to(index + 1, now);
            self.tree.enter(self.current.node);
            self.doubt(self.current.node);
            return;
        }
        self.counts.tail_calls += 1;
        self.follow(function).tails += 1;
        self.push(function, Kind::Function, top.key(), Role::Call, now);
        if self.current.last_left == now {
            // Left for the beginning of a function: the handler may have pushed a return address (`int3_emulate_call`).
            self.current.emulated = Some(self.current.stack.frames.len());
        }
    }

    /// A block of a split-off part of a function is about to be executed.
    pub fn cold(&mut self, function: FunctionId, now: u64) {
        if I::LINKED.is_some() {
            self.current.pending = None;
        }
        if self.current.pending.is_some() {
            self.settle(function, now);
        } else if self.current.stack.frames.last().is_none_or(|top| top.function != function) {
            self.tail(function, now);
        }
    }

    /// A split-off part, or generated code, jumps to the inside of the function that it stands for a part of.
    pub fn leave_part(&mut self, part: FunctionId, target: FunctionId, now: u64) {
        let [.., below, top] = self.current.stack.frames.as_slice() else { return };
        let is_part = top.function == part || (part == UNKNOWN && self.is_generated(top.function));
        if is_part && top.role == Role::Call && below.function == target && below.key() == top.key() {
            self.drop_to(self.current.stack.frames.len() - 1, now);
        }
    }

    /// A block of kernel code without a symbol is about to be executed: a module, generated code.
    pub fn unknown(&mut self, address: u64, now: u64) {
        self.enter_anywhere(Self::is_generated, |tracker| tracker.function_at(address), now);
    }

    // A block of code that can be entered anywhere is about to be executed. It is entered by a call, and by a jump from
    // what is not the same code.
    fn enter_anywhere(
        &mut self,
        is_same: impl Fn(&Self, FunctionId) -> bool,
        function: impl FnOnce(&mut Self) -> FunctionId,
        now: u64,
    ) {
        match (self.current.pending.take(), self.current.stack.frames.last().copied()) {
            (Some(sp), _) => {
                let function = function(self);
                self.push(function, Kind::Function, Key::at(sp), Role::Call, now);
                self.watch_module_initcall(function, now);
            }
            // An instruction that an exception executes elsewhere (a probe's copy of it) belongs to its function.
            (None, Some(_)) if self.current.last_left == now => {}
            (None, Some(top)) if top.role != Role::Entry && !is_same(self, top.function) => {
                let function = function(self);
                self.tail(function, now);
            }
            _ => {}
        }
    }

    fn is_generated(&self, function: FunctionId) -> bool {
        function as usize >= self.classes.len()
    }

    fn function_at(&mut self, address: u64) -> FunctionId {
        *self.by_address.entry(address).or_insert_with(|| {
            self.functions.push(Function { name: String::new(), address });
            (self.functions.len() - 1) as FunctionId
        })
    }

    // What runs when the frame on top is the one it is now.
    #[inline]
    fn context(&self) -> NodeId {
        match self.current.stack.frames.last() {
            Some(top) => top.node,
            None if self.current.in_user => self.current.stack.user,
            None => self.rows.unknown,
        }
    }

    /// Where the clock stands when `now` instructions have been executed.
    pub fn instant(&self, now: u64) -> Instant {
        self.timeline.instant(now)
    }

    /// Ends the recording. `entered` has the executions of each function's first instruction, by number, where they were
    /// counted.
    pub fn snapshot(&mut self, state: State, entered: &[u64], now: u64) -> Snapshot<'_> {
        self.charge(now);
        self.settle_mode(now);
        self.timeline.close_phase(&mut self.tree);
        if let Some(code) = &mut self.code {
            self.processes.seen.code = code.snapshot();
        }
        let suspended: usize = self.suspended.values().map(|stack| stack.frames.len()).sum();
        let pushed = self.counts.pushed + self.plain_pushes;
        let counts = Counts {
            pushed,
            calls: pushed - self.entries,
            popped: self.counts.popped + self.plain_returns,
            returns: self.counts.returns + self.plain_returns,
            open_frames: (suspended + self.parked_frames() + self.current.stack.frames.len()) as u64,
            ..self.counts
        };
        let followed = Checked {
            counts,
            checks: self.checks(entered),
            doubtful: self.doubtful(),
            spent: self.current.stack.spent,
            code: self.code.as_mut().map_or_else(Vec::new, CodeLog::since_cut),
            processes: &self.processes.seen,
        };
        self.timeline.snapshot(state, now, &self.tree, &self.functions, followed)
    }

    /// Counts one comparison of the clock with QEMU's.
    pub fn clock_checked(&mut self, equal: bool) {
        self.counts.clock_checks += 1;
        self.counts.clock_mismatches += u64::from(!equal);
    }
}

/// The site of an instruction that lies in no known function.
pub const UNKNOWN: FunctionId = 0x00ff_ffff;

#[cfg(test)]
mod tests;
