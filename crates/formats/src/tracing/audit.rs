//! The log of the kernel's audit, as auditd and ausearch write it: system calls that a rule asked for, with their process.

use super::audit_record::{parse, text, Record};
use super::lives::Lives;
use super::text::Damage;
use super::traced_calls::{TracedCall, TracedCalls};
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Grade, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::{Line, Lines};
use crate::FormatError;
use firstlight_isa::system_calls::{name_of, CallTable};
use firstlight_schema::{FormatName, ReasonCode};
use std::collections::VecDeque;

/// The reader.
pub struct Audit;

/// Records of one event may lie between those of others.
const MOST_OPEN: usize = 64;
/// Lines that are kept at most.
const MOST_LINES: usize = 100_000;
/// `CLONE_THREAD` of linux/sched.h.
const CLONE_THREAD: u64 = 0x1_0000;

impl Format for Audit {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Audit, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let lines = head.bytes.split(|&byte| byte == b'\n').take(200);
        Likelihood::of_rows(lines.filter(|line| parse(line).is_some()).count())
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut reader = Reader {
            evidence: Evidence { first_line: 1, step_ns: 1_000_000, ..Evidence::of(Audit.about(), Clock::Realtime) },
            lives: Lives::default(),
            calls: TracedCalls::default(),
            open: VecDeque::new(),
            unkept: 0,
            damage: Damage::default(),
        };
        let mut lines = Lines::new(input.bytes);
        lines.each(|line| reader.line(line))?;
        self.of_lines(reader.finish(), &lines, "no audit record in it")
    }
}

/// A system call, from the records of one event.
#[derive(Default)]
struct Open {
    serial: u64,
    time_ns: Option<i64>,
    name: Option<String>,
    process: Option<u32>,
    parent: Option<u32>,
    comm: Option<String>,
    image: Option<String>,
    first: u64,
    result: Option<i64>,
    error: Option<String>,
    arguments: Vec<String>,
    directory: Option<String>,
    path: Option<String>,
}

struct Reader {
    evidence: Evidence,
    lives: Lives,
    calls: TracedCalls,
    open: VecDeque<Open>,
    unkept: u64,
    damage: Damage,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        // ausearch divides events by lines of dashes.
        if line.bytes.is_empty() || line.bytes.starts_with(b"----") {
            return;
        }
        let Some(record) = parse(line.bytes) else {
            return self.damage.torn(line.number, line.bytes, self.evidence.understood);
        };
        self.evidence.understood += 1;
        match record.kind {
            "SYSCALL" => {
                if self.open.len() >= MOST_OPEN {
                    self.end_first();
                }
                self.open.push_back(Open::of(&record));
            }
            "EXECVE" | "CWD" | "PATH" => {
                if let Some(open) = self.open.iter_mut().rev().find(|open| open.serial == record.serial) {
                    open.add(&record);
                }
            }
            "PROCTITLE" | "EOE" => {}
            _ => self.keep(&line, &record),
        }
    }

    fn keep(&mut self, line: &Line<'_>, record: &Record<'_>) {
        if self.evidence.log.len() >= MOST_LINES {
            self.unkept += 1;
            return;
        }
        let stamp = Stamp { line: line.number, time_ns: record.time_ns, ..Stamp::default() };
        self.evidence.log.push(stamp, &[b"audit: ", record.kind.as_bytes(), b": ", record.fields].concat());
    }

    fn end_first(&mut self) {
        let Some(open) = self.open.pop_front() else { return };
        let (Some(name), Some(process)) = (open.name, open.process) else { return };
        self.lives.seen(process, open.time_ns);
        if let Some(parent) = open.parent {
            self.lives.child_of(process, parent);
        }
        if let Some(comm) = &open.comm {
            self.lives.called(process, comm);
        }
        let arguments = (!open.arguments.is_empty()).then(|| open.arguments.join(" "));
        if open.image.is_some() {
            self.lives.executed(process, open.image, arguments);
        }
        let child = open.result.and_then(|child| u32::try_from(child).ok()).filter(|child| *child > 0);
        match (name.as_str(), child) {
            ("fork" | "vfork" | "clone" | "clone3", Some(child)) => {
                let thread = name == "clone" && open.first & CLONE_THREAD != 0;
                self.lives.created(process, child, thread, open.time_ns, open.time_ns);
            }
            ("exit_group", _) => {
                self.lives.ended(process, open.time_ns, i64::try_from((open.first & 0xff) << 8).ok());
            }
            _ => {}
        }
        let path = match (open.path, open.directory) {
            (Some(path), Some(directory)) if !path.starts_with('/') => {
                Some(format!("{}/{}", directory.trim_end_matches('/'), path.trim_start_matches("./")))
            }
            (path, _) => path,
        };
        let call = TracedCall {
            name,
            task: Some(process),
            process: Some(process),
            start_ns: open.time_ns,
            end_ns: None,
            path,
            result: open.result,
            error: open.error,
        };
        self.calls.push(call, Grade::Unknown, ReasonCode::EndMissingInLog);
    }

    fn finish(mut self) -> Evidence {
        while !self.open.is_empty() {
            self.end_first();
        }
        let mut evidence = self.evidence;
        self.damage.report("an audit record", &mut evidence);
        if self.unkept > 0 {
            let detail = counted(self.unkept, &format!("# record[|s] beyond {MOST_LINES} [is|are] counted only"));
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
        self.lives.finish(true, false, &mut evidence);
        self.calls.finish(&mut evidence);
        evidence
    }
}

impl Open {
    fn of(record: &Record<'_>) -> Self {
        let number = |key: &str| text(record.fields, key).and_then(|value| value.parse::<u32>().ok());
        let arch = text(record.fields, "arch").unwrap_or_default();
        let coded = u32::from_str_radix(&arch, 16).ok().and_then(CallTable::of_audit);
        let table = coded.or_else(|| CallTable::of_machine(&arch));
        let call = text(record.fields, "syscall").unwrap_or_default();
        let name = match call.parse::<u64>() {
            Ok(number) => match table.and_then(|table| name_of(table, number)) {
                Some(name) => Some(name.to_owned()),
                None => Some(format!("syscall_{number}")),
            },
            // `ausearch -i` writes the names.
            Err(_) => Some(call).filter(|call| !call.is_empty()),
        };
        let exit = text(record.fields, "exit").unwrap_or_default();
        let error = exit.split('(').next().filter(|word| word.starts_with('E')).map(str::to_owned);
        let first = text(record.fields, "a0").unwrap_or_default();
        Self {
            serial: record.serial,
            time_ns: record.time_ns,
            name,
            process: number("pid"),
            parent: number("ppid"),
            comm: text(record.fields, "comm"),
            image: text(record.fields, "exe").filter(|image| image.starts_with('/')),
            first: u64::from_str_radix(first.trim_start_matches("0x"), 16).unwrap_or(0),
            result: exit.parse().ok(),
            error,
            ..Self::default()
        }
    }

    fn add(&mut self, record: &Record<'_>) {
        match record.kind {
            "CWD" => self.directory = text(record.fields, "cwd"),
            "PATH" => {
                // The directory of a new file comes first.
                let parent = text(record.fields, "nametype").is_some_and(|kind| kind == "PARENT");
                if self.path.is_none() && !parent {
                    self.path = text(record.fields, "name").filter(|name| name != "(null)");
                }
            }
            _ => {
                let count = text(record.fields, "argc").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
                let some = (0..count.min(1000)).map_while(|place| text(record.fields, &format!("a{place}")));
                self.arguments.extend(some);
            }
        }
    }
}
