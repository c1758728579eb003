"""Runs a tuning: the baseline, the remedies that apply to it, the search, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from firstlight.advise.entry import Layer
from firstlight.advise.health.health import check_health
from firstlight.advise.tuning.boots import Bench
from firstlight.advise.tuning.from_catalogue import found_remedies
from firstlight.advise.tuning.goal import Goal, goal_time
from firstlight.advise.tuning.kconfig.kernels import FoundKernel, KernelWish, find_kernel
from firstlight.advise.tuning.remedy import Remedy, RemedyFile, check_excluded
from firstlight.advise.tuning.search import Choice, Found, Measured, SearchStep, Trial, search
from firstlight.advise.tuning.shares import remedy_shares
from firstlight.advise.tuning.tuning import PhaseChange, TriedChoice, Tuning, checks_of, read_tuning, write_tuning
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.errors import FirstlightError, UsageError
from firstlight.experiment import boot_cache
from firstlight.experiment.kernel_build import state_of_tree
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.kernel.tree import KernelTree
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.quantities import counted
from firstlight.recipe.command import repeat_command
from firstlight.recipe.isa import DEFAULT
from firstlight.recipe.options import RecordOptions

_LEAST_NS = 1_000_000
"""A remedy applies if the baseline spent so much in one of its functions."""


@dataclass(frozen=True)
class Request:
    """What a user asks of a tuning."""

    goal: Goal
    allow: tuple[Layer, ...]
    budget: int
    jobs: int = 2
    without: tuple[str, ...] = ()
    """Remedies that are not tried, by their names, or words of the command line that no remedy may add."""
    explained: bool = False
    """Also try the remedies of the causes that `explain` names in the baseline."""
    kernel: KernelWish = field(default_factory=KernelWish)
    """What the kernel is searched for, where the layer `kconfig` is allowed and no command builds kernels."""


def tune(
    options: RecordOptions, request: Request, file: RemedyFile, folder: Path, directory: Path, progress: Progress
) -> Tuning:
    """Tune a recipe, and store the result in a directory.

    :param folder: where relative paths of the remedies begin.
    :raises UsageError: when nothing can be tried.
    :raises UnhealthyBootError: when the recipe itself does not come up.
    :raises FirstlightError: when the goal's mark never comes.
    """
    if request.budget < 2:
        raise UsageError(
            f"a budget of {counted(request.budget, 'boot')} tries no remedy", where="--budget",
            hint="give at least 2: the baseline and a remedy",
        )  # fmt: skip
    if options.live:
        raise UsageError("a tuning needs exact boots", hint="leave out `live`; boards and live boots vary")
    if not request.explained:
        check_excluded(request.without, file.remedy)
    progress.step("booting the baseline")
    options = replace(options, profile=True)
    inputs = resolve(options, progress)
    key = inputs.key
    baseline, _ = boot_cache.obtain(options, inputs, progress)
    boot = open(baseline)
    before = goal_time(boot, request.goal)
    if isinstance(before, str):
        raise FirstlightError(
            f"the goal `{request.goal}` cannot be measured: {before}", where=str(baseline),
            hint="a kernel without symbols has fewer marks; try `--goal ready`",
        )  # fmt: skip
    bench = Bench(options, baseline, request.goal, {}, folder, file.build, request.jobs, progress)
    kernel = _kernel(bench, boot, inputs, file, request)
    tuned = None if kernel is None else kernel.remedy
    start = boot if tuned is None else open(_with_kernel(bench, kernel).boot_of(frozenset()))
    remedies = file.remedy
    if request.explained:
        remedies = [*remedies, *found_remedies(start, remedies)]
        check_excluded(request.without, remedies)
    which = "the baseline" if tuned is None else "the boot with the new kernel"
    able, unable = _applicable(start, which, remedies, request, without_kconfig=kernel is not None)
    bench.remedies = {each.id: each for each in able}
    every = able if tuned is None else [tuned, *able]
    known = _known(directory, key, request.goal, every)
    found = _search(bench, kernel, known, request, goal_ns=before)
    kept = tuple(each.id for each in every if each.id in found.kept)
    last = bench if tuned is None else _with_kernel(bench, kernel)
    chosen = frozenset(kept) - ({tuned.id} if tuned is not None else set())
    result = open(last.boot_of(chosen))
    tuning = Tuning(
        recipe=key,
        command=repeat_command(options.choices, Path("a.boot")),
        goal=request.goal,
        allow=request.allow,
        budget=request.budget,
        complete=found.complete,
        remedies=tuple(every),
        not_applicable=unable,
        trials=tuple(
            TriedChoice(
                remedies=tuple(sorted(trial.choice)),
                step=trial.step,
                time_ns=trial.measured.time_ns,
                why=trial.measured.why,
            )
            for trial in found.trials
        ),
        kept=kept,
        rejected=found.rejected,
        shares=remedy_shares(kept, found.time),
        phases=tuple(_phases(boot, result)),
        health=checks_of(check_health(result, boot, last.expected(chosen))),
        kernel=None if kernel is None else kernel.search,
    )
    write_tuning(tuning, directory)
    return tuning


def _kernel(bench: Bench, boot: Boot, inputs: Inputs, file: RemedyFile, request: Request) -> FoundKernel | None:
    """The kernel that the search finds; nothing where it is not asked for, or a command builds kernels.

    :raises UsageError: when there is nothing to search from.
    """
    if Layer.KCONFIG not in request.allow or file.build is not None:
        return None
    if inputs.kernel.config is None:
        raise UsageError(
            "the kernel's configuration is not known, so there is nothing to leave out",
            where=str(inputs.kernel.path), hint="put it next to the kernel: `config-RELEASE`",
        )  # fmt: skip
    if inputs.kernel.architecture is not DEFAULT:
        raise UsageError(f"kernels are built for {DEFAULT.name} only", hint="leave `kconfig` out of `--allow`")

    def boots(kernel: Path, expects: Sequence[str]) -> tuple[Measured, Boot | None]:
        other = replace(bench, kernel=kernel, stated=tuple(expects), progress=SilentProgress(), known={})
        (measured,) = other.measure([frozenset()])
        return measured, open(other.boot_of(frozenset())) if measured.counts else None

    source = request.kernel.source
    builder = KernelTree(source, None if source is None else state_of_tree(source), bench.progress)
    found = found_remedies(boot, file.remedy) if request.explained else []
    fragments = [each for each in (*file.remedy, *found) if each.layer is Layer.KCONFIG]
    return find_kernel(
        boot,
        inputs.kernel.config,
        inputs.kernel.architecture,
        builder,
        boots,
        request.kernel,
        fragments,
        bench.progress,
    )


def _with_kernel(bench: Bench, kernel: FoundKernel | None) -> Bench:
    return bench if kernel is None else replace(bench, kernel=kernel.kernel, stated=kernel.expects, known={})


def _search(
    bench: Bench, kernel: FoundKernel | None, known: Mapping[Choice, Measured], request: Request, goal_ns: int
) -> Found:
    """Search among the remedies; with the kernel that was found, where there is one."""
    names = list(bench.remedies)
    waits = {name: each.waits for name, each in bench.remedies.items() if each.waits}
    if kernel is None or kernel.remedy is None:
        bench.known = dict(known)
        return search(names, bench.measure, request.budget, waits)
    own = kernel.remedy.id
    tuned = _with_kernel(bench, kernel)
    tuned.known = {choice - {own}: measured for choice, measured in known.items() if own in choice}
    # The baseline is one boot of the budget.
    found = search(names, tuned.measure, max(1, request.budget - 1), waits)
    trials = [Trial(frozenset(), SearchStep.BASELINE, Measured(goal_ns))]
    trials += [Trial(each.choice | {own}, each.step, each.measured) for each in found.trials]
    # What the kept ones give without the kernel tells what the kernel is worth behind them.
    alone = [choice for choice in _without(found.kept) if choice]
    bench.known = {choice: measured for choice, measured in known.items() if own not in choice}
    for choice in alone[: max(0, request.budget - len(trials))]:
        trials.append(Trial(choice, SearchStep.ALONE, bench.measure([choice])[0]))
    return Found(found.kept | {own}, trials, found.rejected, found.complete and kernel.search.complete)


def _without(kept: Choice) -> list[Choice]:
    """All kept remedies together, then each alone."""
    return list(dict.fromkeys([kept, *(frozenset([name]) for name in sorted(kept))]))


def _applicable(
    boot: Boot, which: str, remedies: Sequence[Remedy], request: Request, *, without_kconfig: bool
) -> tuple[list[Remedy], dict[str, str]]:
    """The remedies that a boot has a reason for, the largest reason first; and why the others do not apply.

    :param which: what the boot is called.
    """
    facts = boot.fact_values()
    words = set(facts.get("kernel.command_line", "").split())
    profile = not boot.table("calls").is_empty()
    spent = dict(boot.functions().select("function", "total_ns").iter_rows()) if profile else {}
    able: list[tuple[int, Remedy]] = []
    unable: dict[str, str] = {}
    for remedy in remedies:
        cost = max((int(spent.get(name, 0)) for name in remedy.functions), default=0)
        if remedy.layer not in request.allow:
            unable[remedy.id] = f"the layer `{remedy.layer}` is not allowed"
        elif without_kconfig and remedy.layer is Layer.KCONFIG:
            unable[remedy.id] = "a part of the search for the kernel"
        elif banned := _banned(remedy, request.without):
            unable[remedy.id] = "excluded" if banned == remedy.id else f"`{banned}` is excluded"
        elif remedy.systemd and "systemd.failed" not in facts:
            unable[remedy.id] = "the system has no systemd"
        elif unfit := remedy.unfit(facts):
            unable[remedy.id] = unfit
        elif remedy.functions and profile and cost < _LEAST_NS:
            unable[remedy.id] = f"{which} spends less than 1 ms on it"
        elif remedy.change.append and set(remedy.change.append.split()) <= words:
            unable[remedy.id] = "the command line already has it"
        else:
            able.append((cost, remedy))
    # Equal costs keep the order of the file.
    return [remedy for _, remedy in sorted(able, key=lambda each: -each[0])], unable


def _banned(remedy: Remedy, without: Collection[str]) -> str | None:
    return next((name for name in without if name in remedy.names), None)


def _known(directory: Path, recipe: str, goal: Goal, remedies: Sequence[Remedy]) -> dict[frozenset[str], Measured]:
    """What an earlier run measured of the same recipe with the same remedies."""
    try:
        former = read_tuning(directory)
    except FirstlightError:
        return {}
    if (former.recipe, former.goal) != (recipe, goal):
        return {}
    same = {each.id for each in remedies} & {each.id for each in former.remedies if each in remedies}
    return {
        frozenset(trial.remedies): Measured(trial.time_ns, trial.why)
        for trial in former.trials
        if set(trial.remedies) <= same
    }


def _phases(before: Boot, after: Boot) -> list[PhaseChange]:
    """Every phase of either boot, in the order of the baseline."""
    first, second = (dict(boot.phases().select("phase", "duration_ns").iter_rows()) for boot in (before, after))
    return [
        PhaseChange(phase=name, before_ns=int(first.get(name, 0)), after_ns=int(second.get(name, 0)))
        for name in dict.fromkeys([*first, *second])
    ]
