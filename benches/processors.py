"""Boots every processor model that a QEMU offers, and prints a table in Markdown: what QEMU leaves out, how it ends.

    python benches/processors.py [--qemu PROGRAM] [--profile] [MODEL ...]

Each model is booted once with the default recipe, without profile unless it is asked for. Only versioned models are
booted: the others are names for one of these.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import tempfile
from pathlib import Path

import firstlight
from firstlight.bundle.machine import features_left_out
from firstlight.errors import FirstlightError
from firstlight.lab.host.progress import SilentProgress
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions


def main() -> None:
    """Boot them one after another; a row is printed as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qemu", default="qemu-system-x86_64")
    parser.add_argument("--profile", action="store_true", help="load the plugin")
    parser.add_argument("models", nargs="*", help="instead of all")
    given = parser.parse_args()
    version = subprocess.run([given.qemu, "--version"], capture_output=True, text=True, check=True).stdout.split("(")[0]
    print(f"{version.strip()}\n\n| model | features left out | result |\n|---|---|---|", flush=True)
    for model in given.models or models(given.qemu):
        print(f"| `{model}` | {' | '.join(row(model, given.qemu, profile=given.profile))} |", flush=True)


def models(qemu: str) -> list[str]:
    """The models that QEMU lists, as far as they have a version."""
    said = subprocess.run([qemu, "-cpu", "help"], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^(?:x86| ) +(\S+-v\d+)\s", said, re.MULTILINE)))


def row(model: str, qemu: str, *, profile: bool) -> tuple[str, str]:
    """What QEMU left out of a model, and how its boot ended."""
    with tempfile.TemporaryDirectory(prefix="firstlight-processors-") as folder:
        bundle = Path(folder) / "a.boot"
        options = RecordOptions(
            output=bundle, cpu=model, qemu=Path(qemu) if "/" in qemu else None, profile=profile, timeout_wall_s=300.0
        )
        try:
            record(options, SilentProgress(io.StringIO()))
            result = "ready"
        except FirstlightError as error:
            result = str(error).removeprefix(f"{bundle}: ")
        if not (bundle / "manifest.json").is_file():
            return "-", result
        boot = firstlight.open(bundle)
        if result == "ready" and boot.manifest.totals.virtual_ns is not None:
            result = f"ready at {boot.manifest.totals.virtual_ns:,} ns"
        lacking = features_left_out(boot)
        return f"{len(lacking)}: {' '.join(lacking)}" if lacking else "none", result


if __name__ == "__main__":
    main()
