//! Processes and their threads, as a record of system calls shows them.

use crate::counts::counted;
use crate::evidence::{Evidence, Grade, Name, ProblemKind, Span, SpanKind};
use crate::names::one_line;
use firstlight_schema::ReasonCode;
use rustc_hash::FxHashMap;

/// Processes that are kept at most.
const MOST: usize = 100_000;

/// Follows the tasks of a record.
#[derive(Debug, Default)]
pub(super) struct Lives {
    all: Vec<Life>,
    /// The latest life of a task: numbers come again.
    latest: FxHashMap<u32, usize>,
    /// Processes beyond [`MOST`].
    unkept: u64,
}

#[derive(Debug, Default)]
struct Life {
    task: u32,
    /// The process of a thread, by its number.
    leader: Option<u32>,
    parent: Option<u32>,
    name: String,
    image: Option<String>,
    arguments: Option<String>,
    first_ns: Option<i64>,
    /// It did something itself.
    seen: bool,
    /// Its creation is in the record.
    born: bool,
    end_ns: Option<i64>,
    ended: bool,
    status: Option<i64>,
}

impl Lives {
    /// A task does something.
    pub(super) fn seen(&mut self, task: u32, time_ns: Option<i64>) {
        let known = self.latest.get(&task).and_then(|at| self.all.get(*at));
        if known.is_none_or(|life| life.ended) {
            self.push(Life { task, first_ns: time_ns, seen: true, ..Life::default() });
        } else if let Some(life) = self.life_mut(task) {
            life.seen = true;
        }
    }

    /// A call that began at an instant made a task: a process of its own, or a thread of the process that called.
    pub(super) fn created(&mut self, parent: u32, child: u32, thread: bool, call_ns: Option<i64>, now_ns: Option<i64>) {
        let caller = self.process_of(parent);
        let name = self.life(caller).map(|life| life.name.clone()).unwrap_or_default();
        // It may have run, and ended, before its parent returned from the call.
        let made = self.life(child).is_some_and(|life| {
            !life.born && life.parent.is_none() && life.first_ns.zip(call_ns).is_none_or(|(a, b)| a >= b)
        });
        if !made {
            self.push(Life { task: child, first_ns: now_ns, ..Life::default() });
        }
        let Some(life) = self.life_mut(child) else { return };
        life.born = true;
        if thread {
            life.leader = Some(caller);
        } else {
            life.parent = Some(caller);
        }
        if life.name.is_empty() {
            life.name = name;
        }
    }

    /// A process belongs to a parent that the record names.
    pub(super) fn child_of(&mut self, task: u32, parent: u32) {
        if let Some(life) = self.life_mut(task) {
            life.parent.get_or_insert(parent);
        }
    }

    /// A task is called this, as long as it has executed nothing.
    pub(super) fn called(&mut self, task: u32, name: &str) {
        if let Some(life) = self.life_mut(task).filter(|life| life.image.is_none()) {
            name.clone_into(&mut life.name);
        }
    }

    /// A process executes a program.
    pub(super) fn executed(&mut self, task: u32, image: Option<String>, arguments: Option<String>) {
        let process = self.process_of(task);
        if let Some(life) = self.life_mut(process) {
            if let Some(image) = image {
                image.rsplit('/').next().unwrap_or(&image).clone_into(&mut life.name);
                life.image = Some(image);
            }
            life.arguments = arguments.or_else(|| life.arguments.take());
        }
    }

    /// A task ended, with a status as `wait` gives it.
    pub(super) fn ended(&mut self, task: u32, time_ns: Option<i64>, status: Option<i64>) {
        self.seen(task, time_ns);
        if let Some(life) = self.life_mut(task) {
            (life.end_ns, life.ended, life.status) = (time_ns, true, status);
        }
    }

    /// The process that a task is a thread of.
    pub(super) fn process_of(&self, task: u32) -> u32 {
        self.life(task).and_then(|life| life.leader).unwrap_or(task)
    }

    fn life(&self, task: u32) -> Option<&Life> {
        self.all.get(*self.latest.get(&task)?)
    }

    fn life_mut(&mut self, task: u32) -> Option<&mut Life> {
        self.all.get_mut(*self.latest.get(&task)?)
    }

    fn push(&mut self, life: Life) {
        if self.all.len() < MOST {
            self.latest.insert(life.task, self.all.len());
            self.all.push(life);
        } else {
            self.unkept += 1;
        }
    }

    /// Adds the processes as spans; threads have none of their own.
    ///
    /// *numbered*: the record has the numbers of its tasks. *others*: other records have the tasks that did nothing in this one.
    pub(super) fn finish(self, numbered: bool, others: bool, evidence: &mut Evidence) {
        if self.unkept > 0 {
            let detail = counted(self.unkept, &format!("# process[|es] beyond {MOST} [is|are] left out"));
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
        for life in self.all.into_iter().filter(|life| life.leader.is_none()) {
            if others && !life.seen {
                let parent = life.parent.map(|parent| parent.to_string());
                evidence.facts.extend(parent.map(|parent| (format!("process.parent.{}", life.task).into(), parent)));
                continue;
            }
            let mut span = Span::new(SpanKind::Process, one_line(&life.name, "<unknown>"));
            if numbered {
                span.track = Name::Owned(format!("process {}", life.task));
                span = span.with("pid", life.task.to_string());
            }
            // A damaged stamp may be later than the end: the life is then empty, and not negative.
            let end_ns = life.end_ns.map(|end| life.first_ns.map_or(end, |start| end.max(start)));
            (span.start_ns, span.end_ns) = (life.first_ns, end_ns);
            span = match (life.first_ns, end_ns) {
                (Some(start), Some(end)) if life.born => span.between(start, end),
                (Some(start), Some(end)) => {
                    span.between(start, end).graded(Grade::Bounded, ReasonCode::PresentBeforeTrace)
                }
                (Some(_), None) => span.graded(Grade::Bounded, ReasonCode::PresentAtTraceEnd),
                (None, _) => span.graded(Grade::Unknown, ReasonCode::StampsNoTimes),
            };
            let texts = [
                ("parent_pid", life.parent.map(|parent| parent.to_string())),
                ("image", life.image),
                ("arguments", life.arguments),
                ("exit_status", life.status.map(|status| status.to_string())),
            ];
            for (key, value) in texts {
                if let Some(value) = value {
                    span = span.with(key, value);
                }
            }
            evidence.spans.push(span);
        }
    }
}
