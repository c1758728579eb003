//! What threads did in slices of time.

use crate::recording::Recording;
use crate::slices::by_end;
use crate::userspace::Spent;
use std::collections::BTreeMap;

/// What a thread did in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// Its instructions, by what they were executed for.
    pub spent: Spent,
    /// Virtual nanoseconds in which the processor idled.
    pub idle_ns: u64,
}

impl Turn {
    fn since(self, before: Self) -> Self {
        let passed = |of: fn(&Spent) -> u64| of(&self.spent).saturating_sub(of(&before.spent));
        let spent = Spent {
            user: passed(|spent| spent.user),
            kernel: passed(|spent| spent.kernel),
            interrupts: passed(|spent| spent.interrupts),
        };
        Self { spent, idle_ns: self.idle_ns.saturating_sub(before.idle_ns) }
    }

    fn add(&mut self, more: Self) {
        self.spent.user += more.spent.user;
        self.spent.kernel += more.spent.kernel;
        self.spent.interrupts += more.spent.interrupts;
        self.idle_ns += more.idle_ns;
    }
}

/// What each thread did in each slice, where that is not nothing: in the order of slices, by the number of the task.
///
/// A run that crosses the end of a slice is divided there, by what its task had executed of it. What ran before the first
/// task is in no row.
///
/// ```
/// use firstlight_profile::{isa::X86_64, recording::State, tracker::Watch, turns::turns, Recording, SymbolTable, Tracker};
/// let mut tracker = Tracker::new(&SymbolTable::<X86_64>::default(), Watch::default());
/// tracker.kernel(4_000_000);
/// let mut file = Vec::new();
/// tracker.snapshot(State::Ready, &[], 15_000_000).write(&mut file)?;
/// let rows = turns(&Recording::decode(&file)?);
/// let kernel: Vec<_> = rows.iter().map(|(slice, task, turn)| (*slice, *task, turn.spent.kernel)).collect();
/// assert_eq!(kernel, [(1, 0, 6_000_000), (2, 0, 5_000_000)]);
/// # Ok::<(), firstlight_profile::recording::RecordingError>(())
/// ```
pub fn turns(recording: &Recording) -> Vec<(u64, u32, Turn)> {
    let runs = &recording.running.runs;
    let Some(first) = runs.first() else { return Vec::new() };
    let mut number = 0;
    let mut done = Turn { idle_ns: first.start.idle_ns, ..Turn::default() };
    let mut all = Vec::new();
    for (slice, parts) in by_end(&recording.slices) {
        let mut threads: BTreeMap<u32, Turn> = BTreeMap::new();
        for part in parts {
            let started = part.end.instructions > first.start.instructions || part.end.idle_ns > first.start.idle_ns;
            if part.running.run == 0 && !started {
                continue;
            }
            while let Some(run) = runs.get(number).filter(|_| number < part.running.run as usize) {
                let whole = Turn { spent: run.spent, idle_ns: run.end.idle_ns };
                threads.entry(run.task).or_default().add(whole.since(done));
                number += 1;
                done = Turn { idle_ns: run.end.idle_ns, ..Turn::default() };
            }
            if let Some(run) = runs.get(number) {
                let so_far = Turn { spent: part.running.spent, idle_ns: part.end.idle_ns };
                threads.entry(run.task).or_default().add(so_far.since(done));
                done = so_far;
            }
        }
        let rows = threads.into_iter().filter(|(_, turn)| *turn != Turn::default());
        all.extend(rows.map(|(task, turn)| (slice, task, turn)));
    }
    all
}
