"""Names of marks. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Mark(StrEnum):
    """Named instants of a boot."""

    POWER_ON = "power_on"
    FIRMWARE_START = "firmware_start"
    LOADER_START = "loader_start"
    LOADER_LOAD = "loader_load"
    LOADER_END = "loader_end"
    EXIT_BOOT_SERVICES_START = "exit_boot_services_start"
    EXIT_BOOT_SERVICES_END = "exit_boot_services_end"
    PAYLOAD_START = "payload_start"
    CAPTURE_START = "capture_start"
    DECOMPRESSION_START = "decompression_start"
    KERNEL_ENTRY = "kernel_entry"
    KERNEL_CLOCK_START = "kernel_clock_start"
    KERNEL_START = "kernel_start"
    REST_INIT = "rest_init"
    KERNEL_INIT = "kernel_init"
    SCHED_CLOCK = "sched_clock"
    CALIBRATE_DELAY = "calibrate_delay"
    SMP_UP = "smp_up"
    CLOCKSOURCE_SWITCH = "clocksource_switch"
    SMP_INIT = "smp_init"
    INITCALL_EARLY = "initcall_early"
    INITCALL_PURE = "initcall_pure"
    INITCALL_CORE = "initcall_core"
    INITCALL_POSTCORE = "initcall_postcore"
    INITCALL_ARCH = "initcall_arch"
    INITCALL_SUBSYS = "initcall_subsys"
    INITCALL_FS = "initcall_fs"
    INITCALL_ROOTFS = "initcall_rootfs"
    INITCALL_DEVICE = "initcall_device"
    INITCALL_LATE = "initcall_late"
    INITCALLS = "initcalls"
    INITCALLS_END = "initcalls_end"
    FREE_INIT_MEMORY = "free_init_memory"
    WRITE_PROTECT = "write_protect"
    RUN_INIT = "run_init"
    USER_START = "user_start"
    GUEST_START = "guest_start"
    INITRAMFS_START = "initramfs_start"
    SYSTEMD_START = "systemd_start"
    SWITCH_ROOT = "switch_root"
    USERSPACE_START = "userspace_start"
    SOFT_REBOOT_START = "soft_reboot_start"
    DEFAULT_TARGET = "default_target"
    STARTUP_FINISHED = "startup_finished"
    STARTUP_SETTLED = "startup_settled"
    UP_BY = "up_by"
    LOGIN_PROMPT = "login_prompt"
    IDLE = "idle"
    READY = "ready"
    PANIC = "panic"
    RECORD_START = "record_start"
    RECORD_END = "record_end"


class MarkSource(StrEnum):
    """What reported a mark of a recorded boot."""

    RESET = "reset"
    ADDRESS = "address"
    FUNCTION = "function"
    INSTRUCTION = "instruction"
    CONSOLE = "console"
    GUEST = "guest"
    HOST = "host"


class Layer(StrEnum):
    """The layers of software that a boot runs through."""

    FIRMWARE = "firmware"
    LOADER = "loader"
    KERNEL = "kernel"
    INITRAMFS = "initramfs"
    USERSPACE = "userspace"


class Phase(StrEnum):
    """Intervals between two dividing marks."""

    FIRMWARE = "firmware"
    LOADER = "loader"
    BEFORE_KERNEL = "before_kernel"
    DECOMPRESSION = "decompression"
    KERNEL_ENTRY = "kernel_entry"
    EARLY_INIT = "early_init"
    KERNEL = "kernel"
    REST_INIT = "rest_init"
    KERNEL_INIT = "kernel_init"
    INITCALL_EARLY = "initcall_early"
    INITCALL_PURE = "initcall_pure"
    INITCALL_CORE = "initcall_core"
    INITCALL_POSTCORE = "initcall_postcore"
    INITCALL_ARCH = "initcall_arch"
    INITCALL_SUBSYS = "initcall_subsys"
    INITCALL_FS = "initcall_fs"
    INITCALL_ROOTFS = "initcall_rootfs"
    INITCALL_DEVICE = "initcall_device"
    INITCALL_LATE = "initcall_late"
    INITCALLS = "initcalls"
    AFTER_INITCALLS = "after_initcalls"
    FREE_INIT_MEMORY = "free_init_memory"
    RUN_INIT = "run_init"
    USER_START = "user_start"
    INITRAMFS = "initramfs"
    SWITCH_ROOT = "switch_root"
    USERSPACE = "userspace"
    SOFT_REBOOT = "soft_reboot"
    AFTER_STARTUP = "after_startup"
    AFTER_READY = "after_ready"
    PANIC = "panic"
    BEFORE_FIRST_MARK = "before_first_mark"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """The stages of a start as systemd names them."""

    FIRMWARE = "firmware"
    LOADER = "loader"
    KERNEL = "kernel"
    INITRD = "initrd"
    USERSPACE = "userspace"
    SOFT_REBOOT = "soft-reboot"


PHASE_OF: Mapping[Mark, Phase] = {
    Mark.POWER_ON: Phase.FIRMWARE,
    Mark.FIRMWARE_START: Phase.FIRMWARE,
    Mark.LOADER_START: Phase.LOADER,
    Mark.CAPTURE_START: Phase.BEFORE_KERNEL,
    Mark.DECOMPRESSION_START: Phase.DECOMPRESSION,
    Mark.KERNEL_ENTRY: Phase.KERNEL_ENTRY,
    Mark.KERNEL_CLOCK_START: Phase.EARLY_INIT,
    Mark.KERNEL_START: Phase.EARLY_INIT,
    Mark.REST_INIT: Phase.REST_INIT,
    Mark.KERNEL_INIT: Phase.KERNEL_INIT,
    Mark.INITCALL_EARLY: Phase.INITCALL_EARLY,
    Mark.INITCALL_PURE: Phase.INITCALL_PURE,
    Mark.INITCALL_CORE: Phase.INITCALL_CORE,
    Mark.INITCALL_POSTCORE: Phase.INITCALL_POSTCORE,
    Mark.INITCALL_ARCH: Phase.INITCALL_ARCH,
    Mark.INITCALL_SUBSYS: Phase.INITCALL_SUBSYS,
    Mark.INITCALL_FS: Phase.INITCALL_FS,
    Mark.INITCALL_ROOTFS: Phase.INITCALL_ROOTFS,
    Mark.INITCALL_DEVICE: Phase.INITCALL_DEVICE,
    Mark.INITCALL_LATE: Phase.INITCALL_LATE,
    Mark.INITCALLS: Phase.INITCALLS,
    Mark.INITCALLS_END: Phase.AFTER_INITCALLS,
    Mark.FREE_INIT_MEMORY: Phase.FREE_INIT_MEMORY,
    Mark.RUN_INIT: Phase.RUN_INIT,
    Mark.USER_START: Phase.USERSPACE,
    Mark.GUEST_START: Phase.USERSPACE,
    Mark.INITRAMFS_START: Phase.INITRAMFS,
    Mark.SYSTEMD_START: Phase.USERSPACE,
    Mark.SWITCH_ROOT: Phase.SWITCH_ROOT,
    Mark.USERSPACE_START: Phase.USERSPACE,
    Mark.SOFT_REBOOT_START: Phase.SOFT_REBOOT,
    Mark.STARTUP_FINISHED: Phase.AFTER_STARTUP,
    Mark.READY: Phase.AFTER_READY,
    Mark.PANIC: Phase.PANIC,
    Mark.RECORD_START: Phase.BEFORE_FIRST_MARK,
}
"""The phase that a mark begins; other marks divide no phases."""


LAYER_OF: Mapping[Mark, Layer] = {
    Mark.POWER_ON: Layer.FIRMWARE,
    Mark.FIRMWARE_START: Layer.FIRMWARE,
    Mark.LOADER_START: Layer.LOADER,
    Mark.LOADER_LOAD: Layer.FIRMWARE,
    Mark.LOADER_END: Layer.LOADER,
    Mark.EXIT_BOOT_SERVICES_START: Layer.FIRMWARE,
    Mark.EXIT_BOOT_SERVICES_END: Layer.FIRMWARE,
    Mark.PAYLOAD_START: Layer.FIRMWARE,
    Mark.CAPTURE_START: Layer.FIRMWARE,
    Mark.DECOMPRESSION_START: Layer.KERNEL,
    Mark.KERNEL_ENTRY: Layer.KERNEL,
    Mark.KERNEL_CLOCK_START: Layer.KERNEL,
    Mark.KERNEL_START: Layer.KERNEL,
    Mark.REST_INIT: Layer.KERNEL,
    Mark.KERNEL_INIT: Layer.KERNEL,
    Mark.SCHED_CLOCK: Layer.KERNEL,
    Mark.CALIBRATE_DELAY: Layer.KERNEL,
    Mark.SMP_UP: Layer.KERNEL,
    Mark.CLOCKSOURCE_SWITCH: Layer.KERNEL,
    Mark.SMP_INIT: Layer.KERNEL,
    Mark.INITCALL_EARLY: Layer.KERNEL,
    Mark.INITCALL_PURE: Layer.KERNEL,
    Mark.INITCALL_CORE: Layer.KERNEL,
    Mark.INITCALL_POSTCORE: Layer.KERNEL,
    Mark.INITCALL_ARCH: Layer.KERNEL,
    Mark.INITCALL_SUBSYS: Layer.KERNEL,
    Mark.INITCALL_FS: Layer.KERNEL,
    Mark.INITCALL_ROOTFS: Layer.KERNEL,
    Mark.INITCALL_DEVICE: Layer.KERNEL,
    Mark.INITCALL_LATE: Layer.KERNEL,
    Mark.INITCALLS: Layer.KERNEL,
    Mark.INITCALLS_END: Layer.KERNEL,
    Mark.FREE_INIT_MEMORY: Layer.KERNEL,
    Mark.WRITE_PROTECT: Layer.KERNEL,
    Mark.RUN_INIT: Layer.KERNEL,
    Mark.USER_START: Layer.USERSPACE,
    Mark.GUEST_START: Layer.USERSPACE,
    Mark.INITRAMFS_START: Layer.INITRAMFS,
    Mark.SYSTEMD_START: Layer.USERSPACE,
    Mark.SWITCH_ROOT: Layer.USERSPACE,
    Mark.USERSPACE_START: Layer.USERSPACE,
    Mark.SOFT_REBOOT_START: Layer.USERSPACE,
    Mark.DEFAULT_TARGET: Layer.USERSPACE,
    Mark.STARTUP_FINISHED: Layer.USERSPACE,
    Mark.STARTUP_SETTLED: Layer.USERSPACE,
    Mark.UP_BY: Layer.USERSPACE,
    Mark.LOGIN_PROMPT: Layer.USERSPACE,
    Mark.IDLE: Layer.USERSPACE,
    Mark.READY: Layer.USERSPACE,
    Mark.PANIC: Layer.KERNEL,
    Mark.RECORD_START: Layer.USERSPACE,
    Mark.RECORD_END: Layer.USERSPACE,
}
"""The layer of software that a mark belongs to."""
