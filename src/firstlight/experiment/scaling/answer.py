"""The answer of a scaling measurement: from the boots of a plan, or from a table of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

from firstlight.experiment.runner import RunProgress
from firstlight.experiment.scaling.import_table import read_table
from firstlight.experiment.scaling.result import (
    Answer,
    configurations_of,
    measured_meetings,
    meetings_of,
    too_close,
)
from firstlight.experiment.scaling.run import band_of_boots, bisect_crossing, boot_all, prepare, without_effect
from firstlight.lab.host.progress import Progress
from firstlight.recipe.mode import RecordMode


def scale_by_table(
    path: Path,
    at: Sequence[float],
    *,
    size: str | None,
    cost: str | None,
    by: str | None,
    exact: bool,
    terms: Sequence[str] = (),
) -> Answer:
    """Fit the measurements of a table.

    :param at: sizes to predict.
    :param size: the column with the sizes, *cost* that with the costs, *by* that with the configurations.
    :param exact: the costs have no noise.
    :param terms: columns of counts, joined by `*`, that the cost may grow with.
    :raises FirstlightError: when the table cannot be read, or has too few sizes.
    """
    table = read_table(path, size=size, cost=cost, by=by, exact=exact, terms=terms)
    configurations = configurations_of(table.series, at)
    return Answer(
        title=path.name,
        variable=table.size,
        unit="",
        cost=table.cost,
        nanoseconds=False,
        configurations=configurations,
        meetings=meetings_of(configurations),
        notes=table.notes,
    )


def scale_by_plan(
    path: Path, at: Sequence[float], output: Path | None, jobs: int | None, *, bisect: bool, progress: Progress,
    boots: RunProgress,
) -> Answer:  # fmt: skip
    """Boot the sizes of a plan, and fit what they cost.

    :param at: sizes to predict besides those of the plan.
    :param output: the directory of the boots.
    :param jobs: maximum number of parallel boots.
    :param bisect: find crossovers by booting more sizes, in exact mode.
    :raises FirstlightError: when the plan or an input cannot be, or exact boots of one recipe differ.
    """
    with progress:
        prepared = prepare(path, output, progress)
        unchanged = without_effect(prepared)
        for note in unchanged:
            progress.note(note)
    plan = prepared.plan
    measured, notes = boot_all(prepared, boots, jobs)
    notes = [*unchanged, *notes]
    configurations = configurations_of(measured, [*plan.predict, *at])
    meetings = [
        each for each in meetings_of(configurations) if plan.mode == RecordMode.LIVE or not each.crossing.measured
    ]
    if plan.mode == RecordMode.EXACT:
        band = band_of_boots(prepared)
        notes.append(band.text)
        # Within the measured sizes, boots say where configurations cross, and no model.
        for one, other in combinations(measured, 2):
            ask = partial(bisect_crossing, prepared, one.name, other.name, progress=progress) if bisect else None
            met = measured_meetings(one, other, ask)
            meetings += met
            if met and (close := too_close(one, other, band.total_ns)) is not None:
                notes.append(close)
    first, last = plan.measure.first or "the first mark", plan.measure.last or "the last mark"
    clock = "virtual time" if plan.mode == RecordMode.EXACT else "time of the host"
    return Answer(
        title=plan.title,
        variable=plan.variable,
        unit=plan.unit,
        cost=f"{clock}, {first} to {last}",
        nanoseconds=True,
        configurations=configurations,
        meetings=tuple(meetings),
        notes=tuple(notes),
    )
