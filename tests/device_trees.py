"""Device trees for tests: a tree of nodes as the bytes of a file."""

from __future__ import annotations

import struct

from firstlight.lab.kernel.device_tree import Node

MAGIC = 0xD00D_FEED


def cells(*values: int) -> bytes:
    """Cells of 32 bits."""
    return struct.pack(f">{len(values)}I", *values)


def flatten(root: Node, *, version: int = 17, oldest: int = 16) -> bytes:
    """The file of a tree."""
    names: dict[str, int] = {}
    texts = bytearray()

    def text(name: str) -> int:
        if name not in names:
            names[name] = len(texts)
            texts.extend(name.encode() + b"\0")
        return names[name]

    structure = _node("", root, text) + cells(9)
    return assembled(structure, bytes(texts), version=version, oldest=oldest)


def assembled(structure: bytes, texts: bytes, *, version: int = 17, oldest: int = 16) -> bytes:
    """A file of these nodes and names, sound or not."""
    reserved = bytes(16)
    at = 40 + len(reserved)
    total = at + len(structure) + len(texts)
    header = (MAGIC, total, at, at + len(structure), 40, version, oldest, 0, len(texts), len(structure))
    return struct.pack(">10I", *header) + reserved + structure + texts


def _node(name: str, node: Node, text) -> bytes:  # type: ignore[no-untyped-def]
    made = cells(1) + _padded(name.encode() + b"\0")
    for key, value in node.properties.items():
        made += cells(3, len(value), text(key)) + _padded(value)
    for key, child in node.children.items():
        made += _node(key, child, text)
    return made + cells(2)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
