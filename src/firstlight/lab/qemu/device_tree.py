"""The device tree of a machine, with a region of memory that the kernel takes for persistent memory.

A machine without ACPI has no way to show an NVDIMM. But the kernel takes a node `pmem-region` of its device tree for
one (`Documentation/devicetree/bindings/pmem/pmem-region.txt`). So the machine gets more memory than the guest is to use
(`mem=` on the kernel's command line), the image is loaded behind that, and the tree that QEMU makes gets the node. QEMU
then fills in the command line, the initramfs and the seeds, as it does with its own tree.
"""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight.cache import digest_of, entry
from firstlight.errors import LabError
from firstlight.lab.host.tools import failure_text, run_tool
from firstlight.lab.kernel.device_tree import BEGIN_NODE, END_NODE, HEADER, MAGIC, NOTHING, PROPERTY
from firstlight.lab.qemu.emulator import Qemu

_NAME = "region.dtb"
_MIB = 1 << 20
#: From this version on the header has the size of the nodes.
_SIZED = 17


@dataclass(frozen=True)
class Region:
    """A part of the machine's memory that holds an image."""

    address: int
    size: int
    """Bytes of the image."""

    @property
    def memory(self) -> int:
        """Bytes of memory that the machine has for it: whole mebibytes."""
        return -(-self.size // _MIB) * _MIB


def tree_with_region(
    qemu: Qemu, machine: str, cpu: str, memory: int, region: Region, given: bytes | None = None, cpus: int = 1
) -> Path:
    """The device tree of a machine with a region for an image, from the cache.

    :param machine: its type, with properties.
    :param cpu: the model of its processor.
    :param memory: bytes that the guest uses.
    :param given: a tree for this machine; by default the one that QEMU makes.
    :param cpus: how many processors it has.
    :raises LabError: when QEMU does not give the tree of this machine.
    """
    total = memory + region.memory
    own = "" if given is None else digest_of(given)
    several = [] if cpus == 1 else [f"cpus {cpus}"]
    key = digest_of("1", qemu.digest(), machine, cpu, str(total), hex(region.address), str(region.size), own, *several)

    def make(folder: Path) -> None:
        tree = own_tree(qemu, machine, cpu, total, cpus) if given is None else given
        (folder / _NAME).write_bytes(with_region(tree, region))

    return entry("device-trees", key, make) / _NAME


def packed_tree(given: bytes) -> Path:
    """The file of the user's tree without its free space, from the cache.

    QEMU gives the kernel a copy with twice the room of the file, and kernels take 2 MiB: of a tree that QEMU dumped, a
    mebibyte for the most part empty, the copy would be too large.
    """

    def make(folder: Path) -> None:
        (folder / _NAME).write_bytes(packed(given))

    return entry("device-trees", digest_of("packed", given), make) / _NAME


def own_tree(qemu: Qemu, machine: str, cpu: str, memory: int, cpus: int = 1) -> bytes:
    """The device tree that QEMU makes for a machine.

    :param machine: its type, with properties.
    :param cpu: the model of its processor.
    :param memory: bytes.
    :param cpus: how many processors it has.
    :raises LabError: when QEMU does not give it.
    """
    with tempfile.TemporaryDirectory(prefix="firstlight-tree-") as folder:
        file = Path(folder) / "own.dtb"
        # The seeds in it are replaced at the start of each boot, by those that the recipe's seed gives.
        words = ["-machine", f"{machine},dumpdtb={file}", "-cpu", cpu, "-smp", str(cpus), "-m", f"{memory // _MIB}M"]
        run = run_tool([str(qemu.path), *words, "-nodefaults", "-no-user-config", "-display", "none", "-seed", "1"])
        if run.returncode != 0 or not file.is_file():
            raise LabError(
                f"QEMU does not show the device tree of `{machine}`: {failure_text(run)}",
                where=str(qemu.path),
                hint="boot without `--rootfs`: put the files into an initramfs",
            )
        return file.read_bytes()


def with_region(tree: bytes, region: Region) -> bytes:
    """A device tree, flattened, with a node for persistent memory that begins at an address.

    :param tree: with addresses and sizes of two cells each below its root.
    :raises LabError: for bytes that are not a device tree.

    >>> with_region(b"no tree", Region(0x6000_0000, 4096))
    Traceback (most recent call last):
    firstlight.errors.LabError: this is not a device tree
    """
    parts = _parts(tree)
    nodes, texts = parts.nodes, parts.texts
    end = _end_of_root(nodes)
    names = {}
    for name in (b"compatible", b"reg", b"volatile"):
        names[name] = len(texts)
        texts += name + b"\0"
    node = struct.pack(">I", BEGIN_NODE) + _padded(f"pmem@{region.address:x}".encode() + b"\0")
    for name, value in (
        (b"compatible", b"pmem-region\0"),
        (b"reg", struct.pack(">QQ", region.address, region.memory)),
        # Nothing in it outlives the boot.
        (b"volatile", b""),
    ):
        node += struct.pack(">III", PROPERTY, len(value), names[name]) + _padded(value)
    nodes = nodes[:end] + node + struct.pack(">I", END_NODE) + nodes[end:]
    return replace(parts, nodes=nodes, texts=texts).joined()


def packed(tree: bytes) -> bytes:
    """A device tree, flattened, without free bytes between its parts and behind them.

    :raises LabError: for bytes that are not a device tree.
    """
    return _parts(tree).joined()


@dataclass(frozen=True)
class _Parts:
    """What a flattened tree consists of."""

    reserved: bytes
    nodes: bytes
    texts: bytes
    others: tuple[int, int, int]
    """Of the header: the versions, and the number of the first processor."""

    def joined(self) -> bytes:
        at = HEADER + len(self.reserved)
        texts_at = at + len(self.nodes)
        total = texts_at + len(self.texts)
        header = (MAGIC, total, at, texts_at, HEADER, *self.others, len(self.texts), len(self.nodes))
        return struct.pack(">10I", *header) + self.reserved + self.nodes + self.texts


def _parts(tree: bytes) -> _Parts:
    if len(tree) < HEADER or struct.unpack(">I", tree[:4]) != (MAGIC,):
        raise LabError("this is not a device tree")
    _, _, at, texts_at, reserved_at, version, compatible, processor, texts_size, size = struct.unpack(
        ">10I", tree[:HEADER]
    )
    if version < _SIZED:
        # Older headers do not say how long the nodes are.
        size = texts_at - at
    nodes, texts = tree[at : at + size], tree[texts_at : texts_at + texts_size]
    return _Parts(_reserved(tree[reserved_at:]), nodes, texts, (max(version, _SIZED), compatible, processor))


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)


def _reserved(entries: bytes) -> bytes:
    """The list of reserved memory, up to the pair of zeros that ends it."""
    end = next(at for at in range(0, len(entries), 16) if entries[at : at + 16] == bytes(16))
    return entries[: end + 16]


def _end_of_root(nodes: bytes) -> int:
    """Where the root node ends: all of its properties and nodes stand in front of that."""
    at = depth = 0
    while True:
        (token,) = struct.unpack_from(">I", nodes, at)
        start, at = at, at + 4
        if token == BEGIN_NODE:
            depth += 1
            name = nodes.index(b"\0", at) + 1
            at = name + -name % 4
        elif token == PROPERTY:
            (length,) = struct.unpack_from(">I", nodes, at)
            at += 8 + length + -length % 4
        elif token == END_NODE:
            depth -= 1
            if depth == 0:
                return start
        elif token != NOTHING:
            raise LabError("this is not a device tree")
