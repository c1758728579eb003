"""Wall time of `firstlight record`, warm, against plain QEMU with the same recipe: everything a person waits for."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

from measuring.boots import boot, inputs
from measuring.figures import arguments, line, spread, title


def main() -> None:
    """Both in turn, after one recording that warms the caches."""
    repeats = 2 if arguments(__doc__ or "").quick else 7
    title("Wall time of `firstlight record`, default recipe, warm")
    plain = inputs(profile=False)
    _record_s()
    plain_s, record_s = [], []
    for _ in range(repeats):
        plain_s.append(boot(plain).wall_s)
        record_s.append(_record_s())
    limit = 1.3 * statistics.median(plain_s) + 2
    line("plain QEMU", spread(plain_s))
    line("`firstlight record`, from start to exit", spread(record_s), f"at most {limit:.2f} s (1.3 x plain + 2 s)")


def _record_s() -> float:
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        command = [sys.executable, "-m", "firstlight", "record", "-o", f"{directory}/a.boot"]
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - began


if __name__ == "__main__":
    main()
