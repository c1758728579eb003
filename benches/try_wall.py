"""Wall time of `firstlight try` on a cached baseline, against a plain `firstlight record` of the same recipe."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from measuring.figures import arguments, line, spread, title


def main() -> None:
    """Both in turn, after one recording that warms the caches and is the baseline. Each try is of a change that nobody
    tried before, so that it is really booted."""
    repeats = 2 if arguments(__doc__ or "").quick else 7
    title("Wall time of `firstlight try` on a cached baseline, default recipe, warm")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        baseline = Path(directory) / "a.boot"
        _wall_s("record", "-o", str(baseline))
        record_s, try_s, again_s = [], [], []
        for number in range(repeats):
            change = f"quiet bench.try={uuid.uuid4().hex}"
            record_s.append(_wall_s("record", "--append", change, "-o", f"{directory}/{number}.boot"))
            # The record above keeps nothing in the cache of tried boots.
            try_s.append(_wall_s("try", "--append", change, "--against", str(baseline)))
            again_s.append(_wall_s("try", "--append", change, "--against", str(baseline)))
    load = os.getloadavg()[0]
    limit = statistics.median(record_s) + 2
    line("`firstlight record` of the changed recipe", spread(record_s))
    line("`firstlight try` of the same change", spread(try_s), f"at most {limit:.2f} s (one boot + 2 s)")
    line("more than the boot, pair by pair", spread([one - other for one, other in zip(try_s, record_s, strict=True)]))
    line("the same change tried again, not booted", spread(again_s))
    line("load of the machine, processes", f"{load:.1f} on {os.cpu_count()} processors")


def _wall_s(*words: str) -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "firstlight", *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
