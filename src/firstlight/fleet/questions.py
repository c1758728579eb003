"""The questions that a fleet answers, each as a table of rows with what has to be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import ibis.expr.types as ir
import polars as pl
from ibis import _

from firstlight.bundle.manifest import BootState
from firstlight.errors import UsageError
from firstlight.fleet.analyses import bounds, cohorts, outliers, regressed, spread, tail
from firstlight.fleet.analyses.joined import NOT_KNOWN, TOTAL, chosen_boots
from firstlight.fleet.columns import PROCESS
from firstlight.fleet.conditions import Condition, read_conditions
from firstlight.fleet.engine import Tables, tables_of
from firstlight.fleet.files import boot_attributes
from firstlight.fleet.layout import Fleet
from firstlight.schema.spans import SpanKind
from firstlight.suggest import one_of

_DEFAULT_BY = ("model", "kernel")
_LISTED = 5
_UNSURE = "unsure: records do not show when some phases began or ended, so only bounds of their times are known"


class Question(StrEnum):
    """What is asked."""

    PHASES = "phases"
    INITCALLS = "initcalls"
    UNITS = "units"
    PROCESSES = "processes"
    REGRESSED = "regressed"
    OUTLIERS = "outliers"
    COHORTS = "cohorts"
    TAIL = "tail"


_KINDS = {
    Question.PHASES: SpanKind.PHASE.value,
    Question.INITCALLS: SpanKind.INITCALL.value,
    Question.UNITS: SpanKind.UNIT.value,
    Question.PROCESSES: PROCESS,
}


@dataclass(frozen=True)
class Answer:
    """The rows of an answer; times are nanoseconds."""

    question: Question
    boots: int
    """That were looked at."""
    left_out: int
    """Boots that did not come up."""
    by: tuple[str, ...]
    """The attributes that make the groups."""
    rows: pl.DataFrame
    notes: tuple[str, ...] = ()
    old: str | None = None
    new: str | None = None
    """Of `regressed`: the two values that are compared."""

    @property
    def became_slower(self) -> bool:
        """Whether `regressed` found a part that certainly became slower."""
        slower = regressed.RegressionVerdict.SLOWER
        return self.question is Question.REGRESSED and slower in self.rows["verdict"].to_list()


@dataclass(frozen=True)
class Asked:
    """How a question is asked.

    :ivar where: conditions on attributes; empty for all boots.
    :ivar by: attributes that make groups; by default `model` and `kernel`, of `regressed` the one that is compared.
    :ivar between: of `regressed`: the old and the new value; by default the two that most boots have, in their order.
    :ivar engine: `duckdb`, `spark`, or the URL of a Spark cluster.
    """

    question: Question
    where: str = ""
    by: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    engine: str = "duckdb"


def answer(fleet: Fleet, asked: Asked) -> Answer:
    """Answer a question about a fleet.

    :raises UsageError: for an attribute or a value that the fleet lacks, or an empty fleet.
    :raises FirstlightError: when a file is missing or damaged, or the engine fails.
    """
    attributes = boot_attributes(fleet, fleet.listing().boots)
    if asked.between and asked.question != Question.REGRESSED:
        raise UsageError("`--between` is for `regressed`", where="--between", hint="compare others with `cohorts`")
    with tables_of(fleet, asked.engine) as tables:
        status = tables.rows(tables.boots.group_by("status").agg(boots=_.count()))
        if status.is_empty():
            hint = f"`firstlight fleet add {fleet.where} BOOT` adds one"
            raise UsageError("the fleet has no boots", where=fleet.where, hint=hint)
        conditions = read_conditions(asked.where, attributes) if asked.where else []
        by = _groups(asked.by, attributes)
        left_out = int(status.filter(pl.col("status") != BootState.COMPLETE)["boots"].sum())
        groups = sorted({*by, *_known(attributes)})
        chosen = tables.rows(_numbers(chosen_boots(tables, conditions, groups), groups))
        number = int(chosen["boots"].sum())
        if not number:
            raise UsageError("no boot meets the conditions", where="--where", hint="`firstlight fleet show` without it")
        found = _rows(tables, asked, by, conditions, chosen)
    notes = [*found.notes, *_doubts(found.rows)]
    return Answer(asked.question, number, left_out, found.by, found.rows, tuple(notes), found.old, found.new)


def groups_of(fleet: Fleet, by: Sequence[str] = ()) -> tuple[str, ...]:
    """The attributes that make groups.

    :param by: their names; by default model and kernel, where the fleet has them.
    :raises UsageError: for an attribute that the fleet lacks.
    """
    return _groups(by, boot_attributes(fleet, fleet.listing().boots))


def _groups(by: Sequence[str], attributes: Sequence[str]) -> tuple[str, ...]:
    for name in by:
        if name not in attributes:
            raise UsageError(f"the fleet has no attribute `{name}`", where="--by", hint=one_of(name, attributes))
    return tuple(dict.fromkeys(by)) or tuple(name for name in _DEFAULT_BY if name in attributes)


def _numbers(boots: ir.Table, groups: Sequence[str]) -> ir.Table:
    """How many boots each group has."""
    number = boots.count()
    return boots.group_by(list(groups)).agg(boots=number) if groups else boots.aggregate(boots=number)


@dataclass(frozen=True)
class _Found:
    rows: pl.DataFrame
    by: tuple[str, ...]
    notes: tuple[str, ...] = ()
    old: str | None = None
    new: str | None = None


def _rows(
    tables: Tables, asked: Asked, by: tuple[str, ...], conditions: Sequence[Condition], chosen: pl.DataFrame
) -> _Found:
    if asked.question in _KINDS:
        kind = _KINDS[asked.question]
        rows = tables.by_name(lambda some: spread.spread(some, kind, by, conditions), [kind])
        if kind == "phase":
            # The total is not part: every slice of names has it.
            rows = rows.unique()
            rows = bounds.with_bounds(rows, bounds.median_bounds(tables, by, conditions), by)
        return _Found(spread.ordered(rows, by), by)
    if asked.question == Question.OUTLIERS:
        phase = SpanKind.PHASE.value
        whole = tables.rows(outliers.outliers(tables, by, conditions, [TOTAL]))
        parts = tables.by_name(
            lambda some: outliers.outliers(some, by, conditions, [phase]), [phase], outliers.SLICE_ROWS
        )
        return _Found(outliers.ordered(pl.concat([whole, parts])), by)
    if asked.question == Question.COHORTS:
        one = by[0]
        return _Found(cohorts.against_largest(tables.rows(cohorts.cohorts(tables, one, conditions)), one), (one,))
    if asked.question == Question.TAIL:
        strata = by if asked.by else tuple(name for name in by if name == "model")
        return _Found(tail.excess(tables.rows(tail.tail(tables, strata, conditions))), strata)
    attribute = asked.by[0] if asked.by else "kernel"
    strata = tuple(name for name in by[1:] if asked.by) or tuple(
        name for name in _known(chosen.columns) if name != attribute
    )
    old, new = asked.between or _two_values(chosen, attribute)
    if old == new:
        hint = f"name two values of {attribute}: `--between OLD,NEW`"
        raise UsageError(f"`{old}` cannot be compared with itself", where="--between", hint=hint)
    for value in (old, new):
        if value not in set(chosen[attribute]):
            values = sorted(set(chosen[attribute]))[:40]
            raise UsageError(f"no boot has {attribute} `{value}`", where="--between", hint=one_of(value, values))
    sums = tables.by_name(lambda some: regressed.rank_sums(some, attribute, old, new, strata, conditions))
    known = bounds.median_bounds(tables, [attribute, *(name for name in strata if name != attribute)], conditions)
    rows = regressed.with_verdicts(sums, strata, known, (attribute, old, new))
    cells = f"{rows.height} cells of a part and {' and '.join(strata) or 'all boots'} were tested"
    notes = [f"{attribute} {new} against {old}; {cells}"]
    if not rows.height:
        notes.append(f"no {' and '.join(strata) or 'part'} has boots of both: nothing can be compared")
    return _Found(rows, strata, tuple(notes), old, new)


def _known(attributes: Sequence[str]) -> tuple[str, ...]:
    return ("model",) if "model" in attributes else ()


def _two_values(chosen: pl.DataFrame, attribute: str) -> tuple[str, str]:
    counts = chosen.group_by(attribute).agg(pl.col("boots").sum()).sort(["boots", attribute], descending=[True, False])
    values = sorted((value for value in counts[attribute].to_list()[:2]), key=_version)
    if len(values) < 2:
        hint = "give another attribute with `--by`, or add boots"
        raise UsageError(f"all boots have the same {attribute}: there is nothing to compare", where="--by", hint=hint)
    return values[0], values[1]


def _version(text: str) -> list[tuple[int, str]]:
    """A text in the order of versions: 6.6 comes before 6.12."""
    import re

    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", text)]


def _is_unsure(rows: pl.DataFrame) -> bool:
    if "verdict" in rows.columns and (rows["verdict"] == regressed.RegressionVerdict.UNSURE).any():
        return True
    return "unsure_ns" in rows.columns and bool((rows["unsure_ns"] > 0).any())


def _doubts(rows: pl.DataFrame) -> list[str]:
    notes = [_UNSURE] if _is_unsure(rows) else []
    if "few" in rows.columns and rows["few"].any():
        few = rows["few"].sum()
        notes.append(f"{few} of {rows.height} rows are of fewer than {spread.FEW} boots: they are not reliable")
    unknown = [name for name in rows.columns if rows[name].dtype == pl.String and (rows[name] == NOT_KNOWN).any()]
    if unknown:
        notes.append(f"boots without {', '.join(unknown)} are the group `{NOT_KNOWN}`")
    return notes
