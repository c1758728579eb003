"""Landlock: a thread gives up access to all files but the named ones, for itself and its children.

Source: https://docs.kernel.org/userspace-api/landlock.html; the numbers are those of `include/uapi/linux/landlock.h`.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Mapping
from enum import IntFlag
from functools import cache
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2


class Access(IntFlag):
    """What may be done to a file, or below a directory."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15

    READ = READ_FILE | READ_DIR
    RUN = READ | EXECUTE
    USE = READ_FILE | WRITE_FILE
    """An open file that keeps its length."""
    OWN = READ | WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE
    """All that a program does in a directory for its results."""
    DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV


_OF_A_FILE = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
_FROM_VERSION = {2: Access.REFER, 3: Access.TRUNCATE, 5: Access.IOCTL_DEV}


@cache
def version() -> int:
    """The version of the kernel's Landlock; 0 where there is none.

    >>> version() >= 0
    True
    """
    try:
        return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)))
    except OSError:
        return 0


def restrict(allowed: Mapping[Path, Access], *, offline: bool = False, known: int | None = None) -> None:
    """Give up every file but these, for this thread and the programs that it starts; there is no way back.

    A path that is not there is left out. A thread that gave up files gains no privileges any more by what it runs.

    :param allowed: what may be done to each file, or below each directory.
    :param offline: give up TCP too, from version 4 on.
    :param known: the version to keep to, by default the kernel's.
    :raises OSError: where the kernel refuses.
    """
    known = version() if known is None else known
    handled = Access((1 << 13) - 1)
    for since, access in _FROM_VERSION.items():
        handled |= access if known >= since else Access(0)
    # Files, network, scopes: what the kernel does not know of is left out of the structure.
    rules = struct.pack("<Q", handled)
    if known >= 4:
        rules += struct.pack("<Q", _BIND_TCP | _CONNECT_TCP if offline else 0)
    if known >= 6:
        rules += struct.pack("<Q", _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if offline else 0)
    ruleset = _call(_CREATE_RULESET, ctypes.c_char_p(rules), ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    try:
        for path, access in _deepest_last(allowed):
            _allow(ruleset, path, access & handled)
        _libc().prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _deepest_last(allowed: Mapping[Path, Access]) -> Iterable[tuple[Path, Access]]:
    return sorted(allowed.items(), key=lambda each: len(each[0].parts))


def _allow(ruleset: int, path: Path, access: Access) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _OF_A_FILE
        rule = struct.pack("<Qi", access, descriptor)
        _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.c_char_p(rule), ctypes.c_uint32(0))
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    """A system call.

    :raises OSError: as the kernel says.
    """
    libc = _libc()
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
