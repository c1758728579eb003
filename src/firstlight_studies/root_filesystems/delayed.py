"""A root whose every request is delayed, by the kernel's own dm-delay, mounted by the kernel without an initramfs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from firstlight.study import Field, KernelRoot, MissingValue, StudyArm, Table, Value, first_missing
from firstlight_studies.root_filesystems.arms import Roots
from firstlight_studies.root_filesystems.measures import FilesystemTimings

LATENCY_MS = 8
"""Of a request: two ticks of the lab's kernel, which delays by whole ones."""
KINDS = ("cramfs", "romfs", "squashfs-zstd", "erofs", "ext2", "ext4", "xfs", "btrfs", "f2fs")
QUICK_KINDS = ("squashfs-zstd", "ext4")


def delayed_arm(roots: Roots, kind: str, image: KernelRoot | MissingValue) -> StudyArm:
    """A root behind dm-delay, which the command line makes (`dm-mod.create=`)."""
    name = f"{kind}-delayed"
    if isinstance(image, MissingValue) or isinstance(roots.kernel, MissingValue):
        return StudyArm(name, first_missing(image, roots.kernel))
    table = f"0 {image.size // 512} delay /dev/pmem0 0 {LATENCY_MS}"
    words = f'dm-mod.create="root,,,ro,{table}" root=/dev/dm-0'
    return StudyArm(name, replace(roots.options(kind), append=words))


def delayed_table(arms: Mapping[str, FilesystemTimings | MissingValue], kinds: Sequence[str]) -> Table:
    """What the delays make of each start."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        plain, slow = arms[kind], arms[f"{kind}-delayed"]
        if isinstance(slow, MissingValue):
            rows.append((kind, *[slow] * 7))
            continue
        before = plain if isinstance(plain, MissingValue) else plain.from_start_kernel
        after, requests = slow.from_start_kernel, slow.requests
        more = (
            before if isinstance(before, MissingValue) else after if isinstance(after, MissingValue) else after - before
        )
        idle = slow.boot.manifest.totals.idle_ns
        each = idle // requests[0] if idle is not None and requests[0] else None
        rows.append((kind, before, after, more, slow.to_ready, requests[0], idle, each))
    return Table(
        "delayed",
        f"Roots whose every request takes {LATENCY_MS} ms or a tick more",
        (
            Field("Root"), Field("start_kernel to program", "time"), Field("Delayed", "time"), Field("More", "change"),
            Field("Delayed, to ready", "time"), Field("Reads", "count"), Field("Idle", "time"),
            Field("Idle, per read", "time"),
        ),
        tuple(rows),
        (
            "dm-delay over persistent memory, made by the kernel's command line. It counts in ticks of 4 ms, and the "
            "timer rounds up. Simultaneous requests are delayed together, so a seek takes time and a stream does not.",
        ),
    )  # fmt: skip
