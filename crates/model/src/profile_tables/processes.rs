//! The tables of processes: what they ran, whom they woke, and what they asked of the kernel.

use super::instants::Clock;
use firstlight_isa::system_calls::{Call, Descriptors};
use firstlight_profile::recording::{Instant, Recording};
use firstlight_profile::userspace::{Created, Image, Missing, Spent, SystemCall, TextId};
use firstlight_schema::table::{integers, texts, write, Values};
use firstlight_schema::TableError;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The task that boots the processor has no creator.
const FIRST_TASK: u32 = 0;

/// A process, from its creation on.
#[derive(Debug, Clone, Default)]
struct Process {
    pid: u64,
    parent: Option<usize>,
    start: Instant,
    end: Option<Instant>,
    status: Option<u64>,
    name: Option<String>,
    image: Option<TextId>,
    arguments: Option<TextId>,
    cgroup: Option<TextId>,
    spent: Spent,
    idle_ns: u64,
    threads: u64,
    ended_threads: u64,
}

/// Which task is which process.
#[derive(Debug, Default)]
pub struct Processes {
    all: Vec<Process>,
    /// By the number of the task: the kernel's number of it, and its process.
    tasks: Vec<Option<(u64, usize)>>,
    /// By address, the tasks that were there: when each was created, and its number if it ever ran.
    places: FxHashMap<u64, Vec<(Instant, Option<u32>)>>,
}

impl Processes {
    /// Finds the processes of a recording; none where they were not followed.
    pub fn of(recording: &Recording) -> Self {
        let (running, seen) = (&recording.running, &recording.processes);
        let mut found = Self { tasks: vec![None; running.user.len()], ..Self::default() };
        if seen.created.is_empty() {
            return found;
        }
        let mut first_runs: Vec<Option<Instant>> = vec![None; running.user.len()];
        for run in &running.runs {
            first_runs[run.task as usize].get_or_insert(run.start);
        }
        let mut ran: FxHashMap<u64, Vec<(Instant, u32)>> = FxHashMap::default();
        for (task, (address, first)) in (0..).zip(running.addresses.iter().zip(&first_runs)) {
            if let Some((address, first)) = address.zip(*first) {
                ran.entry(address).or_default().push((first, task));
            }
        }
        found
            .all
            .push(Process { start: first_runs.first().copied().flatten().unwrap_or_default(), ..Process::default() });
        found.assign(FIRST_TASK, 0, 0);
        // Each processor idles in a task of its own, which no system call created.
        running.idle.iter().for_each(|task| found.assign(*task, 0, 0));
        let mut by_number: FxHashMap<u32, usize> = FxHashMap::default();
        by_number.insert(0, 0);
        for created in &seen.created {
            found.create(created, &mut by_number, &ran);
        }
        found.follow(recording);
        found
    }

    fn assign(&mut self, task: u32, pid: u64, process: usize) {
        self.tasks[task as usize] = Some((pid, process));
        self.all[process].threads += 1;
    }

    fn create(
        &mut self,
        created: &Created,
        by_number: &mut FxHashMap<u32, usize>,
        ran: &FxHashMap<u64, Vec<(Instant, u32)>>,
    ) {
        let Created { at, by, address, pid, tgid } = *created;
        let parent = self.tasks[by as usize].map(|(_, process)| process);
        let process = match by_number.get(&tgid) {
            Some(process) if pid != tgid => *process,
            _ => {
                self.all.push(Process { pid: u64::from(tgid), parent, start: at, ..Process::default() });
                by_number.insert(tgid, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        // The next task that ran at this address is this one, unless another was created there before it could.
        let task = ran.get(&address).and_then(|tasks| {
            let next = tasks.iter().find(|(first, _)| first.instructions >= at.instructions)?;
            self.tasks[next.1 as usize].is_none().then_some(next.1)
        });
        if let Some(task) = task {
            self.assign(task, u64::from(pid), process);
        }
        self.places.entry(address).or_default().push((at, task));
    }

    // What its tasks did and were.
    fn follow(&mut self, recording: &Recording) {
        let (running, seen) = (&recording.running, &recording.processes);
        for run in &running.runs {
            if let Some((_, process)) = self.tasks[run.task as usize] {
                let process = &mut self.all[process];
                process.spent.user += run.spent.user;
                process.spent.kernel += run.spent.kernel;
                process.spent.interrupts += run.spent.interrupts;
                process.idle_ns += run.end.idle_ns - run.start.idle_ns;
            }
        }
        for name in &running.names {
            if let Some((pid, process)) = self.tasks[name.task as usize] {
                let process = &mut self.all[process];
                if pid == process.pid || process.name.is_none() {
                    process.name = Some(name.name.clone());
                }
            }
        }
        for image in &seen.images {
            if let Some((_, process)) = self.tasks[image.task as usize] {
                let process = &mut self.all[process];
                (process.image, process.arguments) = (Some(image.file), Some(image.arguments));
                process.cgroup = Some(image.cgroup);
            }
        }
        for ended in &seen.ended {
            if let Some((pid, process)) = self.tasks[ended.task as usize] {
                let process = &mut self.all[process];
                // The last of its threads ends it, with the status of the first.
                process.ended_threads += 1;
                process.end = (process.ended_threads == process.threads).then_some(ended.at);
                process.cgroup = Some(ended.cgroup);
                if pid == process.pid {
                    process.status = Some(u64::from(ended.status));
                }
            }
        }
    }

    /// The kernel's number of a task, and its process.
    pub fn of_task(&self, task: usize) -> Option<(u64, usize)> {
        self.tasks.get(task).copied().flatten()
    }

    // The task that was at an address then; nothing for one that never ran.
    fn at(&self, address: u64, at: Instant) -> Option<u32> {
        let there = self.places.get(&address)?;
        there.iter().rev().find(|(created, _)| created.instructions <= at.instructions)?.1
    }
}

/// Writes `processes`, `images`, `wakeups` and `system_calls`.
///
/// `callers` has for each system call the row of the user function that made it.
pub fn write_processes(
    recording: &Recording,
    processes: &Processes,
    callers: &[Option<i64>],
    clock: Clock,
    bundle: &Path,
) -> Result<(), TableError> {
    let all = &processes.all;
    let text =
        |number: &Option<TextId>| number.and_then(|number| recording.processes.texts.get(number as usize)).cloned();
    let maybe = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
    let spent = |of: fn(&Spent) -> u64| integers(all.iter().map(|row| of(&row.spent)));
    write(
        "processes",
        vec![
            ("process", integers(0..all.len() as u64)),
            ("pid", integers(all.iter().map(|row| row.pid))),
            ("parent", Values::Int64(all.iter().map(|row| maybe(row.parent.map(|parent| parent as u64))).collect())),
            ("name", Values::Text(all.iter().map(|row| row.name.clone()).collect())),
            ("image", Values::Text(all.iter().map(|row| text(&row.image)).collect())),
            ("arguments", Values::Text(all.iter().map(|row| text(&row.arguments)).collect())),
            ("cgroup", Values::Text(all.iter().map(|row| text(&row.cgroup)).collect())),
            ("start_ns", integers(all.iter().map(|row| clock.at(row.start)))),
            ("end_ns", Values::Int64(all.iter().map(|row| maybe(row.end.map(|end| clock.at(end)))).collect())),
            ("status", Values::Int64(all.iter().map(|row| maybe(row.status)).collect())),
            ("threads", integers(all.iter().map(|row| row.threads))),
            ("user_instructions", spent(|spent| spent.user)),
            ("kernel_instructions", spent(|spent| spent.kernel)),
            ("interrupt_instructions", spent(|spent| spent.interrupts)),
            ("idle_ns", integers(all.iter().map(|row| row.idle_ns))),
        ],
        bundle,
    )?;
    write_images(recording, processes, clock, bundle)?;
    write_wakeups(recording, processes, clock, bundle)?;
    write_calls(recording, processes, callers, clock, bundle)
}

fn write_images(recording: &Recording, processes: &Processes, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let seen = &recording.processes;
    let rows: Vec<(&Image, usize)> =
        seen.images.iter().filter_map(|row| Some((row, processes.of_task(row.task as usize)?.1))).collect();
    let text = |of: fn(&Image) -> TextId| texts(rows.iter().map(|(row, _)| seen.texts[of(row) as usize].as_str()));
    write(
        "images",
        vec![
            ("process", integers(rows.iter().map(|(_, process)| *process as u64))),
            ("thread", integers(rows.iter().map(|(row, _)| u64::from(row.task)))),
            ("start_ns", integers(rows.iter().map(|(row, _)| clock.at(row.at)))),
            ("image", text(|row| row.file)),
            ("arguments", text(|row| row.arguments)),
            ("cgroup", text(|row| row.cgroup)),
        ],
        bundle,
    )
}

fn write_wakeups(recording: &Recording, processes: &Processes, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let rows = &recording.processes.wakeups;
    let wakee = |address: u64, at: Instant| processes.at(address, at).map(i64::from);
    write(
        "wakeups",
        vec![
            ("time_ns", integers(rows.iter().map(|row| clock.at(row.at)))),
            ("waker", integers(rows.iter().map(|row| u64::from(row.by)))),
            ("wakee", Values::Int64(rows.iter().map(|row| wakee(row.address, row.at)).collect())),
            ("interrupt", integers(rows.iter().map(|row| u64::from(row.interrupt)))),
        ],
        bundle,
    )
}

/// The whole path of what each call works on.
fn paths(recording: &Recording, processes: &Processes) -> Vec<Option<String>> {
    let seen = &recording.processes;
    let mut tables: Vec<Option<Descriptors>> = vec![None; processes.all.len()];
    let mut next = 0;
    let mut of = |call: &SystemCall| {
        let text = call.path.and_then(|number| seen.texts.get(number as usize)).map(String::as_str);
        let Some((_, process)) = processes.of_task(call.task as usize) else { return text.map(str::to_owned) };
        // A process begins with what its parent had then.
        while let Some(begun) = processes.all.get(next).filter(|row| row.start.instructions <= call.start.instructions)
        {
            let parent = begun.parent.and_then(|parent| tables[parent].clone());
            tables[next] = Some(parent.unwrap_or_else(Descriptors::first));
            next += 1;
        }
        let [first, second, _] = call.arguments;
        let called =
            Call { name: &seen.texts[call.name as usize], arguments: [first, second], result: call.result, path: text };
        tables[process].get_or_insert_with(Descriptors::first).follow(called)
    };
    seen.calls.iter().map(&mut of).collect()
}

fn write_calls(
    recording: &Recording,
    processes: &Processes,
    callers: &[Option<i64>],
    clock: Clock,
    bundle: &Path,
) -> Result<(), TableError> {
    let rows = &recording.processes.calls;
    let ended = |of: &dyn Fn(Instant) -> u64| {
        Values::Int64(rows.iter().map(|row| row.end.and_then(|end| i64::try_from(of(end)).ok())).collect())
    };
    let argument = |place: usize| {
        Values::Int64(rows.iter().map(|row| Some(i64::from_le_bytes(row.arguments[place].to_le_bytes()))).collect())
    };
    // A call that never returned has no figures of its own.
    let spent = |of: fn(&Spent) -> u64| {
        Values::Int64(rows.iter().map(|row| row.end.and_then(|_| i64::try_from(of(&row.spent)).ok())).collect())
    };
    write(
        "system_calls",
        vec![
            ("call", integers(0..rows.len() as u64)),
            ("thread", integers(rows.iter().map(|row| u64::from(row.task)))),
            ("name", texts(rows.iter().map(|row| recording.processes.texts[row.name as usize].as_str()))),
            ("start_ns", integers(rows.iter().map(|row| clock.at(row.start)))),
            ("end_ns", ended(&|end| clock.at(end))),
            ("kernel_instructions", spent(|spent| spent.kernel)),
            ("interrupt_instructions", spent(|spent| spent.interrupts)),
            ("result", Values::Int64(rows.iter().map(|row| row.result).collect())),
            ("path", Values::Text(paths(recording, processes))),
            ("argument_0", argument(0)),
            ("argument_1", argument(1)),
            ("argument_2", argument(2)),
            ("user_function", Values::Int64(callers.to_vec())),
        ],
        bundle,
    )
}

/// Why processes are not in the tables, or less of them than could be.
pub fn missing(recording: &Recording) -> Option<&'static str> {
    Some(match recording.processes.missing? {
        Missing::Architecture => "architecture",
        Missing::Types => "types",
        Missing::Members => "members",
        Missing::Emulator => "emulator",
    })
}
