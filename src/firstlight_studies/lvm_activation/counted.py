"""The time until the last volume is active, by measured counts: processes, and files that they open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from firstlight.study import Field, MissingValue, Table, Value
from firstlight_studies.lvm_activation.arms import Row
from firstlight_studies.lvm_activation.measured import Measured, programs_by_size, row_title
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.models import REACH
from firstlight_studies.lvm_activation.programs import Programs

_LEAST = 4
"""Sizes: one more than the model has terms."""

_MATTERS = 0.05
"""Of the largest time: a part that grows faster than the processes and may take less than this is none."""


@dataclass(frozen=True)
class CountModel:
    """time = constant + per_process × processes + per_file × processes × files of each."""

    sizes: tuple[int, ...]
    constant_ns: float
    per_process_ns: float
    per_file_ns: float
    misfit: float
    """The largest relative deviation from a measured time."""
    files_share: float
    """Of the largest time, the term of the files."""
    largest_error: float
    """Relative error of the model of the other sizes at the largest."""
    reach_ns: float
    """At `REACH` times the largest size, with the counts continued by their own last growth."""
    per_file_least_ns: float = 0.0
    """The lower end of the 95 % interval of what a file costs."""
    extra_share_most: float = 1.0
    """Of the largest time, how much at most (95 %) is of the files that a process opens beyond those of the smallest
    size: the part that grows faster than the processes."""

    @property
    def grows_faster(self) -> float | MissingValue:
        """The least cost of a file, where that decides whether the time grows faster than the processes.

        Missing where the interval contains 0 and leaves room for a part of the time that matters.
        """
        if self.per_file_least_ns <= 0 and self.extra_share_most >= _MATTERS:
            return MissingValue(
                f"up to N = {self.sizes[-1]} the times do not show it: the 95 % interval of the cost of a file contains"
                f" 0, and the files of more volumes take {self.extra_share_most:.0%} of the time at most"
            )
        return max(0.0, self.per_file_least_ns)


def by_counts(times: Mapping[int, int], counts: Mapping[int, Programs]) -> CountModel | MissingValue:
    """Fit times by counts; every measured size is in the fit, the largest among them.

    :param times: nanoseconds by size.
    :param counts: what the processes did, by size.
    """
    sizes = sorted(times.keys() & counts.keys())
    if len(sizes) < _LEAST:
        return MissingValue(f"{len(sizes)} sizes came up with counts; a model by counts needs {_LEAST}")
    terms = np.array([[1.0, counts[size].count, _files(counts[size])] for size in sizes])
    cost = np.array([float(times[size]) for size in sizes])
    found = _fit(terms, cost)
    others = _fit(terms[:-1], cost[:-1])
    last, before = terms[-1], terms[-2]
    step = np.log(sizes[-1] / sizes[-2])
    exponents = np.log(np.maximum(last, 1) / np.maximum(before, 1)) / step
    least, most = _per_file(terms, cost)
    extra = float(last[2] - last[1] * terms[0][2] / terms[0][1]) if terms[0][1] else 0.0
    return CountModel(
        sizes=tuple(sizes),
        constant_ns=float(found[0]),
        per_process_ns=float(found[1]),
        per_file_ns=float(found[2]),
        misfit=float(np.max(np.abs(terms @ found / cost - 1))),
        files_share=float(found[2] * last[2] / (last @ found)),
        largest_error=float(last @ others / cost[-1] - 1),
        reach_ns=float((last * REACH**exponents) @ found),
        per_file_least_ns=float(least),
        extra_share_most=most * extra / float(cost[-1]) if extra > 0 else 0.0,
    )


def _per_file(terms: np.typing.NDArray[np.float64], cost: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of the cost of a file: Student's, of relative least squares without a bound."""
    from scipy.stats import t

    weighted = terms / cost[:, None]
    if np.linalg.matrix_rank(weighted / np.linalg.norm(weighted, axis=0)) < terms.shape[1]:
        return -np.inf, np.inf
    found = np.linalg.lstsq(weighted, np.ones(len(cost)), rcond=None)[0]
    spare = len(cost) - terms.shape[1]
    variance = float(np.sum((1 - weighted @ found) ** 2)) / spare
    error = np.sqrt(variance * np.linalg.inv(weighted.T @ weighted)[2, 2])
    half = float(t.isf(0.025, spare) * error)
    return float(found[2]) - half, float(found[2]) + half


def _files(programs: Programs) -> int:
    return sum(each.opened for each in programs.activating)


def _fit(terms: np.typing.NDArray[np.float64], cost: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
    """Relative least squares with coefficients that are not negative: no count saves time."""
    weighted, kept = terms / cost[:, None], list(range(terms.shape[1]))
    found = np.zeros(terms.shape[1])
    while kept:
        part = np.linalg.lstsq(weighted[:, kept], np.ones(len(cost)), rcond=None)[0]
        if (part >= 0).all():
            found[kept] = part
            break
        del kept[int(np.argmin(part))]
    return found


def counts_table(measured: Measured) -> Table:
    """The model of each setting by its counts."""
    fields = (
        Field("Setting"), Field("Sizes", "count"), Field("Constant", "time"), Field("Per process", "time"),
        Field("Per file opened", "time"), Field("Term of files at the largest N", "share"),
        Field("Worst misfit", "percent"), Field("Largest N, predicted by the others", "percent"),
        Field(f"At {REACH} × the largest N", "time"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for row, by_size in measured.items():
        times = {
            size: each.active_ns
            for size, each in by_size.items()
            if isinstance(each, ActivationFigures) and each.active_ns is not None
        }
        if times:
            rows.append(_row(row, by_counts(times, programs_by_size(measured, row))))
    below = (
        "time = constant + per process × processes + per file × files that all processes open, which is processes × "
        "files of each. The counts are measured at every N; the largest N is in the fit.",
        f"The last column rests on the counts: each continues by its growth between the two largest sizes. Nothing is "
        f"predicted beyond {REACH} × the largest N.",
    )
    return Table("counts", "The time until the last volume is active, by counts", fields, tuple(rows), below)


def _row(row: Row, model: CountModel | MissingValue) -> tuple[Value, ...]:
    if isinstance(model, MissingValue):
        return (row_title(row), model, *(None,) * 7)
    return (
        row_title(row), len(model.sizes), round(model.constant_ns), round(model.per_process_ns),
        round(model.per_file_ns), model.files_share, model.misfit, model.largest_error, round(model.reach_ns),
    )  # fmt: skip
