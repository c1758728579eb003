"""Memory: of the plugin, as the growth of QEMU's peak; and of the process that records and writes the bundle."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from measuring.boots import boot, inputs
from measuring.figures import arguments, line, spread, title

_SCRIPT = """
import resource, sys
from pathlib import Path
from firstlight.recipe.options import RecordOptions
from firstlight.lab.run.record import record
record(RecordOptions(output=Path(sys.argv[1]), rootfs=sys.argv[2] or None))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Both user lands; peaks of resident memory."""
    quick = arguments(__doc__ or "").quick
    for name, rootfs in [("default recipe", None)] if quick else [("default recipe", None), ("Debian", "debian")]:
        title(f"Peak memory, {name}")
        plain, profiled = inputs(profile=False, rootfs=rootfs), inputs(profile=True, rootfs=rootfs)
        growth, writer = [], []
        for _ in range(1 if quick else 3):
            growth.append(boot(profiled).peak_mib - boot(plain).peak_mib)
            writer.append(_writer_mib(rootfs))
        line("QEMU with the plugin above QEMU without", spread(growth, "MiB"), "below 300 MB")
        line("process that records and writes the bundle", spread(writer, "MiB"), "below 300 MB")


def _writer_mib(rootfs: str | None) -> float:
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        command = [sys.executable, "-c", _SCRIPT, f"{directory}/a.boot", rootfs or ""]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
