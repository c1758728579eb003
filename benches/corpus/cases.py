"""The cases: each format, undegraded and with each scene and damage that can happen to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from corpus.damages import DAMAGES
from corpus.formats import FORMATS, Format
from corpus.lines import Line
from corpus.scenes import SCENES, events_of
from corpus.truth import Truth

UNDEGRADED = "none"
_SEED = 15
_PARTS = 3


@dataclass(frozen=True)
class Case:
    """One record of one boot."""

    format: str
    degradation: str
    step_us: int | None
    """The resolution of the record's times; none without times."""
    lines: tuple[Line, ...]


def cases(truth: Truth, formats: Iterable[str] = tuple(FORMATS), part: int | None = None) -> Iterator[Case]:
    """All records of a boot in some formats; the same boot gives the same bytes.

    What changes nothing in a format is left out.

    :param part: only the undegraded records and a third of the degraded ones: the first, second or third, by remainder.
    """
    place = 0
    for name in formats:
        format = FORMATS[name]
        plain = format.show(events_of(truth))
        yield Case(name, UNDEGRADED, format.step_us, tuple(plain))
        for degradation in (*SCENES, *DAMAGES):
            place += 1
            if part is None or place % _PARTS == part % _PARTS:
                lines, step_us = _degraded(truth, format, plain, degradation)
                if lines != plain:
                    yield Case(name, degradation, step_us, tuple(lines))


def _degraded(truth: Truth, format: Format, plain: list[Line], degradation: str) -> tuple[list[Line], int | None]:
    """The lines and the resolution of their times; the undegraded lines where it cannot happen to the format."""
    if degradation in SCENES:
        return format.show(SCENES[degradation](events_of(truth), Random(_SEED))), format.step_us
    damage = DAMAGES[degradation]
    if format.family not in damage.families:
        return plain, format.step_us
    step_us = None if format.step_us is None else max(format.step_us, damage.step_us)
    return damage.change(plain, Random(_SEED)), step_us
