//! Names of spans. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

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
