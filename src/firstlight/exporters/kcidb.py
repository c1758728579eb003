"""KernelCI: a submission of the I/O schema 5.3 (https://docs.kernelci.org/kcidb/), a test for each figure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from firstlight.bundle.boot import Boot
from firstlight.errors import UsageError
from firstlight.escape import printable
from firstlight.exporters.figures import Figures, figures_of, plain_names
from firstlight.exporters.result import Exported

#: The version of the schema that submissions follow.
VERSION = {"major": 5, "minor": 3}
_ORIGIN = re.compile(r"[a-z0-9_]+")


def write_kcidb(boot: Boot, out: Path, origin: str = "firstlight", build: str | None = None) -> Exported:
    """Write the figures of *boot* to *out* as tests below `boot`: ASCII, the same for the same bundle.

    :param origin: the name under which the CI system submits.
    :param build: the id of the build that booted, as it was submitted; by default one made of the kernel's digest.
    :raises UsageError: for an origin or id that the schema does not allow.
    :raises BundleError: when a table cannot be read.
    """
    if not _ORIGIN.fullmatch(origin):
        raise UsageError(f"not an origin of KernelCI: `{origin}`", hint="lower case letters, digits and `_`")
    if build is not None and not re.fullmatch(r"[a-z0-9_]+:[^\0]*", build):
        raise UsageError(f"not the id of a build: `{printable(build)}`", hint="such as `maestro:67e1c3f0`")
    figures = figures_of(boot)
    exported = Exported()
    if build is None:
        known = boot.manifest.digests.get("kernel") or figures.kernel or figures.digest
        build = f"{origin}:{printable(known)}"
        exported.notes.append(f"the id of the build is generated: {build}; `--build-id` sets the submitted one")
    tests = _tests(figures, origin, build)
    exported.counts["tests"] = len(tests)
    document = {"version": VERSION, "tests": tests}
    out.write_text(json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1) + "\n", encoding="ascii")
    return exported


def _tests(figures: Figures, origin: str, build: str) -> list[dict[str, Any]]:
    about = {
        "comment": f"{figures.mode} boot, time of the clock {figures.clock}",
        "misc": {"mode": figures.mode, "clock": figures.clock, "kernel": printable(figures.kernel or "unknown")},
    }

    def test(path: str, status: str, comment: str, number: dict[str, Any] | None) -> dict[str, Any]:
        found: dict[str, Any] = {
            "id": f"{origin}:{figures.digest}-{path}",
            "build_id": build,
            "origin": origin,
            "path": path,
            "status": status,
            "comment": printable(comment),
            "environment": about,
        }
        if number is not None:
            found["number"] = number
        if figures.recorded_at is not None:
            found["start_time"] = figures.recorded_at.isoformat()
        return found

    whole = f"from {figures.first} to {figures.last}"
    if figures.came_up:
        tests = [test("boot", "PASS", whole, _seconds(figures.total_ns))]
    else:
        tests = [test("boot", "FAIL", figures.why_not or "the boot is incomplete", None)]
    if figures.instructions is not None:
        tests.append(test("boot.instructions", "DONE", whole, {"value": figures.instructions, "prefix": "metric"}))
    if figures.idle_ns is not None:
        tests.append(test("boot.idle", "DONE", whole, _seconds(figures.idle_ns)))
    for kind, values in (("phase", figures.phases), ("mark", figures.marks)):
        for (name, ns), shown in zip(plain_names(values).items(), values, strict=True):
            status = "FAIL" if kind == "phase" and shown in figures.unfinished else "DONE"
            tests.append(test(f"boot.{kind}.{name}", status, f"{kind} {shown}", _seconds(ns)))
    return tests


def _seconds(ns: int) -> dict[str, Any]:
    return {"value": ns / 1e9, "unit": "s", "prefix": "metric"}
