"""The table of laws: how every quantity of every setting grows, and what that foretells."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Field, MissingValue, Table, Value, value_text
from firstlight_studies.lvm_activation.arms import Row
from firstlight_studies.lvm_activation.measured import row_title
from firstlight_studies.lvm_activation.models import NO_LAW, QUANTITIES, REACH, ActivationModel

_BELOW = (
    "Exponent: of the total over the larger half of the sizes. Of the growth: of the cost above that of the smallest "
    "size, over the size above the smallest, with the least and the largest between neighbouring sizes. Every figure "
    "is exact, so the residual of the model is not noise.",
    "The check: the same model is fitted without the largest N and predicts it. If it is more than 20 % off there, or "
    "any size is as far from the model, neither a model nor a prediction is given.",
    f"At {REACH} × the largest N: the band of all models that fit the figures; it rests on their form alone.",
)


def growth_table(found: Mapping[Row, Mapping[str, ActivationModel | MissingValue | None]]) -> Table:
    """Of each quantity the law of each setting, its exponent, its check and what it predicts."""
    fields = (
        Field("Quantity"), Field("Setting"), Field("Law"), Field("Certainty"), Field("Exponent", "number"),
        Field("Exponent of the growth", "number"), Field("least", "number"), Field("most", "number"),
        Field("Largest N", "count"), Field("Measured there"), Field("Predicted from the others"),
        Field("Error", "percent"), Field(f"At {REACH} × the largest N, from"), Field("to"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for quantity in QUANTITIES:
        for row, by_key in found.items():
            law = by_key[quantity.key]
            head = (quantity.title, row_title(row))
            if isinstance(law, MissingValue):
                rows.append((*head, law, *(None for _ in fields[3:])))
            elif law is not None:
                rows.append((*head, *_values(law)))
    return Table("growth", "How it grows", fields, tuple(rows), _BELOW)


def _values(law: ActivationModel) -> tuple[Value, ...]:
    study, left, growth, far = law.study, law.study.left_out, law.study.growth_exponent, law.far
    kind = law.quantity.kind

    def figure(value: float) -> str:
        return value_text(round(value) if kind in ("time", "count", "bytes") else round(value, 3), kind)

    exponents: tuple[Value, ...] = (
        round(study.exponent.value, 4) if study.exponent else None,
        *((round(each, 4) for each in (growth.value, growth.low, growth.high)) if growth else (None, None, None)),
    )
    check: tuple[Value, ...] = (round(study.sizes[-1]), figure(study.costs[-1]), None, None)
    if left is not None:
        check = (*check[:2], figure(left.predicted), round(left.error, 6))
    if not law.foretells:
        return (NO_LAW, None, *exponents, *check, NO_LAW, None)
    beyond: tuple[Value, ...] = (None, None) if far is None else (figure(far.low), figure(far.high))
    return (study.law, law.certainty, *exponents, *check, *beyond)
