"""What arguments of the public functions have in common; it loads nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight.lab.host.progress import Progress

PathLike = str | os.PathLike[str]


def progress_of(wanted: bool, *, verbose: bool = False) -> Progress:
    """What shows the progress of one boot on a terminal, or only notes and warnings.

    :param verbose: where standard error is not a terminal, print a line for each step.
    """
    from firstlight.lab.host.progress import SilentProgress, progress_for

    return progress_for(verbose=verbose) if wanted else SilentProgress()


def as_path(given: PathLike | None) -> Path | None:
    return None if given is None else Path(given)
