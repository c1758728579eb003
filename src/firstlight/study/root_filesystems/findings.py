"""What was concluded about 2004, and what the figures say now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from firstlight.report.units import time_text
from firstlight.study.outcome import Finding, untestable, verdict
from firstlight.study.root_filesystems.arms import Way, arm_name
from firstlight.study.root_filesystems.content import SYNCED
from firstlight.study.root_filesystems.journal import Tried
from firstlight.study.root_filesystems.measures import Measured
from firstlight.study.root_filesystems.probes import Probed, Section
from firstlight.study.root_filesystems.storage import Had, Stored
from firstlight.study.table import Hole, hole_in

BAUD = 115_200
"""Of the serial port that is added in thought: ten bits for each byte."""
_STARTED = ("cramfs-xip", "cramfs", "initramfs")
"""Roots that are started in other ways than the plain one, the old study's own first."""
_LITTLE = 0.01
"""A change below this share of the start decides nothing."""


@dataclass(frozen=True)
class Figures:
    """All that the findings look at."""

    arms: Mapping[str, Measured | Hole]
    lpj: int | Hole = Hole("not found out")  # noqa: RUF009  a plain value
    replays: Mapping[str, dict[str, Tried] | Hole] = field(default_factory=dict)
    probes: Mapping[str, Probed | Hole] = field(default_factory=dict)
    sections: Mapping[str, Section | Hole] = field(default_factory=dict)
    unprofiled: int | Hole = Hole("not booted")  # noqa: RUF009
    """From power on to ready, without a profile."""
    stored: tuple[str, Stored] = ("", MappingProxyType({}))
    """A storage that takes time, and what each kind takes from it."""

    def start(self, name: str) -> int | Hole:
        """From `start_kernel` to the first program, without finding persistent memory, which is the machine's."""
        found = self.arms.get(name, Hole(f"`{name}` was not booted"))
        return found if isinstance(found, Hole) else _less_device(found.from_start_kernel, found)

    def power_on(self, name: str) -> int | Hole:
        """The same from power on."""
        found = self.arms.get(name, Hole(f"`{name}` was not booted"))
        return found if isinstance(found, Hole) else _less_device(found.from_power_on, found)


def findings(figures: Figures) -> tuple[Finding, ...]:
    """Every conclusion of the old study, with its figure then and here."""
    return (
        _in_place(figures), _preset_lpj(figures), _quiet(figures), _romfs(figures), _jffs2(figures),
        _ram_disk(figures), _replay(figures), _postponed(figures), _instrumented(figures), _pages(figures),
        _tables(figures), _probe(figures), _preemption(figures),
    )  # fmt: skip


def _less_device(time: int | Hole, measured: Measured) -> int | Hole:
    return time if isinstance(time, Hole) else time - measured.device


def _untestable(claim: str, then: str, hole: Hole) -> Finding:
    return untestable(claim, then, hole.reason, "what would tell it is missing")


def _less(one: int, other: int) -> str:
    """How much less one figure is than another, as a signed share."""
    return f"{time_text(one)} against {time_text(other)}, {(one - other) / other:+.1%}".replace("%", " %")


def _in_place(figures: Figures) -> Finding:
    claim = "Programs that are executed in place start sooner than from a compressed image"
    then = "cramfs 3.639 s, executed in place 2.788 s from power on (-23 %)"
    packed, placed = figures.power_on("cramfs"), figures.power_on("cramfs-xip")
    kernel, kernel_placed = figures.start("cramfs"), figures.start("cramfs-xip")
    for hole in (packed, placed, kernel, kernel_placed):
        if isinstance(hole, Hole):
            return _untestable(claim, then, hole)
    assert isinstance(packed, int)
    assert isinstance(placed, int)
    assert isinstance(kernel, int)
    assert isinstance(kernel_placed, int)
    now = f"{_less(placed, packed)}; from start_kernel {_less(kernel_placed, kernel)}"
    why = (
        "nothing is decompressed, copied or given a page; the kernel itself is not executed in place here"
        if placed < packed
        else "to map what is in place costs more than it saves here"
    )
    return Finding(claim, then, now, verdict(placed < packed), why)


def _preset_lpj(figures: Figures) -> Finding:
    claim = "A preset lpj saves a quarter of the kernel's start"
    then = "764,141 to 551,735 µs from start_kernel (-28 %)"
    lpj = figures.lpj
    way = Way(lpj=lpj if isinstance(lpj, int) else 0)
    kind = next((each for each in _STARTED if isinstance(figures.start(arm_name(each, way)), int)), _STARTED[0])
    plain = figures.start(kind)
    if isinstance(lpj, Hole):
        return _untestable(claim, then, lpj)
    preset = figures.start(arm_name(kind, way))
    if (hole := hole_in(plain, preset)) is not None:
        return _untestable(claim, then, hole)
    assert isinstance(plain, int)
    assert isinstance(preset, int)
    measured = figures.arms[kind]
    spent = 0 if isinstance(measured, Hole) else measured.total("calibrate_delay")
    now = f"{kind}: {_less(preset, plain)}; calibrate_delay takes {time_text(spent)}"
    holds = (plain - preset) / plain >= 0.1
    why = (
        "the loops are counted, for some ticks"
        if holds
        else "the rate of the time stamp counter is known before, and the loops are computed from it"
    )
    return Finding(claim, then, now, verdict(holds), why)


def _quiet(figures: Figures) -> Finding:
    claim = "`quiet` halves the kernel's start"
    then = "551,735 to 280,676 µs from start_kernel (-49 %)"
    way = Way(quiet=True)
    kind = next((each for each in _STARTED if isinstance(figures.start(arm_name(each, way)), int)), _STARTED[0])
    plain, quiet = figures.arms.get(kind), figures.arms.get(arm_name(kind, way))
    one, other = figures.start(kind), figures.start(arm_name(kind, way))
    if isinstance(one, Hole) or isinstance(other, Hole) or not isinstance(plain, Measured):
        return _untestable(claim, then, hole_in(one, other) or Hole("the plain arm is missing"))
    assert isinstance(quiet, Measured)
    printed = plain.console_bytes - quiet.console_bytes
    line_ns = printed * 10 * 1_000_000_000 // BAUD
    share = (one - other + line_ns) / (one + line_ns)
    now = (
        f"{kind}: {_less(other, one)} on a port that takes no time; {printed:,} bytes fewer are "
        f"{time_text(line_ns)} at {BAUD:,} Bd, and with them `quiet` saves {share * 100:.0f} %"
    )
    why = (
        "a byte takes as long on the line as ever, and the rest of the start has become short beside it"
        if share >= 0.4
        else "the kernel prints too little for it"
    )
    return Finding(claim, then, now, verdict(share >= 0.4), why)


def _romfs(figures: Figures) -> Finding:
    claim = "romfs, which is not compressed, is a little faster than cramfs"
    then = "cramfs 3.639 s, romfs 3.511 s from power on (-3.5 %); 842,789 and 839,078 µs from start_kernel"
    packed, plain = figures.start("cramfs"), figures.start("romfs")
    if (hole := hole_in(packed, plain)) is not None:
        return _untestable(claim, then, hole)
    assert isinstance(packed, int)
    assert isinstance(plain, int)
    now = f"from start_kernel {_less(plain, packed)}, in memory"
    slow = _from_storage(figures, "romfs", "cramfs")
    why = (
        "to decompress costs more than to copy, as long as to read costs nothing: then as here it lay in memory"
        if plain < packed
        else "it reads in blocks of 1 KiB, and each costs"
    )
    return Finding(claim, then, f"{now}; {slow}" if slow else now, verdict(plain < packed), why)


def _from_storage(figures: Figures, *kinds: str) -> str:
    """What some kinds take from the storage that takes time, in words; empty where that was not measured."""
    what, found = figures.stored
    there = [(kind, each) for kind in kinds if isinstance(each := found.get(kind), Had)]
    if not there:
        return ""
    return f"from {what} " + ", ".join(f"{kind} {time_text(each.total)}" for kind, each in there)


def _jffs2(figures: Figures) -> Finding:
    claim = "JFFS2 is the slowest that lies on flash, because its log is scanned when it is mounted"
    then = "JFFS2 4.823 s, cramfs 3.639 s, romfs 3.511 s from power on"
    own, *others = (figures.start(kind) for kind in ("jffs2", "cramfs", "romfs"))
    if (hole := hole_in(own, *others)) is not None:
        return _untestable(claim, then, hole)
    numbers = [each for each in others if isinstance(each, int)]
    assert isinstance(own, int)
    measured = figures.arms["jffs2"]
    mount = 0 if isinstance(measured, Hole) else measured.mount
    now = f"in memory {_less(own, max(numbers))} from start_kernel, its mount {time_text(mount)}"
    holds = own > max(numbers)
    log, others_there = figures.stored[1].get("jffs2"), [figures.stored[1].get(kind) for kind in ("cramfs", "romfs")]
    if isinstance(log, Had) and all(isinstance(each, Had) for each in others_there):
        # Where to read takes time, as it did then, it can be seen what the scan costs.
        now += f"; {_from_storage(figures, 'jffs2', 'cramfs', 'romfs')}, its mount {time_text(log.mount)}"
        holds = log.total > max(each.total for each in others_there if isinstance(each, Had))
    why = "every node of the image is still read at the mount"
    if not holds:
        why += ", which memory makes short; on storage another is slower still"
    return Finding(claim, then, now, verdict(holds), why)


def _ram_disk(figures: Figures) -> Finding:
    claim = "ext2 on a RAM disk is the slowest of all: the whole image is copied first"
    then = "2,952,082 µs from start_kernel, three and a half times cramfs"
    own = figures.start("ext2-ram")
    others = {name: figures.start(name) for name, arm in figures.arms.items() if name in _COMPARED
              and isinstance(arm, Measured)}  # fmt: skip
    if isinstance(own, Hole):
        return _untestable(claim, then, own)
    slower = sorted((value, name) for name, value in others.items() if isinstance(value, int) and value > own)
    cramfs = figures.start("cramfs")
    now = time_text(own) + (f", cramfs {time_text(cramfs)}" if isinstance(cramfs, int) else "")
    now += f"; slower still: {', '.join(name for _, name in slower)}" if slower else "; none is slower"
    why = "a copy of some MiB is cheap" if slower else "the image is copied whole, block by block, before it is mounted"
    return Finding(claim, then, now, verdict(not slower), why)


_COMPARED = ("cramfs", "cramfs-xip", "romfs", "jffs2", "squashfs-gzip", "squashfs-zstd", "squashfs-lz4", "erofs",
             "ext2", "ext4", "xfs", "btrfs", "f2fs", "initramfs")  # fmt: skip


def _replay(figures: Figures) -> Finding:
    claim = "A journal makes the start longer, because it is replayed"
    then = "ext2 167 ms, ext3 457 ms with its log replayed"
    none, clean, dirty = (figures.start(name) for name in ("ext2", "ext4", "ext4-dirty"))
    if (hole := hole_in(none, clean, dirty)) is not None:
        return _untestable(claim, then, hole)
    assert isinstance(none, int)
    assert isinstance(clean, int)
    assert isinstance(dirty, int)
    now = f"ext2 {time_text(none)}, ext4 clean {time_text(clean)}, replayed {time_text(dirty)} from start_kernel"
    holds = (dirty - none) / none >= _LITTLE
    more = f"{(dirty - clean) / clean:+.2%}".replace("%", " %")
    why = f"the replay adds {more} in memory, where storage takes no time"
    if (most := _most_more(figures, "ext4-dirty", "ext4")) is not None:
        why += f"; most of it is {most[0]} ({time_text(most[1])})"
    return Finding(claim, then, now, verdict(holds), why)


def _most_more(figures: Figures, name: str, beside: str) -> tuple[str, int] | None:
    own, other = figures.arms.get(name), figures.arms.get(beside)
    if not isinstance(own, Measured) or not isinstance(other, Measured):
        return None
    return next(own.more_than(other).select("function", "more").iter_rows(), None)


def _postponed(figures: Figures) -> Finding:
    claim = "The replay can be put off: mounted read-only without it, replayed when remounted for writing"
    then = "xfs 236 ms, with the replay at the remount"
    xfs, ext4 = figures.replays.get("xfs", Hole("not booted")), figures.replays.get("ext4", Hole("not booted"))
    steps = [each for each in (xfs, ext4) if not isinstance(each, Hole) and "remount" in each and "next" in each]
    if not steps:
        return _untestable(claim, then, hole_in(xfs, ext4) or Hole("the guest left nothing of it"))
    words, right = [], []
    for name, each in (("xfs", xfs), ("ext4", ext4)):
        if isinstance(each, Hole) or "remount" not in each or "next" not in each:
            continue
        allowed = each["remount"].code == 0
        kept = each["next"].synced
        done = "done" if allowed else "refused"
        words.append(f"{name}: the remount is {done}, and then {kept} of {SYNCED} synced files are whole")
        right.append(allowed and kept == SYNCED)
    why = "a file system that was looked at without its log may not be written to: one refuses, one loses what it held"
    return Finding(claim, then, "; ".join(words), verdict(all(right)), "" if all(right) else why)


def _instrumented(figures: Figures) -> Finding:
    claim = "To record every function changes the start that is recorded"
    then = "4.325 s with the instrumentation, 3.639 s without (+19 %)"
    plain = figures.arms.get("initramfs", Hole("not booted"))
    if isinstance(plain, Hole) or isinstance(figures.unprofiled, Hole):
        return _untestable(claim, then, hole_in(plain, figures.unprofiled) or Hole(""))
    recorded = plain.between("power_on", "ready")
    if isinstance(recorded, Hole):
        return _untestable(claim, then, recorded)
    change = abs(recorded - figures.unprofiled)
    now = f"{time_text(recorded)} with, {time_text(figures.unprofiled)} without: {change:,} ns apart"
    holds = change / recorded >= 0.001
    why = "" if holds else "the functions are watched from outside of the machine, in time that does not pass in it"
    return Finding(claim, then, now, verdict(holds), why)


def _pages(figures: Figures) -> Finding:
    claim = "To free every page of memory is the largest single piece of the early start"
    then = "free_all_bootmem_core 109 ms of 843 ms (13 %)"
    measured = figures.arms.get("cramfs", Hole("not booted"))
    if isinstance(measured, Hole):
        measured = figures.arms.get("initramfs", Hole("not booted"))
    if isinstance(measured, Hole) or isinstance(measured.from_start_kernel, Hole):
        return _untestable(claim, then, hole_in(measured) or Hole("the boot has no marks"))
    spent = measured.total("memblock_free_all")
    share = spent / measured.from_start_kernel
    now = f"memblock_free_all {time_text(spent)} of {time_text(measured.from_start_kernel)} ({share:.1%})".replace(
        "%", " %"
    )
    why = "" if share >= 0.1 else "pages are freed in the largest blocks that they make up"
    return Finding(claim, then, now, verdict(share >= 0.1), why)


def _tables(figures: Figures) -> Finding:
    claim = "To register tables of settings and devices costs tens of milliseconds"
    then = "register_proc_table 39 ms in 22 calls, device_register 22 ms in 11"
    measured = figures.arms.get("cramfs", Hole("not booted"))
    if isinstance(measured, Hole):
        measured = figures.arms.get("initramfs", Hole("not booted"))
    if isinstance(measured, Hole) or isinstance(measured.from_start_kernel, Hole):
        return _untestable(claim, then, hole_in(measured) or Hole("the boot has no marks"))
    settings, devices = measured.total("__register_sysctl_table"), measured.total("device_register")
    share = (settings + devices) / measured.from_start_kernel
    now = (
        f"__register_sysctl_table {time_text(settings)} in {measured.count('__register_sysctl_table')} calls, "
        f"device_register {time_text(devices)} in {measured.count('device_register')}: {share:.1%} of the start"
    ).replace("%", " %")
    why = "" if share >= 0.05 else "a table is one sorted tree, and a device a few links"
    return Finding(claim, then, now, verdict(share >= 0.05), why)


def _probe(figures: Figures) -> Finding:
    claim = "A driver of disks waits for disks that are not there, in fixed delays that spin"
    then = "IDE 262 ms, about 250 ms of it busy-waiting; an empty second channel 1.3 s"
    found = {name: each for name, each in figures.probes.items() if name != "scsi_debug"}
    there = {name: each for name, each in found.items() if not isinstance(each, Hole)}
    if not there:
        hole = hole_in(*found.values()) or Hole("no driver was loaded")
        return _untestable(claim, then, hole)
    now = "; ".join(f"{name}: {time_text(each.probing)} until its last word, {time_text(each.busy)} of it spinning"
                    for name, each in there.items())  # fmt: skip
    waits = max(each.probing for each in there.values())
    spins = max(each.busy / each.probing for each in there.values() if each.probing)
    became = verdict(waits >= 10_000_000 and spins >= 0.5)
    why = "drivers/ide is gone (5.14): an empty port is still waited for"
    if became != "holds":
        why += ", but asleep"
    return Finding(claim, then, now, became, why)


def _preemption(figures: Figures) -> Finding:
    claim = "Loading a driver of disks keeps everything else from running"
    then = "252 ms with preemption off, 9.68 ms after the busy-wait became a sleep"
    loads = {name: each for name, each in figures.sections.items() if name != "boot"}
    there = {name: each for name, each in loads.items() if not isinstance(each, Hole)}
    if not there:
        hole = hole_in(*loads.values()) or Hole("no driver was loaded under the tracer")
        return _untestable(claim, then, hole)
    longest = max(each.longest_ns for each in there.values())
    now = "; ".join(f"{name}: {time_text(each.longest_ns)} at most, in {each.task or 'a process without a name'}"
                    for name, each in there.items())  # fmt: skip
    holds = longest >= 9_680_000
    why = "" if holds else "the big kernel lock is gone (2.6.39), and a probe sleeps"
    return Finding(claim, then, now, verdict(holds), why)
