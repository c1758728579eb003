"""Twelve captures of one machine whose kernel's clock begins anew early: equal treatment, and the true gap.

Each capture is a boot of the same machine: the kernel's clock begins anew between two lines, at another value in
each, as when the processor's own counter becomes its base. The truth is known: each capture's times are made from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from firstlight.api import Boot
from firstlight.lab.capture.file import CaptureFile

#: What the new clock shows at its first line, in microseconds: below and above a millisecond, and right at it.
NEW_BASES_US = (1, 40, 170, 400, 650, 999, 1000, 1001, 1041, 1300, 2200, 3900)
#: The gap between the lines around the new base, in microseconds, another in each capture.
GAPS_US = tuple(4_000 + 170 * number for number in range(len(NEW_BASES_US)))
#: By the true time in microseconds since the kernel's first line.
BEFORE = ((0, "Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP"), (20_000, "Kernel command line: quiet"),
          (44_000, "tsc: Detected 2000.000 MHz processor"))  # fmt: skip
#: By the time behind the first line of the new clock.
BEHIND = ((0, "gizmo: bound"), (1_000, "gizmo: up"), (9_000, "widget: bound"), (29_600, "widget: up"),
          (49_600, "gadget: done"), (300_000, "Run /sbin/init as init process"), (900_000, "app: up"))  # fmt: skip
KERNEL_FROM_US = 1_000_000

Lines = list[tuple[int, int, str]]


def lines_of(number: int) -> Lines:
    """The lines of one capture: the host's time and the kernel's stamp in microseconds, and the text."""
    begins = BEFORE[-1][0] + GAPS_US[number]
    lines = [(KERNEL_FROM_US + time, time, text) for time, text in BEFORE]
    return lines + [(KERNEL_FROM_US + begins + time, NEW_BASES_US[number] + time, text) for time, text in BEHIND]


def seconds(time_us: int) -> str:
    return f"{time_us // 1_000_000}.{time_us % 1_000_000:06}"


def host_stamped(lines: Lines, path: Path) -> Path:
    """As `host-stamped`: the host's seconds in front of each line."""
    path.write_text("".join(f"[{seconds(host):>12}] [{seconds(own):>12}] {text}\n" for host, own, text in lines))
    return path


def grabserial(lines: Lines, path: Path) -> Path:
    """As `grabserial -t` writes it: time and difference."""
    rows, last = [], 0
    for host, own, text in lines:
        rows.append(f"[{seconds(host)} {seconds(host - last)}] [{seconds(own):>12}] {text}\n")
        last = host
    path.write_text("".join(rows))
    return path


def dated(lines: Lines, path: Path) -> Path:
    """With a date in front, as `ts` and terminal programs write it."""
    rows = [f"2024-01-02 03:04:{seconds(host):>09} [{seconds(own):>12}] {text}\n" for host, own, text in lines]
    path.write_text("".join(rows))
    return path


def captured(lines: Lines, path: Path) -> Path:
    """As `firstlight capture` writes it."""
    path = path.with_suffix(".capture.bin")
    with CaptureFile(path) as file:
        file.setup({"source": "/dev/ttyUSB0", "baud": 115200})
        for host, own, text in lines:
            file.data(5_000_000_000 + host * 1000, f"[{seconds(own):>12}] {text}\r\n".encode())
        file.event("end timeout", 9_000_000_000)
    return path


FORMS: dict[str, Callable[[Lines, Path], Path]] = {
    "host-stamped": host_stamped,
    "grabserial": grabserial,
    "dated": dated,
    "capture": captured,
}


def treatment(boot: Boot) -> tuple[object, ...]:
    """What Firstlight made of a capture, without its times: what is missing, the marks, and the grade of each span."""
    completeness = boot.manifest.completeness
    missing = tuple(re.sub(r"\d+", "N", text) for text in completeness.missing)
    grades = tuple(boot.spans().select("kind", "name", "grade").iter_rows())
    return completeness.complete, missing, tuple(boot.marks()["mark"]), grades


@pytest.mark.parametrize("form", FORMS)
def test_twelve_captures_of_one_machine_get_the_same_treatment_and_the_true_gap(form: str, tmp_path: Path) -> None:
    treatments = set()
    for number in range(len(NEW_BASES_US)):
        record = FORMS[form](lines_of(number), tmp_path / f"{number}.log")
        boot = firstlight.import_(record, output=tmp_path / f"{number}.boot", ready="app: up")
        treatments.add(treatment(boot))
        times = dict(boot.log().select("text", "time_ns").iter_rows())
        begins = (BEFORE[-1][0] + GAPS_US[number]) * 1000
        truth = {text: time * 1000 for time, text in BEFORE} | {text: begins + time * 1000 for time, text in BEHIND}
        assert {text: times[text] for text in truth} == pytest.approx(truth, abs=2_000)
        marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
        assert marks["ready"] - marks["kernel_start"] == pytest.approx(begins + 900_000_000, abs=2_000)
    assert len(treatments) == 1


def test_without_a_clock_of_the_host_all_of_them_get_the_same_treatment_too(tmp_path: Path) -> None:
    treatments = set()
    for number in range(len(NEW_BASES_US)):
        record = tmp_path / f"{number}.log"
        record.write_text("".join(f"[{seconds(own):>12}] {text}\n" for _, own, text in lines_of(number)))
        boot = firstlight.import_(record, output=tmp_path / f"{number}.boot", ready="app: up")
        treatments.add(treatment(boot))
        marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
        # Nothing shows the gap; the time of the new clock up to its first line is at least a part of it.
        assert 0 <= marks["ready"] - 944_000_000 <= NEW_BASES_US[number] * 1000
    assert len(treatments) == 1
