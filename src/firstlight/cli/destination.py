"""Standard output that may lose its reader: what a command finds does not depend on who listens."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Outlet(io.RawIOBase):
    """A descriptor that swallows everything once nobody reads it any more."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            # `gate b.boot | head -1` has to end with the gate's verdict, not with that of the pipe.
            self.swallow()
            return memoryview(data).nbytes

    def swallow(self) -> None:
        """From now on, write to nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)


def protect_output() -> None:
    """Let standard output and standard error outlive their readers.

    A terminal that knows few characters gets escapes for the others instead of an exception.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            descriptor = stream.fileno()
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # It was closed before we began.
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(_Outlet(os.open(os.devnull, os.O_WRONLY)))))
            continue
        interactive = name == "stderr" or os.isatty(descriptor)
        raw = io.BufferedWriter(_Outlet(descriptor))
        text = io.TextIOWrapper(raw, stream.encoding, "backslashreplace", line_buffering=interactive)
        setattr(sys, name, text)


def finish_output() -> str | None:
    """Write what standard output still holds; what cannot be written is forgotten.

    :returns: why it could not be.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        outlet = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
        if isinstance(outlet, _Outlet):
            outlet.swallow()
        return getattr(error, "strerror", None) or str(error)
    return None
