"""File systems on one flash: each is mounted from the same memory technology device, first and again after writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight.study import Boot, Field, KernelRoot, MissingValue, StudyArm, Table, Value, attach, stamps_of
from firstlight_studies.root_filesystems.arms import Roots
from firstlight_studies.root_filesystems.storage import Had, Model, Stored, had, laid_on, storage_options

FLASH = Model("flash", "one flash", 100_000, 20)
"""As slow as serial flash: null_blk behind block2mtd, which makes a memory technology device of a block device."""

_BLOCK2MTD = "/sys/module/block2mtd/parameters/block2mtd"


@dataclass(frozen=True)
class OnFlash:
    """A file system as it is mounted from flash."""

    name: str
    kind: str
    """Of its image."""
    source: str
    """What is mounted; `N` is the number of the device."""
    file_system: str
    written: bool = False
    """Whether it can be written to, between the first mount and the second."""


MOUNTED = (
    OnFlash("cramfs-flash", "cramfs", "/dev/mtdblockN", "cramfs"),
    OnFlash("romfs-flash", "romfs-mtd", "mtdN", "romfs"),
    OnFlash("jffs2-flash", "jffs2", "mtdN", "jffs2", written=True),
    OnFlash("jffs2-summary", "jffs2-summary", "mtdN", "jffs2", written=True),
    OnFlash("ubifs", "ubifs", "ubiN:root", "ubifs", written=True),
)


def flash_arm(roots: Roots, images: Mapping[str, KernelRoot | MissingValue], tools: Path | MissingValue) -> StudyArm:
    """One boot in which every image is laid on the flash and mounted, one after another.

    :param tools: an overlay with `ubiattach`; without it UBIFS is left out.
    """
    wanted = {
        each: image
        for each in MOUNTED
        if not isinstance(image := images.get(each.kind, MissingValue("no image")), MissingValue)
        and not (each.kind == "ubifs" and isinstance(tools, MissingValue))
    }
    if isinstance(roots.kernel, MissingValue):
        return StudyArm("flash", roots.kernel)
    commands = [each for mounted, image in wanted.items() for each in _commands(mounted, image)]
    options = storage_options(roots.kernel, commands, attach([image.path for image in wanted.values()]))
    return StudyArm("flash", options if isinstance(tools, MissingValue) else replace(options, overlay=tools))


def _commands(each: OnFlash, image: KernelRoot) -> tuple[str, ...]:
    # Devices are numbered as they come; each image's stays, so the next has the next number.
    source = each.source.replace("N", "$N" if each.kind != "ubifs" else "0")
    mount = f"mount -t {each.file_system} -o ro {source} /mnt"
    found = ["echo /dev/$NAME,64KiB >" + _BLOCK2MTD, "N=$(ls -d /sys/class/mtd/mtd[0-9] | wc -l); N=$((N-1))"]
    found += ["ubiattach -m $N >/dev/null"] if each.kind == "ubifs" else []
    again = ["umount /mnt"]
    if each.written:
        again += [f"mount -t {each.file_system} {source} /mnt", "echo one >/mnt/srv/one", "sync", "umount /mnt"]
    again += ["echo 3 >/proc/sys/vm/drop_caches", f"/init stamp '{each.name} again'", mount,
              f"/init stamp '{each.name} remounted'"]  # fmt: skip
    return laid_on(each.name, image, FLASH, [*found, mount], again, keep=True)


@dataclass(frozen=True)
class OnFlashTimes:
    """What a file system took from flash."""

    first: Had
    second_mount: int | MissingValue


def flash_times(boot: Boot | MissingValue) -> dict[str, OnFlashTimes | MissingValue]:
    """What the boot gave of each file system."""
    found: dict[str, OnFlashTimes | MissingValue] = {}
    for each in MOUNTED:
        first = boot if isinstance(boot, MissingValue) else had(boot, each.name)
        if isinstance(first, MissingValue) or isinstance(boot, MissingValue):
            found[each.name] = first if isinstance(first, MissingValue) else MissingValue("not booted")
            continue
        stamps = stamps_of(boot)
        begin, end = stamps.get(f"{each.name} again"), stamps.get(f"{each.name} remounted")
        again = MissingValue("the guest did not mount it again") if begin is None or end is None else end - begin
        found[each.name] = OnFlashTimes(first, again)
    return found


def firsts(found: Mapping[str, OnFlashTimes | MissingValue]) -> Stored:
    """The first mount and all that follows, by file system."""
    return {name: each if isinstance(each, MissingValue) else each.first for name, each in found.items()}


def flash_table(found: Mapping[str, OnFlashTimes | MissingValue]) -> Table:
    """A row for each file system."""
    rows: list[tuple[Value, ...]] = []
    for name, each in found.items():
        if isinstance(each, MissingValue):
            rows.append((name, *[each] * 7))
        else:
            one = each.first
            rows.append((name, one.mount, each.second_mount, one.first_exec, one.reading, one.total, one.read_bytes,
                         one.whole))  # fmt: skip
    return Table(
        "flash",
        f"From one flash: {FLASH.latency_ns / 1e6:g} ms for each request, at most {FLASH.megabytes_per_s} MiB/s",
        (
            Field("File system"), Field("First mount", "time"), Field("Second mount", "time"),
            Field("First exec", "time"), Field("Read everything", "time"), Field("Together", "time"),
            Field("Bytes read", "bytes"), Field("Texts complete", "count"),
        ),
        tuple(rows),
        (
            "All through one driver (block2mtd) and one queue. Between the mounts a file is written, where the file "
            "system takes one; caches are cold before each. The mount of UBIFS contains attaching its device.",
        ),
    )  # fmt: skip
