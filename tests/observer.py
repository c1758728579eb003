"""Sees which programs a piece of this process starts, and which files it opens outside the places that it may."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import firstlight

_OPENED, _ACCESSED, _MODIFIED, _ATTRIBUTES, _CREATED, _DELETED, _MOVED = 0x20, 0x1, 0x2, 0x4, 0x100, 0x200, 0xC0
_WATCHED = _OPENED | _ACCESSED | _MODIFIED | _ATTRIBUTES | _CREATED | _DELETED | _MOVED
_NONBLOCK = 0o4000

#: Of Python's own events those that carry a path, and which of their arguments it is.
_PATHS = {
    "open": (0,), "os.listdir": (0,), "os.scandir": (0,), "os.remove": (0,), "os.rename": (0, 1), "os.mkdir": (0,),
    "os.rmdir": (0,), "os.link": (0, 1), "os.symlink": (0, 1), "os.truncate": (0,), "os.chmod": (0,), "os.utime": (0,),
    "ctypes.dlopen": (0,), "sqlite3.connect": (0,),
}  # fmt: skip
_PROGRAMS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.startfile")
_NETWORK = ("socket.connect", "socket.bind")

#: Where an interpreter and its libraries lie: what is read there is nobody's secret.
_SYSTEM = (sys.prefix, sys.base_prefix, str(Path(firstlight.__file__).parents[1]), "/usr", "/lib", "/lib64", "/proc",
           "/dev/null", "/etc", "/sys/fs/cgroup", str(Path(__file__).parent))  # fmt: skip


@dataclass
class Seen:
    """What was seen."""

    allowed: tuple[str, ...]
    programs: tuple[str, ...]
    executed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """One of Python's audit events."""
        if event in _PROGRAMS:
            self._program(arguments)
        elif event in _NETWORK:
            self.touched.append(f"{event} {arguments[1:]}")
        else:
            for place in _PATHS.get(event, ()):
                self._file(event, arguments[place])

    def _program(self, arguments: tuple[object, ...]) -> None:
        words = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], (list, tuple)) else [arguments[0]]
        texts = [os.fsdecode(word) for word in words]  # type: ignore[arg-type]
        if texts[0] not in self.programs:
            self.executed.append(" ".join(texts))

    def _file(self, event: str, path: object) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # a descriptor, whose path was told when it was opened
        text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  not resolved: the event is of this very name
        if not any(text == each or text.startswith(f"{each}/") for each in self.allowed):
            self.touched.append(f"{event} {text}")


_listening: list[Seen] = []
_hooked: list[bool] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    for seen in _listening:
        seen.hear(event, arguments)


@contextmanager
def observed(allowed: Sequence[Path], canaries: Path, programs: Sequence[str] = ()) -> Iterator[Seen]:
    """See what is done in here: by Python's audit events, and below *canaries* by the kernel's own, because native code
    and other programs do not tell Python.

    :param allowed: where files may be opened, beside the system's own.
    :param canaries: a folder in which nobody has anything to do.
    :param programs: what may be started.
    """
    if not _hooked:
        sys.addaudithook(_hook)  # a hook stays for good
        _hooked.append(True)
    seen = Seen((*_SYSTEM, *map(str, allowed)), tuple(programs))
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(_NONBLOCK)
    for folder in (canaries, *(path for path in canaries.rglob("*") if path.is_dir())):
        assert libc.inotify_add_watch(watch, os.fsencode(folder), _WATCHED) >= 0
    _listening.append(seen)
    try:
        yield seen
    finally:
        _listening.remove(seen)
        try:
            told = os.read(watch, 1 << 16)
        except BlockingIOError:
            told = b""
        os.close(watch)
        while told:
            mask, length = struct.unpack_from("4xI4xI", told)
            name = told[16 : 16 + length].rstrip(b"\0").decode(errors="replace")
            seen.touched.append(f"inotify {mask:#x} {canaries.name}/{name}")
            told = told[16 + length :]
