"""Booting variants: experiments, scaling, and one change of a recorded boot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.api.write import directory_of
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from firstlight.analysis.replay.predict import Prediction
    from firstlight.api.boot import Boot
    from firstlight.comparison.exact.difference import ExactDifference
    from firstlight.comparison.known_bands import KnownBand
    from firstlight.experiment.limit import Tolerance
    from firstlight.experiment.prove import Proof
    from firstlight.experiment.results import Results
    from firstlight.experiment.runner import RunProgress
    from firstlight.experiment.scaling.result import Answer
    from firstlight.experiment.schedule import Prepared
    from firstlight.recipe.options import RecordOptions
    from firstlight.study.extent import Extent
    from firstlight.study.runner import Lab

_TABLES = (".csv", ".tsv")


def plan_experiment(plan: PathLike, output: PathLike | None = None, *, progress: bool = False) -> Prepared:
    """Read the plan of an experiment and find what it would boot; nothing is booted or written.

    :param plan: a TOML file.
    :param output: the directory of the experiment; by default next to the plan, with its name.
    :param progress: show the progress on a terminal.
    :returns: its `boots()` are the planned boots; `notes` says what is unusual.
    :raises FirstlightError: when the plan is malformed, an input is missing, or the directory is something else.

    Source: docs/reference/formats/experiment.md.

    Example: ``len(firstlight.plan_experiment("pty.toml").boots())``.
    """
    from firstlight.experiment.schedule import prepare

    return _prepared(prepare, plan, output, progress, dry_run=True)


def run_experiment(
    plan: PathLike, output: PathLike | None = None, *, jobs: int | None = None, progress: bool = False
) -> Results:
    """Boot every cell of a plan that is not booted yet, and read the results.

    :param plan: a TOML file.
    :param output: the directory of the experiment; by default next to the plan, with its name.
    :param jobs: maximum number of parallel boots; by default one per processor.
    :param progress: show the progress on a terminal.
    :raises FirstlightError: when the plan is malformed, an input is missing, or nothing can be written.

    Source: docs/design/statistics.md.

    Example: ``[cell.time for cell in firstlight.run_experiment("pty.toml").cells]``.
    """
    from firstlight.experiment.board_runner import run_on_board
    from firstlight.experiment.results import read_results
    from firstlight.experiment.runner import run
    from firstlight.experiment.schedule import prepare

    prepared, shown = _prepared(prepare, plan, output, progress), run_progress(progress)
    for note in prepared.notes:
        shown.note(note)
    if prepared.board is None:
        run(prepared, shown, jobs)
    else:
        run_on_board(prepared, shown)
    return read_results(prepared.store.path)


def read_experiment(directory: PathLike) -> Results:
    """Read the results of an experiment, finished or not.

    :param directory: the directory of the experiment.
    :returns: its `cells` have their boots and means; times are nanoseconds.
    :raises FirstlightError: when it is not an experiment's directory or its state is damaged.

    Example: ``firstlight.read_experiment("pty").canary``.
    """
    from firstlight.experiment.results import read_results

    return read_results(Path(directory))


def scale(
    plan: PathLike,
    *,
    at: Sequence[float] = (),
    output: PathLike | None = None,
    jobs: int | None = None,
    bisect: bool = True,
    size: str | None = None,
    cost: str | None = None,
    by: str | None = None,
    exact: bool = False,
    terms: Sequence[str] = (),
    progress: bool = False,
) -> Answer:
    """Fit how a cost grows with a size, from the boots of a plan or from a table of measurements.

    :param plan: a plan in TOML, or a table: `.csv` or `.tsv`.
    :param at: sizes to predict the cost at.
    :param output: of a plan: the directory of its boots; by default next to the plan.
    :param jobs: of a plan: maximum number of parallel boots; by default one per processor.
    :param bisect: of an exact plan: find crossovers by booting more sizes.
    :param size: of a table: the column with the sizes; by default the first.
    :param cost: of a table: the column with the costs; by default the next.
    :param by: of a table: the column with the configurations.
    :param exact: of a table: the costs have no noise.
    :param terms: of a table: columns of counts, joined by `*`, that the cost may grow with.
    :param progress: show the progress of boots on a terminal.
    :returns: the models of all `configurations` with predictions, and where they cross; `data()` is all of it as JSON.
    :raises UsageError: for too few sizes, or figures that cannot be.
    :raises FirstlightError: when the plan, the table or an input cannot be read.

    Source: docs/design/statistics.md.

    >>> import firstlight
    >>> table = bundle.parent / "boards.csv"
    >>> _ = table.write_text("n,ms\\n" + "".join(f"{n},{3 * n}\\n" for n in (1, 2, 4, 8, 16, 32)))
    >>> firstlight.scale(table, exact=True).configurations[0].study.law
    'n'
    """
    from firstlight.experiment.scaling.answer import scale_by_plan, scale_by_table

    path = Path(plan)
    if path.suffix.lower() in _TABLES:
        return scale_by_table(path, at, size=size, cost=cost, by=by, exact=exact, terms=terms)
    if terms:
        raise UsageError("terms are columns of a table", where="--term", hint="give a `.csv` or `.tsv`")
    return scale_by_plan(
        path, at, as_path(output), jobs, bisect=bisect, progress=progress_of(progress), boots=run_progress(progress)
    )


@dataclass(frozen=True)
class Trial:
    """A change of a recorded boot, and its effect."""

    difference: ExactDifference
    """From the baseline to the changed boot."""
    baseline_booted: bool
    """The baseline was booted again: its inputs are no longer the recorded ones."""
    changed_booted: bool
    """The changed recipe was booted; otherwise its boot came from the cache."""
    tolerance: Tolerance | None
    band: KnownBand
    """The noise band of the baseline."""

    @property
    def allowed(self) -> bool:
        """Whether the change is within the limit, if there is one, or within the noise band."""
        before, change_ns = self.difference.whole.a, self.difference.whole.change_ns
        if self.tolerance is None or self.band.covers(change_ns):
            return True
        return self.tolerance.allows(change_ns, 0 if before is None else before.ns)


def try_(
    against: PathLike | Boot,
    *,
    append: str = "",
    guest_commands: Sequence[str] = (),
    qemu_options: Sequence[str] = (),
    limit: str | None = None,
    output: PathLike | None = None,
    force: bool = False,
    trust: bool = False,
    progress: bool = False,
    **changes: Any,
) -> Trial:
    """Boot the recipe of a recorded boot with a change, and compare the two boots.

    :param against: the boot to change, or its path; it is the baseline.
    :param append: parameters to add to the kernel's command line.
    :param guest_commands: commands to add to those that the guest runs before it is ready.
    :param qemu_options: arguments to add to QEMU's command line.
    :param limit: how much slower the boot may be: `0.5%`, `2ms` or `0`.
    :param output: the bundle of the changed boot; by default it is in the cache alone.
    :param force: replace an existing bundle.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :param changes: other arguments of :func:`record`: `kernel`, `initrd`, `rootfs`, `overlay`, `memory`, `cpu`, ….
    :raises UsageError: when nothing is changed, or the change or the limit cannot be.
    :raises FirstlightError: when the baseline is not exact or failed, or the change reaches no input.
    :raises UnhealthyBootError: when the changed boot did not come up.

    Example: ``firstlight.try_("a.boot", append="quiet", limit="0").allowed``.
    """
    from firstlight.bundle.open import open
    from firstlight.experiment.limit import parse_tolerance
    from firstlight.experiment.try_change import attempt

    tolerance = None if limit is None else parse_tolerance(limit)

    def modify(options: RecordOptions) -> RecordOptions:
        wanted = dict(changes)
        if wanted.get("initrd") is not None:
            wanted.setdefault("rootfs", None)
        if wanted.get("rootfs") is not None:
            wanted.setdefault("initrd", None)
        return replace(
            options,
            append=" ".join(filter(None, (options.append.strip(), append.strip()))),
            guest_commands=(*options.guest_commands, *guest_commands),
            qemu_options=(*options.qemu_options, *qemu_options),
            **wanted,
        )

    made = attempt(directory_of(against), modify, progress_of(progress), as_path(output), force=force, trust=trust)
    from firstlight.comparison.exact.difference import exact_difference
    from firstlight.comparison.known_bands import band_for

    baseline = open(made.baseline)
    band = band_for(baseline)
    difference = exact_difference(baseline, open(made.changed), band.tolerance)
    return Trial(difference, made.baseline_booted, made.changed_booted, tolerance, band)


@dataclass(frozen=True)
class Forecast:
    """A predicted boot, and the boot that proves it."""

    prediction: Prediction
    proof: Proof | None
    """The boot without the work, where it was asked for."""


def whatif(
    boot: PathLike | Boot,
    *,
    without: Sequence[str] = (),
    faster: Mapping[str, float] | None = None,
    prove: bool = False,
    output: PathLike | None = None,
    force: bool = False,
    trust: bool = False,
    progress: bool = False,
) -> Forecast:
    """Predict when a boot would be ready without some of its work, or if work took less.

    The prediction replays the runs, sleeps and wake-ups of all threads on one processor.

    :param boot: an exact recording with processes, or its path.
    :param without: names of units, processes, initcalls, system calls or functions of the kernel.
    :param faster: by name, how much less time it takes, from 0 to 1.
    :param prove: boot the recipe without the work: units, initcalls and generators of systemd.
    :param output: the bundle of that boot; by default it is in the cache alone.
    :param force: replace an existing bundle.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :raises UsageError: when nothing is changed, or a share cannot be.
    :raises FirstlightError: when the boot has no wake-ups, nothing would be ready, or the change cannot be booted.

    Source: docs/design/replay.md.

    Example: ``firstlight.whatif("a.boot", without=["cron.service"]).prediction.change_ns``.
    """
    from firstlight.analysis.replay.predict import predict
    from firstlight.api.boot import open
    from firstlight.experiment.prove import prove as prove_by_boot

    opened = open(directory_of(boot))
    found = predict(opened, without, faster)
    if not prove:
        return Forecast(found, None)
    shown = progress_of(progress)
    return Forecast(found, prove_by_boot(opened, found, shown, as_path(output), force=force, trust=trust))


def run_progress(wanted: bool) -> RunProgress:
    """What shows the progress of several boots on a terminal, or nothing."""
    from firstlight.render.terminal.experiment_progress import ExperimentProgress, SilentRunProgress

    return ExperimentProgress() if wanted else SilentRunProgress()


@contextmanager
def lab_in(folder: Path, images: Iterable[str], extent: Extent, jobs: int | None, *, fresh: bool) -> Iterator[Lab]:
    """Build the images of a study that are missing, then give the lab that boots its arms, with progress shown.

    :param folder: where the bundles go.
    :param images: by their names; the kernel's is not built where *extent* has another one.
    """
    from firstlight.study.runner import Lab, make_images

    if extent.kernel is not None:
        images = [name for name in images if name != "kernel"]
    with progress_of(True, verbose=True) as progress:
        made = make_images(images, progress, jobs, extent.arch)
    with run_progress(True) as shown:
        yield Lab(folder, shown, made, extent, fresh, jobs)


def _prepared(
    prepare: Any, plan: PathLike, output: PathLike | None, progress: bool, *, dry_run: bool = False
) -> Prepared:
    shown: AbstractContextManager[Any] = progress_of(progress)
    with shown as entered:
        prepared: Prepared = prepare(Path(plan), as_path(output), entered, dry_run=dry_run)
    return prepared
