//! Entries and returns of functions, from whatever record, put together: one stack per task, one tree for all.

use super::call_tree::{CallTree, Kind, NodeId, ROOT};
use super::long_calls::{Level, Long, LongCalls, Trust};
use super::symbols::{Symbol, Symbols};
use crate::evidence::{Clock, Evidence, Problem, ProblemKind, SpanKind};
use rustc_hash::FxHashMap;

/// Frames of one task; the kernel's own limit is far below.
const MOST_FRAMES: usize = 4096;
/// Tasks that are told apart.
const MOST_TASKS: usize = 1 << 18;
/// Processors that are told apart.
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
        let root = symbols.number(b"[boot]");
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
            unfinished: Count::default(),
            unpaired: Count::default(),
            unpaired_ns: 0,
            longer_inside: Count::default(),
            too_long: Count::default(),
            crowded: Count::default(),
            calls: 0,
        }
    }

    /// The stack of what runs on `cpu`; `comm` names it. None when there are too many of either.
    #[inline]
    pub(crate) fn stack(&mut self, cpu: u32, task: Task, comm: &[u8], now_ns: Option<i64>) -> Option<usize> {
        let key = match task {
            Task::Pid(0) => 1 << 40 | u64::from(cpu),
            Task::Pid(pid) => u64::from(pid),
            Task::Unknown => 2 << 40 | u64::from(cpu),
        };
        let current = self.cpus.get(cpu as usize).copied().unwrap_or_default();
        let place = if current.known && current.key == key { current.stack as usize } else { self.switch(cpu, key)? };
        let stack = self.stacks.get_mut(place)?;
        if stack.losses != current.losses || stack.cpu != cpu {
            self.moved(place, cpu);
        }
        let stack = self.stacks.get_mut(place)?;
        if let Some(now_ns) = now_ns {
            if now_ns.saturating_add(SLACK_NS) < stack.leaf_end_ns {
                self.too_long.at(self.line);
                if let Some(kept) = stack.leaf_place {
                    self.long.distrust(kept, stack.leaf_end_ns);
                }
            }
            stack.leaf_end_ns = i64::MIN;
            stack.last_ns = now_ns;
        }
        if stack.frames.is_empty() && (!stack.named || stack.comm != comm) {
            self.name(place, comm);
        }
        Some(place)
    }

    fn switch(&mut self, cpu: u32, key: u64) -> Option<usize> {
        if cpu as usize >= self.cpus.len() {
            if cpu as usize >= MOST_CPUS {
                self.crowded.at(self.line);
                return None;
            }
            self.cpus.resize(cpu as usize + 1, Cpu::default());
        }
        let place = match self.by_key.get(&key) {
            Some(place) => *place,
            None if self.stacks.len() >= MOST_TASKS => {
                self.crowded.at(self.line);
                return None;
            }
            None => {
                let place = self.stacks.len() as u32;
                self.stacks.push(Stack {
                    key,
                    base: ROOT,
                    comm: Vec::new(),
                    named: false,
                    frames: Vec::new(),
                    cpu,
                    losses: self.cpus[cpu as usize].losses,
                    interrupted: false,
                    last_ns: i64::MIN,
                    leaf_end_ns: i64::MIN,
                    leaf_place: None,
                });
                self.by_key.insert(key, place);
                place
            }
        };
        let slot = &mut self.cpus[cpu as usize];
        (slot.key, slot.stack, slot.known) = (key, place, true);
        Some(place as usize)
    }

    // A task came to another processor, or records of the one it was on were lost meanwhile.
    #[cold]
    fn moved(&mut self, place: usize, cpu: u32) {
        let lost = |cpu: u32| self.cpus.get(cpu as usize).map_or(0, |cpu| cpu.losses);
        let (known, now) = (self.stacks[place].losses, lost(self.stacks[place].cpu));
        let arrived = lost(cpu);
        if known != now {
            self.unwind(place, 0);
        }
        let stack = &mut self.stacks[place];
        (stack.cpu, stack.losses) = (cpu, arrived);
    }

    #[cold]
    fn name(&mut self, place: usize, comm: &[u8]) {
        let key = self.stacks[place].key;
        let name = match (key >> 40, comm.is_empty()) {
            (1, _) => b"[idle]".to_vec(),
            (2, true) => format!("[cpu {}]", key & 0xffff_ffff).into_bytes(),
            (_, true) => b"[task]".to_vec(),
            _ => [b"[task ", comm, b"]"].concat(),
        };
        let symbol = self.symbols.number(&name);
        let base = self.tree.child(ROOT, symbol, Kind::Task);
        if self.stacks[place].base != base {
            self.tree.enter(base);
        }
        let stack = &mut self.stacks[place];
        (stack.base, stack.named) = (base, true);
        comm.clone_into(&mut stack.comm);
    }

    /// Records of a processor are missing from here on: what was open there has no known end.
    pub(crate) fn lost(&mut self, cpu: u32) {
        if let Some(cpu) = self.cpus.get_mut(cpu as usize) {
            cpu.losses = cpu.losses.wrapping_add(1);
            cpu.known = false;
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
            (stack.leaf_end_ns, stack.leaf_place) = (end_ns, kept);
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
        let taken_ns = duration_ns.or(wall_ns).unwrap_or(frame.children_ns);
        if taken_ns < frame.children_ns {
            self.longer_inside.at(self.line);
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
            apart if apart < -slack => Trust::TooLong,
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

    /// Whether a call that just ended is no span, and counts it.
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

    /// Puts tree, spans and problems into the evidence.
    pub(crate) fn finish(mut self, evidence: &mut Evidence) {
        for place in 0..self.stacks.len() {
            self.unwind(place, 0);
        }
        self.problems(evidence);
        if self.calls == 0 {
            return;
        }
        if self.timed && !self.long.is_empty() {
            evidence.facts.push(("trace.span_threshold_ns".into(), self.long.threshold_ns.to_string()));
            evidence.facts.push(("trace.calls_without_span".into(), self.long.shorter.to_string()));
            let keys: Vec<u64> = self.stacks.iter().map(|stack| stack.key).collect();
            self.long.into_spans(&self.symbols, &mut evidence.spans, |place| {
                let key = keys.get(place as usize).copied().unwrap_or(0);
                let what = if key >> 40 == 0 { "task" } else { "cpu" };
                format!("{what} {}", key & 0xffff_ffff)
            });
        }
        evidence.calls = Some(self.tree.into_calls(&self.symbols));
    }

    fn problems(&self, evidence: &mut Evidence) {
        let mut note = |count: Count, kind, detail: String| {
            if count.number > 0 {
                evidence.problems.push(Problem { kind, detail, line: Some(count.first), lost: None });
            }
        };
        let lengths = if self.timed { "the last line of their task" } else { "what they called" };
        note(
            self.unfinished,
            ProblemKind::Unfinished,
            format!("{} calls have no end: they are counted with the time until {lengths}", self.unfinished.number),
        );
        note(
            self.unpaired,
            ProblemKind::Unpaired,
            format!(
                "{} returns have no entry: their {} us are not in the tree, what they called stands under their caller",
                self.unpaired.number,
                self.unpaired_ns / 1000
            ),
        );
        note(
            self.longer_inside,
            ProblemKind::Contradiction,
            format!(
                "{} calls took less time than what they called: their own time is negative",
                self.longer_inside.number
            ),
        );
        note(
            self.too_long,
            ProblemKind::Contradiction,
            format!("{} calls end by their duration after the next line of the same task", self.too_long.number),
        );
        note(
            self.crowded,
            ProblemKind::Implausible,
            format!(
                "{} lines of more tasks, processors or frames than a kernel has were left out",
                self.crowded.number
            ),
        );
        if self.tree.folded > 0 || self.symbols.overflowed() {
            let detail = format!(
                "{} calls were charged to their callers: a tree holds at most {} calling contexts",
                self.tree.folded,
                self.tree.len()
            );
            evidence.problems.push(Problem { kind: ProblemKind::Overlong, detail, line: None, lost: None });
        }
        if !self.timed && self.calls > 0 && evidence.clock == Clock::Untimed {
            let detail = "the lines have no stamps (funcgraph-abstime was off): there is a tree, but no timeline";
            evidence.problem(ProblemKind::Untimed, None, detail);
        }
    }
}
