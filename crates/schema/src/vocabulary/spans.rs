//! Names of spans. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

names! {
    /// What a span is of.
    SpanKind {
        Phase = "phase": "Between two marks.",
        Initcall = "initcall": "One initcall; track `task PID`.",
        Probe = "probe": "A driver's probe of a device; the name is the device's.",
        Async = "async": "An asynchronous body.",
        AsyncWait = "async_wait": "A task waiting for asynchronous bodies: idle time of the waiter.",
        Function = "function": "One long call of a function in a trace.",
        Event = "event": "Between two events of a trace that belong together.",
        Uevent = "uevent": "The whole life of a device's uevent, from the kernel to udev's end; the name is the device's path or name.",
        UeventQueued = "uevent_queued": "Of a uevent: from its arrival in the queue until nothing blocks it.",
        UeventBlocked = "uevent_blocked": "Of a uevent: held back by another one.",
        UeventService = "uevent_service": "Of a uevent: a worker on it.",
        Unit = "unit": "A unit of systemd, from its first activating to active.",
        UnitActive = "unit_active": "A unit while it was up.",
        Stage = "stage": "One stage as systemd names them.",
        Process = "process": "The life of a process, as far as it was seen.",
        SystemCall = "system_call": "One system call of a process; track `task PID`.",
        Firmware = "firmware": "A stage of a boot loader or firmware.",
        Mount = "mount": "A mount of a file system.",
        Console = "console": "The console printing what had piled up.",
    }
}

names! {
    /// The levels of the kernel's initcalls, in the order in which it runs them.
    InitcallLevel {
        Early = "early": "The level early.",
        Pure = "pure": "The level pure.",
        Core = "core": "The level core.",
        Postcore = "postcore": "The level postcore.",
        Arch = "arch": "The level arch.",
        Subsys = "subsys": "The level subsys.",
        Fs = "fs": "The level fs.",
        Rootfs = "rootfs": "The level rootfs.",
        Device = "device": "The level device.",
        Late = "late": "The level late.",
        Console = "console": "Consoles; between the early and the pure level.",
        Module = "module": "A module's own initcall.",
    }
}

names! {
    /// How far the length of a span can be believed.
    Grade {
        Exact = "exact": "Two independent figures agree, or the clock cannot err.",
        Good = "good": "One sound figure.",
        Coarse = "coarse": "Sound, but the clock's step is more than a hundredth of it.",
        Bounded = "bounded": "A bound, not a length: part of it is missing, or something foreign is in it.",
        Doubtful = "doubtful": "A known fault applies, or two figures contradict one another.",
        Unknown = "unknown": "Nothing says how long it took.",
    }
}

names! {
    /// How one thing waits for another.
    LinkKind {
        After = "after": "A unit is ordered after another.",
        Requires = "requires": "A unit requires another.",
        Wants = "wants": "A unit wants another.",
        BlockedBy = "blocked_by": "A uevent waits for another, by SEQNUM.",
        Supplier = "supplier": "A deferred probe waits for a device.",
    }
}

names! {
    /// What a node of the calling-context tree is.
    CallKind {
        Root = "root": "The root of the tree.",
        Function = "function": "A function.",
        Interrupt = "interrupt": "An interrupt.",
        Exception = "exception": "An exception.",
        Syscall = "syscall": "A system call.",
        Task = "task": "A task.",
        Firmware = "firmware": "Firmware.",
        Loader = "loader": "The boot loader.",
        Decompressor = "decompressor": "The kernel's decompressor.",
        Unknown = "unknown": "Code that no symbol names.",
        User = "user": "Userspace.",
        Idle = "idle": "The idle task.",
        Group = "group": "Functions put together.",
    }
}

names! {
    /// The rows of the calling-context tree that are not functions.
    CallRow {
        Boot = "[boot]": "The root of the tree.",
        Firmware = "[firmware]": "Firmware.",
        Decompressor = "[decompressor]": "The kernel's decompressor.",
        KernelWithoutSymbol = "[kernel without symbol]": "Kernel code that no symbol names.",
        User = "[user]": "User mode.",
        Interrupts = "[interrupts]": "All interrupts.",
        Idle = "[idle]": "Idle time.",
    }
}
