//! Names of marks. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

names! {
    /// Named instants of a boot.
    Mark {
        PowerOn = "power_on": "The machine starts, or its firmware timer does.",
        FirmwareStart = "firmware_start": "The firmware runs its first instruction after the reset.",
        LoaderStart = "loader_start": "The boot loader starts.",
        LoaderLoad = "loader_load": "The firmware loads the boot loader.",
        LoaderEnd = "loader_end": "The boot loader starts the kernel.",
        ExitBootServicesStart = "exit_boot_services_start": "The loader or kernel calls ExitBootServices.",
        ExitBootServicesEnd = "exit_boot_services_end": "ExitBootServices returns.",
        PayloadStart = "payload_start": "coreboot jumps to its payload.",
        CaptureStart = "capture_start": "The capturing machine received its first line.",
        DecompressionStart = "decompression_start": "The kernel image starts to decompress itself.",
        KernelEntry = "kernel_entry": "The processor enters the decompressed kernel.",
        KernelClockStart = "kernel_clock_start": "The kernel's clock starts to count.",
        KernelStart = "kernel_start": "The kernel enters start_kernel, or prints its banner.",
        RestInit = "rest_init": "The kernel creates its first tasks.",
        KernelInit = "kernel_init": "The first task starts to run.",
        SchedClock = "sched_clock": "The scheduler's clock is set up.",
        CalibrateDelay = "calibrate_delay": "The kernel calibrates its delay loop.",
        SmpUp = "smp_up": "All processors are up.",
        ClocksourceSwitch = "clocksource_switch": "The kernel switches to another clock source.",
        SmpInit = "smp_init": "The kernel starts the other processors.",
        InitcallEarly = "initcall_early": "The first early initcall starts.",
        InitcallPure = "initcall_pure": "The first pure initcall starts.",
        InitcallCore = "initcall_core": "The first core initcall starts.",
        InitcallPostcore = "initcall_postcore": "The first postcore initcall starts.",
        InitcallArch = "initcall_arch": "The first arch initcall starts.",
        InitcallSubsys = "initcall_subsys": "The first subsys initcall starts.",
        InitcallFs = "initcall_fs": "The first fs initcall starts.",
        InitcallRootfs = "initcall_rootfs": "The first rootfs initcall starts.",
        InitcallDevice = "initcall_device": "The first device initcall starts.",
        InitcallLate = "initcall_late": "The first late initcall starts.",
        Initcalls = "initcalls": "The first initcall starts, where no record has the levels.",
        InitcallsEnd = "initcalls_end": "The last initcall returns.",
        FreeInitMemory = "free_init_memory": "The kernel frees the memory of its init sections.",
        WriteProtect = "write_protect": "The kernel makes its read-only data read-only.",
        RunInit = "run_init": "The kernel runs the first program.",
        UserStart = "user_start": "The first instruction in user mode.",
        GuestStart = "guest_start": "The guest's own first process starts.",
        InitramfsStart = "initramfs_start" | "initrd_start": "The manager of the initramfs starts.",
        SystemdStart = "systemd_start": "systemd prints its first line.",
        SwitchRoot = "switch_root": "The initramfs hands over to the root file system.",
        UserspaceStart = "userspace_start": "The manager of the root file system starts.",
        SoftRebootStart = "soft_reboot_start": "A restart of userspace alone starts.",
        DefaultTarget = "default_target": "systemd reached its default target.",
        StartupFinished = "startup_finished": "systemd reports that the startup finished.",
        StartupSettled = "startup_settled" | "startup_over": "The last event before nothing happened for a minute.",
        UpBy = "up_by": "The boot was up by then, inferred from what its records show: no record has its end.",
        LoginPrompt = "login_prompt": "The console asks for a login.",
        Idle = "idle": "systemd-bootchart found the machine idle.",
        Ready = "ready": "The boot reached the state that the user asked for.",
        Panic = "panic": "The kernel panics.",
        RecordStart = "record_start": "The first instant that the records hold.",
        RecordEnd = "record_end": "The last instant that the records hold; if inferred, the last that they show of the start.",
    }
}

names! {
    /// What reported a mark of a recorded boot.
    MarkSource {
        Reset = "reset": "The reset of the machine.",
        Address = "address": "The processor reached an address.",
        Function = "function": "The processor entered a function.",
        Instruction = "instruction" | "no-operation": "The guest executed a marked instruction that does nothing.",
        Console = "console": "A line on the console.",
        Guest = "guest": "The guest reported it.",
        Host = "host": "The clock of the host.",
    }
}

names! {
    /// The layers of software that a boot runs through.
    Layer {
        Firmware = "firmware": "Firmware.",
        Loader = "loader": "Boot loader.",
        Kernel = "kernel": "Kernel.",
        Initramfs = "initramfs": "Initramfs.",
        Userspace = "userspace": "Userspace.",
    }
}

names! {
    /// Intervals between two dividing marks.
    Phase {
        Firmware = "firmware": "Firmware, from power on.",
        Loader = "loader": "The boot loader.",
        BeforeKernel = "before_kernel": "What was received before the kernel started.",
        Decompression = "decompression": "The kernel decompresses itself.",
        KernelEntry = "kernel_entry": "From the entry of the kernel to its first C function.",
        EarlyInit = "early_init": "The kernel before its first task.",
        Kernel = "kernel": "The kernel, where no mark shows how far it came.",
        RestInit = "rest_init": "The kernel creates its first tasks.",
        KernelInit = "kernel_init": "The first task before the initcalls.",
        InitcallEarly = "initcall_early": "Initcalls of the level early.",
        InitcallPure = "initcall_pure": "Initcalls of the level pure.",
        InitcallCore = "initcall_core": "Initcalls of the level core.",
        InitcallPostcore = "initcall_postcore": "Initcalls of the level postcore.",
        InitcallArch = "initcall_arch": "Initcalls of the level arch.",
        InitcallSubsys = "initcall_subsys": "Initcalls of the level subsys.",
        InitcallFs = "initcall_fs": "Initcalls of the level fs.",
        InitcallRootfs = "initcall_rootfs": "Initcalls of the level rootfs.",
        InitcallDevice = "initcall_device": "Initcalls of the level device.",
        InitcallLate = "initcall_late": "Initcalls of the level late.",
        Initcalls = "initcalls": "Initcalls, where no record has their levels.",
        AfterInitcalls = "after_initcalls": "The kernel after its initcalls.",
        FreeInitMemory = "free_init_memory": "The kernel after it freed its init memory.",
        RunInit = "run_init": "The kernel starts the first program.",
        UserStart = "user_start": "Userspace of a recorded boot.",
        Initramfs = "initramfs" | "initrd": "The initramfs, where it hands over to a root file system.",
        SwitchRoot = "switch_root": "The hand-over from the initramfs to the root.",
        Userspace = "userspace" | "user_land": "Userspace: of the root file system, or of an initramfs that does not hand over.",
        SoftReboot = "soft_reboot": "Userspace after a restart of it alone.",
        AfterStartup = "after_startup": "After the startup finished.",
        AfterReady = "after_ready": "After the boot was ready.",
        Panic = "panic": "After a panic.",
        BeforeFirstMark = "before_first_mark" | "record": "Before the first mark of the boot.",
        Unknown = "unknown": "Not attributable to a phase.",
    }
}

names! {
    /// The stages of a start as systemd names them.
    Stage {
        Firmware = "firmware": "Firmware.",
        Loader = "loader": "Boot loader.",
        Kernel = "kernel": "Kernel.",
        Initrd = "initrd": "Initramfs.",
        Userspace = "userspace": "Userspace.",
        SoftReboot = "soft-reboot": "Restart of userspace alone.",
    }
}
