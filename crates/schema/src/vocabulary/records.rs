//! Names of records. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

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
