//! What a record says, in its own clock, with what is wrong with it.
//!
//! A reader fills these; nothing here is aligned, merged or judged against another record.

use std::borrow::Cow;

/// Text that is mostly one of a few constants.
pub type Name = Cow<'static, str>;

/// The clock of every time in a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Clock {
    /// No times, only an order.
    #[default]
    Untimed,
    /// The kernel's `local_clock`, as printk stamps it: seconds since the kernel's clock started.
    Printk,
    /// `CLOCK_MONOTONIC` of the booted system.
    Monotonic,
    /// `CLOCK_BOOTTIME` of the booted system.
    Boottime,
    /// Wall time of the booted system, nanoseconds since 1970.
    Realtime,
    /// A clock of the kernel's tracer, by its name (`local`, `global`, `mono`, `boot`, `counter`, ...; empty: unknown).
    Trace(String),
    /// The clock of the machine that captured the record, from the record's own origin.
    Host,
    /// A timer of the firmware or boot loader, from its own reset.
    Firmware,
    /// The clock of an instrumented kernel's function log (KFT).
    Kft,
}

/// How far the length of a span can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Grade {
    /// Two independent figures agree, or the clock cannot err.
    Exact,
    /// One sound figure.
    #[default]
    Good,
    /// Sound, but the clock's step is more than a hundredth of it.
    Coarse,
    /// A bound, not a length: part of it is missing, or something foreign is in it.
    Bounded,
    /// A known fault applies, or two figures contradict one another.
    Doubtful,
    /// Nothing says how long it took.
    Unknown,
}

impl Grade {
    /// The name used in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Good => "good",
            Self::Coarse => "coarse",
            Self::Bounded => "bounded",
            Self::Doubtful => "doubtful",
            Self::Unknown => "unknown",
        }
    }
}

/// What a span is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// Between two marks.
    Phase,
    /// One initcall; track `task PID`.
    Initcall,
    /// A driver's probe of a device; the name is the device's.
    Probe,
    /// An asynchronous body.
    Async,
    /// Somebody waiting for asynchronous bodies: idle of the waiter, no work.
    AsyncWait,
    /// One long call of a function in a trace.
    Function,
    /// Between two events of a trace that belong together.
    Event,
    /// The whole life of a device's uevent, from the kernel to udev's end; the name is the device's path or name.
    Uevent,
    /// Of a uevent: from its arrival in the queue until nothing blocks it.
    UeventQueued,
    /// Of a uevent: held back by another one.
    UeventBlocked,
    /// Of a uevent: a worker on it.
    UeventService,
    /// A unit of systemd, from its first activating to active.
    Unit,
    /// A unit while it was up.
    UnitActive,
    /// One stage as systemd names them: firmware, loader, kernel, initrd, userspace.
    Stage,
    /// The life of a process, as far as it was seen.
    Process,
    /// A stage of a boot loader or firmware.
    Firmware,
    /// A mount of a file system.
    Mount,
    /// The console printing what had piled up.
    Console,
}

impl SpanKind {
    /// The name used in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::Initcall => "initcall",
            Self::Probe => "probe",
            Self::Async => "async",
            Self::AsyncWait => "async_wait",
            Self::Function => "function",
            Self::Event => "event",
            Self::Uevent => "uevent",
            Self::UeventQueued => "uevent_queued",
            Self::UeventBlocked => "uevent_blocked",
            Self::UeventService => "uevent_service",
            Self::Unit => "unit",
            Self::UnitActive => "unit_active",
            Self::Stage => "stage",
            Self::Process => "process",
            Self::Firmware => "firmware",
            Self::Mount => "mount",
            Self::Console => "console",
        }
    }
}

/// An interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is of.
    pub kind: SpanKind,
    /// Whose it is: the initcall's function without offsets, the device, the unit.
    pub name: String,
    /// The span it lies in, by its place in [`Evidence::spans`].
    pub parent: Option<usize>,
    /// What it ran on: `task 1`, `cpu 0`, `udev worker 312`, `systemd`; empty: unknown.
    pub track: Name,
    /// Of an initcall: `early`, `core`, ..., `module`.
    pub level: Option<Name>,
    /// When it began, if that is known.
    pub start_ns: Option<i64>,
    /// When it ended; none: it did not, or nobody knows.
    pub end_ns: Option<i64>,
    /// How long it took by the best figure; none: it did not end, or nobody knows. Not always `end_ns - start_ns`.
    pub duration_ns: Option<i64>,
    /// How far `duration_ns` can be believed.
    pub grade: Grade,
    /// Why, for a person; empty only for [`Grade::Good`].
    pub reason: Name,
    /// What else is known: `module`, `returned`, `seqnum`, ... Keys are lower case with underscores; units in the key.
    pub attributes: Vec<(Name, String)>,
}

impl Span {
    /// A span of which only this is known; the rest is filled in by name.
    pub fn new(kind: SpanKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            parent: None,
            track: Name::Borrowed(""),
            level: None,
            start_ns: None,
            end_ns: None,
            duration_ns: None,
            grade: Grade::default(),
            reason: Name::Borrowed(""),
            attributes: Vec::new(),
        }
    }

    /// The same from one instant to another; the length is their difference.
    #[must_use]
    pub fn between(mut self, start_ns: i64, end_ns: i64) -> Self {
        self.start_ns = Some(start_ns);
        self.end_ns = Some(end_ns);
        self.duration_ns = Some(end_ns.saturating_sub(start_ns));
        self
    }

    /// The same with a lower trust.
    #[must_use]
    pub fn graded(mut self, grade: Grade, reason: impl Into<Name>) -> Self {
        self.grade = grade;
        self.reason = reason.into();
        self
    }

    /// The same with one more attribute.
    #[must_use]
    pub fn with(mut self, key: impl Into<Name>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }
}

/// A named instant; the names are those of the bundle (`docs/formats/boot-bundle.md`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub name: Name,
    /// When.
    pub time_ns: i64,
    /// The line, variable or function that told.
    pub detail: String,
}

/// The lines of a log: columns, with all texts in one buffer, because there may be millions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    text: String,
    rows: Vec<Row>,
    /// Only where a line has one.
    hosts: Vec<i64>,
}

/// A line beside its text, packed: much of the memory that reading a log takes is this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    end: usize,
    time_ns: i64,
    line: u32,
    /// Bits 0 to 1: the kind of caller; 2 to 5: the level; the rest: which caller.
    who: u32,
}

/// What stands for a caller whose number does not fit: none on Linux, whose tasks end at 2^22.
const CALLERS: u32 = (1 << 26) - 1;

/// What stands for no time, and for no level.
const NO_TIME: i64 = i64::MIN;
const NO_LEVEL: u8 = 15;

/// What is known of a line beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its number in the record, from 1.
    pub line: u64,
    /// When it was stored, in the evidence's clock.
    pub time_ns: Option<i64>,
    /// When the capturing machine received it, on that machine's clock from the record's own origin.
    pub host_ns: Option<i64>,
    /// The kernel's level, 0 to 7.
    pub level: Option<u8>,
    /// Who said it.
    pub caller: Option<Caller>,
}

/// `PRINTK_CALLER`: who printed a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A task, by its number.
    Task(u32),
    /// An interrupt, by its processor.
    Cpu(u32),
}

impl Log {
    /// Appends a line; bytes that are not UTF-8 are replaced. Tells whether any were.
    pub fn push(&mut self, stamp: Stamp, text: &[u8]) -> bool {
        let replaced = match std::str::from_utf8(text) {
            Ok(text) => {
                self.text.push_str(text);
                false
            }
            Err(_) => {
                self.text.push_str(&String::from_utf8_lossy(text));
                true
            }
        };
        if stamp.host_ns.is_some() && self.hosts.is_empty() {
            self.hosts.resize(self.rows.len(), NO_TIME);
        }
        if stamp.host_ns.is_some() || !self.hosts.is_empty() {
            self.hosts.push(stamp.host_ns.unwrap_or(NO_TIME));
        }
        let (caller, who) = match stamp.caller {
            None => (0, 0),
            Some(Caller::Task(task)) => (1, task),
            Some(Caller::Cpu(cpu)) => (2, cpu),
        };
        self.rows.push(Row {
            end: self.text.len(),
            time_ns: stamp.time_ns.unwrap_or(NO_TIME),
            line: u32::try_from(stamp.line).unwrap_or(u32::MAX),
            who: caller | u32::from(stamp.level.unwrap_or(NO_LEVEL).min(NO_LEVEL)) << 2 | who.min(CALLERS) << 6,
        });
        replaced
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One line.
    pub fn get(&self, index: usize) -> Option<(Stamp, &str)> {
        let row = self.rows.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |before| before.end);
        let stamp = Stamp {
            line: u64::from(row.line),
            time_ns: Some(row.time_ns).filter(|&time| time != NO_TIME),
            host_ns: self.hosts.get(index).copied().filter(|&host| host != NO_TIME),
            level: Some((row.who >> 2 & 15) as u8).filter(|&level| level != NO_LEVEL),
            caller: match row.who & 3 {
                1 => Some(Caller::Task(row.who >> 6)),
                2 => Some(Caller::Cpu(row.who >> 6)),
                _ => None,
            },
        };
        Some((stamp, self.text.get(start..row.end)?))
    }

    /// All lines in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stamp, &str)> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// A figure that changes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Its name with its unit: `cpu_user_ns`, `disk_read_bytes`.
    pub name: Name,
    /// When.
    pub time_ns: i64,
    /// Its value then.
    pub value: i64,
}

/// One row of a calling-context tree; node 0 is the root, parents come before their children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNode {
    /// The row it was entered from; the root is its own.
    pub parent: u32,
    /// Its function, by its place in [`Calls::functions`].
    pub function: u32,
    /// `root`, `function`, `interrupt`, `task`, ...: the kinds of the bundle.
    pub kind: &'static str,
    /// Entries.
    pub calls: u64,
    /// Time in it and in nothing below it; negative where the record contradicts itself.
    pub self_ns: i64,
}

/// A calling-context tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// Names, with the module where the record tells.
    pub functions: Vec<(String, Option<String>)>,
    /// The rows.
    pub nodes: Vec<CallNode>,
}

/// One row of a kd table, in kd's own terms: times in microseconds, -1 where an unfinished call spoils them; none where
/// the table lacks the column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KdRow {
    /// The function as it stands in the record.
    pub function: String,
    /// Rows of the log with that name.
    pub count: i64,
    /// Sum of their lengths.
    pub time_us: i64,
    /// Time / Count, rounded down.
    pub average_us: Option<i64>,
    /// The shortest.
    pub min_us: Option<i64>,
    /// The longest.
    pub max_us: Option<i64>,
    /// Sum of the lengths of what it called.
    pub sub_time_us: Option<i64>,
    /// Time - Sub-time.
    pub local_us: Option<i64>,
    /// The direct callee with the largest total over the whole log.
    pub max_sub: Option<String>,
    /// How often it was called from here.
    pub max_sub_count: Option<i64>,
    /// The names of all direct callees, joined by blanks.
    pub sub_list: Option<String>,
}

/// One thing waiting for another, for the critical path. Spans are named, because they may be of other records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// `after` (ordering of units), `requires`, `blocked_by` (uevents, by SEQNUM), `supplier` (deferred probes).
    pub kind: Name,
    /// What waits.
    pub from: (SpanKind, String),
    /// What it waits for.
    pub to: (SpanKind, String),
}

/// The kinds of damage and doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The beginning is missing (a ring that was overwritten).
    LostHead,
    /// The end is missing (a full buffer, a capture that stopped).
    LostTail,
    /// Records in between are missing.
    Lost,
    /// The record was cut in the middle of a line or field.
    Cut,
    /// Lines that are torn, merged, or have no shape of the format.
    Torn,
    /// The same lines stand in it again (a console that was enabled late).
    Replay,
    /// Lines without time.
    Untimed,
    /// The clock jumped.
    ClockJump,
    /// The clock wrapped round.
    ClockWrap,
    /// The clock has coarse steps.
    Quantised,
    /// Something began and did not end.
    Unfinished,
    /// Something ended and had not begun.
    Unpaired,
    /// Initcalls overlapped while their start was one shared stamp.
    SharedStart,
    /// Durations that count 1024 ns as a microsecond.
    ShiftedMicroseconds,
    /// Short calls were left out when the record was made.
    Censored,
    /// Values were cut to a limit when the record was made.
    Clamped,
    /// Invalid UTF-8 or NUL bytes.
    Encoding,
    /// Terminal escapes.
    Escapes,
    /// Lines or fields beyond the limit.
    Overlong,
    /// Two statements of the record exclude one another.
    Contradiction,
    /// Values that cannot be.
    Implausible,
    /// Parts that are of no known kind.
    Unrecognised,
}

impl ProblemKind {
    /// The name used in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::LostHead => "lost_head",
            Self::LostTail => "lost_tail",
            Self::Lost => "lost",
            Self::Cut => "cut",
            Self::Torn => "torn",
            Self::Replay => "replay",
            Self::Untimed => "untimed",
            Self::ClockJump => "clock_jump",
            Self::ClockWrap => "clock_wrap",
            Self::Quantised => "quantised",
            Self::Unfinished => "unfinished",
            Self::Unpaired => "unpaired",
            Self::SharedStart => "shared_start",
            Self::ShiftedMicroseconds => "shifted_microseconds",
            Self::Censored => "censored",
            Self::Clamped => "clamped",
            Self::Encoding => "encoding",
            Self::Escapes => "escapes",
            Self::Overlong => "overlong",
            Self::Contradiction => "contradiction",
            Self::Implausible => "implausible",
            Self::Unrecognised => "unrecognised",
        }
    }

    /// Whether evidence is missing because of it.
    pub fn loses(self) -> bool {
        matches!(self, Self::LostHead | Self::LostTail | Self::Lost | Self::Cut | Self::Censored | Self::Overlong)
    }
}

/// Something wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// What, for a person; a count and an example rather than one problem for every line.
    pub detail: String,
    /// Where it was met first.
    pub line: Option<u64>,
    /// How many records are missing, where that can be counted.
    pub lost: Option<u64>,
}

/// What one record, or one part of it, says about one boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The name of the format it was read as.
    pub format: &'static str,
    /// The part of the record: a section, a file in an archive; empty for the whole.
    pub part: String,
    /// Which boot of the record, from 0; parts of one boot have the same number.
    pub boot: u32,
    /// The line at which this boot begins in the record.
    pub first_line: u64,
    /// The clock of every time here.
    pub clock: Clock,
    /// The smallest step of the clock, as the record shows it; 0: unknown.
    pub step_ns: i64,
    /// Named instants.
    pub marks: Vec<Mark>,
    /// Intervals.
    pub spans: Vec<Span>,
    /// Lines of text.
    pub log: Log,
    /// What is true of the system; names as in the bundle.
    pub facts: Vec<(Name, String)>,
    /// Figures over time.
    pub counters: Vec<Counter>,
    /// Functions by call path.
    pub calls: Option<Calls>,
    /// The kd table, where the record is one, or is a log that kd reads.
    pub kd: Vec<KdRow>,
    /// What waits for what.
    pub links: Vec<Link>,
    /// Lines or records of the format that were understood; with [`Problem::lost`] it gives the completeness.
    pub understood: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Evidence {
    /// Empty evidence of a format.
    pub fn of(format: &'static str, clock: Clock) -> Self {
        Self { format, clock, ..Self::default() }
    }

    /// Notes a problem.
    pub fn problem(&mut self, kind: ProblemKind, line: Option<u64>, detail: impl Into<String>) {
        self.problems.push(Problem { kind, detail: detail.into(), line, lost: None });
    }
}
