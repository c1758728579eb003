//! System calls among the events of a tracer: their begin and end, by task.

use super::event_line::field;
use super::traced_calls::{TracedCall, TracedCalls};
use crate::evidence::{Evidence, Grade};
use firstlight_isa::system_calls::{name_of, CallTable};
use firstlight_schema::{Reason, ReasonCode};
use rustc_hash::FxHashMap;

/// Calls without an end that are remembered.
const MOST_OPEN: usize = 100_000;

/// Puts begin and end of each call together.
#[derive(Debug, Default)]
pub(super) struct EventCalls {
    /// Whose numbers `raw_syscalls` means, where the record says so.
    pub(super) table: Option<CallTable>,
    calls: TracedCalls,
    open: FxHashMap<u32, Open>,
    /// The process of each thread that is not its first, where the record names it.
    threads: FxHashMap<u32, u32>,
}

#[derive(Debug)]
struct Open {
    name: String,
    start_ns: Option<i64>,
    path: Option<String>,
}

/// What an event says of a call.
enum Side {
    Begin(String),
    End(String, Option<i64>),
}

impl EventCalls {
    /// Takes an event; returns whether it is of a system call.
    pub(super) fn take(
        &mut self,
        (name, fields): (&str, &[u8]),
        task: u32,
        time_ns: Option<i64>,
        step_ns: i64,
    ) -> bool {
        let text = String::from_utf8_lossy(fields);
        match self.side(name, &text) {
            Some(Side::Begin(name)) => {
                let open = Open { name, start_ns: time_ns, path: quoted(&text) };
                if self.open.len() < MOST_OPEN || self.open.contains_key(&task) {
                    if let Some(left) = self.open.insert(task, open) {
                        self.unended(task, left);
                    }
                }
                true
            }
            Some(Side::End(name, result)) => {
                let open = self.open.remove(&task);
                let known = open.filter(|open| open.name == name);
                let (start_ns, path) = known.map_or((None, None), |open| (open.start_ns, open.path));
                let call = TracedCall {
                    name,
                    task: Some(task),
                    process: Some(self.process_of(task)),
                    start_ns,
                    end_ns: time_ns,
                    path,
                    result,
                    error: None,
                };
                match (start_ns, time_ns) {
                    (Some(start), Some(end)) if end.saturating_sub(start) >= step_ns.saturating_mul(100) => {
                        self.calls.push(call, Grade::Exact, ReasonCode::TracerBothEnds);
                    }
                    (Some(_), Some(_)) => {
                        let reason = Reason::of(ReasonCode::TracerStep).with("us", step_ns.max(1000) / 1000);
                        self.calls.push(call, Grade::Coarse, reason);
                    }
                    (None, Some(_)) => self.calls.push(call, Grade::Unknown, ReasonCode::StartMissingInTrace),
                    _ => self.calls.push(call, Grade::Unknown, ReasonCode::StampsNoTimes),
                }
                true
            }
            None => false,
        }
    }

    fn side(&self, name: &str, text: &str) -> Option<Side> {
        let number = || match text.strip_prefix("NR ") {
            Some(printed) => printed.split([' ', '(']).next()?.parse::<u64>().ok(),
            None => value(text, "id")?.parse().ok(),
        };
        let named = |number| match self.table.and_then(|table| name_of(table, number)) {
            Some(name) => name.to_owned(),
            None => format!("syscall_{number}"),
        };
        match name.strip_prefix("sys_")? {
            "enter" => Some(Side::Begin(named(number()?))),
            "exit" => {
                let returned = text.rsplit_once(" = ").map_or(text, |(_, returned)| returned);
                Some(Side::End(named(number()?), result(returned)))
            }
            rest => match rest.split_once('_')? {
                ("enter", call) => Some(Side::Begin(call.to_owned())),
                ("exit", call) => Some(Side::End(call.to_owned(), result(text))),
                _ => None,
            },
        }
    }

    /// A task belongs to a process: it is a thread of it, or the process itself.
    pub(super) fn belongs(&mut self, task: u32, process: u32) {
        if task == process {
            self.threads.remove(&task);
        } else if self.threads.len() < MOST_OPEN {
            self.threads.insert(task, process);
        }
    }

    /// The process that a task is known to be a thread of, else the task itself.
    pub(super) fn process_of(&self, task: u32) -> u32 {
        self.threads.get(&task).copied().unwrap_or(task)
    }

    fn unended(&mut self, task: u32, open: Open) {
        let call = TracedCall {
            name: open.name,
            task: Some(task),
            process: Some(self.process_of(task)),
            start_ns: open.start_ns,
            path: open.path,
            ..TracedCall::default()
        };
        self.calls.push(call, Grade::Unknown, ReasonCode::EndMissingInTrace);
    }

    /// Adds the calls as spans.
    pub(super) fn finish(mut self, evidence: &mut Evidence) {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(task, open)| (open.start_ns, *task));
        for (task, open) in open {
            self.unended(task, open);
        }
        self.calls.finish(evidence);
    }
}

/// The value of a field as a binary record has it: `__syscall_nr=257 ret=3`, `id=257 ret=3`.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    std::str::from_utf8(field(text.as_bytes(), key)?).ok()
}

/// `0x3`, `0xfffffffffffffffe`, `-2`, alone or as the field `ret`.
fn result(text: &str) -> Option<i64> {
    let text = value(text, "ret").or(text.strip_prefix("ret: ")).unwrap_or(text).trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
        None => text.parse().ok(),
    }
}

/// Newer kernels write the text behind a pointer: `filename: 0x7ffd00 "/etc/passwd"`.
fn quoted(text: &str) -> Option<String> {
    let (_, inside) = text.split_once(" \"")?;
    inside.split_once('"').map(|(path, _)| path.to_owned())
}

/// The text of a call as the tracer's own pages print it, as name and fields of an event: `sys_close(fd: 3)` and `sys_close -> 0x0`.
pub(super) fn of_text(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix("sys_")?;
    let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))?;
    let (call, rest) = rest.split_at(end);
    if call.is_empty() {
        return None;
    }
    match rest.strip_prefix('(') {
        Some(fields) => Some((format!("sys_enter_{call}"), fields.trim_end().strip_suffix(')').unwrap_or(fields))),
        None => Some((format!("sys_exit_{call}"), rest.strip_prefix(" -> ")?)),
    }
}
