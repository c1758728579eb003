"""What a logic analyser saw, alone and with the capture of a console."""

from __future__ import annotations

from pathlib import Path

import firstlight
from firstlight.bundle.boot import Boot

HEAD = "$timescale 1 us $end\n$scope module libsigrok $end\n"
CONSOLE = b"[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\n[    0.500000] widget: ready\n"


def dump(*changes: str, signals: str = "power_on ready led") -> str:
    """A dump of signals with the codes `a`, `b`, and so on."""
    declared = "".join(f"$var wire 1 {chr(97 + place)} {name} $end\n" for place, name in enumerate(signals.split()))
    return f"{HEAD}{declared}$upscope $end\n$enddefinitions $end\n" + "\n".join(changes) + "\n"


def imported(directory: Path, records: dict[str, bytes], **options: object) -> Boot:
    for name, content in records.items():
        (directory / name).write_bytes(content)
    paths = [directory / name for name in records]
    return firstlight.import_(*paths, output=directory / "a.boot", **options)  # type: ignore[arg-type]


def marks_of(boot: Boot) -> dict[str, int]:
    return {row["mark"]: row["time_ns"] for row in boot.marks().to_dicts()}


def test_an_edge_of_a_signal_with_the_name_of_a_mark_is_the_mark(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"a.vcd": dump("#0 0a 0b 0c", "#1500 1a", "#9000 1c", "#1204017 1b").encode()})
    assert marks_of(boot) == {"power_on": 0, "ready": 1_202_517_000}


def test_an_edge_of_any_signal_is_a_mark_that_is_asked_for(tmp_path: Path) -> None:
    record = dump("#0 0a 0b 1c", "#1500 1a", "#9000 0c", "#1204017 1b", "#1300000 1c", signals="power_on D1 D2")
    boot = imported(tmp_path, {"a.vcd": record.encode()}, ready="D2 rises", marks=["camera_up=D1 rises"])
    assert marks_of(boot) == {"power_on": 0, "camera_up": 1_202_517_000, "ready": 1_298_500_000}


def test_a_signal_that_the_console_shows_as_well_aligns_the_two(tmp_path: Path) -> None:
    events = b"".join(
        f"{kind} {time} {len(content)}\n".encode() + content + b"\n"
        for kind, time, content in (
            ("setup", 5_000_000_000, b"source=/dev/ttyUSB0\n"),
            ("event", 5_000_000_000, b"power_on_begin"),
            ("event", 5_003_000_000, b"power_on_end"),
            ("data", 5_302_000_000, b"U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)\n"),
            ("data", 6_502_000_000, CONSOLE),
            ("event", 7_000_000_000, b"end ready"),
        )
    )
    # The analyser began 2 s before; the application raises its pin 1.9 s after power-on.
    analyser = dump("#0 0a 0b 0c", "#2000000 1a", "#3900000 1c", signals="power_on x led")
    records = {"board.capture.bin": b"firstlight capture 1\n" + events, "pins.vcd": analyser.encode()}
    boot = imported(tmp_path, records, ready="led rises")
    marks = marks_of(boot)
    assert marks["power_on"] == 0
    assert marks["ready"] == 1_900_000_000
    # The chunk that was read at 1.502 s ends with a line that the kernel printed 0.5 s after its start.
    assert marks["kernel_start"] == 1_002_000_000


def test_a_signal_without_an_edge_is_named(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"a.vcd": dump("#0 1a 0b 0c", "#9000 1b", "#9500 0b").encode()})
    (source,) = boot.manifest.sources
    assert [problem.detail for problem in source.problems] == ["the signal power_on has no edge: the mark is not known"]
    assert "power_on" not in marks_of(boot)
