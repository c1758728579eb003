//! Events of the tracer, from whatever record, put together: initcalls, processes, pairs that belong together.

use super::call_tree::{CallTree, Kind, ROOT};
use super::event_calls::EventCalls;
use super::event_line::field;
use super::long_calls::{Long, LongCalls, Trust};
use super::processor_time::ProcessorTime;
use super::symbols::{split_module, Symbols};
use crate::counts::counted;
use crate::evidence::{Caller, Evidence, Grade, Name, Problem, ProblemKind, Span, SpanKind, Stamp};
use firstlight_schema::{CallRow, Reason, ReasonCode};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Lines, spans of one kind, things that are open: what is kept of each at most.
const MOST: usize = 100_000;
/// A trace may end while something short runs.
const LONG_OPEN: i64 = 1_000_000;
/// Kinds of events that are counted apart.
const MOST_KINDS: usize = 4096;

/// Ends of names that belong together.
const PAIRS: [(&str, &str); 7] = [
    ("_start", "_finish"),
    ("_start", "_end"),
    ("_start", "_done"),
    ("_begin", "_end"),
    ("_entry", "_exit"),
    ("_enter", "_exit"),
    ("_enter", "_leave"),
];

struct Process {
    name: String,
    start_ns: Option<i64>,
    parent: Option<u32>,
}

/// An initcall that has not ended.
struct Started {
    func: String,
    start_ns: Option<i64>,
    level: Option<Name>,
    /// How often events had been lost by then.
    losses: u64,
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'l> {
    pub(crate) line: u64,
    pub(crate) time_ns: Option<i64>,
    pub(crate) pid: u32,
    pub(crate) name: &'l str,
    pub(crate) fields: &'l [u8],
}

/// The collector.
pub(crate) struct Events {
    symbols: Symbols,
    long: LongCalls,
    functions: Option<CallTree>,
    /// System calls.
    pub(crate) calls: EventCalls,
    ran: ProcessorTime,
    level: Option<Name>,
    initcalls: FxHashMap<u32, Vec<Started>>,
    processes: FxHashMap<u32, Process>,
    pairs: FxHashMap<(u32, u32), Vec<i64>>,
    open_pairs: usize,
    counts: BTreeMap<String, u64>,
    uncounted: u64,
    unkept: u64,
    unpaired: u64,
    losses: u64,
    unseen: u64,
    spans: Vec<Span>,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    /// The smallest step of the stamps.
    pub(crate) step_ns: i64,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            symbols: Symbols::new(),
            long: LongCalls::default(),
            functions: None,
            calls: EventCalls::default(),
            ran: ProcessorTime::default(),
            level: None,
            initcalls: FxHashMap::default(),
            processes: FxHashMap::default(),
            pairs: FxHashMap::default(),
            open_pairs: 0,
            counts: BTreeMap::new(),
            uncounted: 0,
            unkept: 0,
            unpaired: 0,
            losses: 0,
            unseen: 0,
            spans: Vec::new(),
            first_ns: None,
            last_ns: None,
            step_ns: 0,
        }
    }

    /// Takes an event.
    pub(crate) fn take(&mut self, event: &Event<'_>, evidence: &mut Evidence) {
        self.at(event.time_ns);
        let kinds = self.counts.len();
        if let Some(count) = self.counts.get_mut(event.name) {
            *count += 1;
        } else if kinds < MOST_KINDS {
            self.counts.insert(event.name.to_owned(), 1);
        } else {
            self.uncounted += 1;
        }
        let text = |key| field(event.fields, key).map(|value| String::from_utf8_lossy(value).into_owned());
        let number = |key| text(key).and_then(|value| value.parse::<u32>().ok());
        match event.name {
            "initcall_level" => {
                self.level = text("level").map(Name::Owned);
                self.keep(event, evidence);
            }
            "initcall_start" | "initcall_finish" => {
                match text("func").filter(|func| !func.is_empty() && !func.starts_with('+')) {
                    Some(func) if event.name == "initcall_start" => self.initcall_start(event, &func),
                    Some(func) => self.initcall_finish(event, &func, text("ret")),
                    None => self.keep(event, evidence),
                }
            }
            "sched_process_fork" => {
                if let (Some(pid), Some(name)) =
                    (number("child_pid"), text("child_comm").filter(|name| !name.is_empty()))
                {
                    // A thread is none of its own.
                    if self.processes.len() < MOST && self.calls.process_of(pid) == pid {
                        let process = Process { name, start_ns: event.time_ns, parent: number("pid") };
                        self.processes.insert(pid, process);
                    }
                }
            }
            "sched_process_exec" => {
                let pid = number("pid").unwrap_or(event.pid);
                if let Some(name) = text("filename").filter(|name| !name.is_empty()) {
                    let born = Process { name: String::new(), start_ns: None, parent: None };
                    if self.processes.len() < MOST || self.processes.contains_key(&pid) {
                        self.processes.entry(pid).or_insert(born).name = name;
                    }
                }
            }
            "sched_process_exit" => {
                let pid = number("pid").unwrap_or(event.pid);
                if self.calls.process_of(pid) != pid {
                    return;
                }
                let name = text("comm").filter(|name| !name.is_empty()).unwrap_or_else(|| "[process]".to_owned());
                let process = self.processes.remove(&pid);
                self.process(pid, process.unwrap_or(Process { name, start_ns: None, parent: None }), event.time_ns);
            }
            "sched_switch" => {
                if let (Some(from), Some(to), Some(time_ns)) = (number("prev_pid"), number("next_pid"), event.time_ns) {
                    self.ran.switch(from, to, time_ns);
                }
                self.keep(event, evidence);
            }
            _ => {
                let of_call = (event.name, event.fields);
                let taken = self.calls.take(of_call, event.pid, event.time_ns, self.step_ns);
                if !taken && !self.pair(event) {
                    self.keep(event, evidence);
                }
            }
        }
    }

    /// Whether a process is known, and has not ended.
    pub(crate) fn is_alive(&self, pid: u32) -> bool {
        self.processes.contains_key(&pid)
    }

    fn at(&mut self, time_ns: Option<i64>) {
        self.last_ns = self.last_ns.max(time_ns);
        self.first_ns = self.first_ns.into_iter().chain(time_ns).min();
    }

    /// Takes a line of the function tracer: a call of which only the caller is known.
    pub(crate) fn call(&mut self, time_ns: Option<i64>, comm: &[u8], function: &[u8], caller: &[u8]) {
        self.at(time_ns);
        let symbols = &mut self.symbols;
        let root = symbols.number(CallRow::Boot.name().as_bytes());
        let tree = self.functions.get_or_insert_with(|| CallTree::new(root));
        let task = symbols.number(&[b"[task ", comm, b"]"].concat());
        let task = tree.child(ROOT, task, Kind::Task);
        let caller = tree.child(task, symbols.number(caller), Kind::Function);
        let node = tree.child(caller, symbols.number(function), Kind::Function);
        tree.enter(node);
    }

    fn keep(&mut self, event: &Event<'_>, evidence: &mut Evidence) {
        if evidence.log.len() >= MOST {
            self.unkept += 1;
            return;
        }
        let stamp = Stamp {
            line: event.line,
            time_ns: event.time_ns,
            caller: Some(Caller::Task(event.pid)),
            ..Stamp::default()
        };
        evidence.log.push(stamp, &[event.name.as_bytes(), b": ", event.fields].concat());
    }

    /// Events are missing from here on.
    pub(crate) fn lost(&mut self) {
        self.losses += 1;
        self.ran.lost();
    }

    /// A sample of a clock stands for so much time of a task.
    pub(crate) fn sample(&mut self, task: u32, ns: i64) {
        self.ran.sample(task, ns);
    }

    fn initcall_start(&mut self, event: &Event<'_>, func: &str) {
        self.ended_unseen(event);
        let open = self.initcalls.entry(event.pid).or_default();
        if open.len() < 1000 {
            let level = self.level.clone();
            open.push(Started { func: func.to_owned(), start_ns: event.time_ns, level, losses: self.losses });
        }
    }

    /// A task that begins an initcall has left the one before: where events were lost meanwhile, its end is among them.
    fn ended_unseen(&mut self, next: &Event<'_>) {
        let Some(open) = self.initcalls.get_mut(&next.pid) else { return };
        let losses = self.losses;
        let (left, still): (Vec<_>, Vec<_>) = std::mem::take(open).into_iter().partition(|one| one.losses < losses);
        *open = still;
        for started in left {
            let mut span = initcall(&started.func, next.pid);
            span.level = started.level;
            span.start_ns = started.start_ns;
            let most_ns = started.start_ns.zip(next.time_ns).map(|(start, next)| next.saturating_sub(start));
            span.duration_ns = most_ns.filter(|most| *most >= 0);
            let grade = if span.duration_ns.is_some() { Grade::Bounded } else { Grade::Unknown };
            self.push(span.graded(grade, ReasonCode::EndAmongLostEvents));
            self.unseen += 1;
        }
    }

    fn initcall_finish(&mut self, event: &Event<'_>, func: &str, returned: Option<String>) {
        let open = self.initcalls.entry(event.pid).or_default();
        let place = open.iter().rposition(|started| started.func == func);
        let started = place.map(|place| open.remove(place));
        let known = started.is_some();
        let (start_ns, level) = started.map_or((None, None), |open| (open.start_ns, open.level));
        let mut span = initcall(func, event.pid);
        span.level = if span.attributes.is_empty() { level } else { Some(Name::Borrowed("module")) };
        span = match (start_ns, event.time_ns) {
            // The tracer's clock stands still until the scheduler's runs.
            (Some(0), Some(0)) => span.graded(Grade::Unknown, ReasonCode::ClockNotRunning),
            (Some(start), Some(end)) if end.saturating_sub(start) >= self.step_ns.saturating_mul(100) => {
                span.between(start, end).graded(Grade::Exact, ReasonCode::TracerBothEnds)
            }
            (Some(start), Some(end)) => span
                .between(start, end)
                .graded(Grade::Coarse, Reason::of(ReasonCode::TracerStep).with("us", self.step_ns.max(1000) / 1000)),
            (None, end) if !known => {
                span.end_ns = end;
                span.graded(Grade::Unknown, ReasonCode::StartMissingInTrace)
            }
            _ => span.graded(Grade::Unknown, ReasonCode::StampsNoTimes),
        };
        if let Some(returned) = returned {
            span = span.with("returned", returned);
        }
        self.push(span);
    }

    fn process(&mut self, pid: u32, process: Process, end_ns: Option<i64>) {
        let mut span = Span::new(SpanKind::Process, process.name);
        span.track = Name::Owned(format!("task {pid}"));
        (span.start_ns, span.end_ns) = (process.start_ns, end_ns);
        span = match (process.start_ns, end_ns) {
            (Some(start), Some(end)) => span.between(start, end),
            (Some(_), None) => span.graded(Grade::Bounded, ReasonCode::PresentAtTraceEnd),
            (None, Some(_)) => span.graded(Grade::Bounded, ReasonCode::PresentBeforeTrace),
            (None, None) => span.graded(Grade::Unknown, ReasonCode::StartAndEndMissing),
        };
        if let Some(parent) = process.parent {
            span = span.with("parent_pid", parent.to_string());
        }
        // What ran before the trace is unknown.
        let ran = self.ran.take(pid, end_ns.or(self.last_ns));
        if let Some(ran) = ran.filter(|_| process.start_ns.is_some()) {
            span = span.with("cpu_ns", ran.to_string());
        }
        self.push(span);
    }

    // Whether the event begins or ends something; only what is one task's own belongs together beyond doubt.
    fn pair(&mut self, event: &Event<'_>) -> bool {
        let Some(now_ns) = event.time_ns else { return false };
        for (first, last) in PAIRS {
            if let Some(what) = event.name.strip_suffix(last) {
                let key = (event.pid, self.symbols.number(what.as_bytes()));
                let Some(start_ns) = self.pairs.get_mut(&key).and_then(Vec::pop) else { continue };
                self.open_pairs -= 1;
                self.long.offer(Long {
                    function: key.1,
                    task: event.pid,
                    start_ns,
                    end_ns: now_ns,
                    duration_ns: now_ns.saturating_sub(start_ns),
                    trust: Trust::One,
                    kind: SpanKind::Event,
                    level: None,
                });
                return true;
            }
            if let Some(what) = event.name.strip_suffix(first) {
                if self.open_pairs < MOST {
                    let key = (event.pid, self.symbols.number(what.as_bytes()));
                    self.pairs.entry(key).or_default().push(now_ns);
                    self.open_pairs += 1;
                }
                return true;
            }
        }
        self.unpaired += u64::from(PAIRS.iter().any(|(_, last)| event.name.ends_with(last)));
        false
    }

    fn push(&mut self, mut span: Span) {
        if span.start_ns.zip(span.end_ns).is_some_and(|(start, end)| end < start) {
            (span.end_ns, span.duration_ns) = (None, None);
            span = span.graded(Grade::Unknown, ReasonCode::EndBeforeStart);
        }
        if self.spans.len() < MOST {
            self.spans.push(span);
        } else {
            self.unkept += 1;
        }
    }

    /// Puts everything into the evidence.
    pub(crate) fn finish(mut self, evidence: &mut Evidence) {
        let mut open: Vec<_> = std::mem::take(&mut self.initcalls).into_iter().collect();
        open.sort_by_key(|(pid, _)| *pid);
        let mut unfinished = 0;
        for (pid, initcalls) in open {
            let last = initcalls.len();
            for (number, Started { func, start_ns, level, losses }) in initcalls.into_iter().enumerate() {
                let mut span = initcall(&func, pid).graded(Grade::Unknown, ReasonCode::EndMissingInTrace);
                (span.start_ns, span.level) = (start_ns, level);
                let least = self.last_ns.zip(start_ns).map(|(last, start)| last.saturating_sub(start));
                match least.filter(|least| number + 1 == last && *least >= LONG_OPEN && losses == self.losses) {
                    Some(least) => {
                        span.duration_ns = Some(least);
                        span = span.graded(Grade::Bounded, ReasonCode::NeverReturnedInTrace);
                        let detail = format!(
                            "initcall `{}`, which task {pid} began, never returned: the trace goes on for {:.6} s",
                            span.name,
                            least as f64 / 1e9
                        );
                        let kind = ProblemKind::NeverReturned;
                        evidence.problems.push(Problem { kind, detail, line: None, lost: Some(0) });
                    }
                    None => unfinished += 1,
                }
                self.push(span);
            }
        }
        let mut processes: Vec<_> = std::mem::take(&mut self.processes).into_iter().collect();
        processes.sort_by_key(|(pid, _)| *pid);
        for (pid, process) in processes {
            self.process(pid, process, None);
        }
        evidence.spans = self.spans.into();
        self.calls.finish(evidence);
        // What is only counted was at some time, too.
        evidence.extent_ns = self.first_ns.zip(self.last_ns);
        let mut note = |number: u64, kind, detail: String| {
            if number > 0 {
                evidence.problems.push(Problem { kind, detail, line: None, lost: None });
            }
        };
        note(unfinished, ProblemKind::Unfinished, counted(unfinished, "# initcall[|s] [has|have] no end"));
        let unseen = self.unseen;
        note(unseen, ProblemKind::Unfinished, counted(unseen, "# initcall[|s] ended among lost events"));
        let open = self.open_pairs as u64;
        note(open, ProblemKind::Unfinished, counted(open, "# event[|s] that begin[s|] something [has|have] no end"));
        note(
            self.unpaired,
            ProblemKind::Unpaired,
            counted(self.unpaired, "# event[|s] that end[s|] something [has|have] no start"),
        );
        note(
            self.unkept,
            ProblemKind::Overlong,
            counted(self.unkept, &format!("# event[|s] beyond {MOST} [is|are] counted only")),
        );
        let kinds = self.uncounted;
        note(
            kinds,
            ProblemKind::Overlong,
            counted(kinds, &format!("# event[|s] of more than {MOST_KINDS} kinds [is|are] not counted")),
        );
        if !self.long.is_empty() {
            evidence.facts.push(("trace.span_threshold_ns".into(), self.long.threshold_ns.to_string()));
            self.long.into_spans(&self.symbols, &mut evidence.spans, |pid| format!("task {pid}"));
        }
        for (name, count) in self.counts {
            evidence.facts.push((Name::Owned(format!("trace.event.{name}")), count.to_string()));
        }
        if let Some(functions) = self.functions {
            evidence.calls = Some(functions.into_calls(&self.symbols));
        }
    }
}

/// From the earlier beginning to the later end.
pub(crate) fn both(one: Option<(i64, i64)>, two: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (one, two) {
        (Some(one), Some(two)) => Some((one.0.min(two.0), one.1.max(two.1))),
        (one, two) => one.or(two),
    }
}

/// `name+0x0/0x58 [module]`
fn initcall(func: &str, pid: u32) -> Span {
    let (symbol, module) = split_module(func);
    let name = symbol.split_once("+0x").map_or(symbol.as_str(), |(name, _)| name);
    let mut span = Span::new(SpanKind::Initcall, name);
    span.track = Name::Owned(format!("task {pid}"));
    if let Some(module) = module {
        span = span.with("module", module);
    }
    span
}
