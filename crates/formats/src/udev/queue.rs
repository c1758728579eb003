//! The queue of udevd by its debug log: when each event was queued, held back, ready, worked on and done.

use super::event::Event;
use crate::counts::counted;
use crate::evidence::{Counter, Evidence, ProblemKind};
use crate::systemd::timespan::by_step;
use std::collections::HashMap;

/// Follows every event by its SEQNUM.
#[derive(Debug, Default)]
pub struct Queue {
    events: Vec<Event>,
    /// The latest event of a number: numbers come again after the next boot.
    by_number: HashMap<u64, usize>,
    /// The latest event of a device.
    by_device: HashMap<String, usize>,
    /// What each worker is at, for messages that name the worker only.
    at_work: HashMap<u32, usize>,
    forked: u64,
    most_children: Option<u64>,
    reached: u64,
    understood: u64,
    bare: u64,
}

/// More blockers of one event than this are counted as this many.
const MOST_BLOCKERS: usize = 64;

impl Queue {
    /// Reads one message, without time, host and program before it. `pid` is who said it.
    pub fn line(&mut self, time_ns: Option<i64>, pid: Option<&str>, message: &str, line: u64) -> bool {
        let pid = pid.and_then(|pid| pid.parse().ok());
        let known = self.message(time_ns, pid, message.trim(), line).is_some();
        self.understood += u64::from(known);
        known
    }

    /// How many messages were understood.
    pub fn understood(&self) -> u64 {
        self.understood
    }

    fn message(&mut self, time: Option<i64>, pid: Option<u32>, message: &str, line: u64) -> Option<()> {
        if let Some(rest) = message.strip_prefix("Maximum number (") {
            let most = rest.split_once(')')?.0.parse().ok()?;
            self.most_children = self.most_children.max(Some(most));
            self.reached += 1;
            return Some(());
        }
        if let Some(rest) = message.strip_prefix("seq ") {
            return self.old(time, pid, rest, line);
        }
        if let Some(worker) = message.strip_prefix("worker [").or_else(|| message.strip_prefix("Worker [")) {
            return self.worker("", worker, line);
        }
        let (device, text) = message.split_once(": ")?;
        if device.contains(|letter: char| letter == '=' || letter.is_whitespace()) {
            return None;
        }
        if let Some(blocked) = text.strip_prefix("SEQNUM=") {
            let (number, by) = blocked.split_once(" blocked by SEQNUM=")?;
            let (number, by) = (number.parse().ok()?, by.trim_end_matches('.').parse().ok()?);
            let event = self.event(number, device, line);
            event.blocked_at = event.blocked_at.or(time);
            if !event.blockers.contains(&by) && event.blockers.len() < MOST_BLOCKERS {
                event.blockers.push(by);
            }
            return Some(());
        }
        if let Some(worker) = text.strip_prefix("Worker [") {
            return self.worker(device, worker, line);
        }
        if text.starts_with("Block device is currently locked, requeueing") {
            let index = pid.and_then(|pid| self.at_work.get(&pid).copied());
            let index = index.or_else(|| self.by_device.get(device).copied())?;
            self.events.get_mut(index)?.requeued += 1;
            return Some(());
        }
        if let Some(reason) = text.strip_prefix("Failed to process device, ignoring: ") {
            let index = pid.and_then(|pid| self.at_work.get(&pid).copied());
            let index = index.or_else(|| self.by_device.get(device).copied())?;
            self.events.get_mut(index)?.fail(time, reason);
            return Some(());
        }
        // The number stands at the end; from 240 to 248 it stood behind the word `Device`.
        let (text, tail) = text.rsplit_once("(SEQNUM=")?;
        let (fields, tail) = tail.split_once(')')?;
        let mut fields = fields.split(", ");
        let number = fields.next()?.parse().ok()?;
        let (text, tail) = (text.trim_end(), tail.trim_matches(['.', ' ']));
        let text = if text == "Device" { tail } else { text.strip_prefix("Device ").unwrap_or(text) };
        if text == "is queued" {
            self.begin_again(number);
        }
        let index = self.index(number, device, line);
        let event = self.events.get_mut(index)?;
        for field in fields {
            match field.split_once('=') {
                Some(("ACTION", action)) => action.clone_into(&mut event.action),
                Some(("UUID", uuid)) => uuid.clone_into(&mut event.uuid),
                _ => {}
            }
        }
        match text {
            "is queued" => event.queued = event.queued.or(time),
            "ready for processing" => event.ready = event.ready.or(time),
            "Processing device" => {
                event.processing = event.processing.or(time);
                event.worker = event.worker.or(pid);
                if let Some(worker) = event.worker {
                    self.at_work.insert(worker, index);
                }
            }
            "processed" => {
                event.processed = time.or(event.processed);
                event.seen = true;
                event.worker = event.worker.or(pid);
            }
            "Failed to process device" => event.fail(time, tail.trim_start_matches([':', ' '])),
            _ if text.starts_with("The underlying block device is locked") => {
                "the device was locked for too long".clone_into(&mut event.failure);
            }
            _ => return None,
        }
        self.bare += u64::from(time.is_none());
        Some(())
    }

    /// `P] is forked for processing SEQNUM=N.` and the like.
    fn worker(&mut self, device: &str, text: &str, line: u64) -> Option<()> {
        let (pid, text) = text.split_once("] ")?;
        let pid: u32 = pid.parse().ok()?;
        let number = |rest: &str| {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            rest.get(..digits)?.parse::<u64>().ok()
        };
        if let Some(rest) = text.strip_prefix("is forked for processing SEQNUM=") {
            self.forked += 1;
            let index = self.index(number(rest)?, device, line);
            let event = self.events.get_mut(index)?;
            (event.worker, event.forked) = (Some(pid), true);
            self.at_work.insert(pid, index);
            return Some(());
        }
        if let Some(rest) = text.strip_prefix("processing SEQNUM=") {
            let event = self.event(number(rest)?, device, line);
            event.worker = event.worker.or(Some(pid));
            if rest.contains("taking a long time") {
                event.slow = true;
            } else if rest.contains("killed") {
                "its worker was killed".clone_into(&mut event.failure);
            }
            return Some(());
        }
        if text.starts_with("exited with return code") || text.starts_with("terminated by signal") {
            let index = *self.at_work.get(&pid)?;
            let event = self.events.get_mut(index)?;
            if !event.seen {
                event.failure = format!("its worker {}", text.trim_end_matches('.'));
            }
            return Some(());
        }
        if text.starts_with("failed while handling '") {
            let index = *self.at_work.get(&pid)?;
            let event = self.events.get_mut(index)?;
            if !event.seen && event.failure.is_empty() {
                "its worker failed".clone_into(&mut event.failure);
            }
            return Some(());
        }
        text.starts_with("exited").then_some(())
    }

    /// The words of before 2018: `seq 712 queued, 'add' 'block'`.
    fn old(&mut self, time: Option<i64>, pid: Option<u32>, text: &str, line: u64) -> Option<()> {
        let (number, text) = text.split_once(' ')?;
        let number = number.parse().ok()?;
        if text.starts_with("queued, '") {
            self.begin_again(number);
        }
        let index = self.index(number, "", line);
        let event = self.events.get_mut(index)?;
        if let Some(rest) = text.strip_prefix("queued, '") {
            let (action, subsystem) = rest.split_once("' '")?;
            action.clone_into(&mut event.action);
            subsystem.trim_end_matches('\'').clone_into(&mut event.subsystem);
            event.queued = event.queued.or(time);
        } else if let Some(rest) = text.strip_prefix("forked new worker [") {
            event.worker = rest.trim_end_matches(']').parse().ok();
            event.forked = true;
            event.ready = event.ready.or(time);
            if let Some(worker) = event.worker {
                self.at_work.insert(worker, index);
            }
            self.forked += 1;
        } else if text == "running" {
            event.processing = event.processing.or(time);
            event.worker = event.worker.or(pid);
            if let Some(worker) = event.worker {
                self.at_work.insert(worker, index);
            }
        } else if text.starts_with("processed") {
            event.processed = time.or(event.processed);
            event.seen = true;
        } else if let Some((path, what)) = text.strip_prefix('\'').and_then(|text| text.rsplit_once("' ")) {
            match what {
                "is taking a long time" => event.slow = true,
                "killed" => "its worker was killed".clone_into(&mut event.failure),
                _ => return None,
            }
            if event.device.is_empty() {
                path.rsplit('/').next().unwrap_or_default().clone_into(&mut event.device);
            }
        } else {
            return None;
        }
        self.bare += u64::from(time.is_none());
        Some(())
    }

    /// An event that is queued although one of its number is done is another one: of the next boot.
    fn begin_again(&mut self, number: u64) {
        if self.by_number.get(&number).and_then(|index| self.events.get(*index)).is_some_and(|event| event.seen) {
            self.by_number.remove(&number);
        }
    }

    fn index(&mut self, number: u64, device: &str, line: u64) -> usize {
        let next = self.events.len();
        let index = *self.by_number.entry(number).or_insert(next);
        if index == next {
            self.by_device.insert(device.to_owned(), index);
            self.events.push(Event { number, device: device.to_owned(), line, ..Event::default() });
        }
        index
    }

    fn event(&mut self, number: u64, device: &str, line: u64) -> &mut Event {
        let index = self.index(number, device, line);
        &mut self.events[index]
    }

    /// Adds spans, links, counters and facts.
    pub fn finish(self, evidence: &mut Evidence) {
        if self.events.is_empty() {
            return;
        }
        let done: HashMap<u64, i64> = self
            .by_number
            .iter()
            .filter_map(|(number, at)| Some((*number, self.events.get(*at)?.processed?)))
            .collect();
        let first = evidence.spans.len();
        let (mut unfinished, mut backward) = ((0_u64, None), 0_u64);
        let mut steps: Vec<(i64, i64, i64)> = Vec::new();
        for event in &self.events {
            if !event.seen && event.failure.is_empty() {
                unfinished = (unfinished.0 + 1, unfinished.1.or(Some(event.line)));
            }
            backward += u64::from(event.report(&done, evidence));
            let begun = event.processing.or(event.ready);
            if let Some(queued) = event.queued {
                steps.push((queued, 1, 0));
                steps.extend(begun.map(|begun| (begun.max(queued), -1, 0)));
            }
            if let (Some(begun), Some(processed)) = (begun, event.processed) {
                steps.push((begun, 0, 1));
                steps.push((processed.max(begun), 0, -1));
            }
        }
        let step_ns = evidence.step_ns;
        for place in first..evidence.spans.len() {
            evidence.spans.change(place, |span| by_step(span, step_ns));
        }
        counters(steps, evidence);
        evidence.facts.push(("udev.events".into(), self.events.len().to_string()));
        if self.forked > 0 {
            evidence.facts.push(("udev.workers".into(), self.forked.to_string()));
        }
        if let Some(most) = self.most_children {
            evidence.facts.push(("udev.children_max".into(), most.to_string()));
            evidence.facts.push(("udev.children_max_reached".into(), self.reached.to_string()));
        }
        if unfinished.0 > 0 {
            let detail = counted(unfinished.0, "# event[|s] [was|were] not done when the record ended");
            evidence.problem(ProblemKind::Unfinished, unfinished.1, detail);
        }
        if backward > 0 {
            let text = "of # event[|s] the times run backwards: workers and daemon log by themselves";
            let detail = counted(backward, text);
            evidence.problem(ProblemKind::ClockJump, None, detail);
        }
        if self.bare > 0 {
            let detail = counted(self.bare, "# message[|s] [has|have] no time");
            evidence.problem(ProblemKind::Untimed, None, detail);
        }
    }
}

/// The lengths of the queue and of the work, one value for each instant.
fn counters(mut steps: Vec<(i64, i64, i64)>, evidence: &mut Evidence) {
    steps.sort_unstable();
    let (mut waiting, mut running) = (0, 0);
    let mut at = 0;
    while let Some(&(time_ns, _, _)) = steps.get(at) {
        let before = (waiting, running);
        while let Some(&(time, wait, run)) = steps.get(at).filter(|step| step.0 == time_ns) {
            debug_assert_eq!(time, time_ns);
            waiting += wait;
            running += run;
            at += 1;
        }
        if waiting != before.0 {
            evidence.counters.push(Counter { name: "udev_queue_events".into(), time_ns, value: waiting });
        }
        if running != before.1 {
            evidence.counters.push(Counter { name: "udev_running_events".into(), time_ns, value: running });
        }
    }
}
