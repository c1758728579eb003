"""Names of spans. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from enum import StrEnum


class SpanKind(StrEnum):
    """What a span is of."""

    PHASE = "phase"
    INITCALL = "initcall"
    PROBE = "probe"
    ASYNC = "async"
    ASYNC_WAIT = "async_wait"
    FUNCTION = "function"
    EVENT = "event"
    UEVENT = "uevent"
    UEVENT_QUEUED = "uevent_queued"
    UEVENT_BLOCKED = "uevent_blocked"
    UEVENT_SERVICE = "uevent_service"
    UNIT = "unit"
    UNIT_ACTIVE = "unit_active"
    STAGE = "stage"
    PROCESS = "process"
    SYSTEM_CALL = "system_call"
    FIRMWARE = "firmware"
    MOUNT = "mount"
    CONSOLE = "console"


class InitcallLevel(StrEnum):
    """The levels of the kernel's initcalls, in the order in which it runs them."""

    EARLY = "early"
    PURE = "pure"
    CORE = "core"
    POSTCORE = "postcore"
    ARCH = "arch"
    SUBSYS = "subsys"
    FS = "fs"
    ROOTFS = "rootfs"
    DEVICE = "device"
    LATE = "late"
    CONSOLE = "console"
    MODULE = "module"


class Grade(StrEnum):
    """How far the length of a span can be believed."""

    EXACT = "exact"
    GOOD = "good"
    COARSE = "coarse"
    BOUNDED = "bounded"
    DOUBTFUL = "doubtful"
    UNKNOWN = "unknown"


class LinkKind(StrEnum):
    """How one thing waits for another."""

    AFTER = "after"
    REQUIRES = "requires"
    WANTS = "wants"
    BLOCKED_BY = "blocked_by"
    SUPPLIER = "supplier"


class CallKind(StrEnum):
    """What a node of the calling-context tree is."""

    ROOT = "root"
    FUNCTION = "function"
    INTERRUPT = "interrupt"
    EXCEPTION = "exception"
    SYSCALL = "syscall"
    TASK = "task"
    FIRMWARE = "firmware"
    LOADER = "loader"
    DECOMPRESSOR = "decompressor"
    UNKNOWN = "unknown"
    USER = "user"
    IDLE = "idle"
    GROUP = "group"


class CallRow(StrEnum):
    """The rows of the calling-context tree that are not functions."""

    BOOT = "[boot]"
    FIRMWARE = "[firmware]"
    DECOMPRESSOR = "[decompressor]"
    KERNEL_WITHOUT_SYMBOL = "[kernel without symbol]"
    USER = "[user]"
    INTERRUPTS = "[interrupts]"
    IDLE = "[idle]"
