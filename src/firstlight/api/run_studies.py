"""The studies: questions about start-up time that come with their boots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.experiments import lab_in
from firstlight.api.record_boots import PathLike
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from firstlight.study.catalogue import Study
    from firstlight.study.outcome import Outcome


def studies() -> list[Study]:
    """List the studies that the installed packages offer; each has a `name`, a `title` and a `question`.

    >>> import firstlight
    >>> "tree-walk" in [study.name for study in firstlight.studies()]
    True
    """
    from firstlight.study.catalogue import studies

    return studies()


def run_study(
    name: str,
    output: PathLike | None = None,
    *,
    quick: bool = False,
    full: bool = False,
    force: bool = False,
    fresh: bool = False,
    jobs: int | None = None,
) -> Outcome:
    """Boot the arms of a study, and write its bundles, tables and page.

    :param name: as :func:`studies` lists it.
    :param output: the directory to write; by default `study-NAME`.
    :param quick: boot fewer arms and smaller sizes; takes minutes.
    :param full: boot the largest sizes, too.
    :param force: replace an existing study.
    :param fresh: boot everything again instead of using the cache.
    :param jobs: maximum number of parallel boots; by default one per processor.
    :returns: its `tables`, `findings` and the arms that are `missing`.
    :raises UsageError: for an unknown name, or options that exclude each other.
    :raises FirstlightError: when not even one arm can be booted, or the directory exists.

    Example: ``firstlight.run_study("tree-walk", quick=True).findings``.
    """
    from firstlight.render.study_folder import study_folder
    from firstlight.study.catalogue import find_study

    if quick and full:
        raise UsageError("`--quick` and `--full` exclude each other", hint="ask for one of them")
    chosen = find_study(name)
    with (
        study_folder(Path(output or f"study-{name}"), force=force) as written,
        lab_in(written.path, chosen.images, jobs, quick=quick, full=full, fresh=fresh) as lab,
    ):
        outcome = chosen.run(lab)
        written.write(outcome)
    return outcome
