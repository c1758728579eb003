"""Storage that takes time on the guest's own clock: a latency for each request, and a bandwidth."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight import RecordOptions
from firstlight.study import (
    LOAD_MODULES,
    Boot,
    Chart,
    Field,
    KernelRoot,
    MissingValue,
    Series,
    StudyArm,
    Table,
    Value,
    attach,
    find_format,
    first_missing,
    kept_number,
    settle,
    stamps_of,
    write_modules,
)
from firstlight_studies.root_filesystems.arms import TIMEOUT_WALL_S, Roots
from firstlight_studies.root_filesystems.content import FILES, KEEP, count_whole, script
from firstlight_studies.root_filesystems.measures import read_block_stat

#: Kinds that can lie on a block device that is not memory.
KINDS = (
    "cramfs", "romfs", "jffs2", "squashfs-gzip", "squashfs-zstd", "squashfs-lz4", "erofs", "erofs-lz4", "ext2",
    "ext2-ram", "ext4", "xfs", "btrfs", "f2fs", "initramfs",
)  # fmt: skip
_PAGE = 4096
_HEAD = 128 << 10
_BUNDLED = "/images"
_RAM_KIB = 65536
_GAP = 64
"""Pages of zeros that are written along, so that there are fewer pieces."""
_BLOCK2MTD = "/sys/module/block2mtd/parameters/block2mtd"


@dataclass(frozen=True)
class Model:
    """A storage: one request at a time, each of which takes the latency; as many bytes as the bandwidth lets through,
    in ticks of 20 ms (null_blk)."""

    name: str
    what: str
    latency_ns: int
    megabytes_per_s: int
    """Of 1,048,576 bytes."""
    request_kib: int = 64
    """The largest request. The bandwidth lets through whole requests only, some in each tick."""


MODELS = (
    Model("sd-card", "an SD card", 1_000_000, 10),
    Model("emmc", "an eMMC", 200_000, 40),
    # As slow for the next block as for one far away: null_blk knows no seeks. It reads far ahead instead.
    Model("disk", "a hard disk", 8_000_000, 60, request_kib=512),
)


def pieces(image: Path) -> Iterator[tuple[int, int]]:
    """Where an image holds anything but zeros: first page and pages, gaps of a few pages included."""
    begin = end = -1
    zeros = bytes(_PAGE)
    with image.open("rb") as file:
        for page, content in enumerate(iter(lambda: file.read(_PAGE), b"")):
            if content == zeros[: len(content)]:
                continue
            if begin >= 0 and page - end > _GAP:
                yield begin, end - begin
                begin = -1
            begin = page if begin < 0 else begin
            end = page + 1
    if begin >= 0:
        yield begin, end - begin


def commands(kind: str, image: KernelRoot, model: Model, *, bundled: bool = False) -> tuple[str, ...]:
    """What the guest does with one image: lay it onto the storage, then have it as a root would be had."""
    return laid_on(kind, image, model, _mount(kind, image, "/dev/$NAME"), bundled=bundled)


def laid_on(
    kind: str, image: KernelRoot, model: Model, mount: Sequence[str], after: Sequence[str] = (), *, keep: bool = False,
    bundled: bool = False,
) -> tuple[str, ...]:  # fmt: skip
    """Commands that lay an image onto a storage, mount it below `/mnt`, start a program of it, and read it.

    :param kind: the name of its stamps and files.
    :param mount: commands; `/dev/$NAME` is the storage.
    :param after: commands before it is unmounted.
    :param keep: the storage stays: its driver has no way to let go of it.
    :param bundled: the image is a file of the guest, as :func:`bundle` writes it, instead of persistent memory.
    """
    device, folder = "/dev/$NAME", f"/sys/kernel/config/nullb/{kind}"
    settings = {
        "size": image.size // 1048576 + 1, "blocksize": 512, "memory_backed": 1, "irqmode": 2, "submit_queues": 1,
        "hw_queue_depth": 1, "completion_nsec": model.latency_ns, "mbps": model.megabytes_per_s,
        "max_sectors": model.request_kib * 2,
    }  # fmt: skip
    make = [f"mkdir {folder}", *(f"echo {value} >{folder}/{name}" for name, value in settings.items())]
    # Newer kernels name the disk as its folder, older ones by a number.
    make += [f"echo 1 >{folder}/power", f"NAME={kind}; [ -b /dev/$NAME ] || NAME=nullb$(cat {folder}/index)"]
    make.append(f"echo {2 * model.request_kib} >/sys/block/$NAME/queue/read_ahead_kb")
    # Persistent memories are numbered in no order that one could rely on: size and beginning distinguish them.
    find = (
        f"for each in /sys/block/pmem*; do [ $(cat $each/size) = {image.size // 512} ] || continue; "
        f"dd if=/dev/${{each##*/}} bs={_HEAD} count=1 2>/dev/null | md5sum | grep -q {_head_sum(image.path)} || "
        "continue; "
        "FROM=${each##*/}; done"
    )
    source, fill, before = f"{_BUNDLED}/{kind}" if bundled else "/dev/$FROM", [], 0
    for first, count in pieces(image.path):
        skip = before if bundled else first
        before += count
        fill.append(
            f"dd if={source} of={device} bs={_PAGE} skip={skip} seek={first} count={count} conv=notrunc 2>/dev/null"
        )
    fill += ["sync", f"blockdev --flushbufs {device}", "echo 3 >/proc/sys/vm/drop_caches"]
    stat = f"cat /sys/block/$NAME/stat >>{KEEP}/stat-{kind}"
    lines = [
        *make, *([] if bundled else [find]), *fill, stat, f"/init stamp '{kind} begin'", *mount,
        f"/init stamp '{kind} mounted'", "chroot /mnt /bin/busybox true", f"/init stamp '{kind} executed'",
        f"({count_whole('/mnt/usr/share/data.md5', '/mnt')}) >{KEEP}/data-{kind}", f"/init stamp '{kind} read'", stat,
        *after, "umount /mnt", *([] if keep else [f"echo 0 >{folder}/power", f"rmdir {folder}"]),
    ]  # fmt: skip
    # One that fails leaves its mark where it stopped, and the next is tried all the same.
    return (f"{script(lines)}\ntrue", "umount /mnt 2>/dev/null || true")


def _head_sum(image: Path) -> str:
    with image.open("rb") as file:
        return hashlib.md5(file.read(_HEAD), usedforsecurity=False).hexdigest()


def _mount(kind: str, image: KernelRoot, device: str) -> list[str]:
    form = find_format(kind)
    if form.device == "ram":
        copy = f"dd if={device} of=/dev/ram0 bs=64k count={-(-image.size // 65536)} 2>/dev/null"
        return [copy, f"mount -t {form.file_system} -o ro /dev/ram0 /mnt"]
    if form.device == "initramfs":
        read = f"dd if={device} bs=64k count={-(-image.size // 65536)} 2>/dev/null"
        return ["mount -t tmpfs tmpfs /mnt", f"{read} | (cd /mnt && cpio -idm 2>/dev/null)"]
    if form.device == "mtd":
        return [f"echo {device},64KiB >{_BLOCK2MTD}", f"mount -t {form.file_system} -o ro mtd0 /mnt"]
    return [f"mount -t {form.file_system} -o ro {device} /mnt"]


def storage_arm(roots: Roots, model: Model, wanted: Mapping[str, KernelRoot | MissingValue]) -> StudyArm:
    """One boot in which every image is had from the storage, one after another."""
    name = f"storage-{model.name}"
    images = {kind: image for kind, image in wanted.items() if not isinstance(image, MissingValue)}
    if isinstance(roots.kernel, MissingValue):
        return StudyArm(name, roots.kernel)
    wanted_commands = [each for kind, image in images.items() for each in commands(kind, image, model)]
    options = storage_options(roots.kernel, wanted_commands, attach([image.path for image in images.values()]))
    return StudyArm(name, options)


def bundle(roots: Roots, wanted: Mapping[str, KernelRoot | MissingValue], folder: Path) -> Path | MissingValue:
    """An overlay with the images and the modules that mount them, for a guest without persistent memory for them.

    An image is written without its pages of zeros.
    """
    if isinstance(roots.kernel, MissingValue):
        return roots.kernel
    images = {kind: image for kind, image in wanted.items() if not isinstance(image, MissingValue)}
    drivers = ["null_blk", "brd", *dict.fromkeys(driver for kind in images if (driver := driver_of(kind)))]
    parameters = {"null_blk": "nr_devices=0", "brd": f"rd_nr=1 rd_size={_RAM_KIB}"}
    overlay = write_modules(roots.kernel, drivers, folder, parameters, roots.architecture)
    if isinstance(overlay, MissingValue):
        return overlay
    place = folder / _BUNDLED.lstrip("/")
    place.mkdir(exist_ok=True)
    for kind, image in images.items():
        with image.path.open("rb") as source, (place / kind).open("wb") as file:
            for first, count in pieces(image.path):
                source.seek(first * _PAGE)
                file.write(source.read(count * _PAGE))
    settle(folder)
    return folder


def driver_of(kind: str) -> str:
    """The driver of a kind's file system; empty for an archive."""
    name = find_format(kind).file_system
    return "ext4" if name in ("ext2", "ext3") else name


def bundled_arm(
    roots: Roots, model: Model, wanted: Mapping[str, KernelRoot | MissingValue], overlay: Path | MissingValue
) -> StudyArm:
    """The same as :func:`storage_arm`, with the images in the guest's initramfs and the drivers as modules."""
    name = f"storage-{model.name}"
    if isinstance(roots.kernel, MissingValue) or isinstance(overlay, MissingValue):
        return StudyArm(name, first_missing(overlay, roots.kernel))
    steps = [
        each
        for kind, image in wanted.items()
        if not isinstance(image, MissingValue)
        for each in commands(kind, image, model, bundled=True)
    ]
    options = storage_options(roots.kernel, steps, ())
    load = f"{LOAD_MODULES}; true"
    return StudyArm(name, replace(options, overlay=overlay, guest_commands=(load, *options.guest_commands)))


def storage_options(kernel: Path | None, commands: Sequence[str], disks: tuple[str, ...]) -> RecordOptions:
    """A boot that lays images onto a storage.

    :param disks: arguments of QEMU that attach them.
    """
    before = f"mkdir -p {KEEP} /mnt; mount -t configfs configfs /sys/kernel/config || true"
    return RecordOptions(
        output=Path("a.boot"),
        kernel=kernel,
        guest_commands=(before, *commands),
        qemu_options=disks,
        append="null_blk.nr_devices=0",
        memory="768M",
        profile=False,
        timeout_wall_s=TIMEOUT_WALL_S,
    )


@dataclass(frozen=True)
class Had:
    """How long an image took from a storage, in nanoseconds, and what was read of it."""

    mount: int
    first_exec: int
    reading: int
    requests: int
    read_bytes: int
    whole: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.mount + self.first_exec + self.reading

    @property
    def rate(self) -> int:
        """Bytes read in a second of it."""
        return self.read_bytes * 1_000_000_000 // self.total if self.total else 0


def had(boot: Boot, kind: str) -> Had | MissingValue:
    """What a boot shows of one kind."""
    stamps = stamps_of(boot)
    steps = [stamps.get(f"{kind} {step}") for step in ("begin", "mounted", "executed", "read")]
    lines = (boot.kept(f"stat-{kind}") or b"").splitlines()
    before, after = (read_block_stat(lines[0]), read_block_stat(lines[-1])) if len(lines) == 2 else (None, None)
    begin, mounted, executed, read = steps
    if begin is None or mounted is None or executed is None or read is None or before is None or after is None:
        reached = [step for step, at in zip(("laid", "mounted", "executed"), steps, strict=False) if at is not None]
        why = f"the guest came as far as: {reached[-1]}" if reached else "the guest could not lay it onto the storage"
        if kind == "jffs2" and reached == ["laid"]:
            why += "; to mount it takes a kernel that makes flash of a block device (CONFIG_MTD_BLOCK2MTD)"
        return MissingValue(why)
    whole = kept_number(boot, f"data-{kind}")
    return Had(
        mounted - begin, executed - mounted, read - executed, after[0] - before[0], after[1] - before[1],
        whole if isinstance(whole, int) else 0,
    )  # fmt: skip


Stored = Mapping[str, Had | MissingValue]
"""By the kinds of roots."""


def stored(boot: Boot | MissingValue, wanted: Mapping[str, KernelRoot | MissingValue]) -> Stored:
    """What a boot shows of every kind, and why of some it shows nothing."""
    found: dict[str, Had | MissingValue] = {}
    for kind, image in wanted.items():
        found[kind] = (
            image if isinstance(image, MissingValue) else boot if isinstance(boot, MissingValue) else had(boot, kind)
        )
    return found


def storage_table(model: Model, kinds: Stored) -> Table:
    """What each kind takes from one storage."""
    rows: list[tuple[Value, ...]] = []
    for kind, found in kinds.items():
        if isinstance(found, MissingValue):
            rows.append((kind, *[found] * 8))
            continue
        rows.append((
            kind, found.mount, found.first_exec, found.reading, found.total, found.requests, found.read_bytes,
            found.rate, found.whole,
        ))  # fmt: skip
    return Table(
        f"storage-{model.name}",
        f"From {model.what}: {model.latency_ns / 1e6:g} ms for each request, at most {model.megabytes_per_s} MiB/s",
        (
            Field("Root"), Field("Mount", "time"), Field("First exec", "time"), Field("Read everything", "time"),
            Field("Together", "time"), Field("Requests", "count"), Field("Bytes read", "bytes"),
            Field("In a second", "bytes"), Field("Texts complete", "count"),
        ),
        tuple(rows),
        (
            f"null_blk with memory behind it, one request of at most {model.request_kib} KiB at a time, on the guest's "
            "clock; its caches are cold. Every 20 ms it passes as many complete requests as the bandwidth allows; it "
            f"has no seeks. A RAM disk is filled and an archive unpacked from the storage first. {FILES} texts are "
            "read.",
        ),
    )  # fmt: skip


def storage_chart(model: Model, kinds: Stored) -> Chart:
    """Where the time goes on one storage."""
    there = {kind: each for kind, each in kinds.items() if not isinstance(each, MissingValue)}
    return Chart(
        f"storage-{model.name}", f"From {model.what}", "stacked", "Root", "Virtual time", "time",
        (
            Series("Mount", tuple((kind, each.mount) for kind, each in there.items())),
            Series("First exec", tuple((kind, each.first_exec) for kind, each in there.items())),
            Series("Read everything", tuple((kind, each.reading) for kind, each in there.items())),
        ),
    )  # fmt: skip
