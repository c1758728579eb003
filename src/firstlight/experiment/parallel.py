"""Several things at once, until all are done or the user interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")


def side_by_side(work: Callable[[Item], None], items: Iterable[Item], at_once: int, stop: threading.Event) -> None:
    """Call *work* for every item, in threads.

    :param at_once: so many threads.
    :param stop: set when one of the calls raises or the user interrupts, so that those that still run can end; the rest
        is not begun.
    :raises BaseException: what a call raised, once all have ended.

    >>> done = []
    >>> side_by_side(done.append, [1, 2, 3], 2, threading.Event())
    >>> sorted(done)
    [1, 2, 3]
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="boot") as pool:
        running: set[Future[None]] = {pool.submit(copy_context().run, work, item) for item in items}
        try:
            while running:
                # In short steps, so that an interrupt is heard.
                finished, running = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
