//! When things happened: marks, phases, initcalls, console lines, idle intervals.

use super::running::TaskLog;
use crate::initcalls::ORDER;
use crate::recording::{Counts, Function, FunctionCheck, Instant, Line, Mark, PhaseRow, Span, State};
use crate::slices::{edge_after, End, Slices};
use crate::snapshot::{named, Named, Snapshot};
use crate::symbols::SymbolTable;
use crate::tree::{CallTree, FunctionId, NodeId};
use crate::userspace::code::Executed;
use crate::userspace::{Spent, Userspace};
use firstlight_isa::Isa;
use firstlight_schema::{vocabulary, MarkSource};

/// What to look out for besides calls and returns.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Mark and function: the function's first entry gives the mark.
    pub marks: Vec<(String, String)>,
    /// A function whose first entry ends the recording.
    pub ready: Option<String>,
    /// An instruction takes 2 to the power of this in virtual nanoseconds.
    pub icount_shift: u8,
}

pub(super) const MARK: u8 = 1;
pub(super) const INITCALL: u8 = 2;
const INITCALL_CALLER: u8 = 4;
pub(super) const PANIC: u8 = 8;
pub(super) const READY: u8 = 16;
pub(super) const RENAME: u8 = 32;
pub(super) const LEAVING: u8 = 64;
const ENDS_TASK: u8 = 128;

/// How the tree came about.
pub(super) struct Checked<'t> {
    pub counts: Counts,
    pub checks: Vec<FunctionCheck>,
    pub doubtful: Vec<(NodeId, u64)>,
    /// Instructions of the running task.
    pub spent: Spent,
    /// User code since the last slice ended.
    pub code: Vec<Executed>,
    pub processes: &'t Userspace,
}

#[derive(Debug)]
pub(super) struct Timeline {
    pub flags: Vec<u8>,
    pub mark_of: Vec<(FunctionId, String)>,
    levels_of: Vec<(FunctionId, Vec<&'static str>)>,
    /// Index into the order of levels of the last initcall.
    level: usize,
    names: Vec<(FunctionId, String)>,
    pub marks: Vec<Mark>,
    spans: Vec<Span>,
    pub lines: Vec<Line>,
    pub idles: Vec<Instant>,
    pub idle_ns: u64,
    phases: Vec<PhaseRow>,
    /// Each node's calls and own instructions when the current phase began.
    before: Vec<(u64, u64)>,
    shift: u8,
    /// The virtual clock at the next edge of a slice.
    edge_ns: u64,
    slices: Slices,
    /// Who has the processor.
    pub tasks: TaskLog,
}

impl Timeline {
    pub fn new<I: Isa>(symbols: &SymbolTable<I>, watch: Watch) -> Self {
        let mut timeline = Self {
            flags: vec![0; symbols.functions().len()],
            mark_of: Vec::new(),
            levels_of: Vec::new(),
            level: 0,
            names: Vec::new(),
            marks: Vec::new(),
            spans: Vec::new(),
            lines: Vec::new(),
            idles: Vec::new(),
            idle_ns: 0,
            phases: Vec::new(),
            before: Vec::new(),
            shift: watch.icount_shift,
            edge_ns: edge_after(0),
            slices: Slices::default(),
            tasks: TaskLog::default(),
        };
        for (id, symbol) in symbols.functions().iter().enumerate() {
            if !symbol.initcall.is_empty() {
                timeline.flags[id] |= INITCALL;
                timeline.levels_of.push((id as FunctionId, symbol.initcall.clone()));
            }
        }
        for (mark, function) in watch.marks {
            if let Some(id) = timeline.flag(symbols, &function, MARK) {
                timeline.mark_of.push((id, mark));
                timeline.names.push((id, function));
            }
        }
        for caller in ["do_one_initcall", "console_init"] {
            timeline.flag(symbols, caller, INITCALL_CALLER);
        }
        timeline.flag(symbols, "panic", PANIC);
        timeline.flag(symbols, "vpanic", PANIC);
        timeline.flag(symbols, "__set_task_comm", RENAME);
        timeline.flag(symbols, "do_task_dead", ENDS_TASK);
        for way in I::WAYS_OUT {
            timeline.flag(symbols, way, LEAVING);
        }
        if let Some(function) = watch.ready {
            timeline.flag(symbols, &function, READY);
        }
        timeline.marks.push(Mark {
            mark: vocabulary::Mark::PowerOn.name().to_owned(),
            at: Instant::default(),
            source: MarkSource::Reset.name().to_owned(),
            detail: String::new(),
        });
        timeline
    }

    fn flag<I: Isa>(&mut self, symbols: &SymbolTable<I>, function: &str, flag: u8) -> Option<FunctionId> {
        let id = symbols.function(function)?;
        self.flags[id as usize] |= flag;
        Some(id)
    }

    /// The initcalls, where the symbols do not say them.
    pub fn know_initcalls(&mut self, initcalls: Vec<(FunctionId, &'static str)>) {
        for (function, level) in initcalls {
            if let Some(flags) = self.flags.get_mut(function as usize) {
                *flags |= INITCALL;
                match self.levels_of.iter_mut().find(|(known, _)| *known == function) {
                    Some((_, levels)) => levels.push(level),
                    None => self.levels_of.push((function, vec![level])),
                }
            }
        }
    }

    /// Whether any initcall is known.
    pub fn knows_initcalls(&self) -> bool {
        !self.levels_of.is_empty()
    }

    #[inline]
    pub fn watches(&self, function: FunctionId) -> bool {
        self.flags[function as usize] & !(INITCALL_CALLER | ENDS_TASK) != 0
    }

    pub fn is_initcall(&self, function: usize) -> bool {
        self.flags.get(function).is_some_and(|flags| flags & INITCALL != 0)
    }

    pub fn calls_initcalls(&self, function: FunctionId) -> bool {
        self.flags.get(function as usize).is_some_and(|flags| flags & INITCALL_CALLER != 0)
    }

    /// Whether the task that calls this function never comes back from it.
    pub fn ends_task(&self, function: FunctionId) -> bool {
        self.flags.get(function as usize).is_some_and(|flags| flags & ENDS_TASK != 0)
    }

    pub fn instant(&self, now: u64) -> Instant {
        Instant { instructions: now, idle_ns: self.idle_ns }
    }

    fn ns(&self, instructions: u64) -> u64 {
        instructions.checked_shl(u32::from(self.shift)).unwrap_or(u64::MAX)
    }

    /// The count of instructions at which the clock reaches the next edge of a slice, if it does not idle before.
    pub fn edge(&self) -> u64 {
        let left = self.edge_ns.saturating_sub(self.idle_ns);
        left.div_ceil(1_u64.checked_shl(u32::from(self.shift)).unwrap_or(u64::MAX))
    }

    /// Whether the clock has reached the next edge when it has idled this long.
    pub fn reaches_edge(&self, idle_ns: u64, now: u64) -> bool {
        self.ns(now).saturating_add(idle_ns) >= self.edge_ns
    }

    /// How long the clock had idled when it reached the next edge, if it did so idling.
    pub fn idle_to_edge(&self, idle_ns: u64, now: u64) -> Option<u64> {
        let needed = self.edge_ns.saturating_sub(self.ns(now));
        (self.idle_ns..=idle_ns).contains(&needed).then_some(needed)
    }

    // The mark that began the present phase.
    fn mark(&self) -> u32 {
        self.marks.len().saturating_sub(1) as u32
    }

    /// Ends a slice here.
    ///
    /// `spent` are the instructions of the running task, `code` what was executed of user code since the slice began.
    pub fn cut(&mut self, tree: &mut CallTree, spent: Spent, code: Vec<Executed>, now: u64) {
        let end = self.end(spent, code, now);
        self.slices.cut(tree, end);
        self.edge_ns = edge_after(self.ns(now).saturating_add(self.idle_ns));
    }

    /// User code is followed no further: what was counted of it counts no more.
    pub fn forget_code(&mut self) {
        self.slices.forget_code();
    }

    fn end(&self, spent: Spent, code: Vec<Executed>, now: u64) -> End {
        End { at: self.instant(now), mark: self.mark(), running: self.tasks.under_way(spent), code }
    }

    pub fn end_span(&mut self, span: usize, now: u64) {
        let end = self.instant(now);
        if let Some(span) = self.spans.get_mut(span) {
            span.end = Some(end);
        }
    }

    pub fn start_span(&mut self, function: FunctionId, level: &str, task: u32, now: u64) -> usize {
        let start = self.instant(now);
        self.spans.push(Span { function, level: level.to_owned(), task, start, end: None });
        self.spans.len() - 1
    }

    // Levels run in order, so of several that share the function's name it is the next one.
    pub fn level(&mut self, function: FunctionId) -> &'static str {
        let levels = self.levels_of.iter().find(|(id, _)| *id == function).map_or(&[][..], |(_, levels)| levels);
        let place = |level: &&str| ORDER.iter().position(|known| known == level);
        match levels.iter().filter_map(place).filter(|place| *place >= self.level).min() {
            Some(place) => {
                self.level = place;
                ORDER[place]
            }
            None => levels.first().copied().unwrap_or(""),
        }
    }

    pub fn has_mark(&self, mark: &str) -> bool {
        self.marks.iter().any(|known| known.mark == mark)
    }

    /// Adds what every node did since the last call to the rows of the current phase.
    pub fn close_phase(&mut self, tree: &mut CallTree) {
        let mark = self.mark();
        self.before.resize(tree.len(), (0, 0));
        for node in tree.changed_in_phase() {
            let (row, before) = (tree.node(node as u32), &mut self.before[node]);
            let calls = row.calls - before.0;
            let self_instructions = row.self_instructions - before.1;
            if calls > 0 || self_instructions > 0 {
                self.phases.push(PhaseRow { node: node as u32, mark, calls, self_instructions });
                *before = (row.calls, row.self_instructions);
            }
        }
        tree.begin_phase();
    }

    pub fn snapshot<'t>(
        &'t self,
        state: State,
        now: u64,
        tree: &'t CallTree,
        functions: &'t [Function],
        followed: Checked<'t>,
    ) -> Snapshot<'t> {
        let Checked { counts, checks, doubtful, spent, code, processes } = followed;
        let Named { nodes, spans, checks, functions } = named(tree, &self.spans, &checks, functions);
        Snapshot {
            state,
            plugin_api: 0,
            clock: "",
            icount_shift: 0,
            end: self.instant(now),
            functions,
            nodes,
            phases: &self.phases,
            slices: self.slices.until(tree, self.end(spent, code, now)),
            marks: &self.marks,
            spans,
            lines: &self.lines,
            idles: &self.idles,
            counts,
            checks,
            doubtful,
            running: self.tasks.until(self.instant(now), spent),
            processes,
        }
    }
}
