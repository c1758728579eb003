"""A directory that becomes a root file system: its identity, and a copy of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.host.tools import failure_text, run_tool


def tree_digest(tree: Path) -> str:
    """SHA-256 of everything in a tree that reaches an image: names, rights, owners, times of change, content.

    :param tree: a directory.
    :raises LabError: when something in it cannot be read, or is another file system that is mounted there.
    """
    total = hashlib.sha256()
    device = tree.stat().st_dev
    first_names: dict[int, bytes] = {}
    for folder, directories, files in os.walk(os.fsencode(tree), onerror=_refuse):
        directories.sort()
        for name in sorted((*directories, *files)):
            path = os.path.join(folder, name)  # noqa: PTH118  bytes: a name need not be text
            info = os.lstat(path)
            if info.st_dev != device:
                hint = "unmount it, or give a copy of the tree"
                raise LabError("another file system is mounted here", where=os.fsdecode(path), hint=hint)
            shown = path.removeprefix(os.fsencode(tree))
            first = first_names.setdefault(info.st_ino, shown)
            line = f" {info.st_mode} {info.st_uid} {info.st_gid} {int(info.st_mtime)} {info.st_rdev} {info.st_size} "
            total.update(len(shown).to_bytes(8, "little") + shown + line.encode() + first + b"\0")
            total.update(_content(path, info) + _attributes(path))
    return total.hexdigest()


def copy_tree(tree: Path, destination: Path, prefix: Sequence[str] = ()) -> None:
    """Copy a tree with owners, rights, times, links and attributes.

    :param destination: the directory to make.
    :param prefix: what stands before the command, such as ``fakeroot`` with its state.
    :raises LabError: when it cannot be copied.
    """
    command = [*prefix, "cp", "-a", "--reflink=auto", "-T", "--", str(tree), str(destination)]
    run = run_tool(command)
    if run.returncode != 0:
        raise LabError(f"the directory cannot be copied: {failure_text(run)}", where=str(tree))


def _content(path: bytes, info: os.stat_result) -> bytes:
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)  # noqa: PTH115  bytes, as below
    if not stat.S_ISREG(info.st_mode):
        return b""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  bytes: a name need not be text
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise LabError(f"cannot read: {error.strerror}", where=os.fsdecode(path)) from error


def _attributes(path: bytes) -> bytes:
    try:
        names = sorted(os.listxattr(path, follow_symlinks=False))
        return b"".join(os.fsencode(name) + b"=" + os.getxattr(path, name, follow_symlinks=False) for name in names)
    except OSError:
        return b""


def _refuse(error: OSError) -> None:
    where = os.fsdecode(error.filename) if error.filename is not None else None
    raise LabError(f"cannot read the directory: {error.strerror}", where=where) from error
