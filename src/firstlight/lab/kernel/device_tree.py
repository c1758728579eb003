"""Flattened device trees (DTB): whether a file is one, and what stands in it.

Source: the Devicetree Specification 0.4, chapter 5, "Flattened Devicetree (DTB) Format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

MAGIC = 0xD00D_FEED
HEADER = 40
"""Bytes of the header."""
#: Versions of the format: this one, and the oldest to which it is compatible.
_LAST_KNOWN, _FIRST_KNOWN = 17, 16
#: The tokens of the structure (5.4.1).
BEGIN_NODE, END_NODE, PROPERTY, NOTHING, END = 1, 2, 3, 4, 9
#: Deeper than the tree of any board.
_DEEPEST = 64
#: A name has at most 31 bytes; kernels are not as strict.
_LONGEST_NAME = 256
#: 2.3.5 of the specification: what holds where a node does not say.
_ADDRESS_CELLS = 2


class DeviceTreeError(ValueError):
    """Why a file is not a device tree."""


@dataclass
class Node:
    """A node with its properties and its child nodes."""

    properties: dict[str, bytes] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a property such as `compatible`; none where it is missing.

        >>> Node({"compatible": b"a,b\\0c,d\\0"}).texts("compatible")
        ('a,b', 'c,d')
        """
        values = self.properties.get(name, b"").split(b"\0")
        return tuple(each.decode("utf-8", "replace") for each in values if each)

    def number(self, name: str, missing: int) -> int:
        """A property of one cell.

        :param missing: the value where the property is missing or is not a single cell.

        >>> Node({"#address-cells": bytes([0, 0, 0, 1])}).number("#address-cells", 2)
        1
        """
        value = self.properties.get(name, b"")
        return int.from_bytes(value, "big") if len(value) == 4 else missing

    def at(self, path: str) -> Node | None:
        """The node of a path below this one.

        >>> Node(children={"soc": Node(children={"serial@10": Node()})}).at("/soc/serial@10") is not None
        True
        """
        node: Node | None = self
        for name in filter(None, path.split("/")):
            node = None if node is None else node.children.get(name)
        return node

    @property
    def is_enabled(self) -> bool:
        """Whether the device is there (`status`)."""
        return self.texts("status") in ((), ("okay",), ("ok",))


@dataclass(frozen=True)
class Device:
    """An enabled node with its place."""

    path: str
    node: Node
    address: int | None
    """The first address of `reg`, as the node's own bus counts; none without `reg`."""

    @property
    def compatible(self) -> tuple[str, ...]:
        """The hardware that it is, the most specific first."""
        return self.node.texts("compatible")


def devices_of(root: Node) -> Iterator[Device]:
    """All nodes of a tree that are enabled, and lie in enabled ones, from the root on.

    >>> root = Node(children={"cpus": Node(), "off": Node({"status": b"disabled\\0"})})
    >>> [device.path for device in devices_of(root)]
    ['/', '/cpus']
    """
    pending = [Device("/", root, None)]
    while pending:
        device = pending.pop(0)
        yield device
        cells = device.node.number("#address-cells", _ADDRESS_CELLS)
        for name, child in device.node.children.items():
            if child.is_enabled:
                reg = child.properties.get("reg", b"")[: 4 * cells]
                address = int.from_bytes(reg, "big") if reg else None
                pending.append(Device(f"{device.path.rstrip('/')}/{name}", child, address))


def memory_of(root: Node) -> list[tuple[int, int]]:
    """The memory of a tree: first address and bytes of each range.

    >>> cells = bytes([0, 0, 0, 1])
    >>> memory = Node({"device_type": b"memory\\0", "reg": bytes.fromhex("4000000000100000")})
    >>> memory_of(Node({"#address-cells": cells, "#size-cells": cells}, {"memory@40000000": memory}))
    [(1073741824, 1048576)]
    """
    address, size = 4 * root.number("#address-cells", _ADDRESS_CELLS), 4 * root.number("#size-cells", 1)
    found = []
    for node in root.children.values():
        reg = node.properties.get("reg", b"")
        if node.texts("device_type") == ("memory",) and node.is_enabled and address and size:
            for at in range(0, len(reg) - address - size + 1, address + size):
                start, length = reg[at : at + address], reg[at + address : at + address + size]
                found.append((int.from_bytes(start, "big"), int.from_bytes(length, "big")))
    return found


def read_tree(content: bytes) -> Node:
    """The root of a device tree.

    :raises DeviceTreeError: saying what is wrong with the file.

    >>> try:
    ...     read_tree(b"/dts-v1/;")
    ... except DeviceTreeError as error:
    ...     print(error)
    this is the source of a device tree
    """
    if content[:9] == b"/dts-v1/;":
        raise DeviceTreeError("this is the source of a device tree")
    if len(content) < 4 or struct.unpack_from(">I", content)[0] != MAGIC:
        raise DeviceTreeError("this is not a device tree")
    if len(content) < HEADER:
        raise DeviceTreeError(f"this device tree is truncated: {len(content)} bytes, and its header has {HEADER}")
    total, structure, strings, _, version, oldest = struct.unpack_from(">6I", content, 4)
    if total > len(content):
        raise DeviceTreeError(f"this device tree is truncated: {len(content):,} of {total:,} bytes")
    if oldest > _LAST_KNOWN or version < _FIRST_KNOWN:
        raise DeviceTreeError(
            f"this device tree has format version {version}, but the newest known one is {_LAST_KNOWN}"
        )
    try:
        return _read(memoryview(content)[:total], structure, strings)
    except (struct.error, IndexError) as error:
        raise _damaged("its structure has no end") from error


def _read(content: memoryview, at: int, strings: int) -> Node:
    top = Node()
    open_nodes = [top]
    while True:
        (token,) = struct.unpack_from(">I", content, at)
        at += 4
        if token == BEGIN_NODE:
            name, length = _text(content, at)
            at = _aligned(at + length + 1)
            if len(open_nodes) > _DEEPEST:
                raise _damaged("its nodes nest too deep")
            open_nodes.append(open_nodes[-1].children.setdefault(name, Node()))
        elif token == PROPERTY:
            length, place = struct.unpack_from(">II", content, at)
            if at + 8 + length > len(content):
                raise _damaged("a property is longer than the file")
            name, _ = _text(content, strings + place)
            open_nodes[-1].properties[name] = bytes(content[at + 8 : at + 8 + length])
            at = _aligned(at + 8 + length)
        elif token == END_NODE:
            open_nodes.pop()
            if not open_nodes:
                raise _damaged("more nodes end than begin")
        elif token == END:
            break
        elif token != NOTHING:
            raise _damaged("its structure has an unknown token")
    if len(open_nodes) != 1 or "" not in top.children:
        raise _damaged("it has no complete root")
    return top.children[""]


def _damaged(why: str) -> DeviceTreeError:
    return DeviceTreeError(f"this device tree is damaged: {why}")


def _text(content: memoryview, at: int) -> tuple[str, int]:
    text = bytes(content[at : at + _LONGEST_NAME])
    end = text.find(b"\0")
    if end < 0:
        raise _damaged("a name has no end")
    return text[:end].decode("utf-8", "replace"), end


def _aligned(at: int) -> int:
    return (at + 3) & ~3
