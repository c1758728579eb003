"""What a verb that runs a study gives it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight.study.runner import Laboratory


@contextmanager
def laboratory_in(
    folder: Path, images: Iterable[str], jobs: int | None, *, quick: bool = False, full: bool = False, fresh: bool
) -> Iterator[Laboratory]:
    """Make the images that are not there already, then a laboratory whose boots a person can watch.

    :param images: by their names.
    """
    from firstlight.lab.host.progress import progress_for
    from firstlight.render.terminal.experiment_progress import ExperimentProgress
    from firstlight.study.runner import Laboratory, make_images

    with progress_for(verbose=True) as progress:
        made = make_images(images, progress, jobs)
    with ExperimentProgress() as told:
        yield Laboratory(folder, told, made, quick, full, fresh, jobs)
