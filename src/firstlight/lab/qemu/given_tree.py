"""A device tree that is given instead of QEMU's own: it has to describe QEMU's machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import MISSING_INPUT, LabError, UsageError
from firstlight.lab.kernel.device_tree import Device, DeviceTreeError, Node, devices_of, memory_of, read_tree
from firstlight.lab.qemu.device_tree import packed
from firstlight.quantities import joined, size_text
from firstlight.recipe.isa import Architecture

#: `Documentation/arch/arm64/booting.rst` of the kernel: a tree has at most 2 MiB, and riscv and arm map no more.
#: `load_device_tree` of QEMU adds 10,000 bytes, and doubles the sum.
_LARGEST = (1 << 20) - 10_000
#: With its free space.
_LARGEST_FILE = 16 << 20


@dataclass(frozen=True)
class Wanted:
    """A device without which the boot cannot be recorded."""

    title: str
    compatible: tuple[str, ...]
    address: int | None

    def is_in(self, devices: list[Device]) -> bool:
        """Whether one of a tree's devices is it."""
        return any(
            set(self.compatible) & set(device.compatible) and (self.address is None or self.address == device.address)
            for device in devices
        )

    def __str__(self) -> str:
        place = "" if self.address is None else f" at {self.address:#x}"
        return f"{self.title} (`{self.compatible[0]}`{place})"


@dataclass(frozen=True)
class Machine:
    """The machine that a device tree has to fit."""

    architecture: Architecture
    machine: str
    cpu: str
    memory: int
    """Bytes."""
    own: bytes
    """The tree that QEMU makes for it."""

    @property
    def dump(self) -> str:
        """How to get that tree: a hint."""
        return (
            f"begin with the machine's own tree: `{self.architecture.qemu_binary} -machine {self.machine},"
            f"dumpdtb=own.dtb -cpu {self.cpu} -m {self.memory >> 20}M -nodefaults -display none`, and change it with "
            "`dtc` or `fdtoverlay`"
        )


def read_given(path: Path, machine: Machine, *, reports: bool, loader: bool) -> tuple[bytes, list[str]]:
    """Read a device tree, and check that it fits a machine.

    :param reports: whether the guest writes a report to its second serial port, a PCI card.
    :param loader: whether a boot loader takes the kernel from QEMU's firmware interface.
    :returns: the tree without free bytes, and what the user should know of it, in sentences.
    :raises UsageError: for a file that is not a device tree, or that is one of another machine.
    :raises LabError: when it is missing or cannot be read.
    """
    where = f"--dtb {path}"
    content, root = _read(path, where, machine)
    own = read_tree(machine.own)
    devices = list(devices_of(root))
    missing = [wanted for wanted in wanted_of(own, reports=reports, loader=loader) if not wanted.is_in(devices)]
    if missing:
        board, expected = root.texts("compatible"), own.texts("compatible")
        foreign = f" is of another board, `{board[0]}`: it" if board and not set(board) & set(expected) else ""
        raise UsageError(
            f"this device tree{foreign} has no {joined([str(each) for each in missing], 4)} of QEMU's machine",
            where=where,
            hint=machine.dump,
        )
    there, given = processors_of(own), processors_of(root)
    if given > there:
        raise UsageError(
            f"this device tree has {given} processors, but the machine has {there}",
            where=where,
            hint="remove the nodes of the others from `/cpus`",
        )
    notes = [] if machine.architecture.tree_gets_memory else list(_check_memory(root, own, where, machine))
    if "rng-seed" not in root.children.get("chosen", Node()).properties:
        notes.append(
            "this device tree has no `rng-seed` in `/chosen`: the kernel then gathers its first random numbers by a "
            "long loop; give the property 32 bytes, and QEMU replaces them with bytes from `--seed`"
        )
    return content, notes


def _read(path: Path, where: str, machine: Machine) -> tuple[bytes, Node]:
    try:
        if path.is_file() and (size := path.stat().st_size) > _LARGEST_FILE:
            raise UsageError(
                f"this file is not a device tree: it has {size_text(size)}", where=where, hint=machine.dump
            )
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise LabError("there is no such file", where=where, exit_code=MISSING_INPUT) from error
    except OSError as error:
        raise LabError(f"cannot read it: {error.strerror}", where=where, exit_code=MISSING_INPUT) from error
    try:
        root = read_tree(content)
    except DeviceTreeError as error:
        hint = machine.dump
        if "source" in str(error):
            hint = "compile it: `dtc -I dts -O dtb -o board.dtb board.dts`"
        elif "truncated" in str(error):
            hint = "copy or compile it again: a part of the file is missing"
        raise UsageError(str(error), where=where, hint=hint) from error
    content = packed(content)
    if len(content) > _LARGEST:
        raise UsageError(
            f"this device tree is too large: {len(content):,} bytes; QEMU and the kernel accept {_LARGEST:,}",
            where=where,
            hint="remove what the boot does not need from it",
        )
    if not root.texts("compatible") and any("__overlay__" in node.children for node in root.children.values()):
        raise UsageError(
            "this is an overlay, a part of a device tree",
            where=where,
            hint="apply it to the machine's own tree: `fdtoverlay -i own.dtb -o board.dtb overlay.dtbo`",
        )
    return content, root


def wanted_of(own: Node, *, reports: bool, loader: bool) -> Iterator[Wanted]:
    """What of a machine's own device tree every other tree for it has to have.

    :param reports: whether the guest writes a report to a PCI card.
    :param loader: whether a boot loader runs before the kernel.
    """
    stdout = own.at(own.children.get("chosen", Node()).texts("stdout-path")[0].partition(":")[0])
    for device in devices_of(own):
        title = _title(device, is_console=device.node is stdout, reports=reports, loader=loader)
        if title is not None:
            yield Wanted(title, device.compatible, device.address)


def _title(device: Device, *, is_console: bool, reports: bool, loader: bool) -> str | None:
    names = " ".join(device.compatible)
    if not names:
        return None
    if is_console:
        return "serial port"
    if "interrupt-controller" in device.node.properties and device.address is not None:
        return "interrupt controller"
    if "timer" in names or "clint" in names:
        return "timer"
    if reports and device.node.texts("device_type") == ("pci",):
        return "PCI host for the guest's report"
    return "firmware interface" if loader and "qemu,fw-cfg-mmio" in device.compatible else None


def processors_of(root: Node) -> int:
    """How many processors a tree has.

    >>> processors_of(Node(children={"cpus": Node(children={"cpu@0": Node({"device_type": b"cpu\\0"})})}))
    1
    """
    nodes = root.children.get("cpus", Node()).children.values()
    return sum(node.texts("device_type") == ("cpu",) and node.is_enabled for node in nodes)


def _check_memory(root: Node, own: Node, where: str, machine: Machine) -> Iterator[str]:
    """Check the memory of a tree, on a machine where QEMU does not write it into the tree."""
    given, there = memory_of(root), memory_of(own)
    if not given:
        raise UsageError(
            "this device tree has no memory: a node `/memory@ADDRESS` with `device_type` and `reg`",
            where=where,
            hint=machine.dump,
        )
    outside = [
        (start, size)
        for start, size in given
        if not any(first <= start and start + size <= first + length for first, length in there)
    ]
    if outside:
        start, size = outside[0]
        first, length = there[0]
        raise UsageError(
            f"this device tree has memory of {size_text(size)} at {start:#x}, and the machine has {size_text(length)} "
            f"at {first:#x}",
            where=where,
            hint=f"change the tree's `/memory`, or give the machine as much: `--memory {max(1, size >> 20)}M`",
        )
    total = sum(size for _, size in given)
    if total < machine.memory:
        yield f"by this device tree the kernel uses {size_text(total)} of the machine's {size_text(machine.memory)}"
