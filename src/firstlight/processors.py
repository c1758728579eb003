"""The processors that this process may use."""

from __future__ import annotations

import os
import sys


def usable_processors() -> int:
    """How many processors this process may use; where the system does not limit a process to some, all of them.

    Source: sched_getaffinity(2), which only Linux has.

    >>> usable_processors() >= 1
    True
    """
    usable = os.cpu_count() or 1
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    return usable
