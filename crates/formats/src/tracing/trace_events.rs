//! Event text of the kernel's tracer, of its function tracer, and of `trace-cmd report`.

use super::event_calls::of_text;
use super::event_line::{parse, Stamp};
use super::events::{Event, Events};
use super::graph::{Graph, Task};
use super::graph_line::{self, trim, Columns, GraphLine};
use super::stamps::Place;
use super::text::{self, lost_events, overwritten, Begun, Text};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Line;
use crate::FormatError;
use firstlight_schema::FormatName;
use memchr::memmem;

/// The reader.
pub struct TraceEvents;

impl Format for TraceEvents {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::TraceEvents, Traits { ends_outside_printing: true, ..Traits::of(Origin::Ftrace) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut shaped, mut lines) = (0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').take(200) {
            if let Some(tracer) = line.strip_prefix(b"# tracer:") {
                let graph = trim(tracer).starts_with(b"function_graph");
                return if graph { Likelihood::No } else { Likelihood::Certain };
            }
            lines += usize::from(!line.is_empty() && !line.starts_with(b"#"));
            shaped += usize::from(parse(line).is_some());
        }
        Likelihood::of_shape(shaped, lines)
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        text::read::<Reader>(self, input, "no event in it")
    }
}

struct Reader {
    begun: Begun,
    events: Events,
    graph: Graph,
    graphed: bool,
    counted: bool,
}

impl Text for Reader {
    fn new(begun: Begun) -> Self {
        Self { begun, events: Events::new(), graph: Graph::new(), graphed: false, counted: false }
    }

    fn line(&mut self, line: Line<'_>) {
        let bytes = line.bytes;
        if let Some(comment) = bytes.strip_prefix(b"#") {
            return self.header(line.number, trim(comment));
        }
        if bytes.is_empty() || bytes.starts_with(b"cpus=") || bytes.starts_with(b"version = ") {
            return;
        }
        if let Some((cpu, lost)) = lost_events(trim(bytes)) {
            self.begun.lost(line.number, lost);
            self.events.lost();
            return self.graph.lost(cpu);
        }
        let Some(found) = parse(bytes) else {
            return self.begun.torn(line.number, bytes);
        };
        self.begun.evidence.understood += 1;
        let time_ns = match found.stamp {
            Stamp::Time(time_ns, step_ns) => {
                self.stamp(line.number, time_ns, step_ns);
                Some(time_ns)
            }
            Stamp::Count(_) => {
                self.counted = true;
                None
            }
        };
        let text = String::from_utf8_lossy(found.text);
        if let Some((function, caller)) = text.split_once(" <-") {
            if !function.contains(": ") && !function.contains(' ') {
                return self.events.call(time_ns, found.comm, function.as_bytes(), trim(caller.as_bytes()));
            }
        }
        if let Some((name, fields)) = of_text(&text) {
            let event = Event { line: line.number, time_ns, pid: found.pid, name: &name, fields: fields.as_bytes() };
            return self.events.take(&event, &mut self.begun.evidence);
        }
        let (name, fields) = match text.split_once(':') {
            Some((name, fields)) if !name.contains(' ') => (name, fields.trim()),
            // `trace_printk` and markers of kernels that print no name.
            _ => ("print", &*text),
        };
        if matches!(name, "funcgraph_entry" | "funcgraph_exit") {
            let rest = &found.text[memchr::memchr(b':', found.text).map_or(0, |colon| colon + 1)..];
            return self.function(line.number, (found.cpu, found.pid, found.comm), time_ns, rest);
        }
        let event = Event { line: line.number, time_ns, pid: found.pid, name, fields: fields.as_bytes() };
        self.events.take(&event, &mut self.begun.evidence);
    }

    fn begun(&self) -> &Begun {
        &self.begun
    }

    fn finish(self) -> Evidence {
        let Begun { mut evidence, stamps, damage } = self.begun;
        damage.report("an event", &mut evidence);
        if self.counted {
            let detail = "the stamps are counts (trace_clock counter): they give an order, no times";
            evidence.problem(ProblemKind::Untimed, None, detail);
        }
        stamps.report(&mut evidence);
        self.events.finish(&mut evidence);
        if self.graphed {
            self.graph.finish_beside(TraceEvents.about(), &mut evidence);
        }
        evidence
    }
}

impl Reader {
    // `trace-cmd report` shows a function graph as events.
    fn function(&mut self, number: u64, (cpu, pid, comm): (u32, u32, &[u8]), time_ns: Option<i64>, text: &[u8]) {
        let Some(found) = graph_line::parse(text, Columns::default()) else { return };
        self.graph.line = number;
        self.graph.timed = time_ns.is_some();
        self.graphed = true;
        let Some(place) = self.graph.stack(cpu, Task::Pid(pid), comm, time_ns) else { return };
        self.graph.line_of_calls(place, &GraphLine { time_ns, ..found });
    }

    fn stamp(&mut self, line: u64, time_ns: i64, step_ns: i64) {
        if let Place::First { another_boot } = self.begun.stamps.next(line, time_ns) {
            self.begun.evidence.clock = Clock::Trace(String::new());
            self.begun.evidence.step_ns = step_ns;
            self.events.step_ns = step_ns;
            self.begun.evidence.boot += u32::from(another_boot);
        }
    }

    fn header(&mut self, number: u64, text: &[u8]) {
        if let Some(tracer) = text.strip_prefix(b"tracer:") {
            let tracer = String::from_utf8_lossy(trim(tracer)).into_owned();
            self.begun.evidence.facts.push(("trace.tracer".into(), tracer));
        } else if let Some(rest) = text.strip_prefix(b"entries-in-buffer/entries-written:") {
            self.begun.evidence.problems.extend(overwritten(rest, number));
        } else if memmem::find(text, b" buffer started ###").is_some() {
            self.begun.damage.lost(number, 0);
        }
    }
}
