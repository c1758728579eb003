//! The output of `perf script`: trace points, system calls, samples, and perf's own records of processes.

use super::events::{Event, Events};
use super::stamps::{Place, Stamps};
use super::text::Damage;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence};
use crate::format::{Format, Head, Input, Likelihood};
use crate::kernel_log::bytes::seconds;
use crate::lines::{Line, Lines};
use crate::FormatError;
use firstlight_isa::system_calls::CallTable;
use firstlight_schema::FormatName;

/// The reader.
pub struct PerfScript;

/// Events whose period is nanoseconds of a processor.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

impl Format for PerfScript {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::PerfScript, Traits::of(Origin::Ftrace)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut shaped, mut lines) = (0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').take(400) {
            if line.starts_with(b"# ========") || line.starts_with(b"# captured on") {
                return Likelihood::Certain;
            }
            if line.is_empty() || line.starts_with(b"#") || is_frame(line) {
                continue;
            }
            lines += 1;
            shaped += usize::from(parse(line).is_some());
        }
        Likelihood::of_shape(shaped, lines)
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut reader = Reader {
            evidence: Evidence { first_line: 1, ..Evidence::of(PerfScript.about(), Clock::Untimed) },
            events: Events::new(),
            stamps: Stamps::default(),
            damage: Damage::default(),
            samples: 0,
        };
        let mut lines = Lines::new(input.bytes);
        lines.each(|line| reader.line(line))?;
        self.of_lines(reader.finish(), &lines, "no event in it")
    }
}

/// `comm TID [CPU] TIME: PERIOD EVENT: TEXT`
struct PerfLine<'l> {
    comm: &'l str,
    task: u32,
    time_ns: i64,
    period: Option<i64>,
    /// Without the system in front.
    event: &'l str,
    text: &'l str,
}

struct Reader {
    evidence: Evidence,
    events: Events,
    stamps: Stamps,
    damage: Damage,
    samples: u64,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        if let Some(comment) = line.bytes.strip_prefix(b"#") {
            return self.header(&String::from_utf8_lossy(comment));
        }
        if line.bytes.is_empty() || is_frame(line.bytes) {
            return;
        }
        let Some(found) = parse(line.bytes) else {
            return self.damage.torn(line.number, line.bytes, self.evidence.understood);
        };
        self.evidence.understood += 1;
        if found.event.is_empty() {
            return self.own_record(line.number, &found);
        }
        self.stamp(line.number, found.time_ns);
        if let Some(period) = found.period.filter(|_| CLOCKS.contains(&found.event)) {
            self.events.sample(found.task, period);
        }
        if found.period.is_some() && !found.text.contains('=') {
            self.samples += 1;
            return;
        }
        let event = Event {
            line: line.number,
            time_ns: Some(found.time_ns),
            pid: found.task,
            name: found.event,
            fields: found.text.as_bytes(),
        };
        self.events.take(&event, &mut self.evidence);
    }

    fn stamp(&mut self, line: u64, time_ns: i64) {
        if let Place::First { .. } = self.stamps.next(line, time_ns) {
            self.evidence.clock = Clock::Trace("perf".to_owned());
            self.evidence.step_ns = 1_000;
            self.events.step_ns = 1_000;
        }
    }

    /// perf's own records (`--show-task-events`), as events of the scheduler. Those at 0 are of what was there before the record.
    fn own_record(&mut self, line: u64, found: &PerfLine<'_>) {
        let Some(record) = OwnRecord::of(found.text) else { return };
        let time_ns = Some(found.time_ns).filter(|time| *time > 0);
        if let Some(time_ns) = time_ns {
            self.stamp(line, time_ns);
        }
        let (name, fields) = match record {
            OwnRecord::Fork { process, task, parent } => {
                self.events.calls.belongs(task, process);
                let comm = found.comm;
                ("sched_process_fork", format!("pid={parent} child_comm={comm} child_pid={task}"))
            }
            OwnRecord::Named { name, task } => ("sched_process_exec", format!("filename={name} pid={task}")),
            // Its end may be a trace point of the record, too.
            OwnRecord::Exit { process, task } if process == task && self.events.is_alive(task) => {
                ("sched_process_exit", format!("pid={task}"))
            }
            OwnRecord::Exit { .. } => return,
        };
        let event = Event { line, time_ns, pid: found.task, name, fields: fields.as_bytes() };
        self.events.take(&event, &mut self.evidence);
    }

    fn header(&mut self, text: &str) {
        let Some((key, value)) = text.split_once(" : ") else { return };
        let value = value.trim().to_owned();
        match key.trim() {
            "arch" => self.events.calls.table = CallTable::of_machine(&value),
            "os release" => self.evidence.facts.push(("kernel.release".into(), value)),
            "cpudesc" => self.evidence.facts.push(("cpu.model".into(), value)),
            "perf version" => self.evidence.facts.push(("perf.version".into(), value)),
            _ => {}
        }
    }

    fn finish(self) -> Evidence {
        let mut evidence = self.evidence;
        self.damage.report("an event of perf", &mut evidence);
        self.stamps.report(&mut evidence);
        self.events.finish(&mut evidence);
        if self.samples > 0 {
            evidence.facts.push(("perf.samples".into(), self.samples.to_string()));
        }
        evidence
    }
}

/// A line of a call stack below a sample.
fn is_frame(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let address = text.split(|byte| *byte == b' ').next().unwrap_or_default();
    text.len() < line.len() && address.len() >= 4 && address.iter().all(u8::is_ascii_hexdigit) && text.ends_with(b")")
}

/// Splits a line: the first word that is a time with a colon divides it.
fn parse(line: &[u8]) -> Option<PerfLine<'_>> {
    let mut at = 0;
    let (time_ns, before, rest) = loop {
        let start = at + line.get(at..)?.iter().position(|byte| *byte != b' ')?;
        let end = start + memchr::memchr(b' ', line.get(start..)?)?;
        let word = line.get(start..end)?;
        match word.strip_suffix(b":").and_then(seconds).filter(|(_, after)| after.is_empty()) {
            Some((time, _)) if start > 0 => break (time, line.get(..start)?, line.get(end..)?),
            _ => at = end,
        }
    };
    let before = std::str::from_utf8(before).ok()?.trim_end();
    let before = match before.rsplit_once('[') {
        Some((task, cpu)) if cpu.strip_suffix(']').is_some_and(|cpu| cpu.bytes().all(|byte| byte.is_ascii_digit())) => {
            task.trim_end()
        }
        _ => before,
    };
    let number = before.rsplit(' ').next()?;
    let comm = before.strip_suffix(number)?.trim();
    let task = number.rsplit('/').next()?.parse().ok()?;
    let rest = std::str::from_utf8(rest).ok()?.trim();
    let (period, rest) = match rest.split_once(' ') {
        Some((first, after)) if first.bytes().all(|byte| byte.is_ascii_digit()) => {
            (first.parse().ok(), after.trim_start())
        }
        _ => (None, rest),
    };
    if rest.starts_with("PERF_RECORD_") {
        return Some(PerfLine { comm, task, time_ns, period: None, event: "", text: rest });
    }
    let (event, text) = match rest.find(": ") {
        Some(colon) => (rest.get(..colon)?, rest.get(colon + 2..)?.trim()),
        None => (rest.strip_suffix(':')?, ""),
    };
    let mut event = event.rsplit_once(':').map_or(event, |(system, event)| {
        // `cycles:ppp` has modifiers behind its name, `sched:sched_switch` the system in front.
        if event.bytes().all(|byte| b"ukhGHDpPSWIe".contains(&byte)) {
            system
        } else {
            event
        }
    });
    event = event.trim_end_matches(':');
    let good = !event.is_empty() && !event.contains(' ');
    good.then_some(PerfLine { comm, task, time_ns, period, event, text })
}

/// What perf itself records of tasks.
enum OwnRecord<'l> {
    /// `PERF_RECORD_FORK(311:312):(310:310)`
    Fork { process: u32, task: u32, parent: u32 },
    /// `PERF_RECORD_COMM exec: ls:310/310`
    Named { name: &'l str, task: u32 },
    /// `PERF_RECORD_EXIT(311:312):(310:310)`
    Exit { process: u32, task: u32 },
}

impl<'l> OwnRecord<'l> {
    fn of(text: &'l str) -> Option<Self> {
        let pair = |text: &str| {
            let (process, task) = text.trim_start_matches('(').split(')').next()?.split_once(':')?;
            Some((process.parse::<u32>().ok()?, task.parse::<u32>().ok()?))
        };
        if let Some(rest) = text.strip_prefix("PERF_RECORD_FORK") {
            let (child, parent) = rest.split_once("):")?;
            let (process, task) = pair(child)?;
            return Some(Self::Fork { process, task, parent: pair(parent)?.0 });
        }
        if let Some(rest) = text.strip_prefix("PERF_RECORD_EXIT") {
            let (process, task) = pair(rest)?;
            return Some(Self::Exit { process, task });
        }
        let (name, numbers) = text.strip_prefix("PERF_RECORD_COMM")?.rsplit_once(':')?;
        let name = name.trim().trim_start_matches("exec:").trim_start_matches(':').trim();
        let (process, task) = numbers.trim().split_once('/')?;
        // The name of a thread is not that of its process.
        (process == task).then_some(Self::Named { name, task: task.parse().ok()? })
    }
}
