//! The vocabulary. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

mod marks;
mod records;
mod spans;

pub use marks::*;
pub use records::*;
pub use spans::*;

use crate::aliases::Aliases;

impl Mark {
    /// The phase that it begins; none: it divides no phases.
    pub const fn phase(self) -> Option<Phase> {
        match self {
            Self::PowerOn => Some(Phase::Firmware),
            Self::FirmwareStart => Some(Phase::Firmware),
            Self::LoaderStart => Some(Phase::Loader),
            Self::CaptureStart => Some(Phase::BeforeKernel),
            Self::DecompressionStart => Some(Phase::Decompression),
            Self::KernelEntry => Some(Phase::KernelEntry),
            Self::KernelClockStart => Some(Phase::EarlyInit),
            Self::KernelStart => Some(Phase::EarlyInit),
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
            Self::UserStart => Some(Phase::Userspace),
            Self::GuestStart => Some(Phase::Userspace),
            Self::InitramfsStart => Some(Phase::Initramfs),
            Self::SystemdStart => Some(Phase::Userspace),
            Self::SwitchRoot => Some(Phase::SwitchRoot),
            Self::UserspaceStart => Some(Phase::Userspace),
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
            Self::PowerOn => Layer::Firmware,
            Self::FirmwareStart => Layer::Firmware,
            Self::LoaderStart => Layer::Loader,
            Self::LoaderLoad => Layer::Firmware,
            Self::LoaderEnd => Layer::Loader,
            Self::ExitBootServicesStart => Layer::Firmware,
            Self::ExitBootServicesEnd => Layer::Firmware,
            Self::PayloadStart => Layer::Firmware,
            Self::CaptureStart => Layer::Firmware,
            Self::DecompressionStart => Layer::Kernel,
            Self::KernelEntry => Layer::Kernel,
            Self::KernelClockStart => Layer::Kernel,
            Self::KernelStart => Layer::Kernel,
            Self::RestInit => Layer::Kernel,
            Self::KernelInit => Layer::Kernel,
            Self::SchedClock => Layer::Kernel,
            Self::CalibrateDelay => Layer::Kernel,
            Self::SmpUp => Layer::Kernel,
            Self::ClocksourceSwitch => Layer::Kernel,
            Self::SmpInit => Layer::Kernel,
            Self::InitcallEarly => Layer::Kernel,
            Self::InitcallPure => Layer::Kernel,
            Self::InitcallCore => Layer::Kernel,
            Self::InitcallPostcore => Layer::Kernel,
            Self::InitcallArch => Layer::Kernel,
            Self::InitcallSubsys => Layer::Kernel,
            Self::InitcallFs => Layer::Kernel,
            Self::InitcallRootfs => Layer::Kernel,
            Self::InitcallDevice => Layer::Kernel,
            Self::InitcallLate => Layer::Kernel,
            Self::Initcalls => Layer::Kernel,
            Self::InitcallsEnd => Layer::Kernel,
            Self::FreeInitMemory => Layer::Kernel,
            Self::WriteProtect => Layer::Kernel,
            Self::RunInit => Layer::Kernel,
            Self::UserStart => Layer::Userspace,
            Self::GuestStart => Layer::Userspace,
            Self::InitramfsStart => Layer::Initramfs,
            Self::SystemdStart => Layer::Userspace,
            Self::SwitchRoot => Layer::Userspace,
            Self::UserspaceStart => Layer::Userspace,
            Self::SoftRebootStart => Layer::Userspace,
            Self::DefaultTarget => Layer::Userspace,
            Self::StartupFinished => Layer::Userspace,
            Self::StartupSettled => Layer::Userspace,
            Self::LoginPrompt => Layer::Userspace,
            Self::Idle => Layer::Userspace,
            Self::Ready => Layer::Userspace,
            Self::Panic => Layer::Kernel,
            Self::RecordStart => Layer::Userspace,
            Self::RecordEnd => Layer::Userspace,
        }
    }
}

impl FormatName {
    /// What a message calls it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::CollectorManifest => "the manifest of a collection",
            Self::SystemSnapshot => "a file of /proc or /sys",
            Self::KernelConfig => "a kernel's configuration",
            Self::PmGraph => "a log of pm-graph",
            Self::PmGraphResult => "a table of results of pm-graph",
            Self::GrabBootData => "a file of grab-boot-data",
            Self::Lava => "a job log of LAVA",
            Self::FunctionGraph => "a function graph of the kernel's tracer",
            Self::TraceEvents => "events of the kernel's tracer",
            Self::Hist => "a histogram or profile of the kernel's tracer",
            Self::Bootconfig => "a boot configuration (bootconfig)",
            Self::TraceDat => "a recording of trace-cmd (trace.dat)",
            Self::Kft => "a function log (KFT, KFI)",
            Self::KdTable => "a table of kd",
            Self::KdTree => "a call tree of kd",
            Self::SystemdTime => "the output of `systemd-analyze time`",
            Self::SystemdBlame => "the output of `systemd-analyze blame`",
            Self::SystemdCriticalChain => "the output of `systemd-analyze critical-chain`",
            Self::SystemdPlotJson => "the output of `systemd-analyze plot --json`",
            Self::SystemdPlotSvg => "the SVG of `systemd-analyze plot`",
            Self::SystemdShow => "the output of `systemctl show`",
            Self::JournalJson => "the journal as JSON (`journalctl -o json`)",
            Self::JournalExport => "the journal in its export format (`journalctl -o export`)",
            Self::JournalVerbose => "the journal with all fields (`journalctl -o verbose`)",
            Self::JournalShort => "the journal as text (`journalctl`)",
            Self::Bootchart => "a bootchart sample file (`proc_stat.log` and its like)",
            Self::BootchartHeader => "the header of a bootchart archive",
            Self::BootchartProcesses => "a bootchart list of processes (`cmdline2.log`, `paternity.log`)",
            Self::BootchartAccounting => "the kernel's process accounting (`kernel_pacct`)",
            Self::BootchartSvg => "the SVG of systemd-bootchart",
            Self::Bootstage => "U-Boot's bootstage report",
            Self::Fpdt => "the firmware's times (ACPI FPDT)",
            Self::EfiLoaderTimes => "the boot loader's times (EFI variables)",
            Self::Cbmem => "coreboot's timestamps (`cbmem -t` or `-T`)",
            Self::UdevMonitor => "the output of `udevadm monitor`",
            Self::UdevLog => "the debug log of udevd",
            Self::UdevDatabase => "udev's database (udevadm info -e)",
            Self::Kmsg => "records of /dev/kmsg",
            Self::DmesgJson => "a kernel log in JSON (dmesg --json)",
            Self::Grabserial => "a capture of grabserial",
            Self::HostStamped => "a console with the host's time on each line",
            Self::Serial => "a capture of a serial console",
            Self::Printk => "a kernel log (dmesg)",
        }
    }
}

impl ReasonCode {
    /// The sentence, with `{name}` for each parameter.
    #[rustfmt::skip]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ClockNotRunning => "the clock did not run yet",
            Self::ClockStartedMeanwhile => "the clock began to run meanwhile",
            Self::ClockJumpedBack => "the clock of the log jumped back meanwhile",
            Self::ClockJumpedBackStartComputed => "the clock of the log jumped back meanwhile: the start is the end less the kernel's own figure",
            Self::ClockSetMeanwhile => "the wall clock was set meanwhile",
            Self::TracerBothEnds => "stamped by the tracer at both ends",
            Self::TracerStep => "stamped by the tracer, to {us} us",
            Self::EndAmongLostEvents => "its end is among lost events: at most until the next initcall of its task",
            Self::StartMissingInTrace => "its start is not in the trace",
            Self::EndMissingInTrace => "its end is not in the trace",
            Self::StartAndEndMissing => "neither its start nor its end is in the trace",
            Self::PresentAtTraceEnd => "it was there to the end of the trace",
            Self::PresentBeforeTrace => "it was there before the trace",
            Self::EndBeforeStart => "its end is stamped before its start",
            Self::StampsNoTimes => "the stamps are no times",
            Self::NeverReturnedInTrace => "it never returned: so long until the trace ends",
            Self::NeverReturnedInLog => "it never returned: so long until the log ends",
            Self::NotEndedInLog => "it had not ended when the log did",
            Self::NotEnded => "it had not ended",
            Self::EndMissingInLog => "its end is not in the log",
            Self::StartMissingInLog => "its beginning is not in the log",
            Self::StartMissingInLogShared => "its beginning is not in the log, so that another may have moved the start",
            Self::BothStampsNeeded => "the stamps of both its ends are needed",
            Self::SameStamp => "its first and its last line have the same stamp",
            Self::StampsAgree => "the stamps and the kernel's own figure agree",
            Self::StampsOnlyApart => "the stamps are only {us} us apart",
            Self::StampsFurtherApart => "the stamps are {us} us further apart",
            Self::JoinedByOrder => "joined by path and order: there is no SEQNUM",
            Self::KernelEventMissing => "the kernel's event was not seen",
            Self::UdevEndMissing => "udev's end of it was not seen",
            Self::ArrivalNotLogged => "its arrival was not logged",
            Self::MessagesWithoutTime => "the messages have no time",
            Self::Failed => "it failed",
            Self::BlockerTimeMissing => "no time says until when",
            Self::BlockerEndMissing => "until it was ready: the end of what held it back is missing",
            Self::WorkerNotLogged => "its beginning or end was not logged",
            Self::EndOnlyLogged => "only its end was logged",
            Self::JournalReadLate => "what was said of it before the journal ran has the time at which the journal read it",
            Self::NoStartMessage => "no message says that it had started",
            Self::NoStartMessageBecause => "no message says that it had started; {why}",
            Self::StillActive => "still up",
            Self::OnlyReached => "only when it was reached",
            Self::LengthMissing => "it is printed without a length: only when it became active",
            Self::TimeMissing => "it is printed without a time",
            Self::OwnInstantsDiffer => "by its own instants it differs by {us} us",
            Self::NeverActive => "it never became active: until it was inactive or failed",
            Self::NotActive => "it had not become active",
            Self::Restarted => "it was restarted: this is its latest start",
            Self::StepDisagrees => "the step and the times do not agree",
            Self::ColumnsDisagree => "the columns Mark and Elapsed do not agree",
            Self::SampledRunning => "from the first to the last sample in which it had run",
            Self::PresentInLastSample => "still there in the last sample",
            Self::EndedAfterLastSample => "it ended after its last sample",
            Self::AccountingSteps => "in steps of 10 ms; its beginning in steps of 1 s",
            Self::Sampled => "from its first to its last sample",
            Self::LeftOutOfPicture => "it was left out of the picture",
            Self::SharedStartOverwritten => "it overlaps another: the kernel's one start stamp was overwritten",
            Self::PrintedAgainBetween => "at most: the log was printed again between these stamps",
            Self::HostReceived => "as long as the host needed to receive them, without the last",
            Self::FewMicroseconds => "less than a hundred steps of 1 us",
            Self::FewMilliseconds => "less than a hundred steps of a figure in milliseconds",
            Self::FewTicks => "less than a hundred steps of the clock, which moves with the tick here",
            Self::RecordsAgree => "two independent records agree within their steps",
            Self::TracerToLog => "from the tracer's begin to the log's end: each alone has a line being printed in it",
            Self::TracerToLogDiffers => "from the tracer's begin to the log's end; the kernel's own figure is {own}",
            Self::TracerAndKernelAgree => "the kernel's own figure, and the time from the tracer's begin to the log's end, agree",
            Self::PrintingIncluded => "the tracer's {length} have the printing of the log's lines in them",
            Self::RecordDisagrees => "{record} says {length}",
            Self::SystemdFigure => "systemd's own figure; by {record} {length}",
            Self::RecordingEnded => "it had not ended when the recording did",
            Self::ShiftedStartSays => "another initcall began meanwhile and moved the start that the kernel keeps: it says {us} us",
            Self::StampsHeldUp => "the stamps are {us} us further apart: its first line was still being printed, or its task was held up",
            Self::ArrivalAndEndNotLogged => "neither its arrival nor its end was logged",
            Self::NotDone => "it was not done when the record ended",
            Self::ClampedByAnalyze => "systemd-analyze put the end of the boot in its place",
            Self::ClampedTimes => "until active or failed; of its times systemd-analyze put the end of the boot in its place",
            Self::StillActiveOrClamped => "still up, or systemd-analyze put the end of the boot in its place",
            Self::StepOfMilliseconds => "in steps of {ms} ms",
            Self::StepOfMicroseconds => "in steps of {us} us",
            Self::UpToFreeing => "up to the last of up to three lines `Freeing unused kernel`",
            Self::UpToLastInitcall => "up to the end of the last initcall within the first 120 s",
            Self::OnlyTakenUp => "udev's database tells only when udevd took the device up",
            Self::LastLineDropped => "its last line is among the messages that were dropped",
            Self::LastLineLost => "its last line is lost",
            Self::LastLineDroppedUntil => "its last line is among the messages that were dropped: so long at most, until what its task did next",
            Self::LastLineLostUntil => "its last line is lost: so long at most, until what its task did next",
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
        )
    }
}

/// By `table.column`, the spellings of earlier schema versions and what they are now.
pub const ALIASES: Aliases = &[
    ("marks.mark", &[("initrd_start", "initramfs_start"), ("startup_over", "startup_settled")]),
    ("marks.source", &[("no-operation", "instruction")]),
    ("log.channel", &[("tracer", "ftrace")]),
];
