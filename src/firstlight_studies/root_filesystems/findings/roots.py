"""What was concluded about the kinds of root, and what the figures say now."""

from __future__ import annotations

from firstlight.study import Finding, MissingValue, missing_in, time_text, verdict
from firstlight_studies.root_filesystems.findings.figures import RootFigures, less_text, missing
from firstlight_studies.root_filesystems.measures import FilesystemTimings
from firstlight_studies.root_filesystems.storage import Had


def in_place(figures: RootFigures) -> Finding:
    """Whether programs that lie in place start sooner than compressed ones."""
    claim = "Programs that are executed in place start sooner than from a compressed image"
    then = "cramfs 3.639 s, executed in place 2.788 s from power on (-23 %)"
    packed, placed = figures.power_on("cramfs"), figures.power_on("cramfs-xip")
    kernel, kernel_placed = figures.start("cramfs"), figures.start("cramfs-xip")
    for gap in (packed, placed, kernel, kernel_placed):
        if isinstance(gap, MissingValue):
            return missing(claim, then, gap)
    assert isinstance(packed, int)
    assert isinstance(placed, int)
    assert isinstance(kernel, int)
    assert isinstance(kernel_placed, int)
    now = f"{less_text(placed, packed)}; from start_kernel {less_text(kernel_placed, kernel)}"
    why = (
        "nothing is decompressed, copied or given a page; the kernel itself is not executed in place here"
        if placed < packed
        else "to map what is in place costs more than it saves here"
    )
    return Finding(claim, then, now, verdict(placed < packed), why)


def romfs(figures: RootFigures) -> Finding:
    """romfs beside cramfs."""
    claim = "romfs, which is not compressed, is a little faster than cramfs"
    then = "cramfs 3.639 s, romfs 3.511 s from power on (-3.5 %); 842,789 and 839,078 µs from start_kernel"
    packed, plain = figures.start("cramfs"), figures.start("romfs")
    if (gap := missing_in(packed, plain)) is not None:
        return missing(claim, then, gap)
    assert isinstance(packed, int)
    assert isinstance(plain, int)
    now = f"from start_kernel {less_text(plain, packed)}, in memory"
    slow = _from_storage(figures, "romfs", "cramfs")
    why = (
        "decompression costs more than a copy if reading costs nothing: the image was in memory then, as here"
        if plain < packed
        else "it reads in blocks of 1 KiB, and each costs"
    )
    return Finding(claim, then, f"{now}; {slow}" if slow else now, verdict(plain < packed), why)


def _from_storage(figures: RootFigures, *kinds: str) -> str:
    """What some kinds take from the storage that takes time, in words; empty where that was not measured."""
    what, found = figures.stored
    there = [(kind, each) for kind in kinds if isinstance(each := found.get(kind), Had)]
    if not there:
        return ""
    return f"from {what} " + ", ".join(f"{kind} {time_text(each.total)}" for kind, each in there)


def jffs2(figures: RootFigures) -> Finding:
    """JFFS2 beside cramfs and romfs."""
    claim = "JFFS2 is the slowest on flash, because its log is scanned at the mount"
    then = "JFFS2 4.823 s, cramfs 3.639 s, romfs 3.511 s from power on"
    own, *others = (figures.start(kind) for kind in ("jffs2", "cramfs", "romfs"))
    if (gap := missing_in(own, *others)) is not None:
        return missing(claim, then, gap)
    numbers = [each for each in others if isinstance(each, int)]
    assert isinstance(own, int)
    measured = figures.arms["jffs2"]
    mount = 0 if isinstance(measured, MissingValue) else measured.mount
    now = f"in memory {less_text(own, max(numbers))} from start_kernel, its mount {time_text(mount)}"
    holds = own > max(numbers)
    log, others_there = figures.stored[1].get("jffs2"), [figures.stored[1].get(kind) for kind in ("cramfs", "romfs")]
    if isinstance(log, Had) and all(isinstance(each, Had) for each in others_there):
        # Where to read takes time, as it did then, it can be seen what the scan costs.
        now += f"; {_from_storage(figures, 'jffs2', 'cramfs', 'romfs')}, its mount {time_text(log.mount)}"
        holds = log.total > max(each.total for each in others_there if isinstance(each, Had))
    why = "every node of the image is still read at the mount"
    if not holds:
        why += ", which is fast in memory; on storage another one is even slower"
    return Finding(claim, then, now, verdict(holds), why)


def ram_disk(figures: RootFigures) -> Finding:
    """ext2 copied into a RAM disk beside every other root."""
    claim = "ext2 on a RAM disk is the slowest of all: the entire image is copied first"
    then = "2,952,082 µs from start_kernel, three and a half times cramfs"
    own = figures.start("ext2-ram")
    others = {name: figures.start(name) for name, arm in figures.arms.items() if name in _COMPARED
              and isinstance(arm, FilesystemTimings)}  # fmt: skip
    if isinstance(own, MissingValue):
        return missing(claim, then, own)
    slower = sorted((value, name) for name, value in others.items() if isinstance(value, int) and value > own)
    cramfs = figures.start("cramfs")
    now = time_text(own) + (f", cramfs {time_text(cramfs)}" if isinstance(cramfs, int) else "")
    now += f"; slower still: {', '.join(name for _, name in slower)}" if slower else "; none is slower"
    why = "a copy of some MiB is cheap" if slower else "the entire image is copied block by block before the mount"
    return Finding(claim, then, now, verdict(not slower), why)


_COMPARED = ("cramfs", "cramfs-xip", "romfs", "jffs2", "squashfs-gzip", "squashfs-zstd", "squashfs-lz4", "erofs",
             "ext2", "ext4", "xfs", "btrfs", "f2fs", "initramfs")  # fmt: skip
