"""A trace with more events than are stored: what comes after the last of them is not known, and no silence."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run

_EVENTS = 100_200
_STEP_US = 10


def test_the_time_after_the_last_stored_event_is_no_silence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.txt"
    event = "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120"
    lines = (f"     a-1     [000] d..2.     {each * _STEP_US / 1e6:.6f}: {event}\n" for each in range(_EVENTS))
    trace.write_text("# tracer: nop\n#\n" + "".join(lines) + f"     a-1     [000] d..2.     9.000000: {event}\n")
    boot = firstlight.import_(trace, output=tmp_path / "a.boot")
    stored_ns = boot.log()["time_ns"].max()
    assert boot.gaps(explained=0)["end_ns"].max() == stored_ns
    assert "silence" not in boot.path().rows["kind"].to_list()
    assert run(["log", "--gaps", str(boot.directory)]) == 0
    assert "not all events are stored, so gaps are unknown" in capsys.readouterr().out
