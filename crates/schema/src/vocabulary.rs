//! The vocabulary. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

use crate::aliases::Aliases;

names! {
    /// Named instants of a boot.
    Mark {
        /// The machine starts, or its firmware timer does.
        PowerOn = "power_on",
        /// The firmware runs its first instruction after the reset.
        FirmwareStart = "firmware_start",
        /// The boot loader starts.
        LoaderStart = "loader_start",
        /// The firmware loads the boot loader.
        LoaderLoad = "loader_load",
        /// The boot loader starts the kernel.
        LoaderEnd = "loader_end",
        /// The loader or kernel calls ExitBootServices.
        ExitBootServicesStart = "exit_boot_services_start",
        /// ExitBootServices returns.
        ExitBootServicesEnd = "exit_boot_services_end",
        /// coreboot jumps to its payload.
        PayloadStart = "payload_start",
        /// The capturing machine received its first line.
        CaptureStart = "capture_start",
        /// The kernel image starts to decompress itself.
        DecompressionStart = "decompression_start",
        /// The processor enters the decompressed kernel.
        KernelEntry = "kernel_entry",
        /// The kernel's clock starts to count.
        KernelClockStart = "kernel_clock_start",
        /// The kernel enters start_kernel, or prints its banner.
        KernelStart = "kernel_start",
        /// The kernel creates its first tasks.
        RestInit = "rest_init",
        /// The first task starts to run.
        KernelInit = "kernel_init",
        /// The scheduler's clock is set up.
        SchedClock = "sched_clock",
        /// The kernel calibrates its delay loop.
        CalibrateDelay = "calibrate_delay",
        /// All processors are up.
        SmpUp = "smp_up",
        /// The kernel switches to another clock source.
        ClocksourceSwitch = "clocksource_switch",
        /// The kernel starts the other processors.
        SmpInit = "smp_init",
        /// The first early initcall starts.
        InitcallEarly = "initcall_early",
        /// The first pure initcall starts.
        InitcallPure = "initcall_pure",
        /// The first core initcall starts.
        InitcallCore = "initcall_core",
        /// The first postcore initcall starts.
        InitcallPostcore = "initcall_postcore",
        /// The first arch initcall starts.
        InitcallArch = "initcall_arch",
        /// The first subsys initcall starts.
        InitcallSubsys = "initcall_subsys",
        /// The first fs initcall starts.
        InitcallFs = "initcall_fs",
        /// The first rootfs initcall starts.
        InitcallRootfs = "initcall_rootfs",
        /// The first device initcall starts.
        InitcallDevice = "initcall_device",
        /// The first late initcall starts.
        InitcallLate = "initcall_late",
        /// The first initcall starts, where no record has the levels.
        Initcalls = "initcalls",
        /// The last initcall returns.
        InitcallsEnd = "initcalls_end",
        /// The kernel frees the memory of its init sections.
        FreeInitMemory = "free_init_memory",
        /// The kernel makes its read-only data read-only.
        WriteProtect = "write_protect",
        /// The kernel runs the first program.
        RunInit = "run_init",
        /// The first instruction in user mode.
        UserStart = "user_start",
        /// The guest's own first process starts.
        GuestStart = "guest_start",
        /// The manager of the initramfs starts.
        InitramfsStart = "initramfs_start" | "initrd_start",
        /// systemd prints its first line.
        SystemdStart = "systemd_start",
        /// The initramfs hands over to the root file system.
        SwitchRoot = "switch_root",
        /// The manager of the root file system starts.
        UserspaceStart = "userspace_start",
        /// A restart of userspace alone starts.
        SoftRebootStart = "soft_reboot_start",
        /// systemd reached its default target.
        DefaultTarget = "default_target",
        /// systemd reports that the startup finished.
        StartupFinished = "startup_finished",
        /// The last event before nothing happened for a minute.
        StartupSettled = "startup_settled" | "startup_over",
        /// The console asks for a login.
        LoginPrompt = "login_prompt",
        /// systemd-bootchart found the machine idle.
        Idle = "idle",
        /// The boot reached the state that the user asked for.
        Ready = "ready",
        /// The kernel panics.
        Panic = "panic",
        /// The first instant that the records hold.
        RecordStart = "record_start",
        /// The last instant that the records hold.
        RecordEnd = "record_end",
    }
}

names! {
    /// The layers of software that a boot runs through.
    Layer {
        /// Firmware.
        Firmware = "firmware",
        /// Boot loader.
        Loader = "loader",
        /// Kernel.
        Kernel = "kernel",
        /// Initramfs.
        Initramfs = "initramfs",
        /// Userspace.
        Userspace = "userspace",
    }
}

names! {
    /// What told a mark of a recorded boot.
    MarkSource {
        /// The reset of the machine.
        Reset = "reset",
        /// The processor reached an address.
        Address = "address",
        /// The processor entered a function.
        Function = "function",
        /// The guest executed a marked instruction that does nothing.
        Instruction = "instruction" | "no-operation",
        /// A line on the console.
        Console = "console",
        /// The guest reported it.
        Guest = "guest",
        /// The clock of the host.
        Host = "host",
    }
}

names! {
    /// Intervals between two dividing marks.
    Phase {
        /// Firmware, from power on.
        Firmware = "firmware",
        /// The boot loader.
        Loader = "loader",
        /// What was received before the kernel started.
        BeforeKernel = "before_kernel",
        /// The kernel decompresses itself.
        Decompression = "decompression",
        /// From the entry of the kernel to its first C function.
        KernelEntry = "kernel_entry",
        /// The kernel before its first task.
        EarlyInit = "early_init",
        /// The kernel, where no mark shows how far it came.
        Kernel = "kernel",
        /// The kernel creates its first tasks.
        RestInit = "rest_init",
        /// The first task before the initcalls.
        KernelInit = "kernel_init",
        /// Initcalls of the level early.
        InitcallEarly = "initcall_early",
        /// Initcalls of the level pure.
        InitcallPure = "initcall_pure",
        /// Initcalls of the level core.
        InitcallCore = "initcall_core",
        /// Initcalls of the level postcore.
        InitcallPostcore = "initcall_postcore",
        /// Initcalls of the level arch.
        InitcallArch = "initcall_arch",
        /// Initcalls of the level subsys.
        InitcallSubsys = "initcall_subsys",
        /// Initcalls of the level fs.
        InitcallFs = "initcall_fs",
        /// Initcalls of the level rootfs.
        InitcallRootfs = "initcall_rootfs",
        /// Initcalls of the level device.
        InitcallDevice = "initcall_device",
        /// Initcalls of the level late.
        InitcallLate = "initcall_late",
        /// Initcalls, where no record has their levels.
        Initcalls = "initcalls",
        /// The kernel after its initcalls.
        AfterInitcalls = "after_initcalls",
        /// The kernel after it freed its init memory.
        FreeInitMemory = "free_init_memory",
        /// The kernel starts the first program.
        RunInit = "run_init",
        /// Userspace of a recorded boot.
        UserStart = "user_start",
        /// The initramfs, where it hands over to a root file system.
        Initramfs = "initramfs" | "initrd",
        /// The hand-over from the initramfs to the root.
        SwitchRoot = "switch_root",
        /// Userspace: of the root file system, or of an initramfs that does not hand over.
        Userspace = "userspace" | "user_land",
        /// Userspace after a restart of it alone.
        SoftReboot = "soft_reboot",
        /// After the startup finished.
        AfterStartup = "after_startup",
        /// After the boot was ready.
        AfterReady = "after_ready",
        /// After a panic.
        Panic = "panic",
        /// Before the first mark of the boot.
        BeforeFirstMark = "before_first_mark" | "record",
        /// Not attributable to a phase.
        Unknown = "unknown",
    }
}

names! {
    /// What a span is of.
    SpanKind {
        /// Between two marks.
        Phase = "phase",
        /// One initcall; track `task PID`.
        Initcall = "initcall",
        /// A driver's probe of a device; the name is the device's.
        Probe = "probe",
        /// An asynchronous body.
        Async = "async",
        /// A task waiting for asynchronous bodies: idle time of the waiter.
        AsyncWait = "async_wait",
        /// One long call of a function in a trace.
        Function = "function",
        /// Between two events of a trace that belong together.
        Event = "event",
        /// The whole life of a device's uevent, from the kernel to udev's end; the name is the device's path or name.
        Uevent = "uevent",
        /// Of a uevent: from its arrival in the queue until nothing blocks it.
        UeventQueued = "uevent_queued",
        /// Of a uevent: held back by another one.
        UeventBlocked = "uevent_blocked",
        /// Of a uevent: a worker on it.
        UeventService = "uevent_service",
        /// A unit of systemd, from its first activating to active.
        Unit = "unit",
        /// A unit while it was up.
        UnitActive = "unit_active",
        /// One stage as systemd names them.
        Stage = "stage",
        /// The life of a process, as far as it was seen.
        Process = "process",
        /// A stage of a boot loader or firmware.
        Firmware = "firmware",
        /// A mount of a file system.
        Mount = "mount",
        /// The console printing what had piled up.
        Console = "console",
    }
}

names! {
    /// The levels of the kernel's initcalls, in the order in which it runs them.
    InitcallLevel {
        /// The level early.
        Early = "early",
        /// The level pure.
        Pure = "pure",
        /// The level core.
        Core = "core",
        /// The level postcore.
        Postcore = "postcore",
        /// The level arch.
        Arch = "arch",
        /// The level subsys.
        Subsys = "subsys",
        /// The level fs.
        Fs = "fs",
        /// The level rootfs.
        Rootfs = "rootfs",
        /// The level device.
        Device = "device",
        /// The level late.
        Late = "late",
        /// Consoles; between the early and the pure level.
        Console = "console",
        /// A module's own initcall.
        Module = "module",
    }
}

names! {
    /// The clocks of records, and those of a bundle.
    ClockKind {
        /// No times, only an order.
        Untimed = "untimed",
        /// The kernel's `local_clock`, as printk stamps it.
        Printk = "printk",
        /// `CLOCK_MONOTONIC` of the booted system.
        Monotonic = "monotonic",
        /// `CLOCK_BOOTTIME` of the booted system.
        Boottime = "boottime",
        /// Since the manager of userspace started; what is before is negative.
        Userspace = "userspace",
        /// Wall time of the booted system, nanoseconds since 1970.
        Realtime = "realtime",
        /// A clock of the kernel's tracer.
        Trace = "trace",
        /// The clock of the machine that captured the record; of a bundle, of the recording machine.
        Host = "host",
        /// A timer of the firmware or boot loader, from its own reset.
        Firmware = "firmware",
        /// The clock of an instrumented kernel's function log (KFT).
        Kft = "kft",
        /// Of a bundle: executed instructions and idle time.
        Virtual = "virtual",
        /// Of a bundle: the clock of the best record.
        Imported = "imported",
    }
}

names! {
    /// How far the length of a span can be believed.
    Grade {
        /// Two independent figures agree, or the clock cannot err.
        Exact = "exact",
        /// One sound figure.
        Good = "good",
        /// Sound, but the clock's step is more than a hundredth of it.
        Coarse = "coarse",
        /// A bound, not a length: part of it is missing, or something foreign is in it.
        Bounded = "bounded",
        /// A known fault applies, or two figures contradict one another.
        Doubtful = "doubtful",
        /// Nothing says how long it took.
        Unknown = "unknown",
    }
}

names! {
    /// How one thing waits for another.
    LinkKind {
        /// A unit is ordered after another.
        After = "after",
        /// A unit requires another.
        Requires = "requires",
        /// A unit wants another.
        Wants = "wants",
        /// A uevent waits for another, by SEQNUM.
        BlockedBy = "blocked_by",
        /// A deferred probe waits for a device.
        Supplier = "supplier",
    }
}

names! {
    /// What a line of the log went through.
    Channel {
        /// The kernel's log.
        Printk = "printk",
        /// The journal.
        Journal = "journal",
        /// udevd's own log.
        Udev = "udev",
        /// The kernel's tracer.
        Ftrace = "ftrace" | "tracer",
        /// Only a console.
        Console = "console",
    }
}

names! {
    /// The kinds of damage and doubt of a record.
    ProblemKind {
        /// The beginning is missing (a ring that was overwritten).
        LostHead = "lost_head",
        /// The end is missing (a full buffer, a capture that stopped).
        LostTail = "lost_tail",
        /// Records in between are missing.
        Lost = "lost",
        /// The record was cut in the middle of a line or field.
        Cut = "cut",
        /// Lines that are torn, merged, or have no shape of the format.
        Torn = "torn",
        /// The same lines stand in it again (a console that was enabled late).
        Replay = "replay",
        /// Lines without time.
        Untimed = "untimed",
        /// The clock jumped.
        ClockJump = "clock_jump",
        /// The clock began anew: how much time passed meanwhile is unknown.
        ClockStep = "clock_step",
        /// The clock wrapped round.
        ClockWrap = "clock_wrap",
        /// The clock has coarse steps.
        Quantised = "quantised",
        /// Something began and did not end.
        Unfinished = "unfinished",
        /// A call began, and the record goes on without its return: it hung.
        NeverReturned = "never_returned",
        /// Something ended and had not begun.
        Unpaired = "unpaired",
        /// Initcalls overlapped while their start was one shared stamp.
        SharedStart = "shared_start",
        /// Durations that count 1024 ns as a microsecond.
        ShiftedMicroseconds = "shifted_microseconds",
        /// Short calls were left out when the record was made.
        Censored = "censored",
        /// Values were cut to a limit when the record was made.
        Clamped = "clamped",
        /// Invalid UTF-8 or NUL bytes.
        Encoding = "encoding",
        /// Terminal escapes.
        Escapes = "escapes",
        /// Lines or fields beyond the limit.
        Overlong = "overlong",
        /// Two statements of the record exclude one another.
        Contradiction = "contradiction",
        /// Values that cannot be.
        Implausible = "implausible",
        /// Parts that are of no known kind.
        Unrecognised = "unrecognised",
        /// Its clock could not be aligned to the boot's.
        Unaligned = "unaligned",
    }
}

names! {
    /// Why a boot did not reach its last mark.
    FailureReason {
        /// The kernel panicked.
        Panic = "panic",
        /// The limit of host time passed.
        WallTimeout = "wall_timeout",
        /// The limit of virtual time passed.
        VirtualTimeout = "virtual_timeout",
        /// The guest ended before it was ready.
        NeverReady = "never_ready",
        /// QEMU ended unexpectedly.
        QemuDied = "qemu_died",
        /// The plugin failed.
        Plugin = "plugin",
    }
}

names! {
    /// What a node of the calling-context tree is.
    CallKind {
        /// The root of the tree.
        Root = "root",
        /// A function.
        Function = "function",
        /// An interrupt.
        Interrupt = "interrupt",
        /// An exception.
        Exception = "exception",
        /// A system call.
        Syscall = "syscall",
        /// A task.
        Task = "task",
        /// Firmware.
        Firmware = "firmware",
        /// The kernel's decompressor.
        Decompressor = "decompressor",
        /// Code that no symbol names.
        Unknown = "unknown",
        /// Userspace.
        User = "user",
        /// The idle task.
        Idle = "idle",
        /// Functions put together.
        Group = "group",
    }
}

names! {
    /// The stages of a start as systemd names them.
    Stage {
        /// Firmware.
        Firmware = "firmware",
        /// Boot loader.
        Loader = "loader",
        /// Kernel.
        Kernel = "kernel",
        /// Initramfs.
        Initrd = "initrd",
        /// Userspace.
        Userspace = "userspace",
        /// Restart of userspace alone.
        SoftReboot = "soft-reboot",
    }
}

names! {
    /// The formats that `firstlight import` reads, by their name for `--as`.
    FormatName {
        /// the manifest of a collection
        CollectorManifest = "collector-manifest",
        /// a file of /proc or /sys
        SystemSnapshot = "system-snapshot",
        /// a kernel's configuration
        KernelConfig = "kernel-config",
        /// a log of pm-graph
        PmGraph = "pm-graph",
        /// a table of results of pm-graph
        PmGraphResult = "pm-graph-result",
        /// a file of grab-boot-data
        GrabBootData = "grab-boot-data",
        /// a job log of LAVA
        Lava = "lava",
        /// a function graph of the kernel's tracer
        FunctionGraph = "function-graph",
        /// events of the kernel's tracer
        TraceEvents = "trace-events",
        /// a histogram or profile of the kernel's tracer
        Hist = "hist",
        /// a boot configuration (bootconfig)
        Bootconfig = "bootconfig",
        /// a recording of trace-cmd (trace.dat)
        TraceDat = "trace-dat",
        /// a function log (KFT, KFI)
        Kft = "kft",
        /// a table of kd
        KdTable = "kd-table",
        /// a call tree of kd
        KdTree = "kd-tree",
        /// the output of `systemd-analyze time`
        SystemdTime = "systemd-time",
        /// the output of `systemd-analyze blame`
        SystemdBlame = "systemd-blame",
        /// the output of `systemd-analyze critical-chain`
        SystemdCriticalChain = "systemd-critical-chain",
        /// the output of `systemd-analyze plot --json`
        SystemdPlotJson = "systemd-plot-json",
        /// the SVG of `systemd-analyze plot`
        SystemdPlotSvg = "systemd-plot-svg",
        /// the output of `systemctl show`
        SystemdShow = "systemd-show",
        /// the journal as JSON (`journalctl -o json`)
        JournalJson = "journal-json",
        /// the journal in its export format (`journalctl -o export`)
        JournalExport = "journal-export",
        /// the journal with all fields (`journalctl -o verbose`)
        JournalVerbose = "journal-verbose",
        /// the journal as text (`journalctl`)
        JournalShort = "journal-short",
        /// a bootchart sample file (`proc_stat.log` and its like)
        Bootchart = "bootchart",
        /// the header of a bootchart archive
        BootchartHeader = "bootchart-header",
        /// a bootchart list of processes (`cmdline2.log`, `paternity.log`)
        BootchartProcesses = "bootchart-processes",
        /// the kernel's process accounting (`kernel_pacct`)
        BootchartAccounting = "bootchart-accounting",
        /// the SVG of systemd-bootchart
        BootchartSvg = "bootchart-svg",
        /// U-Boot's bootstage report
        Bootstage = "bootstage",
        /// the firmware's times (ACPI FPDT)
        Fpdt = "fpdt",
        /// the boot loader's times (EFI variables)
        EfiLoaderTimes = "efi-loader-times",
        /// coreboot's timestamps (`cbmem -t` or `-T`)
        Cbmem = "cbmem",
        /// the output of `udevadm monitor`
        UdevMonitor = "udev-monitor",
        /// the debug log of udevd
        UdevLog = "udev-log",
        /// udev's database (udevadm info -e)
        UdevDatabase = "udev-database",
        /// records of /dev/kmsg
        Kmsg = "kmsg",
        /// a kernel log in JSON (dmesg --json)
        DmesgJson = "dmesg-json",
        /// a capture of grabserial
        Grabserial = "grabserial",
        /// a console with the host's time on each line
        HostStamped = "host-stamped",
        /// a capture of a serial console
        Serial = "serial",
        /// a kernel log (dmesg)
        Printk = "printk",
    }
}

names! {
    /// Why the length of a span has its grade; `{…}` is a parameter.
    ReasonCode {
        /// the clock did not run yet
        ClockNotRunning = "clock_not_running",
        /// the clock began to run meanwhile
        ClockStartedMeanwhile = "clock_started_meanwhile",
        /// the clock of the log jumped back meanwhile
        ClockJumpedBack = "clock_jumped_back",
        /// the clock of the log jumped back meanwhile: the start is the end less the kernel's own figure
        ClockJumpedBackStartComputed = "clock_jumped_back_start_computed",
        /// the wall clock was set meanwhile
        ClockSetMeanwhile = "clock_set_meanwhile",
        /// stamped by the tracer at both ends
        TracerBothEnds = "tracer_both_ends",
        /// stamped by the tracer, to {us} us
        TracerStep = "tracer_step",
        /// its end is among lost events: at most until the next initcall of its task
        EndAmongLostEvents = "end_among_lost_events",
        /// its start is not in the trace
        StartMissingInTrace = "start_missing_in_trace",
        /// its end is not in the trace
        EndMissingInTrace = "end_missing_in_trace",
        /// neither its start nor its end is in the trace
        StartAndEndMissing = "start_and_end_missing",
        /// it was there to the end of the trace
        PresentAtTraceEnd = "present_at_trace_end",
        /// it was there before the trace
        PresentBeforeTrace = "present_before_trace",
        /// its end is stamped before its start
        EndBeforeStart = "end_before_start",
        /// the stamps are no times
        StampsNoTimes = "stamps_no_times",
        /// it never returned: so long until the trace ends
        NeverReturnedInTrace = "never_returned_in_trace",
        /// it never returned: so long until the log ends
        NeverReturnedInLog = "never_returned_in_log",
        /// it had not ended when the log did
        NotEndedInLog = "not_ended_in_log",
        /// it had not ended
        NotEnded = "not_ended",
        /// its end is not in the log
        EndMissingInLog = "end_missing_in_log",
        /// its beginning is not in the log
        StartMissingInLog = "start_missing_in_log",
        /// its beginning is not in the log, so that another may have moved the start
        StartMissingInLogShared = "start_missing_in_log_shared",
        /// the stamps of both its ends are needed
        BothStampsNeeded = "both_stamps_needed",
        /// its first and its last line have the same stamp
        SameStamp = "same_stamp",
        /// the stamps and the kernel's own figure agree
        StampsAgree = "stamps_agree",
        /// the stamps are only {us} us apart
        StampsOnlyApart = "stamps_only_apart",
        /// the stamps are {us} us further apart
        StampsFurtherApart = "stamps_further_apart",
        /// joined by path and order: there is no SEQNUM
        JoinedByOrder = "joined_by_order",
        /// the kernel's event was not seen
        KernelEventMissing = "kernel_event_missing",
        /// udev's end of it was not seen
        UdevEndMissing = "udev_end_missing",
        /// its arrival was not logged
        ArrivalNotLogged = "arrival_not_logged",
        /// the messages have no time
        MessagesWithoutTime = "messages_without_time",
        /// it failed
        Failed = "failed",
        /// no time says until when
        BlockerTimeMissing = "blocker_time_missing",
        /// until it was ready: the end of what held it back is missing
        BlockerEndMissing = "blocker_end_missing",
        /// its beginning or end was not logged
        WorkerNotLogged = "worker_not_logged",
        /// only its end was logged
        EndOnlyLogged = "end_only_logged",
        /// what was said of it before the journal ran has the time at which the journal read it
        JournalReadLate = "journal_read_late",
        /// no message says that it had started
        NoStartMessage = "no_start_message",
        /// no message says that it had started; {why}
        NoStartMessageBecause = "no_start_message_because",
        /// still up
        StillActive = "still_active",
        /// only when it was reached
        OnlyReached = "only_reached",
        /// it is printed without a length: only when it became active
        LengthMissing = "length_missing",
        /// it is printed without a time
        TimeMissing = "time_missing",
        /// by its own instants it differs by {us} us
        OwnInstantsDiffer = "own_instants_differ",
        /// it never became active: until it was inactive or failed
        NeverActive = "never_active",
        /// it had not become active
        NotActive = "not_active",
        /// it was restarted: this is its latest start
        Restarted = "restarted",
        /// the step and the times do not agree
        StepDisagrees = "step_disagrees",
        /// the columns Mark and Elapsed do not agree
        ColumnsDisagree = "columns_disagree",
        /// from the first to the last sample in which it had run
        SampledRunning = "sampled_running",
        /// still there in the last sample
        PresentInLastSample = "present_in_last_sample",
        /// it ended after its last sample
        EndedAfterLastSample = "ended_after_last_sample",
        /// in steps of 10 ms; its beginning in steps of 1 s
        AccountingSteps = "accounting_steps",
        /// from its first to its last sample
        Sampled = "sampled",
        /// it was left out of the picture
        LeftOutOfPicture = "left_out_of_picture",
        /// it overlaps another: the kernel's one start stamp was overwritten
        SharedStartOverwritten = "shared_start_overwritten",
        /// at most: the log was printed again between these stamps
        PrintedAgainBetween = "printed_again_between",
        /// as long as the host needed to receive them, without the last
        HostReceived = "host_received",
        /// less than a hundred steps of 1 us
        FewMicroseconds = "few_microseconds",
        /// less than a hundred steps of a figure in milliseconds
        FewMilliseconds = "few_milliseconds",
        /// less than a hundred steps of the clock, which moves with the tick here
        FewTicks = "few_ticks",
        /// two independent records agree within their steps
        RecordsAgree = "records_agree",
        /// from the tracer's begin to the log's end: each alone has a line being printed in it
        TracerToLog = "tracer_to_log",
        /// from the tracer's begin to the log's end; the kernel's own figure is {own}
        TracerToLogDiffers = "tracer_to_log_differs",
        /// the kernel's own figure, and the time from the tracer's begin to the log's end, agree
        TracerAndKernelAgree = "tracer_and_kernel_agree",
        /// the tracer's {length} have the printing of the log's lines in them
        PrintingIncluded = "printing_included",
        /// {record} says {length}
        RecordDisagrees = "record_disagrees",
        /// systemd's own figure; by {record} {length}
        SystemdFigure = "systemd_figure",
        /// it had not ended when the recording did
        RecordingEnded = "recording_ended",
        /// another initcall began meanwhile and moved the start that the kernel keeps: it says {us} us
        ShiftedStartSays = "shifted_start_says",
        /// the stamps are {us} us further apart: its first line was still being printed, or its task was held up
        StampsHeldUp = "stamps_held_up",
        /// neither its arrival nor its end was logged
        ArrivalAndEndNotLogged = "arrival_and_end_not_logged",
        /// it was not done when the record ended
        NotDone = "not_done",
        /// systemd-analyze put the end of the boot in its place
        ClampedByAnalyze = "clamped_by_analyze",
        /// until active or failed; of its times systemd-analyze put the end of the boot in its place
        ClampedTimes = "clamped_times",
        /// still up, or systemd-analyze put the end of the boot in its place
        StillActiveOrClamped = "still_active_or_clamped",
        /// in steps of {ms} ms
        StepOfMilliseconds = "step_of_milliseconds",
        /// in steps of {us} us
        StepOfMicroseconds = "step_of_microseconds",
        /// up to the last of up to three lines `Freeing unused kernel`
        UpToFreeing = "up_to_freeing",
        /// up to the end of the last initcall within the first 120 s
        UpToLastInitcall = "up_to_last_initcall",
        /// udev's database tells only when udevd took the device up
        OnlyTakenUp = "only_taken_up",
        /// its last line is among the messages that were dropped
        LastLineDropped = "last_line_dropped",
        /// its last line is lost
        LastLineLost = "last_line_lost",
        /// its last line is among the messages that were dropped: so long at most, until what its task did next
        LastLineDroppedUntil = "last_line_dropped_until",
        /// its last line is lost: so long at most, until what its task did next
        LastLineLostUntil = "last_line_lost_until",
    }
}

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
