"""Score the importer on exact boots, compare with the stored scores, and write the page of scores."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from corpus import kept
from corpus.boots import boots
from corpus.figures import Figure
from corpus.page import page
from corpus.run import run, shares
from corpus.truth import Truth, digest, save

_SCORES = Path(__file__).with_name("scores")
_PAGE = Path(__file__).parents[2] / "docs/reference/corpus.md"


def main() -> int:
    """Boot what is missing, score, print, compare."""
    parser = argparse.ArgumentParser(prog="make corpus", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="store the scores and the page")
    parser.add_argument("--faults", type=int, default=0, metavar="N", help="print the first N faults of each case")
    parser.add_argument("--export", type=Path, metavar="DIRECTORY", help="write the truth of each boot there")
    chosen = parser.parse_args()
    known = list(boots())
    every = [boot.truth for boot in known]
    if not every:
        print("error: there is no boot to score", file=sys.stderr)
        return 1
    if chosen.export:
        _export(every, chosen.export)
    outcome = run(known)
    text = page(outcome.by_case, outcome.by_boot, every)
    print(text)
    for case, tally in outcome.by_case.items() if chosen.faults else ():
        for figure in Figure:
            for fault in [fault for fault in tally.faults if fault.startswith(f"{figure}: ")][: chosen.faults]:
                print(f"{case}: {fault}")
    scores = {
        archive: kept.StoredScores(
            {boot.truth.name: digest(boot.truth) for boot in known if boot.kernel.archive == archive}, shares(by_case)
        )
        for archive, by_case in outcome.by_archive.items()
    }
    missing = kept.archives(_SCORES) - scores.keys()
    for archive in sorted(missing):
        print(f"note: no kernel of {archive} was booted: its stored scores are not compared", file=sys.stderr)
    fallen = []
    for archive, found in scores.items():
        stored = kept.read(_SCORES / f"{archive}.toml")
        if others := kept.other_boots(found, stored):
            print(
                f"note: boots of {archive} that are not those of the stored scores: {', '.join(others)}",
                file=sys.stderr,
            )
        fallen += [f"{archive}: {fall}" for fall in kept.falls(found, stored)]
    for fall in fallen:
        print(f"error: below the stored score: {fall}", file=sys.stderr)
    if not chosen.keep:
        return 1 if fallen else 0
    if missing:
        print("error: the scores are not stored: the page would lack these kernels", file=sys.stderr)
        return 1
    for archive, found in scores.items():
        kept.write(_SCORES / f"{archive}.toml", found)
    _PAGE.write_text(text)
    return 0


def _export(every: list[Truth], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for truth in every:
        save(truth, directory / f"{truth.name}.json.gz")


if __name__ == "__main__":
    sys.exit(main())
