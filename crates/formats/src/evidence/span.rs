//! An interval: of what kind, how long, and how far that can be believed.

use super::Name;

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

/// An interval, as readers put it together; [`super::Spans`] keep it.
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
