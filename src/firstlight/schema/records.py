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


class FormatName(StrEnum):
    """The formats that `firstlight import` reads, by their name for `--as`."""

    COLLECTOR_MANIFEST = "collector-manifest"
    SYSTEM_SNAPSHOT = "system-snapshot"
    KERNEL_CONFIG = "kernel-config"
    PM_GRAPH = "pm-graph"
    PM_GRAPH_RESULT = "pm-graph-result"
    GRAB_BOOT_DATA = "grab-boot-data"
    LAVA = "lava"
    FUNCTION_GRAPH = "function-graph"
    TRACE_EVENTS = "trace-events"
    HIST = "hist"
    BOOTCONFIG = "bootconfig"
    TRACE_DAT = "trace-dat"
    KFT = "kft"
    KD_TABLE = "kd-table"
    KD_TREE = "kd-tree"
    SYSTEMD_TIME = "systemd-time"
    SYSTEMD_BLAME = "systemd-blame"
    SYSTEMD_CRITICAL_CHAIN = "systemd-critical-chain"
    SYSTEMD_PLOT_JSON = "systemd-plot-json"
    SYSTEMD_PLOT_SVG = "systemd-plot-svg"
    SYSTEMD_SHOW = "systemd-show"
    JOURNAL_JSON = "journal-json"
    JOURNAL_EXPORT = "journal-export"
    JOURNAL_VERBOSE = "journal-verbose"
    JOURNAL_SHORT = "journal-short"
    BOOTCHART = "bootchart"
    BOOTCHART_HEADER = "bootchart-header"
    BOOTCHART_PROCESSES = "bootchart-processes"
    BOOTCHART_ACCOUNTING = "bootchart-accounting"
    BOOTCHART_SVG = "bootchart-svg"
    BOOTSTAGE = "bootstage"
    FPDT = "fpdt"
    EFI_LOADER_TIMES = "efi-loader-times"
    CBMEM = "cbmem"
    UDEV_MONITOR = "udev-monitor"
    UDEV_LOG = "udev-log"
    UDEV_DATABASE = "udev-database"
    KMSG = "kmsg"
    DMESG_JSON = "dmesg-json"
    GRABSERIAL = "grabserial"
    HOST_STAMPED = "host-stamped"
    SERIAL = "serial"
    PRINTK = "printk"


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
