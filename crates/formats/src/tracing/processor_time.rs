//! The processor time of tasks, from the scheduler's switches or from samples of a clock.

use rustc_hash::FxHashMap;

/// Tasks that are followed at most.
const MOST: usize = 1_000_000;

/// Adds up what each task ran.
#[derive(Debug, Default)]
pub(super) struct ProcessorTime {
    since: FxHashMap<u32, i64>,
    spent: FxHashMap<u32, i64>,
    sampled: FxHashMap<u32, i64>,
    switched: bool,
}

impl ProcessorTime {
    /// One task left a processor to another.
    pub(super) fn switch(&mut self, from: u32, to: u32, time_ns: i64) {
        self.switched = true;
        if let Some(since) = self.since.remove(&from) {
            add(&mut self.spent, from, time_ns.saturating_sub(since).max(0));
        }
        if to != 0 && self.since.len() < MOST {
            self.since.insert(to, time_ns);
        }
    }

    /// A sample of a clock stands for so much time of a task. Samples do not count where the switches are recorded.
    pub(super) fn sample(&mut self, task: u32, ns: i64) {
        add(&mut self.sampled, task, ns);
    }

    /// Switches are missing from here on: what ran is unknown.
    pub(super) fn lost(&mut self) {
        self.since.clear();
    }

    /// What a task that ends at an instant, or with the record, ran; its number may come again.
    pub(super) fn take(&mut self, task: u32, end_ns: Option<i64>) -> Option<i64> {
        let running = self.since.remove(&task).zip(end_ns).map(|(since, end)| end.saturating_sub(since).max(0));
        let sampled = self.sampled.remove(&task);
        if !self.switched {
            return sampled;
        }
        match (self.spent.remove(&task), running) {
            (None, None) => None,
            (spent, running) => Some(spent.unwrap_or(0).saturating_add(running.unwrap_or(0))),
        }
    }
}

fn add(times: &mut FxHashMap<u32, i64>, task: u32, ns: i64) {
    if times.len() < MOST || times.contains_key(&task) {
        let time = times.entry(task).or_default();
        *time = time.saturating_add(ns);
    }
}
