//! `trace.dat` of trace-cmd, versions 6 and 7.

use super::dat_sections::{parts, Parts, MAGIC};
use super::event_format::EventFormat;
use super::events::{Event, Events};
use super::graph::{Graph, Task};
use super::ring_buffer::{Buffer, Record};
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Problem, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_isa::system_calls::CallTable;
use firstlight_schema::FormatName;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read;

/// What is read of a file: it has to lie in memory.
const MOST_BYTES: u64 = 2 << 30;

/// The reader.
pub struct TraceDat;

const TITLE: &str = FormatName::TraceDat.text();

impl Format for TraceDat {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::TraceDat, Traits { ends_outside_printing: true, ..Traits::of(Origin::Ftrace) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        Likelihood::of_signature(head.bytes.starts_with(MAGIC))
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = Vec::new();
        input.bytes.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let parts = parts(&bytes, TITLE)?;
        drop(bytes);
        let mut evidence = Reader::new(&parts).read(&parts);
        if !parts.missing.is_empty() {
            let detail = format!("not there, or not read: {}", parts.missing.join(", "));
            evidence.problem(ProblemKind::Cut, None, detail);
        }
        if evidence.understood == 0 && parts.formats.is_empty() {
            return Err(self.not_this("neither events nor their formats"));
        }
        Ok(vec![evidence])
    }
}

struct Reader {
    evidence: Evidence,
    events: Events,
    graph: Graph,
    formats: FxHashMap<u16, EventFormat>,
    symbols: Vec<(u64, String)>,
    commands: FxHashMap<u32, Vec<u8>>,
    timed: bool,
    unknown: u64,
    lost: u64,
    lost_places: u64,
    graphed: bool,
}

impl Reader {
    fn new(parts: &Parts) -> Self {
        // What counts or turns a processor's ticks gives no nanoseconds.
        let timed = !matches!(parts.clock.as_str(), "counter" | "x86-tsc" | "uptime");
        let clock = if timed { Clock::Trace(parts.clock.clone()) } else { Clock::Untimed };
        let mut evidence = Evidence::of(TraceDat.about(), clock);
        evidence.step_ns = i64::from(timed);
        let formats = parts.formats.iter().filter_map(|text| EventFormat::parse(text));
        let mut events = Events::new();
        events.step_ns = 1;
        let mut graph = Graph::new();
        graph.timed = timed;
        Self {
            evidence,
            events,
            graph,
            formats: formats.map(|format| (format.id, format)).collect(),
            symbols: symbols(&parts.kallsyms),
            commands: commands(&parts.commands),
            timed,
            unknown: 0,
            lost: 0,
            lost_places: 0,
            graphed: false,
        }
    }

    fn read(mut self, parts: &Parts) -> Evidence {
        self.facts(parts);
        // The processors' records in the order of their times.
        let mut buffers: Vec<(u32, Buffer<'_>)> =
            parts.buffers.iter().map(|(cpu, pages)| (*cpu, Buffer::new(parts.machine, pages))).collect();
        let mut heads: Vec<Option<Record<'_>>> = buffers.iter_mut().map(|(_, buffer)| buffer.next()).collect();
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> =
            heads.iter().enumerate().filter_map(|(place, head)| Some(Reverse((head.as_ref()?.time, place)))).collect();
        while let Some(Reverse((_, place))) = heap.pop() {
            let next = buffers[place].1.next();
            heap.extend(next.as_ref().map(|next| Reverse((next.time, place))));
            if let Some(record) = std::mem::replace(&mut heads[place], next) {
                self.record(parts, buffers[place].0, record);
            }
        }
        self.finish()
    }

    fn facts(&mut self, parts: &Parts) {
        let mut fact = |name: &'static str, value: String| self.evidence.facts.push((name.into(), value));
        fact("trace.version", parts.version.to_string());
        if !parts.clock.is_empty() {
            fact("trace.clock", parts.clock.clone());
        }
        if let Some(system) = &parts.system {
            fact("trace.system", system.clone());
            self.events.calls.table = system.split_ascii_whitespace().find_map(CallTable::of_machine);
        }
        for stats in &parts.stats {
            let figure = |key: &str| {
                let line = stats.lines().find_map(|line| line.strip_prefix(key));
                line.and_then(|value| value.trim().parse::<u64>().ok()).filter(|lost| *lost > 0)
            };
            let cpu = stats.lines().next().unwrap_or_default().trim();
            for (key, kind, what) in [
                ("overrun:", ProblemKind::LostHead, "[was|were] overwritten"),
                ("dropped events:", ProblemKind::LostTail, "found no place"),
            ] {
                if let Some(lost) = figure(key) {
                    let detail = format!("{cpu}: {}", counted(lost, &format!("# record[|s] {what}")));
                    self.evidence.problems.push(Problem { kind, detail, line: None, lost: Some(lost) });
                }
            }
        }
    }

    fn symbol(&self, address: u64, offset: bool) -> String {
        let after = self.symbols.partition_point(|(start, _)| *start <= address);
        match after.checked_sub(1).and_then(|place| self.symbols.get(place)) {
            Some((start, name)) if address - start < 1 << 20 => match address - start {
                0 => name.clone(),
                _ if !offset => name.clone(),
                distance => format!("{name}+{distance:#x}"),
            },
            _ => format!("{address:#x}"),
        }
    }

    fn record(&mut self, parts: &Parts, cpu: u32, record: Record<'_>) {
        let machine = parts.machine;
        if let Some(lost) = record.lost {
            self.lost = self.lost.saturating_add(lost);
            self.lost_places += 1;
            self.events.lost();
            self.graph.lost(cpu);
        }
        let id = machine.number(record.data, 0, 2).unwrap_or(0) as u16;
        let Some(format) = self.formats.get(&id) else {
            self.unknown += 1;
            return;
        };
        self.evidence.understood += 1;
        let pid = format.number(machine, record.data, "common_pid").unwrap_or(0) as u32;
        let time_ns = i64::try_from(record.time).ok().filter(|_| self.timed);
        let number = |name: &str| format.number(machine, record.data, name);
        let comm = self.commands.get(&pid).map_or(&b"<...>"[..], Vec::as_slice);
        self.graph.line = self.evidence.understood;
        match format.name.as_str() {
            "funcgraph_entry" | "funcgraph_exit" => {
                let (Some(func), Some(depth)) = (number("func"), number("depth")) else { return };
                let name = self.symbol(func, false);
                let depth = (depth & 0xffff) as u32;
                self.graphed = true;
                let Some(place) = self.graph.stack(cpu, Task::Pid(pid), comm, time_ns) else { return };
                if format.name == "funcgraph_entry" {
                    self.graph.open(place, depth, name.as_bytes(), time_ns);
                } else {
                    let taken = number("rettime").zip(number("calltime"));
                    let taken = taken.and_then(|(end, start)| i64::try_from(end.checked_sub(start)?).ok());
                    self.graph.close(place, depth, Some(name.as_bytes()), time_ns, taken);
                }
            }
            "function" => {
                let (Some(ip), Some(parent)) = (number("ip"), number("parent_ip")) else { return };
                let (function, caller) = (self.symbol(ip, false), self.symbol(parent, false));
                self.events.call(time_ns, comm, function.as_bytes(), caller.as_bytes());
            }
            _ => {
                let fields = format.text(machine, record.data, |address| self.symbol(address, true));
                let event = Event {
                    line: self.evidence.understood,
                    time_ns,
                    pid,
                    name: &format.name,
                    fields: fields.as_bytes(),
                };
                // The format stays with the reader while the event is taken.
                self.events.take(&event, &mut self.evidence);
            }
        }
    }

    fn finish(self) -> Evidence {
        let mut evidence = self.evidence;
        if self.lost_places > 0 {
            let detail = format!("the tracer lost records at {} places", self.lost_places);
            let lost = (self.lost > 0).then_some(self.lost);
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: None, lost });
        }
        if self.unknown > 0 {
            evidence.not_understood = self.unknown;
            let detail = counted(self.unknown, "# record[|s] [is|are] of events without a format in the file");
            evidence.problem(ProblemKind::Unrecognised, None, detail);
        }
        if !self.timed {
            evidence.problem(ProblemKind::Untimed, None, "the stamps of this clock are not nanoseconds");
        }
        self.events.finish(&mut evidence);
        if self.graphed {
            self.graph.finish_beside(TraceDat.about(), &mut evidence);
        }
        evidence
    }
}

/// `address type name [module]`, by address.
fn symbols(text: &[u8]) -> Vec<(u64, String)> {
    let text = String::from_utf8_lossy(text);
    let mut symbols: Vec<(u64, String)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address > 0)?;
            let code = words.next()?.eq_ignore_ascii_case("t") || line.contains(" W ") || line.contains(" w ");
            let name = words.next()?;
            let name = words.next().map_or_else(|| name.to_owned(), |module| format!("{name} {module}"));
            code.then_some((address, name))
        })
        .collect();
    symbols.sort_by_key(|(address, _)| *address);
    symbols.dedup_by_key(|(address, _)| *address);
    symbols
}

/// `pid comm`
fn commands(text: &[u8]) -> FxHashMap<u32, Vec<u8>> {
    let text = String::from_utf8_lossy(text);
    let line = |line: &str| {
        let (pid, comm) = line.trim().split_once(' ')?;
        Some((pid.parse().ok()?, comm.as_bytes().to_vec()))
    };
    text.lines().filter_map(line).collect()
}
