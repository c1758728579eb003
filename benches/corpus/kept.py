"""The stored scores: a TOML file for each archive with a line for each case, and what fell below it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

#: A score is stored and compared to four decimals.
_DECIMALS = 4

#: The share of right ones by figure, by the name of a case.
Scores = Mapping[str, Mapping[str, float]]


def rounded(scores: Scores) -> dict[str, dict[str, float]]:
    """The scores as they are stored."""
    return {
        case: {name: round(share, _DECIMALS) for name, share in figures.items()} for case, figures in scores.items()
    }


def read(path: Path) -> Scores:
    """Read stored scores; none where there is no file."""
    return tomllib.loads(path.read_text()) if path.exists() else {}


def archives(directory: Path) -> set[str]:
    """The archives whose scores are stored."""
    return {path.stem for path in directory.glob("*.toml")}


def write(path: Path, scores: Scores) -> None:
    """Store scores, a table for each case."""
    tables = (
        f'["{case}"]\n' + "".join(f'"{name}" = {share}\n' for name, share in figures.items())
        for case, figures in rounded(scores).items()
    )
    path.write_text("\n".join(tables))


def falls(scores: Scores, stored: Scores) -> Iterator[str]:
    """What is below the stored score, or missing, in words.

    >>> list(falls({"dmesg / none": {"boots": 0.9}}, {"dmesg / none": {"boots": 1.0}, "kmsg / none": {"boots": 1.0}}))
    ['dmesg / none: boots 0.9, was 1.0', 'kmsg / none: not scored']
    """
    for case, figures in stored.items():
        if case not in scores:
            yield f"{case}: not scored"
            continue
        for name, share in figures.items():
            now = rounded(scores)[case].get(name)
            if now is not None and now < share:
                yield f"{case}: {name} {now}, was {share}"
