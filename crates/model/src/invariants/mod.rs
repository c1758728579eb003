//! What must hold in every recording, and the figures that show it.
//!
//! Each of these can fail: `tests/tables/invariants.rs` plants the fault that each one is there to report.

mod slices;
mod tasks;
mod user_code;

use firstlight_profile::fold::UnknownThunk;
use firstlight_profile::recording::{FunctionCheck, How, Recording};
use firstlight_profile::tree::{FunctionId, Kind, Node};
use firstlight_schema::Mark;
use rustc_hash::{FxHashMap, FxHashSet};

/// What of a recording is unreliable when an invariant is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// Every figure.
    Everything,
    /// Functions and their tree.
    Functions,
    /// Initcalls.
    Initcalls,
    /// Processes and their system calls.
    Processes,
}

impl Concern {
    /// Its name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Functions => "functions",
            Self::Initcalls => "initcalls",
            Self::Processes => "processes",
        }
    }
}

/// One invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariant {
    /// Its name.
    pub name: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub value: u64,
    /// The largest value that holds; nothing where the value is compared with another figure.
    pub limit: Option<u64>,
    /// What is unreliable when it is broken.
    pub concerns: Concern,
    /// Further figures.
    pub figures: Vec<(&'static str, u64)>,
    /// The functions it is about, the worst first.
    pub functions: Vec<String>,
}

// One doubtful transfer in this many calls leaves every figure of the kd table right to its last printed digit.
const CALLS_PER_DOUBT: u64 = 10_000;
const CALLS_PER_COLLAPSE: u64 = 100_000;
const CALLS_PER_BACKWARD_STEP: u64 = 1_000_000;
/// Marks that come when all initcalls of the kernel itself have run.
const BEHIND_INITCALLS: [Mark; 4] = [Mark::FreeInitMemory, Mark::RunInit, Mark::UserStart, Mark::Ready];
const MOST_NAMES: usize = 20;

/// Checks a recording.
///
/// `thunks` are the functions that behaved as thunks and were folded; `announced` is the return thunk that the kernel said
/// on the console that it uses, if it did.
pub fn check(recording: &Recording, thunks: &[UnknownThunk], announced: Option<&str>) -> Vec<Invariant> {
    let counts = &recording.counts;
    let sum: u64 = recording.nodes.iter().map(|node| node.self_instructions).sum();
    let limited = |name, value: u64, per: u64, concerns, figures| Invariant {
        name,
        holds: value <= counts.calls / per,
        value,
        limit: Some(counts.calls / per),
        concerns,
        figures,
        functions: doubted(recording),
    };
    let calls = ("calls", counts.calls);
    let mut all = vec![
        Invariant {
            name: "self_sums_to_executed",
            holds: sum == recording.end.instructions,
            value: sum,
            limit: None,
            concerns: Concern::Everything,
            figures: vec![("executed", recording.end.instructions)],
            functions: vec![],
        },
        phases_sum_to_tree(recording),
        Invariant {
            name: "stacks_accounted",
            // What was pushed and not popped is still open, was unwound, or was left on a stack that ended.
            holds: counts.pushed == counts.popped + counts.abandoned_frames + counts.open_frames,
            value: counts.open_frames,
            limit: None,
            concerns: Concern::Functions,
            figures: vec![
                ("pushed", counts.pushed),
                ("popped", counts.popped),
                ("abandoned_frames", counts.abandoned_frames),
            ],
            functions: vec![],
        },
        limited(
            "returns_matched",
            counts.unmatched_returns,
            CALLS_PER_DOUBT,
            Concern::Functions,
            vec![calls, ("returns", counts.returns), ("replaced_returns", counts.replaced_returns)],
        ),
        limited(
            "frames_returned",
            counts.unwound_frames + counts.lost_returns,
            CALLS_PER_DOUBT,
            Concern::Functions,
            vec![calls, ("unwinds", counts.unwinds), ("lost_returns", counts.lost_returns)],
        ),
        limited("calls_reach_functions", counts.late_calls, CALLS_PER_DOUBT, Concern::Functions, vec![calls]),
        limited("circles_kept", counts.collapses, CALLS_PER_COLLAPSE, Concern::Functions, vec![calls]),
        limited("clock_goes_forward", counts.backward_steps, CALLS_PER_BACKWARD_STEP, Concern::Functions, vec![calls]),
        Invariant {
            name: "clock_is_qemus",
            holds: counts.clock_mismatches == 0,
            value: counts.clock_mismatches,
            limit: Some(0),
            concerns: Concern::Everything,
            figures: vec![("checks", counts.clock_checks)],
            functions: vec![],
        },
        thunks_are_no_functions(recording, thunks, announced),
        entries_counted(recording, thunks),
        initcalls_entered(recording),
    ];
    all.extend(slices::of_slices(recording));
    all.extend(tasks::of_tasks(recording));
    all.extend(tasks::of_processes(recording));
    all.extend(user_code::of_user_code(recording));
    all
}

// The nodes whose entries were inferred most often.
fn doubted(recording: &Recording) -> Vec<String> {
    let mut by_function: FxHashMap<FunctionId, u64> = FxHashMap::default();
    for (node, count) in &recording.doubtful {
        if let Some(node) = recording.nodes.get(*node as usize) {
            *by_function.entry(node.function).or_default() += count;
        }
    }
    named(recording, by_function.into_iter().collect())
}

fn named(recording: &Recording, mut rows: Vec<(FunctionId, u64)>) -> Vec<String> {
    rows.sort_by_key(|(function, count)| (std::cmp::Reverse(*count), *function));
    let name = |function: u32| match recording.functions.get(function as usize) {
        Some(function) if function.name.is_empty() => format!("{:#x}", function.address),
        Some(function) => function.name.clone(),
        None => String::new(),
    };
    rows.into_iter().take(MOST_NAMES).map(|(function, _)| name(function)).collect()
}

// What a phase holds was counted while it ran, the tree over the whole boot.
fn phases_sum_to_tree(recording: &Recording) -> Invariant {
    let mut sums = vec![(0_u64, 0_u64); recording.nodes.len()];
    for row in &recording.phases {
        if let Some(sum) = sums.get_mut(row.node as usize) {
            *sum = (sum.0 + row.calls, sum.1 + row.self_instructions);
        }
    }
    let rows = recording.nodes.iter().zip(&sums);
    let wrong = rows.filter(|(node, sum)| (node.calls, node.self_instructions) != **sum).count() as u64;
    Invariant {
        name: "phases_sum_to_tree",
        holds: wrong == 0,
        value: wrong,
        limit: Some(0),
        concerns: Concern::Everything,
        figures: vec![("nodes", recording.nodes.len() as u64)],
        functions: vec![],
    }
}

fn thunks_are_no_functions(recording: &Recording, thunks: &[UnknownThunk], announced: Option<&str>) -> Invariant {
    let known = recording.checks.iter().filter(|check| check.how == How::Thunk).map(|check| check.function);
    let mut never: FxHashSet<FunctionId> = known.collect();
    let said = recording.functions.iter().position(|function| Some(function.name.as_str()) == announced);
    never.extend(said.map(|function| function as FunctionId));
    let mut rows: FxHashMap<FunctionId, u64> = FxHashMap::default();
    for node in recording.nodes.iter().filter(|node| node.calls + node.self_instructions > 0) {
        if never.contains(&node.function) {
            *rows.entry(node.function).or_default() += node.calls;
        }
    }
    let value = rows.len() as u64;
    let folded: u64 = thunks.iter().map(|thunk| thunk.transfers).sum();
    let about = if rows.is_empty() {
        thunks.iter().map(|thunk| (thunk.function, thunk.transfers)).collect()
    } else {
        rows.into_iter().collect()
    };
    Invariant {
        name: "thunks_are_no_functions",
        holds: value == 0,
        value,
        limit: Some(0),
        concerns: Concern::Functions,
        figures: vec![("unknown_transfers", folded)],
        functions: named(recording, about),
    }
}

// The executions of each function's first instruction were counted by their address, the entries of the tree by events.
fn entries_counted(recording: &Recording, thunks: &[UnknownThunk]) -> Invariant {
    let mut calls: FxHashMap<FunctionId, u64> = FxHashMap::default();
    let entered = [Kind::Function, Kind::Task, Kind::Interrupt, Kind::Exception, Kind::Syscall];
    for node in recording.nodes.iter().filter(|node| entered.contains(&node.kind)) {
        *calls.entry(node.function).or_default() += node.calls;
    }
    let folded: FxHashSet<FunctionId> = thunks.iter().map(|thunk| thunk.function).collect();
    let mut wrong = Vec::new();
    let mut checked = 0_u64;
    let functions = recording.checks.iter().filter(|check| matches!(check.how, How::Function | How::Entry));
    for check in functions.filter(|check| !folded.contains(&check.function)) {
        let Some(executed) = check.executed else { continue };
        checked += executed;
        let tree = calls.get(&check.function).copied().unwrap_or(0);
        let difference = (executed + check.inside).abs_diff(tree + check.again);
        if difference > 0 {
            wrong.push((check.function, difference));
        }
    }
    let value = wrong.iter().map(|(_, difference)| difference).sum();
    Invariant {
        name: "entries_counted",
        holds: value == 0,
        value,
        limit: Some(0),
        concerns: Concern::Functions,
        figures: vec![("executed", checked), ("wrong_functions", wrong.len() as u64)],
        functions: named(recording, wrong),
    }
}

// Functions that something else than the runner of initcalls called.
fn called_by_others(recording: &Recording) -> FxHashSet<FunctionId> {
    let runner = recording.functions.iter().position(|function| function.name == "do_one_initcall");
    let caller = |node: &Node| recording.nodes.get(node.parent as usize).map(|parent| parent.function as usize);
    let by_others = recording.nodes.iter().filter(|node| node.calls > 0 && caller(node) != runner);
    by_others.map(|node| node.function).collect()
}

// An initcall's function that was entered without a span was called by something that was not seen to be its caller. Some
// are called long before as well (`static_call_init`): where the recording ends before the initcalls do, these need no span.
fn initcalls_entered(recording: &Recording) -> Invariant {
    let spans: FxHashSet<FunctionId> = recording.spans.iter().map(|span| span.function).collect();
    let is_over = recording
        .marks
        .iter()
        .any(|mark| Mark::parse(&mark.mark).is_some_and(|known| BEHIND_INITCALLS.contains(&known)));
    let early: FxHashSet<FunctionId> = match is_over {
        true => FxHashSet::default(),
        false => called_by_others(recording),
    };
    let asked = |check: &&FunctionCheck| check.is_initcall && check.executed.unwrap_or(0) > 0;
    let entered = || recording.checks.iter().filter(asked).filter(|check| !early.contains(&check.function));
    let missing: Vec<(FunctionId, u64)> = entered()
        .filter(|check| !spans.contains(&check.function))
        .map(|check| (check.function, check.executed.unwrap_or(0)))
        .collect();
    Invariant {
        name: "initcalls_entered",
        holds: missing.is_empty(),
        value: missing.len() as u64,
        limit: Some(0),
        concerns: Concern::Initcalls,
        figures: vec![("entered", entered().count() as u64), ("spans", recording.spans.len() as u64)],
        functions: named(recording, missing),
    }
}
