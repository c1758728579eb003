//! One event of udevd's queue, by all that was logged of it.

use crate::evidence::{Evidence, Grade, Link, LinkKind, Span, SpanKind};
use crate::names::one_line;
use firstlight_schema::ReasonCode;
use std::collections::HashMap;

/// What is known of it.
#[derive(Debug, Default)]
pub struct Event {
    /// Its SEQNUM.
    pub number: u64,
    /// The name of the device, empty where the words are old.
    pub device: String,
    /// `add`, `remove`, ...
    pub action: String,
    /// Only by the old words.
    pub subsystem: String,
    /// Of an event that a process asked for.
    pub uuid: String,
    /// Where it was met first.
    pub line: u64,
    /// When it arrived.
    pub queued: Option<i64>,
    /// When nothing held it back any more.
    pub ready: Option<i64>,
    /// When a worker began with it.
    pub processing: Option<i64>,
    /// When that was done.
    pub processed: Option<i64>,
    /// Whether it was done, at whatever time.
    pub seen: bool,
    /// The events that held it back, by their numbers.
    pub blockers: Vec<u64>,
    /// When that was said first.
    pub blocked_at: Option<i64>,
    /// Which worker had it.
    pub worker: Option<u32>,
    /// Whether that was forked for it.
    pub forked: bool,
    /// How often it was deferred because the device was locked.
    pub requeued: u64,
    /// Whether the daemon complained.
    pub slow: bool,
    /// Why it failed.
    pub failure: String,
}

impl Event {
    fn name(&self) -> String {
        match (self.device.is_empty(), self.subsystem.is_empty()) {
            (false, _) => self.device.clone(),
            (true, false) => format!("{} SEQNUM={}", self.subsystem, self.number),
            (true, true) => format!("SEQNUM={}", self.number),
        }
    }

    /// It failed, and that was its end.
    pub fn fail(&mut self, time: Option<i64>, reason: &str) {
        self.processed = time.or(self.processed);
        self.seen = true;
        self.failure = one_line(reason, ReasonCode::Failed.text());
    }

    /// Adds its spans and links; returns whether its times run backwards.
    pub fn report(&self, done: &HashMap<u64, i64>, evidence: &mut Evidence) -> bool {
        let mut backward = false;
        let mut ordered = |start: Option<i64>, end: Option<i64>| match (start, end) {
            (Some(start), Some(end)) if end < start => {
                backward = true;
                (Some(start), Some(start))
            }
            times => times,
        };
        let name = one_line(&self.name(), "<unknown>");
        let span = |kind, (start, end): (Option<i64>, Option<i64>)| {
            let span = Span::new(kind, name.clone());
            match (start, end) {
                (Some(start), Some(end)) => span.between(start, end),
                (start_ns, end_ns) => Span { start_ns, end_ns, ..span },
            }
        };
        let mut whole =
            span(SpanKind::Uevent, ordered(self.queued, self.processed)).with("seqnum", self.number.to_string());
        for (key, value) in [
            ("action", self.action.as_str()),
            ("subsystem", &self.subsystem),
            ("synthetic", &self.uuid),
            ("failure", &self.failure),
        ] {
            if !value.is_empty() {
                whole = whole.with(key, value);
            }
        }
        if self.slow {
            whole = whole.with("slow", "yes");
        }
        if self.requeued > 0 {
            whole = whole.with("requeued", self.requeued.to_string());
        }
        if whole.duration_ns.is_none() {
            let begun = self.ready.or(self.processing).is_some();
            let reason = match (self.queued, self.processed, self.seen) {
                (None, Some(_), _) => ReasonCode::ArrivalNotLogged,
                (_, None, true) => ReasonCode::MessagesWithoutTime,
                _ if !self.failure.is_empty() => ReasonCode::Failed,
                (None, None, _) if begun => ReasonCode::ArrivalAndEndNotLogged,
                _ => ReasonCode::NotDone,
            };
            whole = whole.graded(Grade::Unknown, reason);
        }
        let parent = evidence.spans.len();
        evidence.spans.push(whole);
        let ready = self.ready.or(self.processing);
        if self.queued.is_some() && ready.is_some() {
            let queued = span(SpanKind::UeventQueued, ordered(self.queued, ready));
            evidence.spans.push(Span { parent: Some(parent), ..queued }.with("seqnum", self.number.to_string()));
        }
        if !self.blockers.is_empty() {
            let freed = self.blockers.iter().filter_map(|by| done.get(by)).max().copied();
            let all = self.blockers.iter().all(|by| done.contains_key(by));
            let until = match (freed, ready) {
                (Some(freed), Some(ready)) if all => Some(freed.min(ready)),
                (_, ready) => ready,
            };
            let start = self.queued.or(self.blocked_at);
            // The worker may have been done before this one came, and the daemon not yet have heard of it.
            let until = until.map(|until| until.max(start.unwrap_or(until)));
            let by: Vec<String> = self.blockers.iter().map(u64::to_string).collect();
            let mut blocked =
                span(SpanKind::UeventBlocked, ordered(start, until)).with("seqnum", self.number.to_string());
            blocked = blocked.with(LinkKind::BlockedBy.name(), by.join(" "));
            if blocked.duration_ns.is_none() {
                blocked = blocked.graded(Grade::Unknown, ReasonCode::BlockerTimeMissing);
            } else if !all {
                blocked = blocked.graded(Grade::Bounded, ReasonCode::BlockerEndMissing);
            }
            evidence.spans.push(Span { parent: Some(parent), ..blocked });
            for by in &self.blockers {
                evidence.links.push(Link {
                    kind: LinkKind::BlockedBy,
                    from: (SpanKind::Uevent, format!("SEQNUM={}", self.number)),
                    to: (SpanKind::Uevent, format!("SEQNUM={by}")),
                });
            }
        }
        if self.processing.is_some() || self.seen {
            let mut service = span(SpanKind::UeventService, ordered(self.processing, self.processed));
            service = service.with("seqnum", self.number.to_string());
            if let Some(worker) = self.worker {
                service.track = format!("udev worker {worker}").into();
            }
            if let (Some(ready), Some(processing)) = (self.ready, self.processing) {
                service = service.with("dispatch_ns", processing.saturating_sub(ready).max(0).to_string());
            }
            if self.forked {
                service = service.with("forked", "yes");
            }
            if service.duration_ns.is_none() {
                service = service.graded(Grade::Unknown, ReasonCode::WorkerNotLogged);
            }
            evidence.spans.push(Span { parent: Some(parent), ..service });
        }
        backward
    }
}
