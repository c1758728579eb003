"""The study `tree-walk`, and any other walk: boots, tables, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from firstlight import LabError
from firstlight.study import Boot, Chart, Extent, Lab, MissingArm, MissingValue, Outcome, Table
from firstlight_studies.catalogue import TREE_WALK
from firstlight_studies.tree_walk import trap_script
from firstlight_studies.tree_walk.counts import SIDES, Counted, counted, counts_table, functions_table
from firstlight_studies.tree_walk.figures import TreeWalkEvidence, figures_of
from firstlight_studies.tree_walk.measured import runs_of, why_nothing
from firstlight_studies.tree_walk.model import WalkModel, law_chart, law_of, law_table, sizes_table
from firstlight_studies.tree_walk.penalty import (
    alternation_table,
    penalties,
    penalty_chart,
    penalty_table,
)
from firstlight_studies.tree_walk.plan import AUDIT, STOCK, UNIT, WalkPlan, arm_of, base_of, line, plan_of
from firstlight_studies.tree_walk.rootfs_inputs import prepare
from firstlight_studies.tree_walk.traps import Audit, audit_of, points_table, unit_table, wakes_table
from firstlight_studies.tree_walk.workload import WALK, Command, Shape, Workload

_CLASSIC = Shape.parse("70x70")
#: Trees by which a law is found, each about twice the one before.
SIZES = tuple(map(Shape.parse, ("7x7", "10x10", "14x14", "20x20", "28x28", "40x40", "56x56", "70x70")))
_LARGER = tuple(map(Shape.parse, ("100x100", "141x141")))
_LARGEST = (Shape.parse("224x224"),)
Boots = Mapping[str, Boot | MissingValue]


def check(extent: Extent) -> None:
    """Refuse sizes that are not shapes of trees.

    :raises UsageError: naming the shape.
    """
    for size in extent.sizes:
        Shape.parse(size)


def run(lab: Lab) -> Outcome:
    """The classic question on the classic tree.

    :raises FirstlightError: when not even one arm can be booted.
    """
    asked = tuple(map(Shape.parse, lab.extent.sizes))
    sizes = asked or SIZES + (() if lab.quick else _LARGER) + (_LARGEST if lab.full else ())
    others = () if lab.quick else ("ext4", "xfs")
    work = Workload(
        _CLASSIC,
        alternations=3 if lab.quick else 5,
        few=lab.quick,
        sizes=sizes,
        law_on=("tmpfs", *others),
        counts_on=("tmpfs", *others),
        automount_unit=not lab.quick,
    )
    return measure(work, lab)


def measure(work: Workload, lab: Lab) -> Outcome:
    """Boot what a workload asks for, and report what the boots show.

    :raises FirstlightError: when not even one arm can be booted.
    """
    ground, versions = prepare(work, lab)
    plan = plan_of(work, ground)
    boots = lab.boot_all(plan.arms)
    reasons = [boot.reason for boot in boots.values() if isinstance(boot, MissingValue)]
    if len(reasons) == len(boots):
        raise LabError(f"nothing could be booted: {reasons[0]}")
    return _Answer(work, plan, boots, _kernel_of(lab)).outcome(lab, versions)


def _kernel_of(lab: Lab) -> str:
    """The kernel that most arms boot, as a reader knows it."""
    if not lab.stock:
        return "the given kernel"
    return "the lab's kernel" if lab.has_own_kernel else "the distribution's kernel"


class _Answer:
    def __init__(self, work: Workload, plan: WalkPlan, boots: Boots, kernel: str) -> None:
        self._work = work
        self._boots = boots
        self._plan = plan
        self._kernel = kernel
        directories = work.shape.directories
        self._runs = {
            kind: runs_of(boots[arm_of(kind)])
            | {each.name: gap for each in order if (gap := plan.missing.get(each.command.program)) is not None}
            for kind, order in plan.alternations.items()
        }
        self._why = {kind: why_nothing(boots[arm_of(kind)]) for kind in plan.alternations}
        self._penalties = {
            kind: penalties(kind, order, self._runs[kind], directories, self._why[kind])
            for kind, order in plan.alternations.items()
        }
        self._counts: dict[tuple[str, Command], Counted | MissingValue] = {
            (kind, command): counted(boots[arm], boots[base_of(kind)], directories)
            for (kind, command), arm in plan.counts.items()
        }
        self._laws = {
            kind: law_of(order, runs_of(boots[f"law-{kind}"]), why_nothing(boots[f"law-{kind}"]))
            for kind, order in plan.laws.items()
        }
        self._audit: Audit | MissingValue = (
            audit_of(boots[AUDIT]) if work.audit else MissingValue("no audit was asked for")
        )

    def outcome(self, lab: Lab, versions: tuple[str, ...]) -> Outcome:
        missing = [*lab.missing]
        tables = [*self._tables(missing)]
        lab.missing[:] = [*missing, *self._failures()]
        classic = self._work.shape == _CLASSIC
        outcome = TREE_WALK.outcome(
            lab,
            recipe=self._recipe(versions),
            tables=tables,
            figures=figures_of(self._evidence()),
            charts=(*self._penalty_charts(), law_chart(self._laws)),
            notes=_NOTES,
        )
        # Another tree has no figures of then.
        return outcome if classic else replace(outcome, title=f"{outcome.title} of {self._work.shape}", historical=())

    def _penalty_charts(self) -> Iterable[Chart | None]:
        """That of the first file system, and that of all."""
        kinds = list(self._penalties)
        yield penalty_chart({kind: self._penalties[kind] for kind in kinds[:1]})
        if len(kinds) > 1:
            yield penalty_chart(self._penalties)

    def _tables(self, missing: list[MissingArm]) -> Iterable[Table]:
        shown = (WALK, *self._work.commands[:1])
        for kind, order in self._plan.alternations.items():
            yield alternation_table(kind, order, self._runs[kind], shown, self._why[kind])
        yield penalty_table(self._penalties, self._work.shape.directories, str(self._work.shape))
        if self._counts:
            yield counts_table(self._counts)
            kind = next(iter(self._counts))[0]
            without, with_ = (self._boots[self._plan.counts[kind, side]] for side in SIDES)
            functions = functions_table(without, with_, self._work.shape.directories)
            if isinstance(functions, Table):
                yield functions
            else:
                missing.append(MissingArm("functions of the further stat", functions.reason))
        if self._laws:
            yield sizes_table(self._laws)
            yield law_table(self._laws)
        if isinstance(self._audit, Audit):
            yield points_table(self._audit)
            yield wakes_table(self._audit)
            if lacking := sorted(self._plan.missing.keys() & {line.split()[0] for line in trap_script.PROGRAMS}):
                reason = self._plan.missing[lacking[0]].reason
                missing.append(MissingArm(f"who wakes an automount: {', '.join(lacking)}", reason))
        elif self._work.audit and not isinstance(self._boots[AUDIT], MissingValue):
            missing.append(MissingArm("mount points and automounts", self._audit.reason))
        if self._work.automount_unit:
            table = unit_table(self._boots[UNIT])
            if isinstance(table, Table):
                yield table
            elif not isinstance(self._boots[UNIT], MissingValue):
                missing.append(MissingArm("the automount of systemd", table.reason))

    def _failures(self) -> Iterable[MissingArm]:
        """What was booted and then could not be measured."""
        for kind, found in self._penalties.items():
            if isinstance(self._boots[arm_of(kind)], MissingValue):
                continue
            reasons: dict[str, list[str]] = {}
            for command, penalty in found.items():
                if isinstance(penalty, MissingValue):
                    reasons.setdefault(penalty.reason, []).append(command.name)
            for reason, names in reasons.items():
                yield MissingArm(f"{', '.join(names)} on {kind}", reason)

    def _evidence(self) -> TreeWalkEvidence:
        # The distribution's own kernel first: it is the one in use.
        kind = next((kind for kind in (STOCK, "tmpfs", *self._penalties) if kind in self._penalties), "")
        on = "tmpfs" if any(key[0] == "tmpfs" for key in self._counts) else kind
        law: WalkModel | MissingValue = self._laws.get("tmpfs") or next(
            iter(self._laws.values()), MissingValue("no scaling model was asked for")
        )
        counts = {command: found for (each, command), found in self._counts.items() if each == on}
        beside = self._penalties.get("tmpfs", {}) if kind == STOCK else {}
        return TreeWalkEvidence(self._penalties.get(kind, {}), counts, law, self._audit, beside, self._kernel)

    def _recipe(self, versions: tuple[str, ...]) -> tuple[str, ...]:
        work = self._work
        releases = dict.fromkeys(fact for boot in self._boots.values() if (fact := _release(boot)))
        commands = ", ".join(f"`{line(command)}`" for command in work.commands)
        booted = f"Linux {' and '.join(releases)}" if releases else "a kernel"
        more = f"; {', '.join(versions)}" if versions else ""
        lines = [
            f"Booted: {booted} with a minimal guest in memory, in exact mode{more}.",
            f"A tree {work.shape} ({work.shape.directories:,} directories) is made on {', '.join(work.file_systems)}"
            f"{'; ext4 and xfs are on a disk in memory' if set(work.file_systems) != {'tmpfs'} else ''}. "
            "It is written out and walked once, so everything is in the cache.",
            "Then each program runs in turn without and with one more stat per directory, "
            f"{work.alternations} times{' (some once)' if work.few else ''}: our walk, {commands}.",
            "Other trees, programs and file systems: `firstlight walk`.",
        ]
        if self._counts:
            lines.append(
                "System calls: one boot for each program, minus the same boot with a program that does nothing."
            )
        return tuple(lines)


def _release(boot: Boot | MissingValue) -> str | None:
    if isinstance(boot, MissingValue):
        return None
    values = boot.facts().filter(pl.col("fact") == "kernel.release")["value"].to_list()
    return str(values[0]) if values else None


_NOTES = (
    "Exact mode: one instruction takes one nanosecond. A figure is a number of instructions, the same in every run. "
    "It is not the time of a machine with caches, and percentages compare work, not waiting.",
    "Our walk does what chgrp does: for each directory a stat by name, an opening, a stat by descriptor, the listing, "
    "a change of group. The extra stat is by name, directly after the opening.",
    "The distribution's programs have no such option. A preloaded library makes the extra stat when they open a "
    "directory; on the other side it runs the same code without the stat.",
)
