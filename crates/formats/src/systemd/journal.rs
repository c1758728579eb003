//! The journal's entries, whatever they were printed as, as evidence: one for each boot, and one for the kernel's lines of it.

use super::journal_short::interpret;
use super::time::{startup, Zero, STARTUP};
use super::unit_jobs::{UnitJobs, TWO_CLOCKS};
use super::unit_messages::unit;
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Instant, Log, Mark, ProblemKind, Span, SpanKind, SpanRef, Stage, Stamp};
use crate::udev::queue::Queue;
use std::collections::HashMap;

/// The fields of an entry that are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    fields: Vec<(Field, Vec<u8>)>,
}

macro_rules! fields {
    ($($name:ident $text:literal,)*) => {
        /// The fields that matter for a boot.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Field { $($name),* }

        impl Field {
            /// The field of a name; none for all that do not matter.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    BootId "_BOOT_ID",
    Realtime "__REALTIME_TIMESTAMP",
    Monotonic "__MONOTONIC_TIMESTAMP",
    SourceRealtime "_SOURCE_REALTIME_TIMESTAMP",
    SourceMonotonic "_SOURCE_MONOTONIC_TIMESTAMP",
    SourceBoottime "_SOURCE_BOOTTIME_TIMESTAMP",
    Transport "_TRANSPORT",
    Message "MESSAGE",
    MessageId "MESSAGE_ID",
    Priority "PRIORITY",
    Identifier "SYSLOG_IDENTIFIER",
    Comm "_COMM",
    Pid "_PID",
    SyslogPid "SYSLOG_PID",
    InUnit "_SYSTEMD_UNIT",
    InUserUnit "_SYSTEMD_USER_UNIT",
    Hostname "_HOSTNAME",
    MachineId "_MACHINE_ID",
    Unit "UNIT",
    JobType "JOB_TYPE",
    JobResult "JOB_RESULT",
    UnitResult "UNIT_RESULT",
    KernelUsec "KERNEL_USEC",
    InitrdUsec "INITRD_USEC",
    UserspaceUsec "USERSPACE_USEC",
}

impl Entry {
    /// Keeps a value of a field; of several the first counts.
    pub fn set(&mut self, field: Field, value: Vec<u8>) {
        if self.get(field).is_none() {
            self.fields.push((field, value));
        }
    }

    /// Whether nothing of it is known.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn get(&self, field: Field) -> Option<&[u8]> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, value)| value.as_slice())
    }

    fn text(&self, field: Field) -> Option<&str> {
        std::str::from_utf8(self.get(field)?).ok()
    }

    /// `NAME[PID]: MESSAGE`.
    fn named(&self, message: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(message.len() + 32);
        if let Some(name) = self.get(Field::Identifier).or_else(|| self.get(Field::Comm)) {
            text.extend_from_slice(name);
            if let Some(pid) = self.get(Field::SyslogPid).or_else(|| self.get(Field::Pid)) {
                text.push(b'[');
                text.extend_from_slice(pid);
                text.push(b']');
            }
            text.extend_from_slice(b": ");
        }
        text.extend_from_slice(message);
        text
    }

    /// Whether it can be the system's manager that sent it, and not that of a user, which says the same of its own units and
    /// of the end of its own start.
    fn of_system(&self) -> bool {
        self.get(Field::Pid).is_none_or(|pid| pid == b"1")
            && self.get(Field::InUserUnit).is_none()
            && self.get(Field::InUnit).is_none_or(|unit| !unit.starts_with(b"user@"))
    }

    fn ns(&self, field: Field) -> Option<i64> {
        crate::decimal::microseconds(self.text(field)?)
    }
}

/// `MESSAGE_ID`s of `sd-messages.h`.
const UNIT_STARTING: &str = "7d4958e842da4a758f6c1cdc7b36dcc5";
const UNIT_STARTED: &str = "39f53479d3a045ac8e11786248231fbf";
const UNIT_FAILED: &str = "be02cf6855d2428ba40df7e9d022f03d";
const UNIT_STOPPING: &str = "de5b426a63be47a7b6ac3eaac82e2f6f";
const STARTUP_FINISHED: &str = "b07a249cd024414a82dd00cd181378ff";
const MESSAGES_DROPPED: &str = "a596d6fe7bfa4994828e72309e95d61e";
const MESSAGES_MISSED: &str = "e9bf28e6e834481bb6f48f548ad13606";

/// The wall clock and the monotonic one are read one after the other, and may be steered: further apart than this, the wall
/// clock was set.
const SET_NS: i64 = 50_000_000;
/// The wall clock of one boot is set no more often than this; later settings count as the last one.
const MOST_SETTINGS: usize = 64;

/// Entries of a journal, by boot.
#[derive(Default)]
pub struct Journal {
    boots: Vec<Boot>,
    by_id: HashMap<Vec<u8>, usize>,
}

#[derive(Default)]
struct Boot {
    id: String,
    first_line: u64,
    entries: u64,
    kernel: Log,
    log: Log,
    spans: Vec<Span>,
    marks: Vec<Instant>,
    units: UnitJobs,
    early: UnitJobs,
    manager: bool,
    queue: Queue,
    hostname: Option<String>,
    machine_id: Option<String>,
    walls: Vec<Wall>,
    clock_set: (u64, Option<u64>),
    untimed: (u64, Option<u64>),
    replaced: (u64, Option<u64>),
    lost: (u64, Option<u64>),
}

/// The wall clock while it was not set.
#[derive(Debug, Clone, Copy)]
struct Wall {
    /// How far it is ahead of the monotonic clock.
    ahead: i64,
    /// By the monotonic clock, the first and the last message that the journal took while it ran so.
    first: i64,
    last: i64,
}

impl Wall {
    fn is(&self, ahead: i64) -> bool {
        self.ahead.saturating_sub(ahead).saturating_abs() <= SET_NS
    }
}

impl Journal {
    /// Adds an entry that begins at a line.
    pub fn add(&mut self, entry: &Entry, line: u64) {
        let id = entry.get(Field::BootId).unwrap_or_default();
        let number = match self.by_id.get(id) {
            Some(number) => *number,
            None => {
                self.by_id.insert(id.to_vec(), self.boots.len());
                let id = String::from_utf8_lossy(id).into_owned();
                self.boots.push(Boot { id, first_line: line, ..Boot::default() });
                self.boots.len() - 1
            }
        };
        if let Some(boot) = self.boots.get_mut(number) {
            boot.add(entry, line);
        }
    }

    /// Whether there was no entry.
    pub fn is_empty(&self) -> bool {
        self.boots.is_empty()
    }

    /// The evidence: of each boot what user space said, and what the kernel said by its own clock.
    pub fn finish(self, format: &'static About) -> Vec<Evidence> {
        let boots = self.boots.into_iter().zip(0..);
        boots.flat_map(|(boot, number)| boot.finish(format, number)).collect()
    }
}

fn count(counted: &mut (u64, Option<u64>), line: u64) {
    *counted = (counted.0.saturating_add(1), counted.1.or(Some(line)));
}

impl Boot {
    fn add(&mut self, entry: &Entry, line: u64) {
        self.entries += 1;
        let message = entry.get(Field::Message).unwrap_or_default();
        let mut sent = None;
        let level = entry.text(Field::Priority).and_then(|level| level.parse().ok()).filter(|level| *level < 8);
        if entry.get(Field::Transport) == Some(b"kernel") {
            // The journal's own stamp is when it read the kernel's buffer. Since 257 the boottime field is the kernel's
            // stamp itself, and the monotonic one is computed from it.
            let time_ns = entry.ns(Field::SourceBoottime).or_else(|| entry.ns(Field::SourceMonotonic));
            if time_ns.is_none() {
                count(&mut self.untimed, line);
            }
            // What user space wrote into the kernel's buffer keeps its name.
            let text = match entry.get(Field::Identifier) {
                None | Some(b"kernel") => message.to_vec(),
                Some(_) => entry.named(message),
            };
            if self.kernel.push(Stamp { line, time_ns, level, ..Stamp::default() }, &text) {
                count(&mut self.replaced, line);
            }
            self.udev(entry, time_ns, line);
            // Before the journal ran, what the manager said is text only.
            let manager = entry.get(Field::Identifier) == Some(b"systemd") && entry.text(Field::SyslogPid) == Some("1");
            if let (true, Some(time_ns), Ok(text)) = (manager, time_ns, std::str::from_utf8(message)) {
                unit(text, time_ns, &mut self.early);
            }
        } else {
            sent = self.sent(entry, line);
            let time_ns = sent;
            let text = entry.named(message);
            self.udev(entry, time_ns, line);
            if self.log.push(Stamp { line, time_ns, level, ..Stamp::default() }, &text) {
                count(&mut self.replaced, line);
            }
        }
        if self.machine_id.is_none() {
            self.machine_id = entry.text(Field::MachineId).map(str::to_owned);
        }
        if self.hostname.is_none() {
            self.hostname = entry.text(Field::Hostname).map(str::to_owned);
        }
        match entry.text(Field::MessageId) {
            Some(MESSAGES_DROPPED | MESSAGES_MISSED) => count(&mut self.lost, line),
            // What the manager said earlier came through the kernel's buffer, and has the kernel's stamps.
            Some(id) if entry.get(Field::Transport) != Some(b"kernel") => {
                if !std::mem::replace(&mut self.manager, true) {
                    self.units.take_over(&mut self.early, TWO_CLOCKS);
                }
                if let Some(time_ns) = sent {
                    self.unit(id, entry, time_ns, line);
                }
            }
            _ => {}
        }
    }

    fn udev(&mut self, entry: &Entry, time_ns: Option<i64>, line: u64) {
        if memchr::memmem::find(entry.get(Field::Identifier).unwrap_or_default(), b"udev").is_some() {
            let pid = entry.text(Field::SyslogPid).or_else(|| entry.text(Field::Pid));
            let message = String::from_utf8_lossy(entry.get(Field::Message).unwrap_or_default());
            self.queue.line(time_ns, pid, &message, line);
        }
    }

    /// When a message was sent: its own wall time, put onto the monotonic clock by what the journal read of both when it took
    /// the message. However late the journal was, that is right; only a wall clock that was set needs more care.
    fn sent(&mut self, entry: &Entry, line: u64) -> Option<i64> {
        let Some(received) = entry.ns(Field::Monotonic) else {
            count(&mut self.untimed, line);
            return None;
        };
        let Some(realtime) = entry.ns(Field::Realtime) else { return Some(received) };
        let ahead = realtime.saturating_sub(received);
        self.wall(ahead, received);
        let Some(sent) = entry.ns(Field::SourceRealtime) else { return Some(received) };
        let Some(number) = self.walls.iter().rposition(|wall| wall.is(ahead)) else { return Some(received) };
        let mut until = received;
        // By the wall clock of its receipt, else by one that ran before: each only for what was sent while it ran.
        for (number, wall) in self.walls.iter().enumerate().take(number + 1).rev() {
            let at = sent.saturating_sub(if wall.is(ahead) { ahead } else { wall.ahead });
            let began = number.checked_sub(1).and_then(|before| self.walls.get(before)).map_or(0, |before| before.last);
            // Both clocks tick on between being read: what seems sent right after it was taken, was sent then.
            if at >= began && at <= until.saturating_add(SET_NS) {
                return Some(at.min(received));
            }
            until = wall.first;
        }
        count(&mut self.clock_set, line);
        Some(received)
    }

    /// Notes how far the wall clock is ahead of the monotonic one.
    fn wall(&mut self, ahead: i64, at: i64) {
        let full = self.walls.len() >= MOST_SETTINGS;
        match self.walls.last_mut() {
            Some(wall) if wall.is(ahead) || full => {
                (wall.ahead, wall.last) = (ahead, wall.last.max(at));
            }
            _ => self.walls.push(Wall { ahead, first: at, last: at }),
        }
    }

    fn unit(&mut self, id: &str, entry: &Entry, time_ns: i64, line: u64) {
        if !entry.of_system() {
            return;
        }
        if id == STARTUP_FINISHED {
            self.startup(entry, time_ns, line);
            return;
        }
        let Some(unit) = entry.text(Field::Unit) else { return };
        if entry.text(Field::JobType).is_some_and(|kind| kind != "start" && kind != "restart") && id != UNIT_STOPPING {
            return;
        }
        match id {
            UNIT_STARTING => self.units.starting(unit, time_ns),
            UNIT_STARTED => self.units.ended(unit, time_ns, entry.text(Field::JobResult).unwrap_or_default()),
            UNIT_FAILED => self.units.ended(unit, time_ns, entry.text(Field::JobResult).unwrap_or("failed")),
            UNIT_STOPPING => self.units.stopping(unit, time_ns),
            _ => {}
        }
    }

    fn startup(&mut self, entry: &Entry, time_ns: i64, line: u64) {
        let (kernel, initrd) = (entry.ns(Field::KernelUsec), entry.ns(Field::InitrdUsec));
        let Some(userspace) = entry.ns(Field::UserspaceUsec) else { return };
        if let (Some(_), Some(stages)) =
            (kernel, entry.text(Field::Message).and_then(|text| text.strip_prefix(STARTUP)))
        {
            // There are no fields of firmware and loader: only the text has them, cut to milliseconds.
            let mut said = Evidence::default();
            startup(stages, line, Zero::Kernel, &mut said);
            let before = |name: &str| matches!(Stage::parse(name), Some(Stage::Firmware | Stage::Loader));
            self.spans.extend(said.spans.iter().filter(|span| before(span.name)).map(SpanRef::to_span));
            self.marks.extend(said.marks.into_iter().filter(|mark| mark.time_ns < 0));
        }
        let mut mark = |mark: Mark, time_ns: i64, detail: &str| {
            self.marks.push(Instant { mark, time_ns, detail: detail.to_owned() });
        };
        let stage = |stage: Stage, start: i64, length: i64| {
            Span::new(SpanKind::Stage, stage.name()).between(start, start.saturating_add(length))
        };
        // Without a kernel stage (a container) the end is known by the message only.
        let mut at = time_ns.saturating_sub(userspace);
        if let Some(kernel) = kernel {
            mark(Mark::KernelClockStart, 0, "the zero of CLOCK_MONOTONIC");
            self.spans.push(stage(Stage::Kernel, 0, kernel));
            at = kernel;
            if let Some(initrd) = initrd {
                mark(Mark::InitramfsStart, kernel, "KERNEL_USEC of the message `Startup finished`");
                self.spans.push(stage(Stage::Initrd, kernel, initrd));
                at = kernel.saturating_add(initrd);
            }
        }
        mark(Mark::UserspaceStart, at, "from the message `Startup finished`");
        mark(Mark::StartupFinished, at.saturating_add(userspace), "from the message `Startup finished`");
        self.spans.push(stage(Stage::Userspace, at, userspace));
    }

    fn finish(self, format: &'static About, number: u32) -> Vec<Evidence> {
        let of = |part: &str, clock, log: &Log| Evidence {
            part: part.to_owned(),
            boot: number,
            first_line: self.first_line,
            step_ns: 1_000,
            understood: log.len() as u64,
            ..Evidence::of(format, clock)
        };
        let mut system = of("", Clock::Monotonic, &self.log);
        let kernel = (!self.kernel.is_empty()).then(|| {
            let kernel = of("kernel", Clock::Printk, &self.kernel);
            Evidence { traits: kernel.traits.of_kernel_lines(), ..kernel }
        });
        system.marks = self.marks;
        system.spans = self.spans.into();
        system.log = self.log;
        self.units.finish(&mut system);
        self.queue.finish(&mut system);
        if !self.id.is_empty() {
            system.facts.push(("boot.id".into(), self.id));
        }
        if let Some(machine) = self.machine_id {
            system.facts.push(("system.machine_id".into(), machine));
        }
        if let Some(hostname) = self.hostname {
            system.facts.push(("system.hostname".into(), hostname));
        }
        for (kind, (count, line), what) in [
            (ProblemKind::Lost, self.lost, "message[ says|s say] that the journal missed others"),
            (ProblemKind::Untimed, self.untimed, "entr[y has|ies have] no time of this boot"),
            (ProblemKind::Encoding, self.replaced, "entr[y was|ies were] not UTF-8; [its|their] odd bytes were replaced"),
            (
                ProblemKind::ClockJump,
                self.clock_set,
                "entr[y was|ies were] sent by a wall clock that was set before the journal took [it; its|them; their] time is when it \
                 took [it|them]",
            ),
        ] {
            if count > 0 {
                system.problem(kind, line, counted(count, &format!("# {what}")));
            }
        }
        let kernel = kernel.map(|evidence| {
            let mut kernel = Evidence { log: self.kernel, ..evidence };
            interpret(&mut kernel);
            self.early.finish(&mut kernel);
            kernel
        });
        // With the kernel's lines alone there is nothing else but the boot.
        match kernel {
            Some(mut kernel) if system.log.is_empty() => {
                kernel.facts.append(&mut system.facts);
                kernel.problems.append(&mut system.problems);
                vec![kernel]
            }
            kernel => std::iter::once(system).chain(kernel).collect(),
        }
    }
}
