"""Runs a tuning: the baseline, the remedies that apply to it, the search, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight.advise.entry import Layer
from firstlight.advise.health.health import check_health
from firstlight.advise.tuning.boots import Bench
from firstlight.advise.tuning.from_catalogue import found_remedies
from firstlight.advise.tuning.goal import Goal, goal_time
from firstlight.advise.tuning.remedy import Remedy, RemedyFile
from firstlight.advise.tuning.search import Measured, search
from firstlight.advise.tuning.shares import remedy_shares
from firstlight.advise.tuning.tuning import PhaseChange, TriedChoice, Tuning, checks_of, read_tuning, write_tuning
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.errors import FirstlightError, UsageError
from firstlight.experiment import boot_cache
from firstlight.lab.host.progress import Progress
from firstlight.lab.run.key import key_of_inputs
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.command import repeat_command
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


def tune(
    options: RecordOptions, request: Request, file: RemedyFile, folder: Path, directory: Path, progress: Progress
) -> Tuning:
    """Tune a recipe, and store the result in a directory.

    :param folder: where relative paths of the remedies begin.
    :raises UsageError: when nothing can be tried.
    :raises UnhealthyBootError: when the recipe itself does not come up.
    :raises FirstlightError: when the goal's mark never comes.
    """
    if request.budget < 1:
        raise UsageError(
            "a budget of 0 boots measures nothing", where="--budget", hint="give at least 2: the baseline and a remedy"
        )
    if options.live:
        raise UsageError("a tuning needs exact boots", hint="leave out `live`; boards and live boots vary")
    progress.step("booting the baseline")
    options = replace(options, profile=True)
    inputs = resolve(options, progress)
    key = key_of_inputs(inputs)
    baseline, _ = boot_cache.obtain(options, inputs, progress)
    boot = open(baseline)
    before = goal_time(boot, request.goal)
    if isinstance(before, str):
        raise FirstlightError(
            f"the goal `{request.goal}` cannot be measured: {before}", where=str(baseline),
            hint="a kernel without symbols has fewer marks; try `--goal ready`",
        )  # fmt: skip
    remedies = [*file.remedy, *(found_remedies(boot, file.remedy) if request.explained else ())]
    able, unable = _applicable(boot, remedies, request)
    bench = Bench(
        options, baseline, request.goal, {each.id: each for each in able}, folder, file.build, request.jobs, progress
    )
    bench.known = _known(directory, key, request.goal, able)
    found = search(
        [each.id for each in able], bench.measure, request.budget, {each.id: each.waits for each in able if each.waits}
    )
    kept = tuple(each.id for each in able if each.id in found.kept)
    result = open(bench.boot_of(frozenset(kept)))
    tuning = Tuning(
        recipe=key,
        command=repeat_command(options.choices, Path("a.boot")),
        goal=request.goal,
        allow=request.allow,
        budget=request.budget,
        complete=found.complete,
        remedies=tuple(able),
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
        health=checks_of(check_health(result, boot, bench.expected(frozenset(kept)))),
    )
    write_tuning(tuning, directory)
    return tuning


def _applicable(boot: Boot, remedies: Sequence[Remedy], request: Request) -> tuple[list[Remedy], dict[str, str]]:
    """The remedies that the baseline has a reason for, the largest reason first; and why the others do not apply."""
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
        elif banned := _banned(remedy, request.without):
            unable[remedy.id] = f"`{banned}` is excluded"
        elif remedy.systemd and "systemd.failed" not in facts:
            unable[remedy.id] = "the system has no systemd"
        elif remedy.functions and profile and cost < _LEAST_NS:
            unable[remedy.id] = "the baseline spends less than 1 ms on it"
        elif remedy.change.append and set(remedy.change.append.split()) <= words:
            unable[remedy.id] = "the command line has it already"
        else:
            able.append((cost, remedy))
    # Equal costs keep the order of the file.
    return [remedy for _, remedy in sorted(able, key=lambda each: -each[0])], unable


def _banned(remedy: Remedy, without: Collection[str]) -> str | None:
    names = {remedy.id, *(word.partition("=")[0] for word in remedy.change.append.split())}
    return next((name for name in without if name in names), None)


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
