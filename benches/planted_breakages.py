"""Planted breakages: does `firstlight health` catch each, by the check that is for it, and nothing in sound boots?

Every breakage is planted in a recorded boot, of the minimal guest or of Debian with systemd. A sound change, such as
another seed, has to pass.
"""

from __future__ import annotations

import argparse
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from firstlight.advise.health.health import check_health
from firstlight.bundle.open import open as open_boot
from firstlight.errors import UnhealthyBootError
from firstlight.experiment.change import FileChange
from firstlight.experiment.files import overlay_for
from firstlight.experiment.parallel import side_by_side
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

MINIMAL: dict[str, Any] = {}
#: A disk with a file on it, an hourly job and a port: what the breakages of Debian take away.
DISK = (
    "truncate -s 16M /var/disk && mkfs.ext4 -q /var/disk && mkdir -p /srv/data && mount -o loop /var/disk /srv/data "
    "&& echo story > /srv/data/book"
)
DEBIAN: dict[str, Any] = {"rootfs": "debian", "guest_commands": (DISK,)}


@dataclass(frozen=True)
class Breakage:
    """One planted breakage."""

    name: str
    check: str
    base: dict[str, Any]
    change: dict[str, Any] = field(default_factory=dict)
    files: dict[str, FileChange] = field(default_factory=dict)


def _unit(name: str, text: str) -> dict[str, FileChange]:
    return {f"/etc/systemd/system/{name}": FileChange(text=text)}


def _masked(name: str) -> dict[str, FileChange]:
    return {f"/etc/systemd/system/{name}": FileChange(link="/dev/null")}


FAILS = "[Unit]\nDescription=A unit that fails\n[Service]\nType=oneshot\nExecStart=/bin/false\n"
WANTED = FileChange(link="/etc/systemd/system/fails.service")
OPEN = "[Service]\nSystemCallFilter=\nNoNewPrivileges=no\nRestrictNamespaces=no\n"
BREAKAGES = (
    Breakage("lpj an eighth", "HC-LPJ", MINIMAL, {"append": "lpj=500000"}),
    Breakage("lpj eight times too large", "HC-LPJ", MINIMAL, {"append": "lpj=32000000"}),
    Breakage("mitigations off", "HC-VULN", MINIMAL, {"append": "mitigations=off"}),
    Breakage("devices without ACPI", "HC-DEV", MINIMAL, {"append": "acpi=off"}),
    Breakage("controller without its driver", "HC-DRIVER", MINIMAL, {"append": "initcall_blacklist=i8042_init"}),
    Breakage("half of the memory", "HC-MEM", MINIMAL, {"append": "mem=256M"}),
    Breakage("clock source of the HPET", "HC-CLOCK", MINIMAL, {"append": "clocksource=hpet"}),
    Breakage("argument that nothing reads", "HC-CMDLINE", MINIMAL, {"append": "tpyo=1"}),
    Breakage("guest that cannot power off", "HC-POWEROFF", MINIMAL, {"append": "acpi=off"}),
    Breakage("panic", "HC-BOOT", MINIMAL, {"append": "init=/nowhere rdinit=/nowhere"}),
    Breakage("failed unit", "HC-UNITS", DEBIAN, files={
        **_unit("fails.service", FAILS), "/etc/systemd/system/multi-user.target.wants/fails.service": WANTED}),
    Breakage("unit that does not start", "HC-ACTIVE", DEBIAN, files=_masked("cron.service")),
    Breakage("lost mount", "HC-MOUNT", DEBIAN, files=_masked("dev-mqueue.mount")),
    Breakage("lost file", "HC-CONTENT", DEBIAN, {
        "guest_commands": (DISK, "rm /srv/data/book")}),
    Breakage("journal not replayed", "HC-FS", DEBIAN, {
        "guest_commands": (DISK, "umount /srv/data; mount -o loop,ro,noload /var/disk /srv/data")}),
    Breakage("journal without its sandbox", "HC-POLICY", DEBIAN, files={
        "/etc/systemd/system/systemd-journald.service.d/open.conf": FileChange(text=OPEN)}),
    Breakage("module that is not loaded", "HC-MOD", DEBIAN, files={
        "/etc/modprobe.d/no-evdev.conf": FileChange(text="blacklist evdev\n")}),
    Breakage("kernel setting", "HC-POLICY", DEBIAN, files={
        "/etc/sysctl.d/99-open.conf": FileChange(text="kernel.dmesg_restrict = 0\n")}),
)  # fmt: skip
SOUND = (
    Breakage("another seed", "", MINIMAL, {"seed": 7}),
    Breakage("quiet", "", MINIMAL, {"append": "quiet"}),
    Breakage("another seed of Debian", "", DEBIAN, {"seed": 7}),
)


def main() -> int:
    """Boot everything, and say what was caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the minimal guest only")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="maximum number of parallel boots")
    arguments = parser.parse_args()
    cases = [each for each in (*BREAKAGES, *SOUND) if not arguments.quick or each.base is MINIMAL]
    results: dict[str, tuple[bool, str]] = {}
    with TemporaryDirectory(prefix="firstlight-breakages-") as name:
        folder = Path(name)
        baselines = [base for base in (MINIMAL, DEBIAN) if any(each.base is base for each in cases)]
        boots = {id(base): folder / f"baseline-{place}.boot" for place, base in enumerate(baselines)}
        side_by_side(lambda base: _boot(base, {}, {}, boots[id(base)]), baselines, arguments.jobs, threading.Event())

        def one(case: Breakage) -> None:
            output = folder / f"{case.name.replace(' ', '-')}.boot"
            _boot(case.base, case.change, case.files, output)
            health = check_health(open_boot(output), open_boot(boots[id(case.base)]))
            failed = [check.id for check in health.failed]
            caught = case.check in failed if case.check else not failed
            results[case.name] = (caught, ", ".join(failed) or "none")
            verdict = f"{'ok  ' if caught else 'MISS'} {case.name}: wanted {case.check or 'none'}"
            print(f"{verdict}, failed {results[case.name][1]}", flush=True)

        side_by_side(one, cases, arguments.jobs, threading.Event())
    planted = [each for each in cases if each.check]
    sound = [each for each in cases if not each.check]
    caught = sum(results[each.name][0] for each in planted)
    quiet = sum(results[each.name][0] for each in sound)
    print(f"{caught} of {len(planted)} planted breakages caught; {quiet} of {len(sound)} sound changes pass")
    return 0 if caught == len(planted) and quiet == len(sound) else 1


def _boot(base: dict[str, Any], change: dict[str, Any], files: dict[str, FileChange], output: Path) -> None:
    overlay = overlay_for(files, Path())
    try:
        record(RecordOptions(output=output, profile=False, overlay=overlay, **{**base, **change}))
    except UnhealthyBootError:
        # That it does not come up is what one of them plants.
        return


if __name__ == "__main__":
    sys.exit(main())
