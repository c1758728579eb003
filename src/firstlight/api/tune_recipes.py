"""Tuning a recipe, and the result as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from firstlight.api.arguments import PathLike, progress_of

if TYPE_CHECKING:
    from firstlight.advise.tuning.on_board import BoardTuning
    from firstlight.advise.tuning.tuning import Tuning
    from firstlight.recipe.options import RecordOptions

Kind = TypeVar("Kind", bound=StrEnum)

__all__ = ["files_to_apply", "read_tuning", "tune", "tune_board"]

_NAMED = ("minimal", "debian")


def tune(
    recipe: PathLike,
    *,
    goal: str = "ready",
    allow: Sequence[str] = ("cmdline", "initramfs"),
    budget: int = 40,
    output: PathLike = "tuning",
    remedies: Sequence[PathLike] = (),
    without: Sequence[str] = (),
    explained: bool = False,
    keep: Sequence[str] = (),
    smallest: bool = False,
    builds: int = 12,
    kernel_source: PathLike | None = None,
    jobs: int | None = None,
    trust: bool = False,
    progress: bool = False,
) -> Tuning:
    """Find the remedies that make a boot faster together and keep the system healthy.

    :param recipe: a recorded boot, `minimal`, `debian`, or a TOML file with the arguments of :func:`record`.
    :param goal: `kernel`, `userspace` or `ready`.
    :param allow: what remedies may change: `cmdline`, `kconfig`, `initramfs`, `rootfs`, `machine`.
    :param budget: the number of boots, the baseline's included.
    :param output: the directory of the result.
    :param remedies: TOML files with further remedies.
    :param without: remedies, or parameters of the kernel's command line, that are not tried.
    :param explained: also try the remedies of the causes that :meth:`Boot.explain` names in the baseline.
    :param keep: with `kconfig` allowed: features of the kernel that stay, besides the default ones.
    :param smallest: with `kconfig` allowed: keep only these and what a recording needs.
    :param builds: the number of kernels that are built at most.
    :param kernel_source: the source of the kernel; without it that of the distribution's kernel is downloaded.
    :param jobs: maximum number of parallel boots; by default one per processor.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :raises UsageError: when the recipe, the goal or the budget cannot be.
    :raises UnhealthyBootError: when the recipe itself does not come up.
    :raises FirstlightError: when the goal's mark never comes.

    Example: ``firstlight.tune("minimal", goal="kernel", budget=40, output="cloud").kept``.
    """
    import os

    from firstlight.advise.entry import Layer
    from firstlight.advise.tuning.goal import Goal
    from firstlight.advise.tuning.kconfig.feature import kept_features
    from firstlight.advise.tuning.kconfig.kernels import KernelWish
    from firstlight.advise.tuning.remedy import read_remedies
    from firstlight.advise.tuning.run import Request
    from firstlight.advise.tuning.run import tune as run
    from firstlight.errors import UsageError

    file = read_remedies([Path(path) for path in remedies])
    folder = Path(remedies[-1]).parent if remedies else Path()
    request = Request(
        _member(Goal, goal, "--goal"),
        tuple(dict.fromkeys(_member(Layer, name, "--allow") for name in allow)),
        budget,
        jobs or os.cpu_count() or 1,
        tuple(without),
        explained,
        KernelWish(tuple(keep), smallest, builds, None if kernel_source is None else Path(kernel_source)),
    )
    if builds < 1:
        raise UsageError("a budget of 0 builds finds no kernel", where="--builds", hint="give at least 1")
    if (keep or smallest or kernel_source is not None) and Layer.KCONFIG not in request.allow:
        raise UsageError(
            "features and a kernel source need a search of the kernel's configuration",
            where="--allow", hint="add `kconfig` to it",
        )  # fmt: skip
    kept_features(keep, smallest)
    options = _options(recipe, trust=trust)
    with progress_of(progress) as shown:
        return run(options, request, file, folder, Path(output), shown)


def tune_board(
    board: PathLike,
    *,
    output: PathLike = "tuning",
    blocks: int = 4,
    pairs: int = 12,
    remedies: Sequence[PathLike] = (),
    without: Sequence[str] = (),
    progress: bool = False,
) -> BoardTuning:
    """Find the remedies of the command line that make a board ready sooner.

    A Plackett-Burman design with its mirror image screens all remedies together; those with a significant improvement
    are kept, and pairs of boots with and without them say what they give together. Both experiments continue where
    they stopped. The only health check is that the board becomes ready.

    :param board: a board file, or a labgrid environment; a hook has to add words to the command line.
    :param output: the directory of both experiments.
    :param blocks: boots of each combination of the design; at least 3.
    :param pairs: pairs of boots that confirm what is kept.
    :param remedies: TOML files with further remedies.
    :param without: remedies, or parameters of the kernel's command line, that are not tried.
    :param progress: show the progress on a terminal.
    :raises UsageError: when the board has no hook, or fewer than two remedies are left.
    :raises LabError: when the board did not boot six times in a row.
    :raises UnhealthyBootError: when no block of the design is complete.

    Example: ``firstlight.tune_board("lab.toml", without=["no-apic-timer"]).append``.
    """
    from firstlight.advise.tuning.on_board import tune_on_board
    from firstlight.advise.tuning.remedy import read_remedies
    from firstlight.api.experiments import run_progress

    file = read_remedies([Path(path) for path in remedies])
    return tune_on_board(
        Path(board), file.remedy, Path(output), run_progress(progress), blocks=blocks, pairs=pairs, without=without
    )


def read_tuning(directory: PathLike) -> Tuning:
    """Read the result of a tuning.

    :raises FirstlightError: when there is none, or it is damaged.

    Example: ``firstlight.read_tuning("cloud").after_ns``.
    """
    from firstlight.advise.tuning.tuning import read_tuning as read

    return read(Path(directory))


def files_to_apply(tuning: Tuning) -> dict[str, str]:
    """The kept remedies as files by their names: command line, kernel configuration, files of the system.

    Example: ``firstlight.files_to_apply(firstlight.read_tuning("cloud"))["command-line"]``.
    """
    from firstlight.advise.tuning.files import files_to_apply as files

    return files(tuning)


def _member(kind: type[Kind], name: str, where: str) -> Kind:
    from firstlight.errors import UsageError

    try:
        return kind(name)
    except ValueError as error:
        known = ", ".join(f"`{each.value}`" for each in kind)
        raise UsageError(f"there is no `{name}`", where=where, hint=f"one of {known}") from error


def _options(recipe: PathLike, *, trust: bool) -> RecordOptions:
    from pydantic import ValidationError

    from firstlight.bundle.open import read_manifest
    from firstlight.errors import UsageError
    from firstlight.experiment.plan_parser import parse_toml, read_text
    from firstlight.lab.run.options_from_manifest import options_from_manifest
    from firstlight.recipe.choices import Choices, read_choices
    from firstlight.recipe.options import RecordOptions, options_for
    from firstlight.suggest import one_of

    output = Path("tuned.boot")
    # The directory of a former result may have the same name.
    if str(recipe) in _NAMED and not (Path(recipe) / "manifest.json").exists():
        return RecordOptions(output=output, rootfs="debian" if str(recipe) == "debian" else None)
    path = Path(recipe)
    if path.is_dir():
        return options_from_manifest(read_manifest(path), output, str(path), trust=trust)
    if path.suffix != ".toml":
        hint = "give a recorded boot, `minimal`, `debian`, or a TOML file with the options of `record`"
        raise UsageError(f"`{recipe}` is not a recipe", hint=hint)
    data = {name.replace("-", "_"): value for name, value in parse_toml(read_text(path), str(path)).items()}
    known = [each.name.replace("_", "-") for each in fields(Choices)]
    for name in (name.replace("_", "-") for name in data):
        if name not in known:
            hint = f"the keys are options of `record`\n{one_of(name, known)}"
            raise UsageError(f"unknown key `{name}`", where=str(path), hint=hint)
    try:
        return options_for(read_choices(data), output)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UsageError(f"`{name}`: {first['msg']}", where=str(path), hint="use the options of `record`") from error
