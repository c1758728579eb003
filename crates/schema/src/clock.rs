//! The clock of a record.

use crate::vocabulary::ClockKind;
use std::fmt;

/// The clock of every time in a piece of evidence.
///
/// ```
/// use firstlight_schema::Clock;
/// assert_eq!(Clock::Trace("boot".to_owned()).to_string(), "trace boot");
/// assert_eq!(Clock::Trace(String::new()).to_string(), "trace");
/// ```
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
    /// Since the manager of user space began, as systemd-analyze prints it; what is before is negative.
    Userspace,
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

impl Clock {
    /// Which clock, whatever the tracer calls its own.
    pub const fn kind(&self) -> ClockKind {
        match self {
            Self::Untimed => ClockKind::Untimed,
            Self::Printk => ClockKind::Printk,
            Self::Monotonic => ClockKind::Monotonic,
            Self::Boottime => ClockKind::Boottime,
            Self::Userspace => ClockKind::Userspace,
            Self::Realtime => ClockKind::Realtime,
            Self::Trace(_) => ClockKind::Trace,
            Self::Host => ClockKind::Host,
            Self::Firmware => ClockKind::Firmware,
            Self::Kft => ClockKind::Kft,
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace(name) if !name.is_empty() => write!(formatter, "{} {name}", self.kind()),
            _ => write!(formatter, "{}", self.kind()),
        }
    }
}
