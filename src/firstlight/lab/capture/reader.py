"""A thread that reads a console and stamps each read at once, with real-time priority where that is allowed."""

from __future__ import annotations

import os
import queue
import select
import threading
from collections.abc import Callable

from firstlight.lab.capture.file import now_ns

#: A priority above the interrupt threads would delay the port itself.
_PRIORITY = 49
_LOOK_S = 0.2
_STOP_S = 2.0
_MOST_BYTES = 1 << 16

Chunk = tuple[int, bytes]
"""The instant of a read and its bytes; no bytes at the end of the console."""


class StampingReader:
    """Reads a descriptor until it ends or the reader is stopped.

    It does nothing but read and stamp: files are written by the thread that takes the chunks.
    """

    def __init__(self, descriptor: int, decode: Callable[[bytes], bytes] | None = None) -> None:
        """A reader of a descriptor.

        :param decode: takes what is not of the console out of what was read.
        """
        self._decode = decode
        self.chunks: queue.SimpleQueue[Chunk] = queue.SimpleQueue()
        self.priority: int | None = None
        """Its real-time priority; none where the system does not allow one."""
        self._descriptor = descriptor
        self._poll: select.poll | None = None
        self._stop = threading.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        """Start reading, unless it has started; the priority is known afterwards."""
        if not self._started.is_set():
            self._thread.start()
            self._started.wait()

    def stop(self) -> None:
        """Stop reading; earlier reads stay in `chunks`."""
        self._stop.set()
        if self._started.is_set():
            # Standard input may be shared with a program that took what was to be read.
            self._thread.join(_STOP_S)

    def next_chunk(self, seconds: float) -> Chunk | None:
        """The next chunk; none when nothing arrives within the timeout."""
        try:
            return self.chunks.get(block=seconds > 0, timeout=seconds)
        except queue.Empty:
            return None

    def _run(self) -> None:
        try:
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self.priority = _PRIORITY
        except OSError:
            self.priority = None
        self._started.set()
        while not self._stop.is_set():
            content = self._read()
            if content is None:
                continue
            time_ns = now_ns()
            decoded = self._decode(content) if self._decode is not None and content else content
            if decoded or not content:
                self.chunks.put((time_ns, decoded))
            if not content:
                return

    def _read(self) -> bytes | None:
        """The bytes read: `None` if there are none yet, no bytes at the end of the console."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLIN)
        if not self._poll.poll(_LOOK_S * 1000):
            return None
        try:
            return os.read(self._descriptor, _MOST_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            # The other side of a pseudo-terminal was closed, or an adapter was unplugged.
            return b""
