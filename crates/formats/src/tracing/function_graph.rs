//! The text of the kernel's function graph tracer (`trace`, `trace_pipe`), with every option.

use super::graph::{Graph, Task};
use super::graph_line::{digits, parse, trim, Body, Columns, GraphLine};
use super::graph_places::Places;
use super::stamps::Place;
use super::text::{self, lost_events, overwritten, Begun, Text};
use crate::about::{About, Origin, Role, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Line;
use crate::FormatError;
use firstlight_schema::FormatName;
use memchr::memmem;

/// Events that are kept as lines.
const MOST_EVENTS: usize = 100_000;

/// The reader.
pub struct FunctionGraph;

impl Format for FunctionGraph {
    fn about(&self) -> &'static About {
        const {
            &About::of(
                FormatName::FunctionGraph,
                Traits { role: Some(Role::FunctionGraph), ..Traits::of(Origin::Ftrace) },
            )
        }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        if memmem::find(head.bytes, b"# tracer: function_graph").is_some() {
            return Likelihood::Certain;
        }
        let (mut shaped, mut lines) = (0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').take(200).filter(|line| !line.is_empty()) {
            lines += 1;
            // Without a header only a line with a bar can be distinguished from source code.
            let found = memchr::memchr(b'|', line).and_then(|_| parse(line, Columns::default()));
            let is = |found: &GraphLine<'_>| {
                found.task.is_some() || found.cpu.is_some() || found.duration_ns.is_some() || found.time_ns.is_some()
            };
            shaped += usize::from(found.is_some_and(|found| found.body != Body::Torn && is(&found)));
        }
        match shaped {
            3.. if shaped * 2 > lines => Likelihood::Likely,
            1.. if shaped * 3 > lines => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        text::read::<Reader>(self, input, "no line of functions")
    }
}

struct Reader {
    begun: Begun,
    graph: Graph,
    columns: Columns,
    places: Places,
    /// What the record says runs on a processor: by its banner where there is no column of tasks.
    running: Vec<Option<(Vec<u8>, u32)>>,
    unkept: u64,
    durations: bool,
}

impl Text for Reader {
    fn new(begun: Begun) -> Self {
        Self {
            begun,
            graph: Graph::new(),
            columns: Columns::default(),
            places: Places::default(),
            running: Vec::new(),
            unkept: 0,
            durations: false,
        }
    }

    #[inline]
    fn line(&mut self, line: Line<'_>) {
        self.graph.line = line.number;
        match line.bytes {
            [] => {}
            [b'#', rest @ ..] => self.header(line.number, rest),
            bytes => {
                if let Some(found) = self.places.split(bytes).filter(|found| found.body != Body::Torn) {
                    self.begun.evidence.understood += 1;
                    return self.found(line.number, &found);
                }
                match parse(bytes, self.columns) {
                    Some(found) if found.body != Body::Torn => {
                        if found.time_ns.is_some() && found.task.is_some() {
                            self.places = Places::of(bytes).unwrap_or_default();
                        }
                        self.begun.evidence.understood += 1;
                        self.found(line.number, &found);
                    }
                    _ => self.other(line),
                }
            }
        }
    }

    fn begun(&self) -> &Begun {
        &self.begun
    }

    fn finish(self) -> Evidence {
        let Begun { mut evidence, stamps, damage } = self.begun;
        damage.report("a function graph", &mut evidence);
        if self.unkept > 0 {
            let detail =
                counted(self.unkept, &format!("# event[|s] beyond the first {MOST_EVENTS} [is|are] not in the log"));
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
        stamps.report(&mut evidence);
        if !self.durations && evidence.understood > 0 && !self.graph.timed {
            evidence.problem(ProblemKind::Untimed, None, "no line has a duration: only calls are counted");
        }
        self.graph.finish(&mut evidence);
        evidence
    }
}

impl Reader {
    #[inline]
    fn found(&mut self, number: u64, line: &GraphLine<'_>) {
        let cpu = line.cpu.unwrap_or(0);
        if let Some(time_ns) = line.time_ns {
            if let Place::First { another_boot } = self.begun.stamps.next(number, time_ns) {
                self.first_stamp(another_boot);
            }
        }
        if let Body::Switch(comm, pid) = line.body {
            return self.switch(cpu, comm, pid);
        }
        let (comm, task) = match line.task {
            Some((comm, pid)) => (comm, Task::Pid(pid)),
            None => match self.running.get(cpu as usize) {
                Some(Some((comm, pid))) => (comm.as_slice(), Task::Pid(*pid)),
                _ => (&b""[..], Task::Unknown),
            },
        };
        let Some(place) = self.graph.stack(cpu, task, comm, line.time_ns) else { return };
        self.durations |= line.duration_ns.is_some();
        match line.body {
            Body::InterruptEntry => self.graph.interrupt(place),
            Body::Comment(text) => self.event(number, line.time_ns, text),
            _ => self.graph.line_of_calls(place, line),
        }
    }

    #[cold]
    fn first_stamp(&mut self, another_boot: bool) {
        self.graph.timed = true;
        self.begun.evidence.clock = Clock::Trace(String::new());
        self.begun.evidence.step_ns = 1000;
        self.begun.evidence.boot += u32::from(another_boot);
    }

    fn event(&mut self, number: u64, time_ns: Option<i64>, text: &[u8]) {
        if let Some(level) = text.strip_prefix(b"initcall_level: level=") {
            self.graph.level(&String::from_utf8_lossy(trim(level)));
        }
        if self.begun.evidence.log.len() >= MOST_EVENTS {
            self.unkept += 1;
            return;
        }
        self.begun.evidence.log.push(Stamp { line: number, time_ns, ..Stamp::default() }, text);
    }

    fn switch(&mut self, cpu: u32, comm: &[u8], pid: u32) {
        let place = cpu as usize;
        if place >= self.running.len() {
            if place >= 1 << 13 {
                return;
            }
            self.running.resize(place + 1, None);
        }
        self.running[place] = Some((comm.to_owned(), pid));
    }

    #[cold]
    fn header(&mut self, number: u64, text: &[u8]) {
        let text = trim(text);
        if let Some(tracer) = text.strip_prefix(b"tracer:") {
            let tracer = String::from_utf8_lossy(trim(tracer)).into_owned();
            self.begun.evidence.facts.push(("trace.tracer".into(), tracer));
        } else if memmem::find(text, b"FUNCTION CALLS").is_some() {
            self.columns.relative = memmem::find(text, b"REL TIME").is_some();
            let words = String::from_utf8_lossy(text);
            let words: Vec<&str> = words.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
            self.begun.evidence.facts.push(("trace.columns".into(), words.join(", ")));
        } else if text.starts_with(b"####") || memmem::find(text, b" buffer started ###").is_some() {
            if let Some(cpu) = memmem::find(text, b"CPU ").and_then(|at| Some(digits(text, at + 4)?.0)) {
                self.graph.lost(u32::try_from(cpu).unwrap_or(u32::MAX));
            }
        } else if let Some(rest) = text.strip_prefix(b"entries-in-buffer/entries-written:") {
            if let Some(problem) = overwritten(rest, number) {
                self.begun.evidence.problems.push(problem);
            }
        }
    }

    #[cold]
    fn other(&mut self, line: Line<'_>) {
        let text = trim(line.bytes);
        if text.iter().all(|&byte| byte == b'-') {
            return;
        }
        if let Some((cpu, lost)) = lost_events(text) {
            self.graph.lost(cpu);
            self.begun.lost(line.number, lost);
            return;
        }
        self.begun.torn(line.number, text);
    }
}
