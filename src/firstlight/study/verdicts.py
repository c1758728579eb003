"""One evaluation of every claim: from claims and figures to findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import isfinite
from string import Formatter
from typing import Any, TypeVar, cast, get_args

from firstlight.errors import UsageError
from firstlight.quantities import Kind
from firstlight.recipe.isa import DEFAULT, Architecture
from firstlight.recipe.machine_feature import MachineFeature
from firstlight.study.claims import CLAIMS, UNTIMED, Claim, Dependency
from firstlight.study.outcome import Finding, Verdict
from firstlight.study.table import MissingValue, missing_in, value_text

Figure = int | float | str | MissingValue
"""A measured figure, or why there is none. A truth value is an integer."""
Figures = Mapping[str, Figure]
Computed = TypeVar("Computed")

_KINDS = frozenset(get_args(Kind))


def derived(compute: Callable[..., Computed], *inputs: object) -> Computed | MissingValue:
    """A figure that is computed from others; missing where one of them is, for the first reason.

    >>> derived(lambda before, after: after / before - 1, 4, 5), derived(abs, MissingValue("not booted"))
    (0.25, MissingValue(reason='not booted'))
    """
    return compute(*inputs) if (gap := missing_in(*inputs)) is None else gap


def relative(figure: Figure, base: Figure) -> float | MissingValue:
    """How much more a figure is than another, as a share of the other; missing where the other is zero.

    >>> relative(90, 100), relative(1, 0)
    (-0.1, MissingValue(reason='compared with zero'))
    """
    change = derived(
        lambda now, then: (now - then) / then if then else MissingValue("compared with zero"), figure, base
    )
    return cast("float | MissingValue", change)


def evaluate(
    claims: Iterable[Claim], figures: Figures, untimed: Collection[Dependency] = UNTIMED,
    architecture: Architecture = DEFAULT,
) -> tuple[Finding, ...]:  # fmt: skip
    """The finding of each claim. No verdict depends on anything but the claims and the figures.

    :param untimed: what the machine that was measured does not time as hardware does.
    :param architecture: of the guests that were measured; a claim about something that they do not have does not apply.
    :raises UsageError: when a claim names a figure that the study does not measure.

    >>> claim = Claim(id="stat", statement="A stat costs time.", figure="more", unit="percent", expect="at least",
    ...     limit=0.0, value=0.235, tolerance=0.2, depends=("kernel",), refuted_by="a walk that takes no longer")
    >>> [(found.verdict.value, found.now) for found in evaluate([claim], {"more": 0.134})]
    [('holds in direction', '+13.4 %')]
    """
    return tuple(
        _not_applicable(claim, architecture, reason)
        if (reason := lacking(claim.needs, architecture))
        else _finding(claim, figures, frozenset(untimed))
        for claim in claims
    )


def lacking(needs: Iterable[MachineFeature], architecture: Architecture) -> str:
    """What a guest of an architecture does not have of what is needed, as the end of a sentence; empty for nothing.

    >>> from firstlight.recipe.isa import DEFAULT, architecture_of
    >>> lacking([MachineFeature.TSC], architecture_of("aarch64")), lacking([MachineFeature.TSC], DEFAULT)
    ('a guest there has no time stamp counter', '')
    """
    gone = [str(each) for each in needs if each not in architecture.features]
    return f"a guest there has no {' and no '.join(gone)}" if gone else ""


def _not_applicable(claim: Claim, architecture: Architecture, reason: str) -> Finding:
    return Finding(
        claim=claim.statement, then=claim.then, verdict=Verdict.NOT_APPLICABLE, id=claim.id,
        now=f"does not apply on {architecture.distribution_name}, because {reason}",
        depends=tuple(map(str, claim.depends)), refuted_by=claim.refuted_by,
    )  # fmt: skip


def check_texts(claims: Iterable[Claim], units: Mapping[str, Collection[Kind]]) -> None:
    """Check that texts of claims name figures that exist, in a unit that they have, before anything is measured.

    :param units: of each figure, those in which it can be stated.
    :raises UsageError: naming the claim, and the figure or the unit.
    """
    stand_ins: Figures = dict.fromkeys(units, 1)
    for claim in claims:
        whys = (claim.why,) if isinstance(claim.why, str) else claim.why.values()
        for text in (claim.now, *whys):
            _text(claim, text, stand_ins)
            for _, name, unit, _ in Formatter().parse(text):
                if name is not None and (unit or "number") not in units[name]:
                    raise _wrong(claim, f"a text states the figure `{name}` as `{unit or 'number'}`, which it is not")


def _finding(claim: Claim, figures: Figures, untimed: frozenset[Dependency]) -> Finding:
    figure = _figure(claim, figures, claim.figure)
    if isinstance(figure, float) and not isfinite(figure):
        figure = MissingValue(f"the figure `{claim.figure}` is not a finite number")
    if isinstance(figure, MissingValue):
        verdict, now = Verdict.NOT_TESTABLE, figure.reason
    else:
        band = _band(claim, figures) if not isinstance(figure, str) else None
        verdict = _verdict(claim, figure, band if isinstance(band, float) else None, untimed)
        now = _text(claim, claim.now or f"{{{claim.figure}:{claim.unit}}}", figures)
        now += _band_text(claim, figure, band)
    why = claim.why if isinstance(claim.why, str) else claim.why.get(verdict, "")
    if verdict is Verdict.MACHINE:
        why = " ".join(filter(None, (f"The machine does not time: {', '.join(_decisive(claim, untimed))}.", why)))
    return Finding(
        claim=claim.statement, then=claim.then, now=now, verdict=verdict, why=_text(claim, why, figures), id=claim.id,
        depends=tuple(map(str, claim.depends)), refuted_by=claim.refuted_by,
    )  # fmt: skip


def _band(claim: Claim, figures: Figures) -> float | MissingValue | None:
    """How far the figure moves by itself, or why that is not known; none for a claim without a band."""
    if claim.band is None:
        return None
    band = _figure(claim, figures, claim.band)
    if isinstance(band, MissingValue):
        return band
    if isinstance(band, str) or not isfinite(band):
        return MissingValue(f"the figure `{claim.band}` is not a finite number")
    return abs(float(band))


def _band_text(claim: Claim, figure: float | str, band: float | MissingValue | None) -> str:
    if isinstance(band, MissingValue):
        return ", the noise band is not known"
    if band is None or isinstance(figure, str):
        return ""
    shown = f"the noise band of ±{value_text(band, claim.unit).lstrip('+')}"
    if abs(figure) <= band:
        return f", inside {shown}"
    return f", {shown} reaches over the limit" if _crosses(claim, figure, band) else ""


def _crosses(claim: Claim, figure: float, band: float) -> bool:
    """Whether a limit lies within the band around the figure."""
    low, high = _limits(claim)
    least, most = figure - band, figure + band
    return least <= high and low <= most and not (low <= least and most <= high)


def _is_about_an_effect(claim: Claim) -> bool:
    """Whether the claim is that something differs from zero, not that it is small."""
    match claim.expect, claim.limit:
        case "at least", float(limit):
            return limit >= 0
        case "at most", float(limit):
            return limit <= 0
    return False


def _verdict(claim: Claim, figure: float | str, band: float | None, untimed: frozenset[Dependency]) -> Verdict:
    if claim.expect == "count":
        return Verdict.COUNTED
    if _decisive(claim, untimed):
        return Verdict.MACHINE
    if isinstance(figure, str):
        raise _wrong(claim, f"the figure `{claim.figure}` is a text; limits do not apply to texts")
    if band is not None and abs(figure) <= band and _is_about_an_effect(claim):
        # No effect can be distinguished from the noise.
        return Verdict.NO_LONGER
    if band is not None and _crosses(claim, figure, band):
        return Verdict.INCONCLUSIVE
    low, high = _limits(claim)
    if not low <= figure <= high:
        return Verdict.NO_LONGER
    if claim.value is not None and claim.tolerance is not None:
        return Verdict.HOLDS if abs(figure - claim.value) <= claim.tolerance * abs(claim.value) else Verdict.DIRECTION
    return Verdict.HOLDS


def _limits(claim: Claim) -> tuple[float, float]:
    endless = float("inf")
    match claim.expect, claim.limit:
        case "at least", float(limit):
            return limit, endless
        case "at most", float(limit):
            return -endless, limit
        case "between", (low, high):
            return low, high
    return 1, 1


def _decisive(claim: Claim, untimed: frozenset[Dependency]) -> list[Dependency]:
    return [each for each in claim.decided_by if each in untimed]


def _figure(claim: Claim, figures: Figures, name: str) -> Figure:
    if name not in figures:
        raise _wrong(claim, f"no figure `{name}` was measured")
    return figures[name]


def _text(claim: Claim, template: str, figures: Figures) -> str:
    try:
        return _Texts(claim).vformat(template, (), figures)
    except ValueError as error:
        raise _wrong(claim, f"a text has a wrong placeholder: {error}") from error


class _Texts(Formatter):
    """Figures in a text: `{name:kind}`."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Figure, str]:
        return _figure(self._claim, kwargs, field_name), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        kind = format_spec or "number"
        if kind not in _KINDS:
            raise _wrong(self._claim, f"there is no unit `{kind}`")
        return value_text(value, cast("Kind", kind))


def _wrong(claim: Claim, message: str) -> UsageError:
    return UsageError(f"claim `{claim.id}`: {message}", where=CLAIMS, hint="correct the claim, or measure the figure")
