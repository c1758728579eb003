"""Score the importer on records of other makers: none rejected or split wrongly, no wrong figure without a doubt."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from firstlight.cache import cache_dir
from wild.fetching import fetched
from wild.records import records
from wild.scoring import faults

_LIST = Path(__file__).with_name("records.toml")


def main() -> int:
    """Fetch what is missing, import, compare, print."""
    parser = argparse.ArgumentParser(prog="python -m wild", description=__doc__)
    parser.add_argument(
        "--records", type=Path, metavar="DIRECTORY", help="where the records are, named by their digest"
    )
    directory = parser.parse_args().records or cache_dir() / "wild"
    directory.mkdir(parents=True, exist_ok=True)
    wrong = missing = scored = 0
    with tempfile.TemporaryDirectory(prefix="firstlight-wild-") as place:
        for record in records(_LIST):
            name = f"{record.repository}:{record.path}"
            file = fetched(record, directory)
            if file is None:
                missing += 1
                print(f"not to be had: {name}", file=sys.stderr)
                continue
            scored += 1
            found = faults(record, file, Path(place))
            wrong += bool(found)
            for fault in found:
                print(f"{name}: {fault}")
    print(f"{scored} records scored, {wrong} of them wrong, {missing} not to be had")
    return 1 if wrong or not scored else 0


if __name__ == "__main__":
    sys.exit(main())
