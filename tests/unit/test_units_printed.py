"""The table of units as it is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.cli.main import run
from imported_bundle import Spans, write_bundle


def test_the_parts_of_a_device_that_are_printed_add_up_to_when_it_was_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = Spans()
    spans.add("stage", "userspace", (2000, 4800))
    spans.add("unit", "dev-sda1.device", (2200, 3500), track="systemd")
    path = write_bundle(tmp_path, "device.boot", spans=spans)
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["units", str(path)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("dev-sda1.device"))
    # Start, Waiting, ordered, held, Activation: it was up 1.5 s after the stage began.
    assert " ".join(line.split()).startswith(
        "dev-sda1.device 2.200000 s 200.000 ms 0 ns h 200.000 ms 1.300000 s"
    )  # fmt: skip
