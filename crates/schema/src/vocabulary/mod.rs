//! The vocabulary. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

mod code;
mod marks;
mod records;
mod spans;

pub use code::*;
pub use marks::*;
pub use records::*;
pub use spans::*;

use crate::aliases::Aliases;

impl Mark {
    /// The phase that it begins; none: it divides no phases.
    pub const fn phase(self) -> Option<Phase> {
        match self {
            Self::PowerOn | Self::FirmwareStart => Some(Phase::Firmware),
            Self::LoaderStart => Some(Phase::Loader),
            Self::CaptureStart => Some(Phase::BeforeKernel),
            Self::DecompressionStart => Some(Phase::Decompression),
            Self::KernelEntry => Some(Phase::KernelEntry),
            Self::KernelClockStart | Self::KernelStart => Some(Phase::EarlyInit),
            Self::RestInit => Some(Phase::RestInit),
            Self::KernelInit => Some(Phase::KernelInit),
            Self::InitcallEarly => Some(Phase::InitcallEarly),
            Self::InitcallPure => Some(Phase::InitcallPure),
            Self::InitcallCore => Some(Phase::InitcallCore),
            Self::InitcallPostcore => Some(Phase::InitcallPostcore),
            Self::InitcallArch => Some(Phase::InitcallArch),
            Self::InitcallSubsys => Some(Phase::InitcallSubsys),
            Self::InitcallFs => Some(Phase::InitcallFs),
            Self::InitcallRootfs => Some(Phase::InitcallRootfs),
            Self::InitcallDevice => Some(Phase::InitcallDevice),
            Self::InitcallLate => Some(Phase::InitcallLate),
            Self::Initcalls => Some(Phase::Initcalls),
            Self::InitcallsEnd => Some(Phase::AfterInitcalls),
            Self::FreeInitMemory => Some(Phase::FreeInitMemory),
            Self::RunInit => Some(Phase::RunInit),
            Self::UserStart | Self::GuestStart | Self::SystemdStart | Self::UserspaceStart => Some(Phase::Userspace),
            Self::InitramfsStart => Some(Phase::Initramfs),
            Self::SwitchRoot => Some(Phase::SwitchRoot),
            Self::SoftRebootStart => Some(Phase::SoftReboot),
            Self::StartupFinished => Some(Phase::AfterStartup),
            Self::Ready => Some(Phase::AfterReady),
            Self::Panic => Some(Phase::Panic),
            Self::RecordStart => Some(Phase::BeforeFirstMark),
            _ => None,
        }
    }

    /// The level whose first initcall starts at it.
    pub const fn initcall_level(self) -> Option<InitcallLevel> {
        match self {
            Self::InitcallEarly => Some(InitcallLevel::Early),
            Self::InitcallPure => Some(InitcallLevel::Pure),
            Self::InitcallCore => Some(InitcallLevel::Core),
            Self::InitcallPostcore => Some(InitcallLevel::Postcore),
            Self::InitcallArch => Some(InitcallLevel::Arch),
            Self::InitcallSubsys => Some(InitcallLevel::Subsys),
            Self::InitcallFs => Some(InitcallLevel::Fs),
            Self::InitcallRootfs => Some(InitcallLevel::Rootfs),
            Self::InitcallDevice => Some(InitcallLevel::Device),
            Self::InitcallLate => Some(InitcallLevel::Late),
            _ => None,
        }
    }

    /// The layer of software that it belongs to.
    pub const fn layer(self) -> Layer {
        match self {
            Self::PowerOn
            | Self::FirmwareStart
            | Self::LoaderLoad
            | Self::ExitBootServicesStart
            | Self::ExitBootServicesEnd
            | Self::PayloadStart
            | Self::CaptureStart => Layer::Firmware,
            Self::LoaderStart | Self::LoaderEnd => Layer::Loader,
            Self::DecompressionStart
            | Self::KernelEntry
            | Self::KernelClockStart
            | Self::KernelStart
            | Self::RestInit
            | Self::KernelInit
            | Self::SchedClock
            | Self::CalibrateDelay
            | Self::SmpUp
            | Self::ClocksourceSwitch
            | Self::SmpInit
            | Self::InitcallEarly
            | Self::InitcallPure
            | Self::InitcallCore
            | Self::InitcallPostcore
            | Self::InitcallArch
            | Self::InitcallSubsys
            | Self::InitcallFs
            | Self::InitcallRootfs
            | Self::InitcallDevice
            | Self::InitcallLate
            | Self::Initcalls
            | Self::InitcallsEnd
            | Self::FreeInitMemory
            | Self::WriteProtect
            | Self::RunInit
            | Self::Panic => Layer::Kernel,
            Self::UserStart
            | Self::GuestStart
            | Self::SystemdStart
            | Self::SwitchRoot
            | Self::UserspaceStart
            | Self::SoftRebootStart
            | Self::DefaultTarget
            | Self::StartupFinished
            | Self::StartupSettled
            | Self::UpBy
            | Self::LoginPrompt
            | Self::Idle
            | Self::Ready
            | Self::RecordStart
            | Self::RecordEnd => Layer::Userspace,
            Self::InitramfsStart => Layer::Initramfs,
        }
    }
}

impl InitcallLevel {
    /// The mark at which its first initcall starts; consoles and modules have none.
    pub const fn mark(self) -> Option<Mark> {
        match self {
            Self::Early => Some(Mark::InitcallEarly),
            Self::Pure => Some(Mark::InitcallPure),
            Self::Core => Some(Mark::InitcallCore),
            Self::Postcore => Some(Mark::InitcallPostcore),
            Self::Arch => Some(Mark::InitcallArch),
            Self::Subsys => Some(Mark::InitcallSubsys),
            Self::Fs => Some(Mark::InitcallFs),
            Self::Rootfs => Some(Mark::InitcallRootfs),
            Self::Device => Some(Mark::InitcallDevice),
            Self::Late => Some(Mark::InitcallLate),
            _ => None,
        }
    }
}

impl Stage {
    /// The mark at which it starts.
    pub const fn mark(self) -> Mark {
        match self {
            Self::Firmware => Mark::FirmwareStart,
            Self::Loader => Mark::LoaderStart,
            Self::Kernel => Mark::KernelClockStart,
            Self::Initrd => Mark::InitramfsStart,
            Self::Userspace => Mark::UserspaceStart,
            Self::SoftReboot => Mark::SoftRebootStart,
        }
    }
}

impl ProblemKind {
    /// Whether evidence is missing because of it.
    pub const fn loses(self) -> bool {
        matches!(
            self,
            Self::LostHead
                | Self::LostTail
                | Self::Lost
                | Self::Cut
                | Self::ClockStep
                | Self::NeverReturned
                | Self::Censored
                | Self::Overlong
                | Self::ImpossibleClock
        )
    }
}

/// By `table.column`, the spellings of earlier schema versions and what they are now.
pub const ALIASES: Aliases = &[
    ("marks.mark", &[("initrd_start", "initramfs_start"), ("startup_over", "startup_settled")]),
    ("marks.source", &[("no-operation", "instruction")]),
    ("log.channel", &[("tracer", "ftrace")]),
];
