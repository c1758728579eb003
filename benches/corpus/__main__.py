"""Score the importer on exact boots, compare with the stored scores, and write the page of scores."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from corpus import kept
from corpus.boots import truths
from corpus.figures import Figure
from corpus.page import page
from corpus.run import run, shares
from corpus.truth import Truth, save

_SCORES = Path(__file__).with_name("scores.toml")
_PAGE = Path(__file__).parents[2] / "docs/reference/corpus.md"


def main() -> int:
    """Boot what is missing, score, print, compare."""
    parser = argparse.ArgumentParser(prog="make corpus", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="store the scores and the page")
    parser.add_argument("--faults", type=int, default=0, metavar="N", help="print the first N faults of each case")
    parser.add_argument("--export", type=Path, metavar="DIRECTORY", help="write the truth of each boot there")
    chosen = parser.parse_args()
    every = list(truths())
    if not every:
        print("error: there is no boot to score", file=sys.stderr)
        return 1
    if chosen.export:
        _export(every, chosen.export)
    by_case, by_boot = run(every)
    text = page(by_case, by_boot, every)
    print(text)
    for case, tally in by_case.items() if chosen.faults else ():
        for figure in Figure:
            for fault in [fault for fault in tally.faults if fault.startswith(f"{figure}: ")][: chosen.faults]:
                print(f"{case}: {fault}")
    scores = shares(by_case)
    fallen = list(kept.falls(scores, kept.read(_SCORES)))
    if chosen.keep:
        kept.write(_SCORES, scores)
        _PAGE.write_text(text)
    for fall in fallen:
        print(f"error: below the stored score: {fall}", file=sys.stderr)
    return 1 if fallen and not chosen.keep else 0


def _export(every: list[Truth], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for truth in every:
        save(truth, directory / f"{truth.name}.json.gz")


if __name__ == "__main__":
    sys.exit(main())
