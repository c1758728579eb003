"""Predicted boots: how far is the *ready* that a replay predicts from that of the boot without the work?"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from firstlight.analysis.replay.predict import predict
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.experiment.boot_cache import obtain
from firstlight.experiment.change import FileChange
from firstlight.experiment.files import overlay_for
from firstlight.experiment.prove import prove
from firstlight.lab.host.progress import SilentProgress
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.options import RecordOptions

#: The error of the predicted *ready* that is allowed: its median and its worst.
MEDIAN, WORST = 0.02, 0.10
_COUNT = "i=0; while [ $$i -lt {} ]; do i=$$((i+1)); done"
#: Services that are planted: type, further lines of the unit, and what a shell runs.
SERVICES = {
    "burn": ("oneshot", "", _COUNT.format(40_000)),
    "background": ("simple", "", _COUNT.format(60_000)),
    "nap": ("oneshot", "", "sleep 2"),
    "chain": ("oneshot", "After=plant-nap.service", _COUNT.format(15_000)),
    "forks": ("oneshot", "", "i=0; while [ $$i -lt 60 ]; do /bin/true; i=$$((i+1)); done"),
    "files": ("oneshot", "", "find /usr/share /usr/lib -type f >/dev/null"),
    "pause": ("oneshot", "", "sleep 5"),
}
_BUSY = ("burn", "background", "nap", "chain", "forks", "files")
_IDLE = ("burn", "pause")


@dataclass(frozen=True)
class Change:
    """What is taken out, and of which boot."""

    without: str
    planted: tuple[str, ...] = _BUSY


CHANGES = (
    *(Change(f"plant-{name}.service") for name in _BUSY if name != "nap"),
    Change("e2scrub_reap.service"),
    Change("crypto_algapi_init"),
    Change("systemd-sysv-generator"),
    *(Change(f"plant-{name}.service", _IDLE) for name in _IDLE),
)
QUICK = ("plant-burn.service",)


def main() -> None:
    """Print a row for each change, and the median and the worst error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"take out {', '.join(QUICK)} alone")
    given = parser.parse_args()
    print("| without | of | ready | predicted | booted | error | its effect | of it predicted |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    errors = []
    for change in CHANGES:
        if given.quick and (change.without not in QUICK or change.planted is not _BUSY):
            continue
        boot = planted(change.planted)
        found = predict(boot, [change.without])
        proof = prove(boot, found)
        errors.append(abs(proof.error))
        effect = proof.proved_ns - found.recorded_ns
        figures = (found.recorded_ns, found.predicted_ns, proof.proved_ns)
        cells = " | ".join(f"{ns / 1e6:,.1f} ms" for ns in figures)
        effects = " | ".join(f"{ns / 1e6:+,.1f} ms" for ns in (effect, found.change_ns))
        planted_ones = "+".join(change.planted)
        print(f"| {change.without} | {planted_ones} | {cells} | {proof.error:+.2%} | {effects} |", flush=True)
    print(f"\n{len(errors)} changes, error of the predicted ready: median {median(errors):.2%} (allowed {MEDIAN:.0%}), "
          f"worst {max(errors):.2%} (allowed {WORST:.0%})")  # fmt: skip
    if median(errors) >= MEDIAN or max(errors) >= WORST:
        raise SystemExit(1)


@cache
def planted(services: tuple[str, ...]) -> Boot:
    """Debian with planted services, from the cache where it was recorded before."""
    files = {}
    for name in services:
        kind, more, script = SERVICES[name]
        lines = ["[Unit]", "Before=multi-user.target", more, "[Service]", f"Type={kind}",
                 f"ExecStart=/bin/sh -c '{script}'", ""]  # fmt: skip
        unit = f"/etc/systemd/system/plant-{name}.service"
        files[unit] = FileChange(text="\n".join(lines))
        files[f"/etc/systemd/system/multi-user.target.wants/plant-{name}.service"] = FileChange(link=unit)
    output = Path(f"{'-'.join(services)}.boot")
    options = RecordOptions(output=output, rootfs="debian", overlay=overlay_for(files, Path()))
    progress = SilentProgress()
    place, _ = obtain(options, resolve(options, progress), progress)
    return open_boot(place)


if __name__ == "__main__":
    main()
