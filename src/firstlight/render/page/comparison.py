"""What the comparison page carries: comparisons as data, and in words what each comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.bundle.describe import CLOCKS, clock_text
from firstlight.comparison.compare import Comparison, is_settled
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.headline import headline as exact_headline
from firstlight.comparison.robustness import Robustness
from firstlight.comparison.statistical.comparison import NoisyComparison
from firstlight.recipe.mode import RecordMode
from firstlight.render.comparison_json import comparisons_data
from firstlight.render.page.text import sound
from firstlight.render.views.band import total_text
from firstlight.render.views.compare import EQUAL, input_text, no_input_text
from firstlight.render.views.ledger import part_texts
from firstlight.render.views.statistical_comparison import (
    bridge_text,
    description_rows,
    exclusions,
    headline,
    number_text,
    reasons,
    sorts_text,
    spread_text,
    too_few,
)

#: The version of the data; the page refuses any other.
COMPARISON_VERSION = 1

#: Call paths below this share of all changes stand together; a zoomed picture shows ten times finer than a whole one.
_MIN_SHARE = 0.0002
#: So many rows of a level have a row of their own, unless asked for otherwise; the others are added up.
_ROWS = 3_000

Json = dict[str, Any]


def comparison_page_data(
    baseline: str,
    found: Sequence[tuple[Comparison, Robustness | None]],
    limit: int | None = None,
    min_share: float | None = None,
) -> Json:
    """Comparisons with one baseline as the page carries them; `docs/design/report-page.md` is the specification.

    The arguments are those of :func:`~firstlight.render.comparison_json.comparisons_data`, whose result is in it
    as it is, but for texts, which are sound Unicode of bounded length, and infinite figures, which become null.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> from firstlight.comparison.compare import compare_arms
    >>> arm = read_arm(bundle)
    >>> comparison_page_data("a.boot", [(compare_arms(arm, arm), None)])["said"][0]["sentence"]
    'Equal: all tables of both boots are equal.'
    """
    rows = _ROWS if limit is None else limit
    share = _MIN_SHARE if min_share is None else min_share
    said = [_exact(each, by_band) if isinstance(each, ExactDifference) else _noisy(each) for each, by_band in found]
    data: Json = sound(
        {
            "format": "firstlight-comparison-page",
            "version": COMPARISON_VERSION,
            "said": said,
            **comparisons_data(baseline, found, rows, share),
        }
    )
    return data


def empty_page_data(baseline: str, reason: str) -> Json:
    """A page without a comparison, and why it has none.

    >>> empty_page_data("a.boot", "one is a log")["reason"]
    'one is a log'
    """
    data: Json = sound(
        {
            "format": "firstlight-comparison-page",
            "version": COMPARISON_VERSION,
            "said": [],
            "reason": reason,
            **comparisons_data(baseline, [], _ROWS, _MIN_SHARE),
        }
    )
    return data


def _exact(found: ExactDifference, by_band: Robustness | None) -> Json:
    """The verdict on two boots; what they have to be read with comes as lines."""
    change = found.whole.change_ns
    settled = is_settled(found)
    if found.is_equal:
        word, sentence = "equal", EQUAL
    elif change == 0:
        same = not any(level.changed for level in found.levels)
        how = "in every part that was compared" if same else "but not by the same work"
        word, sentence = "same", f"B takes exactly as long as A, {how}."
    else:
        word = "slower" if change > 0 else "faster"
        sentence = f"{exact_headline(found)}."
    exact = "exact mode: these are exact differences in nanoseconds, not estimates"
    regime = exact if settled and found.a.manifest.mode == RecordMode.EXACT else f"{found.a.manifest.mode} mode"
    lines = [("text", part, f"{text}: {means}") for part, text, means in part_texts(found)]
    lines += [("flag", flag.title, flag.text) for flag in found.flags]
    if by_band is not None:
        lines += [("flag", "caution", by_band.caution)] if by_band.caution is not None else []
        kind = "band" if by_band.total.robust or by_band.total.change_ns == 0 else "flag"
        lines.append((kind, "noise band", total_text(by_band)))
    lines += [("input", "differs", input_text(each)) for each in found.inputs]
    if not found.inputs:
        lines.append(("input", "inputs", no_input_text(found)))
    return _said(word, sentence, settled, regime, clock_text(found.a), lines)


def _noisy(found: NoisyComparison) -> Json:
    lines = [("flag", "note", note) for note in found.notes]
    lines += [("flag", "excluded", each) for each in exclusions(found)]
    lines += [
        *(("text", name, text) for name, text in reasons(found)),
        ("text", "spread", spread_text(found)),
    ]
    lines += [("text", "modes", sorts)] if (sorts := sorts_text(found)) is not None else []
    sentence = headline(found)
    return {
        **_said(
            found.verdict.word,
            f"{sentence[:1].upper()}{sentence[1:]}.",
            found.verdict.word != "inconclusive",
            f"{found.mode} mode, by statistics: {number_text(found)}; {found.pairing}; seed {found.seed}",
            CLOCKS.get(found.clock, found.clock),
            lines,
        ),
        "bridge": bridge_text(found),
        "description": None
        if found.description is None
        else description_rows(found.description["a"], found.description["b"]),
        "too_few": {level.name: text for level in found.levels if (text := too_few(level, found)) is not None},
    }


def _said(
    word: str, sentence: str, settled: bool, regime: str, clock: str, lines: Sequence[tuple[str, str, str]]
) -> Json:
    return {"word": word, "sentence": sentence, "settled": settled, "regime": regime, "clock": clock, "lines": lines}
