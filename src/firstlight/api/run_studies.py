"""The studies: questions about start-up time that come with their boots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, as_path
from firstlight.api.experiments import lab_in
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from firstlight.study.catalogue import Study
    from firstlight.study.extent import Extent
    from firstlight.study.outcome import Outcome
    from firstlight.study.recheck import Recheck


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
    arch: str | None = None,
    quick: bool = False,
    full: bool = False,
    kernel: PathLike | None = None,
    sizes: Sequence[str | int] = (),
    memory: str | None = None,
    force: bool = False,
    fresh: bool = False,
    jobs: int | None = None,
) -> Outcome:
    """Boot the arms of a study, and write its bundles, tables and page.

    :param name: as :func:`studies` lists it.
    :param output: the directory to write; by default `study-NAME`, with the architecture where one is given.
    :param arch: the guests' architecture, such as `arm64`; by default `amd64`.
    :param quick: boot fewer arms and smaller sizes; takes minutes.
    :param full: boot the largest sizes, too.
    :param kernel: boot this kernel instead of the lab's and the distribution's.
    :param sizes: boot these sizes in place of the study's own.
    :param memory: of the guests that have no other for a reason, such as `1G`.
    :param force: replace an existing study.
    :param fresh: boot everything again instead of using the cache.
    :param jobs: maximum number of parallel boots; by default one per processor.
    :returns: its `tables`, `findings` and the arms that are `missing`.
    :raises UsageError: for an unknown name, an architecture that the study does not cover, or options that exclude each
        other.
    :raises FirstlightError: when not even one arm can be booted, a claim has no figure, the directory exists, or the
        kernel is for another architecture.

    Example: ``firstlight.run_study("tree-walk", quick=True).findings``.
    """
    from firstlight.study.catalogue import find_study
    from firstlight.study.extent import Extent

    if quick and full:
        raise UsageError("`--quick` and `--full` cannot be combined", hint="give one of them")
    extent = Extent(quick, full, as_path(kernel), tuple(map(str, sizes)), memory, _arch(arch))
    chosen = find_study(name)
    chosen.check(extent)
    return _run(chosen, _folder("study", name, output, extent), extent, jobs, force=force, fresh=fresh)


def recheck_study(
    name: str,
    kernel: PathLike,
    output: PathLike | None = None,
    *,
    arch: str | None = None,
    against: PathLike | None = None,
    full: bool = False,
    force: bool = False,
    fresh: bool = False,
    jobs: int | None = None,
) -> Recheck:
    """Evaluate the claims of a study again on another kernel.

    :param name: as :func:`studies` lists it.
    :param kernel: the kernel to evaluate the claims on.
    :param output: the directory for both studies, `before` and `after`; by default `recheck-NAME`.
    :param arch: the guests' architecture, such as `arm64`; by default `amd64`.
    :param against: the directory of a finished study to compare with; by default the study runs with its own kernels.
    :param full: boot all arms instead of those of the quick form.
    :param force: replace existing studies.
    :param fresh: boot everything again instead of using the cache.
    :param jobs: maximum number of parallel boots; by default one per processor.
    :returns: its `rows` have each claim with the verdict before and after; `flipped` has those that differ.
    :raises UsageError: for an unknown name, or an architecture that the study does not cover.
    :raises FirstlightError: when *against* is not this study, or one of another architecture, of another plan, other
        claims or other options, when the kernel is for another architecture, or not even one arm can be booted.

    Example: ``firstlight.recheck_study("tree-walk", "vmlinuz").flipped``.
    """
    from firstlight.study.catalogue import find_study
    from firstlight.study.extent import Extent
    from firstlight.study.made_of import made_of
    from firstlight.study.recheck import Recheck, compare_findings, read_findings

    chosen = find_study(name)
    quick = not full
    extent = Extent(quick, kernel=Path(kernel), arch=_arch(arch))
    chosen.check(extent)
    folder = _folder("recheck", name, output, extent)
    before = (
        read_findings(Path(against), name, extent.architecture.distribution_name, made_of(chosen.package, extent))
        if against is not None
        else _run(chosen, folder / "before", Extent(quick, arch=extent.arch), jobs, force=force, fresh=fresh).findings
    )
    after = _run(chosen, folder / "after", extent, jobs, force=force, fresh=fresh)
    return Recheck(name, compare_findings(before, after.findings), after.missing)


def new_study(name: str, directory: PathLike | None = None) -> list[Path]:
    """Write the skeleton of a study: a package with a plan, claims and a table of others.

    :param name: lower case, with dashes.
    :param directory: the package's directory; by default the name.
    :returns: the files.
    :raises UsageError: for a name that no package can have.
    :raises FirstlightError: when the directory has files already.

    >>> import tempfile, firstlight
    >>> [path.name for path in firstlight.new_study("my-study", tempfile.mkdtemp())][:2]
    ['README.md', 'pyproject.toml']
    """
    from firstlight.study.skeleton import write_skeleton

    return write_skeleton(name, Path(directory or name))


def _arch(arch: str | None) -> str | None:
    """The distribution's name of an architecture; none for the usual one, however it is called."""
    from firstlight.recipe.isa import DEFAULT, chosen_architecture

    chosen = chosen_architecture(arch)
    return None if chosen is DEFAULT else chosen.distribution_name


def _folder(what: str, name: str, output: PathLike | None, extent: Extent) -> Path:
    return Path(output or "-".join(filter(None, (what, name, extent.arch))))


def _run(study: Study, folder: Path, extent: Extent, jobs: int | None, *, force: bool, fresh: bool) -> Outcome:
    from firstlight.render.study_folder import study_folder

    with (
        study_folder(folder, force=force) as written,
        lab_in(written.path, study.images_of(extent), extent, jobs, fresh=fresh) as lab,
    ):
        outcome = study.run(lab)
        written.write(outcome)
    return outcome
