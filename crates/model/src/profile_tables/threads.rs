//! The tables of who had the processor.

use super::instants::Clock;
use super::processes::Processes;
use firstlight_profile::recording::Running;
use firstlight_profile::userspace::Spent;
use firstlight_schema::table::{integers, texts, write, Values};
use firstlight_schema::TableError;
use std::path::Path;

/// The task that boots the first processor and then runs where no other can: the kernel calls it `swapper`.
const IDLE_TASK: usize = 0;

#[derive(Clone, Default)]
struct ThreadRow<'r> {
    names: Option<(&'r str, &'r str)>,
    times: Option<(u64, u64)>,
    run_ns: u64,
    idle_ns: u64,
    instructions: u64,
    runs: u64,
    spent: Spent,
}

/// Writes `threads`, `thread_names` and `runs`.
pub fn write_threads(running: &Running, processes: &Processes, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let mut threads = vec![ThreadRow::default(); running.user.len()];
    for run in &running.runs {
        let thread = &mut threads[run.task as usize];
        let (start, end) = (clock.at(run.start), clock.at(run.end));
        thread.times = Some((thread.times.map_or(start, |(first, _)| first), end));
        let instructions = run.end.instructions - run.start.instructions;
        thread.run_ns += clock.ns(instructions);
        thread.instructions += instructions;
        thread.idle_ns += run.end.idle_ns - run.start.idle_ns;
        thread.runs += 1;
        thread.spent.user += run.spent.user;
        thread.spent.interrupts += run.spent.interrupts;
    }
    for name in &running.names {
        let thread = &mut threads[name.task as usize];
        thread.names = Some((thread.names.map_or(name.name.as_str(), |(first, _)| first), &name.name));
    }
    let ran = || threads.iter().enumerate().filter_map(|(task, row)| Some((task, row, row.times?)));
    let user_start = |task: usize| running.user[task].and_then(|at| i64::try_from(clock.at(at)).ok());
    let idles = |task: usize| task == IDLE_TASK || running.idle.iter().any(|idle| *idle as usize == task);
    let kind = |task: usize| match (task, running.user[task]) {
        _ if idles(task) => "idle",
        (_, Some(_)) => "user",
        (_, None) => "kernel",
    };
    let identity = |of: &dyn Fn((u64, usize)) -> u64| {
        let found = |task: usize| processes.of_task(task).and_then(|known| i64::try_from(of(known)).ok());
        Values::Int64(ran().map(|(task, ..)| found(task)).collect())
    };
    let named =
        |of: &dyn Fn((&str, &str)) -> String| Values::Text(ran().map(|(_, row, _)| row.names.map(of)).collect());
    write(
        "threads",
        vec![
            ("thread", integers(ran().map(|(task, ..)| task as u64))),
            ("kind", texts(ran().map(|(task, ..)| kind(task)))),
            ("first_name", named(&|(first, _)| first.to_owned())),
            ("name", named(&|(_, last)| last.to_owned())),
            ("start_ns", integers(ran().map(|(_, _, (start, _))| start))),
            ("end_ns", integers(ran().map(|(_, _, (_, end))| end))),
            ("user_start_ns", Values::Int64(ran().map(|(task, ..)| user_start(task)).collect())),
            ("run_ns", integers(ran().map(|(_, row, _)| row.run_ns))),
            ("idle_ns", integers(ran().map(|(_, row, _)| row.idle_ns))),
            ("instructions", integers(ran().map(|(_, row, _)| row.instructions))),
            ("runs", integers(ran().map(|(_, row, _)| row.runs))),
            ("pid", identity(&|(pid, _)| pid)),
            ("process", identity(&|(_, process)| process as u64)),
            ("user_instructions", integers(ran().map(|(_, row, _)| row.spent.user))),
            ("interrupt_instructions", integers(ran().map(|(_, row, _)| row.spent.interrupts))),
        ],
        bundle,
    )?;
    let mut names: Vec<_> = running.names.iter().collect();
    names.sort_by_key(|name| (name.at.instructions, name.task));
    write(
        "thread_names",
        vec![
            ("thread", integers(names.iter().map(|name| u64::from(name.task)))),
            ("time_ns", integers(names.iter().map(|name| clock.at(name.at)))),
            ("name", texts(names.iter().map(|name| name.name.as_str()))),
        ],
        bundle,
    )?;
    let runs = &running.runs;
    write(
        "runs",
        vec![
            ("thread", integers(runs.iter().map(|run| u64::from(run.task)))),
            ("start_ns", integers(runs.iter().map(|run| clock.at(run.start)))),
            ("end_ns", integers(runs.iter().map(|run| clock.at(run.end)))),
            ("instructions", integers(runs.iter().map(|run| run.end.instructions - run.start.instructions))),
            ("idle_ns", integers(runs.iter().map(|run| run.end.idle_ns - run.start.idle_ns))),
            ("user_instructions", integers(runs.iter().map(|run| run.spent.user))),
            ("interrupt_instructions", integers(runs.iter().map(|run| run.spent.interrupts))),
            ("state", Values::Int64(runs.iter().map(|run| run.state.map(i64::from)).collect())),
            ("node", Values::Int64(runs.iter().map(|run| run.node.map(i64::from)).collect())),
            ("cpu", Values::Int64(runs.iter().map(|run| Some(i64::from(run.cpu))).collect())),
        ],
        bundle,
    )
}
