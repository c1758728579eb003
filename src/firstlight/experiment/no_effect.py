"""Changes of a plan that changed nothing: arms whose guest shows no difference, factors that no boot reacts to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.plan import ExperimentPlan
from firstlight.quantities import joined

#: Facts that repeat the recipe, or the time of the boot.
_ECHOES = ("kernel.command_line", "kernel.clock_ns")

Facts = Mapping[str, str]


def without_effect(plan: ExperimentPlan, cells: Sequence[CellResult], facts: Mapping[str, Facts]) -> list[str]:
    """Name every arm and every factor that changed nothing, as far as the boots show.

    :param cells: the first one is the baseline.
    :param facts: of a boot of each cell that has one, by the cell's name.
    """
    return [*_arms(cells, facts)] if plan.arms else [*_factors(plan, cells)]


def _arms(cells: Sequence[CellResult], facts: Mapping[str, Facts]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        earlier = next((each for each in cells[:number] if each.key and each.key == cell.key), None)
        if earlier is not None:
            yield one_boot(earlier.name, cell.name)
    baseline, *others = cells
    known = [cell for cell in others if cell.key != baseline.key and {cell.name, baseline.name} <= facts.keys()]
    equal = [cell.name for cell in known if _figures(cell) == _figures(baseline)]
    for name in equal:
        yield f"arm `{name}` changes nothing: its boot took exactly as long as that of `{baseline.name}`"
    quiet = [
        f"`{cell.name}`"
        for cell in known
        if cell.name not in equal and not changed_facts(facts[baseline.name], facts[cell.name])
    ]
    if quiet:
        yield (
            f"no fact of the guest but its command line differs in {joined(quiet, 5)} from `{baseline.name}`: only "
            "times show whether the change took effect"
        )


def one_boot(earlier: str, later: str) -> str:
    """Say of two arms that they have the same inputs.

    >>> one_boot("base", "same")
    'arms `base` and `same` have the same inputs: they are one boot'
    """
    return f"arms `{earlier}` and `{later}` have the same inputs: they are one boot"


def changed_facts(before: Facts, after: Facts) -> list[str]:
    """The names of facts that differ, without those that repeat the recipe.

    >>> changed_facts({"cpu.count": "1", "kernel.command_line": ""}, {"cpu.count": "2", "kernel.command_line": "quiet"})
    ['cpu.count']
    """
    names = sorted(before.keys() | after.keys())
    return [name for name in names if before.get(name) != after.get(name) and not name.startswith(_ECHOES)]


def _factors(plan: ExperimentPlan, cells: Sequence[CellResult]) -> Iterator[str]:
    for factor in plan.factors:
        groups: dict[tuple[tuple[str, str], ...], list[CellResult]] = {}
        for cell in cells:
            others = tuple((name, level) for name, level in cell.levels.items() if name != factor.name)
            groups.setdefault(others, []).append(cell)
        compared = [group for group in groups.values() if len(group) > 1]
        known = all(cell.time is not None for group in compared for cell in group)
        differ = any(len({cell.key for cell in group}) > 1 for group in compared)
        if compared and known and differ and all(len({_figures(cell) for cell in group}) == 1 for group in compared):
            yield f"factor `{factor.name}` changes nothing: its levels took exactly as long in every boot"


def _figures(cell: CellResult) -> tuple[object, ...]:
    return cell.time, cell.instructions, cell.idle
