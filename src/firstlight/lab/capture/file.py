"""The file of a capture: append-only, readable up to its last byte (`docs/reference/formats/records/capture.md`)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Self

from firstlight.errors import LabError

_MAGIC = b"firstlight capture 1\n"


def now_ns() -> int:
    """The instant, in nanoseconds of the clock that no time server adjusts."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


class CaptureFile:
    """Writes each record with one system call, so that the file keeps all records when the process is killed.

    :param path: a file that does not exist.
    :raises LabError: when it exists or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            hint = f"import what it holds with `firstlight import {path}`, and remove it"
            raise LabError("an earlier capture left this file", where=str(path), hint=hint) from None
        except OSError as error:
            raise LabError(f"the capture cannot be written: {error.strerror}", where=str(path)) from error
        self._write(_MAGIC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def setup(self, about: dict[str, object]) -> None:
        """Write the settings of the capture; an import turns them into facts of the boot."""
        text = "\n".join(f"{name}={value}" for name, value in about.items() if value is not None)
        self._record("setup", now_ns(), text.encode())

    def data(self, time_ns: int, content: bytes) -> None:
        """Write bytes of the console with the instant of their read."""
        self._record("data", time_ns, content)

    def event(self, name: str, time_ns: int | None = None) -> None:
        """Write an event; its time is now by default."""
        self._record("event", now_ns() if time_ns is None else time_ns, name.encode())

    def _record(self, kind: str, time_ns: int, content: bytes) -> None:
        self._write(b"%s %d %d\n%s\n" % (kind.encode(), time_ns, len(content), content))

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._file, content) :]
        except OSError as error:
            raise LabError(f"the capture cannot be written: {error.strerror}", where=str(self.path)) from error


def set_aside(record: Path) -> Path | None:
    """Keep a capture that became no bundle under another name, which is returned; none if there is none."""
    number = 1
    while record.exists():
        kept = record.with_name(f"{record.name.removesuffix('.capture.bin')}.lost-{number}.capture.bin")
        if not kept.exists():
            record.rename(kept)
            return kept
        number += 1
    return None
