"""A tuning: before and after, what each remedy is worth, what was rejected and why, what it risks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from firstlight.advise.health.result import HealthOutcome
from firstlight.advise.tuning.remedy import Remedy
from firstlight.advise.tuning.shares import RemedyShare
from firstlight.advise.tuning.tuning import PhaseChange, TriedChoice, Tuning
from firstlight.escape import printable
from firstlight.quantities import counted, share, share_text, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, Table, Value, table

_BAR = 24
_GOALS = {
    "kernel": "start_kernel to the first user instruction",
    "userspace": "the first user instruction to ready",
    "ready": "power-on to ready",
}


def tuning_report(tuning: Tuning) -> Iterator[Block]:
    """Everything of a tuning, in tables."""
    yield Line(tuning_title(tuning), "bold", wrap=False)
    yield Line(tuning_verdict(tuning), "bold green" if _gain(tuning) else "yellow")
    yield from tuning_tables(tuning)
    if not tuning.complete:
        yield BLANK
        yield Line(
            f"The budget of {counted(tuning.budget, 'boot')} ended before the search did: a larger one may find more.",
            "yellow",
        )


def tuning_title(tuning: Tuning) -> str:
    """What was tuned."""
    allowed = ", ".join(layer.value for layer in tuning.allow)
    return f"Tuning of `{printable(tuning.command, 200)}`, {_GOALS[tuning.goal.value]}; allowed: {allowed}"


def tuning_verdict(tuning: Tuning) -> str:
    """Before and after in one sentence."""
    before, after = tuning.before_ns, tuning.after_ns
    if before is None or after is None:
        return "No boot counts."
    failed = [check.id for check in tuning.health if check.outcome is HealthOutcome.FAIL]
    health = f"unhealthy: {', '.join(failed)}" if failed else "healthy"
    number = len(tuning.kept)
    remedies = "1 remedy" if number == 1 else f"{number} remedies"
    shorter = share_text(before - after, before)
    return (
        f"{time_text(before)} to {time_text(after)}: {shorter} shorter with {remedies}, {health}, "
        f"{len(tuning.trials)} boots of {tuning.budget}."
    )


def tuning_tables(tuning: Tuning) -> list[Table]:
    """The tables of a tuning."""
    made = [_kept(tuning), _phases(tuning), _kernels(tuning), _restored(tuning), _rejected(tuning), _not_tried(tuning)]
    return [each for each in (*made, _pareto(tuning), _health(tuning)) if each.rows]


def _kept(tuning: Tuning) -> Table:
    shares = {} if tuning.shares is None else {each.remedy: each for each in tuning.shares.shares}
    total = 0 if tuning.shares is None else tuning.shares.total_ns
    kept = sorted((tuning.remedy(name) for name in tuning.kept), key=lambda each: _share(shares, each) or 0)

    def row(name: str, ns: int) -> dict[str, Value]:
        return {"Remedy": name, "Share": ns, "": Bar(share(ns, total), _BAR)}

    footer = []
    if tuning.shares is not None:
        if tuning.shares.together_ns:
            footer.append(row("three and more together", tuning.shares.together_ns))
        footer.append(row("all", total))
    exact = tuning.shares is not None and tuning.shares.exact
    basis = "the Shapley value over all combinations" if exact else "the mean of first in and last out"
    return table(
        "Kept",
        [
            Column("Remedy", value="id", style="cyan", fixed=True),
            Column("Layer", value=lambda each: each.layer.value, wide=90),
            Column("First in", "change", lambda each: _figure(shares, each, "first_in_ns"), wide=70),
            Column("Last out", "change", lambda each: _figure(shares, each, "last_out_ns"), wide=70),
            Column("Share", "change", lambda each: _share(shares, each), style="bold"),
            Column("", "picture", lambda each: Bar(share(_share(shares, each) or 0, total), _BAR), wide=120),
            Column("Risk", value=lambda each: each.risk.value),
            Column("It takes away", value="takes_away", wide=110, longest=90),
        ],
        kept,
        footer=footer,
        notes=[f"First in: the remedy alone. Last out: the remedy after all others. Share: {basis}."] if kept else [],
    )


def _share(shares: dict[str, RemedyShare], remedy: Remedy) -> int | None:
    return None if remedy.id not in shares else shares[remedy.id].share_ns


def _figure(shares: dict[str, RemedyShare], remedy: Remedy, name: str) -> int | None:
    return None if remedy.id not in shares else getattr(shares[remedy.id], name)


def _phases(tuning: Tuning) -> Table:
    changed = [each for each in tuning.phases if each.before_ns != each.after_ns]
    most = max((abs(each.after_ns - each.before_ns) for each in changed), default=0)

    def change(each: PhaseChange) -> int:
        return each.after_ns - each.before_ns

    return table(
        "Where the time was gained",
        [
            Column("Phase", value="phase", style="cyan"),
            Column("Before", "time", "before_ns"),
            Column("After", "time", "after_ns"),
            Column("Change", "change", change, style="bold"),
            Column("", "picture", lambda each: Bar(share(abs(change(each)), most), _BAR), wide=80),
        ],
        changed,
        footer=_phase_sums(tuning.phases) if changed else [],
    )


def _phase_sums(phases: Sequence[PhaseChange]) -> list[dict[str, Value]]:
    """The phases that take as long as before together, if there are any, and the sum of all."""
    same = [each for each in phases if each.before_ns == each.after_ns]
    return [_phase_sum(name, part) for name, part in (("unchanged", same), ("all", phases)) if part]


def _phase_sum(name: str, phases: Sequence[PhaseChange]) -> dict[str, Value]:
    before, after = sum(each.before_ns for each in phases), sum(each.after_ns for each in phases)
    return {"phase": name, "before_ns": before, "after_ns": after, "change_ns": after - before}


def _kernels(tuning: Tuning) -> Table:
    search = tuning.kernel
    notes = []
    if search is not None:
        depth = "the smallest kernel" if search.smallest else "unused options left out"
        notes.append(
            f"Kept: {', '.join(search.features)}; {depth}. The distribution's kernel sets {search.options_before:,} "
            f"options. {search.modules_left_out:,} modules that the boot did not load are in none of these kernels; "
            f"{len(search.modules_kept)} that it loaded stay modules."
        )
        if search.trouble:
            notes.append(f"No kernel counts: {printable(search.trouble, 200)}")
        if not search.complete:
            notes.append(f"The budget of {counted(search.builds, 'build')} ended before the search did.")
    return table(
        "Kernels that were built",
        [
            Column("Options", "count", "options"),
            Column("Groups left out", "count", "groups"),
            Column("Time", "time", "time_ns", style="bold"),
            Column("Result", value=lambda each: each.stage.value, name="stage"),
            Column("Reason", value=lambda each: printable(each.why, 200), name="why", longest=110),
        ],
        () if search is None else search.tried,
        notes=notes,
    )


def _restored(tuning: Tuning) -> Table:
    restored = {} if tuning.kernel is None else tuning.kernel.restored
    return table(
        "Groups of options that the kernel needs",
        [
            Column("Group", value=lambda each: each[0], style="cyan", fixed=True),
            Column("Without it", value=lambda each: printable(each[1], 200), longest=120),
        ],
        list(restored.items()),
    )


def _rejected(tuning: Tuning) -> Table:
    def alone(name: str) -> int | None:
        measured = next((each.time_ns for each in tuning.trials if each.remedies == (name,)), None)
        return None if measured is None or tuning.before_ns is None else measured - tuning.before_ns

    rows = [{"id": name, "why": why, "alone": alone(name)} for name, why in sorted(tuning.rejected.items())]
    return table(
        "Rejected",
        [
            Column("Remedy", value="id", style="cyan", fixed=True),
            Column("Alone", "change", "alone", name="alone_ns"),
            Column("Why", value=lambda each: printable(each["why"], 200), longest=120),
        ],
        rows,
    )


def _not_tried(tuning: Tuning) -> Table:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, why in tuning.not_applicable.items():
        names[why].append(name)
    return table(
        "Not tried",
        [
            Column("Why", value=lambda each: printable(each[0], 200), longest=110),
            Column("Remedies", value=lambda each: printable(", ".join(each[1]), 1000), longest=1000),
        ],
        list(names.items()),
    )


def _pareto(tuning: Tuning) -> Table:
    before = tuning.before_ns or 0
    return table(
        "No other boot is better in time, number of remedies and risk",
        [
            Column("Time", "time", "time_ns", style="bold"),
            Column("Shorter", "share", lambda each: share(before - (each.time_ns or 0), before)),
            Column("Remedies", "count", lambda each: len(each.remedies), name="number"),
            Column("Risk", "count", lambda each: tuning.risk(each.remedies), name="risk"),
            Column("Which", value=lambda each: _which(each, tuning), wide=60, longest=110),
        ],
        tuning.pareto(),
        notes=["Risk: the sum over the remedies, 1 for each low one, 2 medium, 3 high."],
    )


def _which(each: TriedChoice, tuning: Tuning) -> str:
    if not each.remedies:
        return "none"
    if set(each.remedies) == set(tuning.kept):
        return "all that are kept"
    if len(each.remedies) > len(tuning.kept) // 2 and set(each.remedies) < set(tuning.kept):
        return "kept without " + ", ".join(sorted(set(tuning.kept) - set(each.remedies)))
    return ", ".join(each.remedies)


def _health(tuning: Tuning) -> Table:
    rows = [each for each in tuning.health if each.outcome is not HealthOutcome.PASS]
    return table(
        "Health of the result, without the checks that pass",
        [
            Column("Check", value="id", style="cyan", fixed=True),
            Column("Result", value="outcome", style="bold", fixed=True),
            Column("What", value="title"),
            Column(
                "Detail", value=lambda each: printable("; ".join(each.differences) or each.detail, 200), longest=110
            ),
        ],
        rows,
    )


def _gain(tuning: Tuning) -> bool:
    return None not in (tuning.before_ns, tuning.after_ns) and bool(tuning.kept)


def tuning_data(tuning: Tuning) -> dict[str, Any]:
    """The same as data."""
    shares = {} if tuning.shares is None else {each.remedy: each for each in tuning.shares.shares}
    return {
        "goal": tuning.goal.value,
        "allow": [layer.value for layer in tuning.allow],
        "budget": tuning.budget,
        "complete": tuning.complete,
        "boots": len(tuning.trials),
        "before_ns": tuning.before_ns,
        "after_ns": tuning.after_ns,
        "kept": list(tuning.kept),
        "remedies": [
            {
                "id": each.id,
                "title": each.title,
                "layer": each.layer.value,
                "risk": each.risk.value,
                "takes_away": each.takes_away,
                "kept": each.id in tuning.kept,
                "why": tuning.rejected.get(each.id),
                "first_in_ns": _figure(shares, each, "first_in_ns"),
                "last_out_ns": _figure(shares, each, "last_out_ns"),
                "share_ns": _figure(shares, each, "share_ns"),
            }
            for each in tuning.remedies
        ],
        "together_ns": None if tuning.shares is None else tuning.shares.together_ns,
        "not_applicable": dict(tuning.not_applicable),
        "kernel": None if tuning.kernel is None else tuning.kernel.model_dump(mode="json"),
        "trials": [_choice(each, tuning) for each in tuning.trials],
        "pareto": [_choice(each, tuning) for each in tuning.pareto()],
        "phases": [each.model_dump() for each in tuning.phases],
        "health": [{**each.model_dump(), "differences": list(each.differences)} for each in tuning.health],
    }


def _choice(each: TriedChoice, tuning: Tuning) -> dict[str, Any]:
    return {
        "remedies": list(each.remedies), "step": each.step.value, "time_ns": each.time_ns, "why": each.why,
        "risk": tuning.risk(each.remedies),
    }  # fmt: skip
