"""The stored scores: a TOML file for each archive with a line for each case, and what fell below it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

#: A score is stored and compared to four decimals.
_DECIMALS = 4

#: The table of the boots' digests in the file, beside those of the cases.
_BOOTS = "boots"
#: Other boots have other initcalls and gaps: a case may lose so much, and a figure so much of its mean of all cases.
_OTHER_CASE, _OTHER_MEAN = 0.05, 0.005

#: The share of right ones by figure, by the name of a case.
Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class StoredScores:
    """The scores of an archive's kernels."""

    boots: Mapping[str, str]
    """The digest of what is true of each boot: an update of QEMU or of the minimal guest changes its times."""
    cases: Scores


def rounded(scores: Scores) -> dict[str, dict[str, float]]:
    """The scores as they are stored."""
    return {
        case: {name: round(share, _DECIMALS) for name, share in figures.items()} for case, figures in scores.items()
    }


def read(path: Path) -> StoredScores:
    """Read stored scores; none where there is no file."""
    tables = tomllib.loads(path.read_text()) if path.exists() else {}
    return StoredScores(tables.pop(_BOOTS, {}), tables)


def archives(directory: Path) -> set[str]:
    """The archives whose scores are stored."""
    return {path.stem for path in directory.glob("*.toml")}


def write(path: Path, scores: StoredScores) -> None:
    """Store scores, a table for each case, and one of the boots."""
    boots = f"[{_BOOTS}]\n" + "".join(f'"{name}" = "{digest}"\n' for name, digest in scores.boots.items())
    tables = (
        f'["{case}"]\n' + "".join(f'"{name}" = {share}\n' for name, share in figures.items())
        for case, figures in rounded(scores.cases).items()
    )
    path.write_text("\n".join([boots, *tables]))


def other_boots(scores: StoredScores, stored: StoredScores) -> list[str]:
    """The boots that are not among the stored ones, or are not equal to them; and the stored ones that are missing.

    >>> other_boots(StoredScores({"6.1": "89ab", "6.2": "00"}, {}), StoredScores({"6.1": "cdef", "6.2": "00"}, {}))
    ['6.1']
    """
    names = dict.fromkeys([*scores.boots, *stored.boots])
    return [name for name in names if scores.boots.get(name) != stored.boots.get(name)]


def falls(scores: StoredScores, stored: StoredScores) -> Iterator[str]:
    """What is below the stored score, or missing, in words. Of equal boots, nothing may fall.

    >>> equal = {"6.1": "89ab"}
    >>> stored = StoredScores(equal, {"dmesg / none": {"boots": 1.0}, "kmsg / none": {"boots": 1.0}})
    >>> list(falls(StoredScores(equal, {"dmesg / none": {"boots": 0.96}}), stored))
    ['dmesg / none: boots 0.96, was 1.0', 'kmsg / none: not scored']
    >>> fallen = {"dmesg / none": {"boots": 0.96}, "kmsg / none": {"boots": 1.0}}
    >>> list(falls(StoredScores({"6.1": "cdef"}, fallen), stored))
    ['all cases: boots 0.98, was 1.0']
    """
    equal = scores.boots == stored.boots
    least = 0.0 if equal else _OTHER_CASE
    now = rounded(scores.cases)
    for case, figures in stored.cases.items():
        if case not in now:
            yield f"{case}: not scored"
            continue
        for name, share in figures.items():
            if name in now[case] and now[case][name] < share - least:
                yield f"{case}: {name} {now[case][name]}, was {share}"
    if equal:
        return
    for name in dict.fromkeys(name for figures in stored.cases.values() for name in figures):
        both = [case for case, figures in stored.cases.items() if name in figures and name in now.get(case, ())]
        if not both:
            continue
        mean, was = (round(fmean(cases[case][name] for case in both), _DECIMALS) for cases in (now, stored.cases))
        if mean < was - _OTHER_MEAN:
            yield f"all cases: {name} {mean}, was {was}"
