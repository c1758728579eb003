"""Names of records. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from enum import StrEnum


class ClockKind(StrEnum):
    """The clocks of records, and those of a bundle."""

    UNTIMED = "untimed"
    PRINTK = "printk"
    MONOTONIC = "monotonic"
    BOOTTIME = "boottime"
    USERSPACE = "userspace"
    REALTIME = "realtime"
    TRACE = "trace"
    HOST = "host"
    FIRMWARE = "firmware"
    KFT = "kft"
    VIRTUAL = "virtual"
    IMPORTED = "imported"


class Channel(StrEnum):
    """What a line of the log went through."""

    PRINTK = "printk"
    JOURNAL = "journal"
    UDEV = "udev"
    TRACER = "tracer"
    CONSOLE = "console"


class ProblemKind(StrEnum):
    """The kinds of damage and doubt of a record."""

    LOST_HEAD = "lost_head"
    LOST_TAIL = "lost_tail"
    LOST = "lost"
    CUT = "cut"
    TORN = "torn"
    REPLAY = "replay"
    UNTIMED = "untimed"
    CLOCK_JUMP = "clock_jump"
    CLOCK_STEP = "clock_step"
    CLOCK_WRAP = "clock_wrap"
    QUANTISED = "quantised"
    UNFINISHED = "unfinished"
    NEVER_RETURNED = "never_returned"
    UNPAIRED = "unpaired"
    SHARED_START = "shared_start"
    SHIFTED_MICROSECONDS = "shifted_microseconds"
    CENSORED = "censored"
    CLAMPED = "clamped"
    ENCODING = "encoding"
    ESCAPES = "escapes"
    OVERLONG = "overlong"
    CONTRADICTION = "contradiction"
    IMPLAUSIBLE = "implausible"
    UNRECOGNISED = "unrecognised"
    UNALIGNED = "unaligned"


class FailureReason(StrEnum):
    """Why a boot did not reach its last mark."""

    PANIC = "panic"
    WALL_TIMEOUT = "wall_timeout"
    VIRTUAL_TIMEOUT = "virtual_timeout"
    NEVER_READY = "never_ready"
    QEMU_DIED = "qemu_died"
    PLUGIN = "plugin"


LOSING: frozenset[ProblemKind] = frozenset(
    {
        ProblemKind.LOST_HEAD,
        ProblemKind.LOST_TAIL,
        ProblemKind.LOST,
        ProblemKind.CUT,
        ProblemKind.CLOCK_STEP,
        ProblemKind.NEVER_RETURNED,
        ProblemKind.CENSORED,
        ProblemKind.OVERLONG,
    }
)
"""Problems because of which evidence is missing."""
