//! Entries and returns of functions, from whatever record, put together: one stack per task, one tree for all.

mod report;
mod stacks;

use super::call_tree::{CallTree, Kind, NodeId, ROOT};
use super::graph_line::{Body, GraphLine};
use super::long_calls::{Level, Long, LongCalls, Trust};
use super::symbols::{Symbol, Symbols};
use crate::evidence::SpanKind;
use firstlight_schema::CallRow;
use rustc_hash::FxHashMap;

/// Frames of one task; the kernel's own limit is far below.
const MOST_FRAMES: usize = 4096;
/// Maximum number of tasks.
const MOST_TASKS: usize = 1 << 18;
/// Maximum number of processors.
const MOST_CPUS: usize = 1 << 13;
/// What stamps of microseconds and the tracer's own work may differ from the reported length.
const SLACK_NS: i64 = 2_000;

/// What `do_one_initcall` calls beside the initcall.
const HELPERS: [&str; 14] = [
    "initcall_blacklisted",
    "trace_initcall_start_cb",
    "trace_initcall_finish_cb",
    "do_trace_initcall_start",
    "do_trace_initcall_finish",
    "do_trace_initcall_level",
    "ktime_get",
    "add_latent_entropy",
    "add_device_randomness",
    "_printk",
    "printk",
    "__warn_printk",
    "sprintf",
    "strlcat",
];

/// Whose stack a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// A task by its number; that of the idle tasks is 0.
    Pid(u32),
    /// Whatever ran there: the record does not name tasks.
    Unknown,
}

#[derive(Debug)]
struct Frame {
    node: NodeId,
    depth: u32,
    function: Symbol,
    start_ns: i64,
    children_ns: i64,
}

#[derive(Debug)]
struct Stack {
    key: u64,
    base: NodeId,
    comm: Vec<u8>,
    named: bool,
    frames: Vec<Frame>,
    cpu: u32,
    losses: u32,
    interrupted: bool,
    last_ns: i64,
    leaf_end_ns: i64,
    leaf_node: NodeId,
    leaf_place: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    key: u64,
    stack: u32,
    known: bool,
    losses: u32,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    number: u64,
    first: u64,
}

impl Count {
    fn at(&mut self, line: u64) {
        self.number += 1;
        if self.number == 1 {
            self.first = line;
        }
    }
}

/// The builder. Times are of the record's clock; without times only reported lengths count.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) symbols: Symbols,
    tree: CallTree,
    long: LongCalls,
    stacks: Vec<Stack>,
    by_key: FxHashMap<u64, u32>,
    cpus: Vec<Cpu>,
    initcaller: Symbol,
    helpers: Vec<Symbol>,
    level: Option<Level>,
    /// The line that is being read.
    pub(crate) line: u64,
    /// Whether there are stamps.
    pub(crate) timed: bool,
    /// The first and the last stamp.
    stamps: Option<(i64, i64)>,
    unfinished: Count,
    unpaired: Count,
    unpaired_ns: i64,
    longer_inside: Count,
    too_long: Count,
    crowded: Count,
    calls: u64,
}

impl Graph {
    pub(crate) fn new() -> Self {
        let mut symbols = Symbols::new();
        let root = symbols.number(CallRow::Boot.name().as_bytes());
        let initcaller = symbols.number(b"do_one_initcall");
        let helpers = HELPERS.iter().map(|name| symbols.number(name.as_bytes())).collect();
        Self {
            symbols,
            tree: CallTree::new(root),
            long: LongCalls::default(),
            stacks: Vec::new(),
            by_key: FxHashMap::default(),
            cpus: Vec::new(),
            initcaller,
            helpers,
            level: None,
            line: 0,
            timed: false,
            stamps: None,
            unfinished: Count::default(),
            unpaired: Count::default(),
            unpaired_ns: 0,
            longer_inside: Count::default(),
            too_long: Count::default(),
            crowded: Count::default(),
            calls: 0,
        }
    }

    /// Records of a processor are missing from here on: what was open there has no known end.
    pub(crate) fn lost(&mut self, cpu: u32) {
        if let Some(cpu) = self.cpus.get_mut(cpu as usize) {
            cpu.losses = cpu.losses.wrapping_add(1);
            cpu.known = false;
        }
    }

    /// The leaf before ends by its duration after the next line of its task: it took no longer than until then.
    #[cold]
    fn cut_leaf(&mut self, place: usize, now_ns: i64) {
        self.too_long.at(self.line);
        let Some(stack) = self.stacks.get_mut(place) else { return };
        let over_ns = stack.leaf_end_ns.saturating_sub(now_ns);
        if let Some(caller) = stack.frames.last_mut() {
            caller.children_ns = caller.children_ns.saturating_sub(over_ns);
        }
        self.tree.charge(stack.leaf_node, over_ns.saturating_neg());
        if let Some(kept) = stack.leaf_place {
            self.long.distrust(kept, stack.leaf_end_ns, now_ns);
        }
    }

    /// The next function on this stack is the entry of an interrupt.
    pub(crate) fn interrupt(&mut self, place: usize) {
        if let Some(stack) = self.stacks.get_mut(place) {
            stack.interrupted = true;
        }
    }

    /// Initcalls that follow are of this level.
    pub(crate) fn level(&mut self, name: &str) {
        self.level = Some(self.long.level(name));
    }

    #[inline]
    fn call(&mut self, place: usize, depth: u32, function: Symbol) -> NodeId {
        if self.stacks[place].frames.last().is_some_and(|top| top.depth >= depth) {
            self.unwind(place, depth);
        }
        let stack = &mut self.stacks[place];
        let parent = stack.frames.last().map_or(stack.base, |top| top.node);
        let kind = if stack.interrupted { Kind::Interrupt } else { Kind::Function };
        stack.interrupted = false;
        let node = self.tree.child(parent, function, kind);
        if node != parent || node == ROOT {
            self.tree.enter(node);
        }
        self.calls += 1;
        node
    }

    /// Takes the entry or return of a line; other lines are ignored.
    #[inline]
    pub(crate) fn line_of_calls(&mut self, place: usize, line: &GraphLine<'_>) {
        match line.body {
            Body::Open(name) => self.open(place, line.depth, name, line.time_ns),
            Body::Leaf(name) => self.leaf(place, line.depth, name, line.time_ns, line.duration_ns),
            Body::Close(name) => self.close(place, line.depth, name, line.time_ns, line.duration_ns),
            _ => {}
        }
    }

    /// A function is entered.
    #[inline]
    pub(crate) fn open(&mut self, place: usize, depth: u32, name: &[u8], now_ns: Option<i64>) {
        let function = self.symbols.number(name);
        let node = self.call(place, depth, function);
        let frames = &mut self.stacks[place].frames;
        if frames.len() >= MOST_FRAMES {
            self.crowded.at(self.line);
            return;
        }
        frames.push(Frame { node, depth, function, start_ns: now_ns.unwrap_or(0), children_ns: 0 });
    }

    /// A function that called nothing: entry and return in one.
    #[inline]
    pub(crate) fn leaf(
        &mut self,
        place: usize,
        depth: u32,
        name: &[u8],
        now_ns: Option<i64>,
        duration_ns: Option<i64>,
    ) {
        let function = self.symbols.number(name);
        let node = self.call(place, depth, function);
        let Some(duration_ns) = duration_ns else { return };
        self.took(place, node, duration_ns, duration_ns);
        if let Some(start_ns) = now_ns {
            let end_ns = start_ns.saturating_add(duration_ns);
            let short = self.short(place, duration_ns);
            let kept = if short {
                None
            } else {
                self.offer(place, node, function, (start_ns, end_ns), duration_ns, Trust::One)
            };
            let stack = &mut self.stacks[place];
            (stack.leaf_end_ns, stack.leaf_node, stack.leaf_place) = (end_ns, node, kept);
            stack.last_ns = stack.last_ns.max(start_ns);
        }
    }

    /// A function returns; its name, when the record repeats it.
    #[inline]
    pub(crate) fn close(
        &mut self,
        place: usize,
        depth: u32,
        name: Option<&[u8]>,
        now_ns: Option<i64>,
        duration_ns: Option<i64>,
    ) {
        if self.stacks[place].frames.last().is_some_and(|top| top.depth > depth) {
            self.unwind(place, depth.saturating_add(1));
        }
        let frames = &mut self.stacks[place].frames;
        let same = |frame: &Frame, symbols: &Symbols| {
            frame.depth == depth && name.is_none_or(|name| symbols.bytes(frame.function) == name)
        };
        if !frames.last().is_some_and(|top| same(top, &self.symbols)) {
            self.unpaired.at(self.line);
            self.unpaired_ns = self.unpaired_ns.saturating_add(duration_ns.unwrap_or(0));
            if frames.last().is_some_and(|top| top.depth >= depth) {
                self.unwind(place, depth);
            }
            return;
        }
        let Some(frame) = frames.pop() else { return };
        let wall_ns = now_ns.map(|end| end.saturating_sub(frame.start_ns));
        let reported_ns = duration_ns.or(wall_ns).unwrap_or(frame.children_ns);
        // No call takes longer than its stamps are apart, nor less than what it called.
        let longer =
            wall_ns.filter(|wall| reported_ns.saturating_sub(*wall) > SLACK_NS.saturating_add(reported_ns / 100));
        let mut taken_ns = longer.map_or(reported_ns, |wall| wall.max(0));
        if longer.is_some() {
            self.too_long.at(self.line);
        }
        if taken_ns < frame.children_ns {
            self.longer_inside.at(self.line);
            taken_ns = frame.children_ns;
        }
        self.took(place, frame.node, taken_ns, taken_ns.saturating_sub(frame.children_ns));
        let (Some(end_ns), Some(wall_ns)) = (now_ns, wall_ns) else { return };
        if self.short(place, taken_ns) {
            return;
        }
        let slack = SLACK_NS.saturating_add(taken_ns / 100);
        let trust = match wall_ns.saturating_sub(taken_ns) {
            _ if duration_ns.is_none() => Trust::One,
            apart if apart > slack => Trust::Slept,
            _ if longer.is_some() => Trust::TooLong,
            _ if taken_ns >= 10 * SLACK_NS => Trust::Agree,
            _ => Trust::One,
        };
        self.offer(place, frame.node, frame.function, (frame.start_ns, end_ns), taken_ns, trust);
    }

    #[inline]
    fn took(&mut self, place: usize, node: NodeId, taken_ns: i64, own_ns: i64) {
        self.tree.charge(node, own_ns);
        if let Some(caller) = self.stacks[place].frames.last_mut() {
            caller.children_ns = caller.children_ns.saturating_add(taken_ns);
        }
    }

    /// Whether a call that just ended is not a span, and counts it.
    #[inline]
    fn short(&mut self, place: usize, duration_ns: i64) -> bool {
        let caller = self.stacks[place].frames.last().map(|caller| caller.function);
        duration_ns < self.long.threshold_ns && caller != Some(self.initcaller) && {
            self.long.shorter += 1;
            true
        }
    }

    #[cold]
    fn offer(
        &mut self,
        place: usize,
        node: NodeId,
        function: Symbol,
        (start_ns, end_ns): (i64, i64),
        duration_ns: i64,
        trust: Trust,
    ) -> Option<usize> {
        let stack = &self.stacks[place];
        let initcall = stack.frames.last().is_some_and(|caller| caller.function == self.initcaller)
            && self.tree.kind(node) == Kind::Function
            && !self.helpers.contains(&function);
        self.long.offer(Long {
            function,
            task: place as u32,
            start_ns,
            end_ns,
            duration_ns,
            trust,
            kind: if initcall { SpanKind::Initcall } else { SpanKind::Function },
            level: if initcall { self.level } else { None },
        })
    }

    // Ends every frame at or below a depth whose return was not seen: it took at least what is known of it.
    #[cold]
    fn unwind(&mut self, place: usize, depth: u32) {
        while self.stacks[place].frames.last().is_some_and(|top| top.depth >= depth) {
            let Some(frame) = self.stacks[place].frames.pop() else { return };
            self.unfinished.at(self.line);
            let end_ns = self.stacks[place].last_ns;
            let seen_ns = if self.timed { end_ns.saturating_sub(frame.start_ns) } else { 0 };
            let least_ns = seen_ns.max(frame.children_ns).max(0);
            self.took(place, frame.node, least_ns, least_ns - frame.children_ns);
            if self.timed {
                let times = (frame.start_ns, frame.start_ns.saturating_add(least_ns));
                self.offer(place, frame.node, frame.function, times, least_ns, Trust::Unfinished);
            }
        }
    }
}
