//! What a format says of itself: its name, and what merging must know of its records.

use firstlight_schema::{Channel, FormatName, Mark};

/// A format, as its evidence carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// What `--as` takes: lower case, words joined by `-`.
    pub name: &'static str,
    /// What a message calls it: `a kernel log (dmesg)`.
    pub title: &'static str,
    /// What merging must know.
    pub traits: Traits,
}

impl About {
    /// A format of the vocabulary.
    pub const fn of(format: FormatName, traits: Traits) -> Self {
        Self { name: format.name(), title: format.text(), traits }
    }
}

impl Default for Traits {
    fn default() -> Self {
        Self::of(Origin::Other)
    }
}

/// Evidence that no reader has made.
impl Default for &'static About {
    fn default() -> Self {
        const { &About { name: "", title: "", traits: Traits::of(Origin::Other) } }
    }
}

/// Who stamps what a record says; records of one origin are not independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The kernel's log.
    KernelLog,
    /// The kernel's tracer.
    Ftrace,
    /// An instrumented kernel.
    FunctionLog,
    /// systemd.
    Systemd,
    /// udevd.
    Udev,
    /// Firmware and boot loaders.
    Firmware,
    /// A program that looks at the system from time to time.
    Sampler,
    /// Something else.
    Other,
}

/// Whether the lines of a record have the instants at which they were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    /// When the line was written; there may be a received form of the same log.
    Sent,
    /// When the line was received; there may be a sent form of the same log.
    Received,
    /// The log has no two forms.
    Own,
}

/// What a record is wanted for, where a recording has some of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A console.
    Console,
    /// The kernel's ring.
    KernelRing,
    /// What systemd knows of its units.
    Units,
    /// A function graph of the tracer.
    FunctionGraph,
}

/// The instant on a record's clock at which the kernel's clock began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The mark at that instant.
    pub mark: Mark,
    /// Why it is taken for that instant.
    pub assumption: &'static str,
}

/// What merging must know of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Who stamps its values.
    pub origin: Origin,
    /// How often a unit's instants were passed on, and rounded, since systemd stamped them; [`Self::FAR`]: as messages.
    pub units: u8,
    /// The same of the stages of a start.
    pub stages: u8,
    /// What its lines went through; none: their stamps show it.
    pub channel: Option<Channel>,
    /// Where the kernel's clock begins on that of the record, where the format fixes that.
    pub anchor: Option<Anchor>,
    /// The files of a directory hold one time each, in units of so many nanoseconds: together they are one record.
    pub single_values_ns: Option<i64>,
    /// Whether its lines have the instants at which they were sent.
    pub stamps: Stamps,
    /// The end of a call is stamped behind the printing of its line in the kernel's log.
    pub ends_outside_printing: bool,
    /// Its marks of the firmware are of the end of the reset, not when a timer began.
    pub resets_clock: bool,
    /// What its records are wanted for.
    pub role: Option<Role>,
}

impl Traits {
    /// So far from systemd's stamps are records that do not pass them on.
    pub const FAR: u8 = 5;
    /// A journal: what `Startup finished` says are systemd's own figures, messages about units wait to be written.
    pub const JOURNAL: Self =
        Self { units: 4, stages: 3, channel: Some(Channel::Journal), ..Self::of(Origin::Systemd) };

    /// Those of most formats of an origin.
    pub const fn of(origin: Origin) -> Self {
        let channel = match origin {
            Origin::Ftrace => Some(Channel::Ftrace),
            Origin::Udev => Some(Channel::Udev),
            _ => None,
        };
        Self {
            origin,
            units: Self::FAR,
            stages: Self::FAR,
            channel,
            anchor: None,
            single_values_ns: None,
            stamps: Stamps::Own,
            ends_outside_printing: false,
            resets_clock: false,
            role: None,
        }
    }

    /// The kernel's lines among those of a journal.
    #[must_use]
    pub const fn of_kernel_lines(self) -> Self {
        let stamps = match self.stamps {
            Stamps::Sent => Stamps::Own,
            other => other,
        };
        Self { units: Self::FAR, stages: Self::FAR, channel: Some(Channel::Printk), stamps, ..self }
    }
}
