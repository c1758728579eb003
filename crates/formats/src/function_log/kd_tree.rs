//! Call trees that kd printed (`kd -c`), threads apart or interlaced.

use super::kft::{number, words};
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Grade, Name, ProblemKind, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::tracing::call_tree::{CallTree, Kind, NodeId, ROOT};
use crate::tracing::symbols::Symbols;
use crate::FormatError;
use firstlight_schema::ReasonCode;
use firstlight_schema::{CallRow, FormatName};
use memchr::memmem;

/// The reader.
pub struct KdTree;

/// Spans that are kept: all calls of a tree that a person can print.
const MOST_SPANS: usize = 100_000;
/// Trees within trees.
const MOST_THREADS: usize = 1024;
/// What stands for a thread, one for each, over and over.
const THREADS: &[u8] = b"|!@[#;($/{%]*)&:\\}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Entry,
    Duration,
    Local,
    Pid,
}

struct Open {
    node: NodeId,
    duration_us: Option<i64>,
    children_us: i64,
    span: Option<usize>,
}

impl Format for KdTree {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::KdTree, Traits::of(Origin::FunctionLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let mut before: &[u8] = b"";
        for line in head.bytes.split(|&byte| byte == b'\n') {
            if columns(before, line).is_some() {
                return Likelihood::Certain;
            }
            before = line;
        }
        Likelihood::No
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let mut before = Vec::new();
        let mut reader: Option<Reader> = None;
        while let Some(line) = lines.next_line()? {
            match &mut reader {
                None => reader = columns(&before, line.bytes).map(|found| Reader::new(found, line.number)),
                Some(reader) => reader.line(line.number, line.bytes),
            }
            before.clear();
            before.extend_from_slice(line.bytes);
        }
        let problems = lines.problems();
        match reader.filter(|reader| reader.evidence.understood > 0) {
            Some(reader) => {
                let mut evidence = reader.finish();
                evidence.problems.extend(problems);
                Ok(vec![evidence])
            }
            None => Err(self.not_this("no call under its header")),
        }
    }
}

/// The columns before the tree, when `dashes` is the line under the titles.
fn columns(titles: &[u8], dashes: &[u8]) -> Option<Vec<Column>> {
    if !dashes.starts_with(b"-------") || !dashes.iter().all(|byte| matches!(byte, b'-' | b' ')) {
        return None;
    }
    let mut found = Vec::new();
    let mut words = words(titles);
    loop {
        found.push(match words.next()? {
            b"Entry" => Column::Entry,
            b"Duration" => Column::Duration,
            b"Local" => Column::Local,
            b"Pid" => Column::Pid,
            b"Trace" => return words.next().is_none().then_some(found),
            _ => return None,
        });
    }
}

struct Reader {
    evidence: Evidence,
    columns: Vec<Column>,
    symbols: Symbols,
    tree: CallTree,
    /// One for each tree that began in the middle of another; the last is read.
    stacks: Vec<Vec<Open>>,
    unparsed: Unparsed,
    unfinished: u64,
    unkept: u64,
}

impl Reader {
    fn new(columns: Vec<Column>, line: u64) -> Self {
        let timed = columns.contains(&Column::Entry);
        let mut evidence = Evidence::of(KdTree.about(), if timed { Clock::Kft } else { Clock::Untimed });
        evidence.first_line = line.saturating_sub(1);
        evidence.step_ns = if timed { 1000 } else { 0 };
        let mut symbols = Symbols::new();
        let root = symbols.number(CallRow::Boot.name().as_bytes());
        Self {
            evidence,
            columns,
            symbols,
            tree: CallTree::new(root),
            stacks: vec![Vec::new()],
            unparsed: Unparsed::default(),
            unfinished: 0,
            unkept: 0,
        }
    }

    fn line(&mut self, number: u64, line: &[u8]) {
        if line.starts_with(b"----------- ") {
            // Where another thread's tree begins, and ends, in the middle of this one.
            if memmem::find(line, b" start ").is_some() && self.stacks.len() < MOST_THREADS {
                self.stacks.push(Vec::new());
            } else if memmem::find(line, b" end ").is_some() && self.stacks.len() > 1 {
                self.end(0);
                self.stacks.pop();
            }
        } else if self.call(line).is_none() && !line.trim_ascii().is_empty() {
            self.unparsed.add(number);
        }
    }

    fn call(&mut self, line: &[u8]) -> Option<()> {
        let (mut entry_us, mut duration_us, mut pid) = (None, None, None);
        let mut at = 0;
        for column in &self.columns {
            let start = at + line.get(at..)?.iter().position(|byte| *byte != b' ')?;
            let length = line[start..].iter().position(|byte| *byte == b' ')?;
            let value = &line[start..start + length];
            match column {
                Column::Entry => entry_us = Some(number(value)?),
                Column::Duration => duration_us = Some(number(value)?),
                Column::Local => {
                    number(value)?;
                }
                Column::Pid => pid = Some(String::from_utf8_lossy(value).into_owned()),
            }
            at = start + length + 1;
        }
        let mut trace = line.get(at..)?;
        let mut depth = 0;
        while let [bar, b' ', b' ', rest @ ..] = trace {
            if !THREADS.contains(bar) {
                break;
            }
            depth += 1;
            trace = rest;
        }
        let name = words(trace).next()?;
        self.end(depth);
        self.push(name, entry_us, duration_us, pid);
        Some(())
    }

    fn push(&mut self, name: &[u8], entry_us: Option<i64>, duration_us: Option<i64>, pid: Option<String>) {
        let function = self.symbols.number(name);
        let Some(stack) = self.stacks.last_mut() else { return };
        let lasted_us = duration_us.filter(|duration| *duration >= 0);
        let parent = match stack.last_mut() {
            Some(caller) => {
                caller.children_us = caller.children_us.saturating_add(lasted_us.unwrap_or(0));
                caller.node
            }
            None => {
                let task = pid.as_ref().map_or_else(|| "[task]".to_owned(), |pid| format!("[task {pid}]"));
                let task = self.symbols.number(task.as_bytes());
                let node = self.tree.child(ROOT, task, Kind::Task);
                self.tree.enter(node);
                node
            }
        };
        let node = self.tree.child(parent, function, Kind::Function);
        self.tree.enter(node);
        let mut place = None;
        if let Some(entry_us) = entry_us {
            if self.evidence.spans.len() < MOST_SPANS {
                let (name, module) = self.symbols.name(function);
                let mut span = Span::new(SpanKind::Function, name);
                span.parent = stack.last().and_then(|caller| caller.span);
                if let Some(pid) = pid {
                    span.track = Name::Owned(format!("task {pid}"));
                }
                let start_ns = entry_us.saturating_mul(1000);
                span = match lasted_us {
                    Some(length) => span.between(start_ns, start_ns.saturating_add(length.saturating_mul(1000))),
                    None => {
                        span.start_ns = Some(start_ns);
                        span.graded(Grade::Unknown, ReasonCode::EndMissingInLog)
                    }
                };
                if let Some(module) = module {
                    span = span.with("module", module);
                }
                place = Some(self.evidence.spans.len());
                self.evidence.spans.push(span);
            } else {
                self.unkept += 1;
            }
        }
        self.unfinished += u64::from(duration_us.is_some_and(|duration| duration < 0));
        stack.push(Open { node, duration_us: lasted_us, children_us: 0, span: place });
        self.evidence.understood += 1;
    }

    // Ends what is open from a depth on.
    fn end(&mut self, depth: usize) {
        let Some(stack) = self.stacks.last_mut() else { return };
        while stack.len() > depth {
            let Some(open) = stack.pop() else { return };
            // Of a call without an end only what it called is known.
            let own_us = open.duration_us.map_or(0, |duration| duration.saturating_sub(open.children_us));
            self.tree.charge(open.node, own_us.saturating_mul(1000));
        }
    }

    fn finish(mut self) -> Evidence {
        while !self.stacks.is_empty() {
            self.end(0);
            self.stacks.pop();
        }
        let mut evidence = self.evidence;
        self.unparsed.report("line[|s] [is not a call|are not calls]", &mut evidence);
        if self.unfinished > 0 {
            let detail =
                counted(self.unfinished, "# call[|s] [has|have] no end: only what [it|they] called is in the tree");
            evidence.problem(ProblemKind::Unfinished, None, detail);
        }
        if !self.columns.contains(&Column::Duration) {
            evidence.problem(ProblemKind::Untimed, None, "the tree has no column Duration: only calls are counted");
        }
        if self.unkept > 0 {
            let detail =
                counted(self.unkept, &format!("# call[|s] beyond the first {MOST_SPANS} [is|are] in the tree only"));
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
        evidence.calls = Some(self.tree.into_calls(&self.symbols));
        evidence
    }
}
