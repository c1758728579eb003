//! Processes as samples show them: their life is known to the distance of two samples.

use super::ticks::TICK_NS;
use crate::evidence::{Evidence, Grade, Span, SpanKind};
use crate::names::one_line;
use firstlight_schema::ReasonCode;
use std::collections::HashMap;

/// Follows processes through the samples.
#[derive(Debug, Default)]
pub struct Processes {
    all: Vec<Process>,
    /// The latest process of a number: numbers come again.
    by_pid: HashMap<u32, usize>,
    last_block: Option<i64>,
    tasks: bool,
}

#[derive(Debug)]
struct Process {
    pid: u32,
    parent: u32,
    name: String,
    names: Vec<String>,
    start_ns: i64,
    last_ns: i64,
    user_ns: i64,
    system_ns: i64,
    io_ns: i64,
    swap_ns: i64,
}

/// One line of `/proc/PID/stat`.
#[derive(Debug)]
pub struct Status<'a> {
    pid: u32,
    parent: u32,
    name: &'a str,
    user: i64,
    system: i64,
    start: i64,
}

/// One line of `taskstats.log`.
#[derive(Debug)]
pub struct Task<'a> {
    pid: u32,
    parent: u32,
    name: &'a str,
    cpu: i64,
    io: i64,
    swap: i64,
}

/// More names of one process than this are not kept.
const MOST_NAMES: usize = 8;

impl Processes {
    /// Takes a line of `proc_ps.log` apart: the name stands in parentheses, and may hold blanks and parentheses.
    pub fn status(line: &str) -> Option<Status<'_>> {
        let (pid, rest) = line.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| words.get(index)?.parse::<i64>().ok().filter(|value| *value >= 0);
        Some(Status {
            pid: pid.trim().parse().ok()?,
            parent: words.get(1)?.parse().ok()?,
            name,
            user: number(11)?,
            system: number(12)?,
            start: number(19)?,
        })
    }

    /// Takes a line of `taskstats.log` apart: the name may hold blanks.
    pub fn task(line: &str) -> Option<Task<'_>> {
        let (rest, swap) = line.rsplit_once(' ')?;
        let (rest, io) = rest.rsplit_once(' ')?;
        let (rest, cpu) = rest.rsplit_once(' ')?;
        let (pid, rest) = rest.split_once(' ')?;
        let (parent, name) = rest.split_once(' ')?;
        let name = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name);
        Some(Task {
            pid: pid.parse().ok()?,
            parent: parent.parse().ok()?,
            name: Some(name).filter(|name| !name.is_empty())?,
            cpu: cpu.parse().ok().filter(|value| *value >= 0)?,
            io: io.parse().ok()?,
            swap: swap.parse().ok()?,
        })
    }

    /// Takes a sample of a process.
    pub fn add_status(&mut self, line: &str, time_ns: i64) -> bool {
        let Some(status) = Self::status(line) else { return false };
        let start_ns = status.start.saturating_mul(TICK_NS).min(time_ns);
        let known = self.by_pid.get(&status.pid).copied();
        let known = known.filter(|at| self.all.get(*at).is_some_and(|process| process.start_ns == start_ns));
        let at = known.unwrap_or_else(|| self.push(status.pid, status.parent, status.name, start_ns));
        if let Some(process) = self.all.get_mut(at) {
            process.user_ns = status.user.saturating_mul(TICK_NS);
            process.system_ns = status.system.saturating_mul(TICK_NS);
            process.seen(status.name, status.parent, time_ns);
        }
        true
    }

    /// Takes what a task has used; only tasks that ran since the sample before are there.
    pub fn add_task(&mut self, line: &str, time_ns: i64) -> bool {
        let Some(task) = Self::task(line) else { return false };
        self.tasks = true;
        let known = self.by_pid.get(&task.pid).copied();
        // Less time used than before: another process with the number.
        let known = known.filter(|at| self.all.get(*at).is_some_and(|process| process.user_ns <= task.cpu));
        let at = known.unwrap_or_else(|| self.push(task.pid, task.parent, task.name, time_ns));
        if let Some(process) = self.all.get_mut(at) {
            (process.user_ns, process.io_ns, process.swap_ns) = (task.cpu, task.io, task.swap);
            process.seen(task.name, task.parent, time_ns);
        }
        true
    }

    fn push(&mut self, pid: u32, parent: u32, name: &str, start_ns: i64) -> usize {
        let at = self.all.len();
        self.by_pid.insert(pid, at);
        self.all.push(Process {
            pid,
            parent,
            name: name.to_owned(),
            names: Vec::new(),
            start_ns,
            last_ns: start_ns,
            user_ns: 0,
            system_ns: 0,
            io_ns: 0,
            swap_ns: 0,
        });
        at
    }

    /// A sample of all is complete.
    pub fn end_block(&mut self, time_ns: i64) {
        self.last_block = self.last_block.max(Some(time_ns));
    }

    /// Adds the spans.
    pub fn finish(self, evidence: &mut Evidence) {
        for process in self.all {
            let span =
                Span::new(SpanKind::Process, one_line(&process.name, "<unknown>")).with("pid", process.pid.to_string());
            let mut span = span.with("parent_pid", process.parent.to_string());
            span.track = format!("process {}", process.pid).into();
            let used: &[(&'static str, i64)] = if self.tasks {
                &[("cpu_ns", process.user_ns), ("block_wait_ns", process.io_ns), ("swap_wait_ns", process.swap_ns)]
            } else {
                &[("cpu_user_ns", process.user_ns), ("cpu_system_ns", process.system_ns)]
            };
            for (key, value) in used.iter().filter(|(_, value)| *value > 0) {
                span = span.with(*key, value.to_string());
            }
            if !process.names.is_empty() {
                span = span.with("earlier_names", process.names.join(" "));
            }
            let still = Some(process.last_ns) == self.last_block;
            span = if self.tasks {
                span.between(process.start_ns, process.last_ns).graded(Grade::Bounded, ReasonCode::SampledRunning)
            } else if still {
                span.start_ns = Some(process.start_ns);
                span.graded(Grade::Unknown, ReasonCode::PresentInLastSample)
            } else {
                span.between(process.start_ns, process.last_ns).graded(Grade::Bounded, ReasonCode::EndedAfterLastSample)
            };
            evidence.spans.push(span);
        }
    }
}

impl Process {
    fn seen(&mut self, name: &str, parent: u32, time_ns: i64) {
        self.last_ns = self.last_ns.max(time_ns);
        self.parent = parent;
        if self.name != name {
            let before = std::mem::replace(&mut self.name, name.to_owned());
            if !self.names.contains(&before) && self.names.len() < MOST_NAMES {
                self.names.push(before);
            }
        }
    }
}
