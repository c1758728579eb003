"""What a console's capture says of what ran before the kernel, and of the console itself."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from firstlight.analysis.console_cost import console_cost
from firstlight.cli.main import run
from imported_records import imported

KERNEL = (
    (0.0, "Linux version 6.12.1-x (a@b) (gcc 14) #1 SMP PREEMPT"),
    (0.1, "calling  aaa_init+0x0/0x58 @ 1"),
    (0.203098, "initcall aaa_init+0x0/0x58 returned 0 after 103098 usecs"),
    (1.0, "Freeing unused kernel image (initmem) memory: 2048K"),
    (1.1, "Run /sbin/init as init process"),
)
STAMPED = [f"[{at:12.6f}] {text}" for at, text in KERNEL]
BOOTSTAGE = """\
Timer summary in microseconds (3 records):
       Mark    Elapsed  Stage
          0          0  reset
    120,500    120,500  board_init_f
  1,300,000  1,179,500  start_kernel
"""


@pytest.mark.parametrize(
    "stamp", ["{:.6f} ", "[{:12.6f}] ", "2026-01-02T03:04:{:09.6f} ", "[2026-01-02 03:04:{:06.3f}] "]
)
def test_a_hosts_times_place_the_loader_before_the_kernels_own_stamps(stamp: str, tmp_path: Path) -> None:
    loader = ((1.0, "U-Boot 2024.01 (Jan 01 2024 - 00:00:00 +0000)"), (1.5, "Starting kernel ..."))
    kernel = [(3.5 + at, line) for (at, _), line in zip(KERNEL, STAMPED, strict=True)]
    text = "".join(f"{stamp.format(at)}{line}\n" for at, line in [*loader, *kernel])
    boot = imported(tmp_path, {"console.log": text})
    assert boot.manifest.sources[0].format == "host-stamped"
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    assert marks["firmware_start"] == 0
    assert marks["kernel_entry"] == pytest.approx(500_000_000, abs=1_000_000)
    assert marks["kernel_start"] == pytest.approx(2_500_000_000, abs=1_000_000)
    assert boot.spans().filter(pl.col("kind") == "initcall")["duration_ns"].to_list() == [103_098_000]


@pytest.mark.parametrize("together", [True, False])
def test_the_stages_of_u_boot_end_where_the_kernel_begins(together: bool, tmp_path: Path) -> None:
    console = "U-Boot 2024.01 (Jan 01 2024 - 00:00:00 +0000)\n{}\nStarting kernel ...\n" + "\n".join(STAMPED) + "\n"
    apart = {"console.log": console.format(""), "bootstage.txt": BOOTSTAGE}
    boot = imported(tmp_path, {"console.log": console.format(BOOTSTAGE)} if together else apart)
    assert boot.phases().select("phase", "start_ns", "end_ns").row(0) == ("firmware", 0, 1_300_000_000)
    assert boot.spans().filter(pl.col("kind") == "firmware")["duration_ns"].sum() == 1_300_000_000
    fits = [source.fit.basis for source in boot.manifest.sources if source.fit is not None]
    assert any(how.startswith("assumed: ") for how in fits)


def test_dates_of_whole_seconds_are_of_the_same_boot(tmp_path: Path) -> None:
    ctime = "".join(f"[Fri Feb 13 23:31:{30 + int(at):02d} 2009] {text}\n" for at, text in KERNEL)
    boot = imported(tmp_path, {"dmesg.txt": "\n".join(STAMPED) + "\n", "dmesg-T.txt": ctime})
    assert all(source.fit is not None for source in boot.manifest.sources)
    told = {Path(source.name).name: [problem.detail for problem in source.problems] for source in boot.manifest.sources}
    assert told.pop("dmesg.txt") == []
    (of_dates,) = told.values()
    assert [detail.split(":")[0] for detail in of_dates] == ["the timestamps have whole seconds only"]
    assert boot.log()["text"].to_list() == [text for _, text in KERNEL]


def test_what_a_late_console_printed_again_is_the_consoles(tmp_path: Path) -> None:
    before = [STAMPED[0], "[    0.050000] printk: legacy console [ttyS0] enabled"]
    boot = imported(tmp_path, {"console.log": "\n".join([*before, *before, *STAMPED[1:]]) + "\n"})
    assert console_cost(boot).measured_ns == 50_000_000


def test_a_capture_in_which_nothing_piled_up_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def measured(name: str, text: str) -> str:
        boot = imported(tmp_path, {name: text})
        capsys.readouterr()
        assert run(["log", "--console-cost", str(boot.directory)]) == 0
        shown = capsys.readouterr().out.splitlines()
        return next(line for line in shown if line.lstrip().startswith("measured"))

    late = [
        (3.5 + at + 0.01 * number, line) for number, ((at, _), line) in enumerate(zip(KERNEL, STAMPED, strict=True))
    ]
    assert "none: by the capture's clock" in measured("c.log", "".join(f"{at:.6f} {line}\n" for at, line in late))
    assert "unknown: a capture" in measured("dmesg.txt", "\n".join(STAMPED) + "\n")


def test_histograms_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"{{ func: [ffffffff8100{n:04x}] f{n}_init }} hitcount: 1  lat: {n}" for n in range(20))
    text = f"# event histogram\n#\n# trigger info: hist:keys=func.sym:vals=lat [active]\n#\n\n{rows}\n"
    boot = imported(tmp_path, {"hist.txt": text})
    capsys.readouterr()
    assert run(["show", str(boot.directory)]) == 0
    shown = capsys.readouterr().out
    assert "hist:keys=func.sym:vals=lat [active]" in shown
    assert "f14_init" in shown
    assert "f15_init" not in shown
    assert "5 more rows" in shown
    assert run(["functions", str(boot.directory)]) == 1
    assert "firstlight show" in capsys.readouterr().err


def test_a_boot_of_which_evidence_is_missing_is_not_called_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = "\n".join(STAMPED) + "\n"
    dropped = whole.replace(STAMPED[2], f"** 12 printk messages dropped **\n{STAMPED[2]}")
    for text, state, evidence in ((whole, "complete", "nothing is known"), (dropped, "incomplete", "incomplete")):
        boot = imported(tmp_path, {"dmesg.txt": text})
        capsys.readouterr()
        assert run(["show", str(boot.directory)]) == 0
        shown = capsys.readouterr().out
        # A long path may wrap the line.
        assert f"imported mode, {state} " in " ".join(shown.split()) + " "
        assert f"Evidence: {evidence}" in shown
