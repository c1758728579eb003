//! The sampled files of a bootchart archive: blocks of an instant in hundredths of a second, lines, and an empty line.

use super::processes::Processes;
use super::ticks::TICK_NS;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Counter, Evidence, ProblemKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::HashSet;

/// Reads `proc_stat.log`, `proc_diskstats.log`, `proc_meminfo.log`, `proc_ps.log` and `taskstats.log`.
pub struct Bootchart;

/// Which of the files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stat,
    Disks,
    Memory,
    Processes,
    Tasks,
}

/// What a sector is in `/proc/diskstats`, whatever the disk's own are.
const SECTOR_BYTES: i64 = 512;

impl Kind {
    /// By the first line after an instant.
    fn of(line: &str) -> Option<Self> {
        if line.starts_with("cpu ") {
            return Some(Self::Stat);
        }
        if line.starts_with("MemTotal:") {
            return Some(Self::Memory);
        }
        if Processes::status(line).is_some() {
            return Some(Self::Processes);
        }
        if disk(line).is_some() {
            return Some(Self::Disks);
        }
        Processes::task(line).map(|_| Self::Tasks)
    }
}

fn instant(line: &str) -> Option<i64> {
    let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| line.parse::<i64>().ok()?.checked_mul(TICK_NS))?
}

impl Format for Bootchart {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Bootchart, Traits::of(Origin::Sampler)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
        let Some(_) = lines.next().and_then(instant) else { return Likelihood::No };
        let known = lines.take_while(|line| !line.is_empty()).take(3).any(|line| Kind::of(line).is_some());
        let named = ["proc_stat.log", "proc_diskstats.log", "proc_meminfo.log", "proc_ps.log", "taskstats.log"]
            .contains(&head.file_name());
        match (known, named) {
            (true, _) => Likelihood::Certain,
            (false, true) => Likelihood::Likely,
            (false, false) => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: TICK_NS, ..Evidence::of(self.about(), Clock::Boottime) };
        let mut lines = Lines::new(input.bytes);
        let mut state = State::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            let text = text.trim_end();
            if text.is_empty() {
                state.end_block(&mut evidence);
            } else if state.time.is_none() {
                state.begin(text, line.number);
            } else {
                state.line(text, line.number, &mut evidence);
            }
        }
        state.end_block(&mut evidence);
        evidence.problems.extend(lines.problems());
        if state.blocks == 0 {
            return Err(self.not_this("no block of samples is in it"));
        }
        state.finish(&mut evidence);
        Ok(vec![evidence])
    }
}

#[derive(Default)]
struct State {
    time: Option<i64>,
    last: Option<i64>,
    kind: Option<Kind>,
    blocks: u64,
    disks: Vec<(String, [i64; 3])>,
    whole: std::collections::BTreeSet<String>,
    processes: Processes,
    unparsed: Unparsed,
    backward: (u64, Option<u64>),
}

impl State {
    fn begin(&mut self, text: &str, line: u64) {
        let Some(time) = instant(text) else {
            // The block was torn: a line of the kind, without its instant.
            self.unparsed.add(line);
            return;
        };
        if self.last.is_some_and(|last| time < last) {
            self.backward = (self.backward.0 + 1, self.backward.1.or(Some(line)));
        }
        self.time = Some(time);
        self.last = Some(time);
    }

    fn line(&mut self, text: &str, line: u64, evidence: &mut Evidence) {
        let Some(time_ns) = self.time else { return };
        if self.kind.is_none() {
            self.kind = Kind::of(text);
        }
        let mut counter = |name: &'static str, value: i64| {
            evidence.counters.push(Counter { name: name.into(), time_ns, value });
        };
        let read = match self.kind {
            Some(Kind::Stat) => stat(text, &mut counter),
            Some(Kind::Memory) => {
                let total = memory(text, &mut counter);
                if let Some(total) = total.filter(|total| *total > 0) {
                    if !evidence.facts.iter().any(|(name, _)| name == "memory.total_bytes") {
                        evidence.facts.push(("memory.total_bytes".into(), total.to_string()));
                    }
                }
                total.is_some()
            }
            Some(Kind::Disks) => match disk(text) {
                Some((name, values)) => {
                    self.disks.push((name.to_owned(), values));
                    true
                }
                // Of a partition, kernels before 2.6.25 print four figures only.
                None => text.split_ascii_whitespace().count() == 7,
            },
            Some(Kind::Processes) => self.processes.add_status(text, time_ns),
            Some(Kind::Tasks) => self.processes.add_task(text, time_ns),
            None => text.ends_with(" not running"),
        };
        if !read {
            self.unparsed.add(line);
        }
    }

    fn end_block(&mut self, evidence: &mut Evidence) {
        let Some(time_ns) = self.time.take() else { return };
        self.blocks += 1;
        evidence.understood += 1;
        if self.kind == Some(Kind::Disks) {
            let disks = std::mem::take(&mut self.disks);
            let mut sums = [0_i64; 3];
            let names: HashSet<&str> = disks.iter().map(|(name, _)| name.as_str()).collect();
            for (name, values) in &disks {
                if stacked(name) || part_of_another(name, &names) {
                    continue;
                }
                self.whole.insert(name.clone());
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = sum.saturating_add(*value);
                }
            }
            let [read, written, busy] = sums;
            for (name, value) in [
                ("disk_read_bytes", read.saturating_mul(SECTOR_BYTES)),
                ("disk_written_bytes", written.saturating_mul(SECTOR_BYTES)),
                ("disk_busy_ns", busy.saturating_mul(1_000_000)),
            ] {
                evidence.counters.push(Counter { name: name.into(), time_ns, value });
            }
        }
        self.processes.end_block(time_ns);
    }

    fn finish(self, evidence: &mut Evidence) {
        if !self.whole.is_empty() {
            let names: Vec<&str> = self.whole.iter().map(String::as_str).collect();
            evidence.facts.push(("system.disks".into(), names.join(" ")));
        }
        self.processes.finish(evidence);
        self.unparsed.report("line[|s] [is|are] none of this file", evidence);
        if self.backward.0 > 0 {
            let detail = "instants run backwards: files of two boots, or a collector whose memory was full";
            evidence.problem(ProblemKind::ClockJump, self.backward.1, detail);
        }
    }
}

/// Counters since the start of the system; nothing of single processors.
fn stat(text: &str, counter: &mut dyn FnMut(&'static str, i64)) -> bool {
    let mut words = text.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let mut ticks = words.map(|word| word.parse::<i64>().unwrap_or(0).max(0));
    match name {
        "cpu" => {
            let ticks: Vec<i64> = ticks.map(|ticks| ticks.saturating_mul(TICK_NS)).collect();
            let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
            counter("cpu_user_ns", at(0).saturating_add(at(1)));
            counter("cpu_system_ns", at(2).saturating_add(at(5)).saturating_add(at(6)));
            counter("cpu_idle_ns", at(3));
            counter("cpu_iowait_ns", at(4));
            ticks.len() >= 4
        }
        "processes" => ticks.next().map(|value| counter("forks", value)).is_some(),
        "procs_running" => ticks.next().map(|value| counter("processes_running", value)).is_some(),
        "procs_blocked" => ticks.next().map(|value| counter("processes_blocked", value)).is_some(),
        _ => name.starts_with("cpu") || ticks.next().is_some(),
    }
}

/// One line of `/proc/meminfo`; gives the total where it is that line, else 0.
fn memory(text: &str, counter: &mut dyn FnMut(&'static str, i64)) -> Option<i64> {
    let (name, rest) = text.split_once(':')?;
    let value: i64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    let bytes = if rest.ends_with(" kB") { value.checked_mul(1024)? } else { value };
    match name {
        "MemTotal" => return Some(bytes),
        "MemFree" => counter("memory_free_bytes", bytes),
        "MemAvailable" => counter("memory_available_bytes", bytes),
        "Buffers" => counter("memory_buffers_bytes", bytes),
        "Cached" => counter("memory_cached_bytes", bytes),
        "SwapFree" => counter("swap_free_bytes", bytes),
        _ => {}
    }
    Some(0)
}

/// Name, sectors read, sectors written, milliseconds busy.
fn disk(text: &str) -> Option<(&str, [i64; 3])> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if words.len() < 14 {
        return None;
    }
    let number = |index: usize| words.get(index)?.parse::<i64>().ok().filter(|value| *value >= 0);
    number(0)?;
    number(1)?;
    let name = words.get(2).filter(|name| name.starts_with(|letter: char| letter.is_ascii_alphabetic()))?;
    Some((name, [number(5)?, number(9)?, number(12)?]))
}

/// What lies in memory or on other disks, whose work would be counted twice.
fn stacked(name: &str) -> bool {
    ["loop", "ram", "zram", "dm-", "md", "sr", "fd"].iter().any(|kind| {
        name.strip_prefix(kind).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    })
}

/// `sda1` beside `sda`, `nvme0n1p1` beside `nvme0n1`.
fn part_of_another(name: &str, disks: &HashSet<&str>) -> bool {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let short = stem.strip_suffix('p').unwrap_or(stem);
    stem.len() < name.len() && (disks.contains(stem) || short != stem && disks.contains(short))
}
