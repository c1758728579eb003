//! Names of marks. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

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
