"""Models of disks fitted to logs: what was planted is found, and what a log lacks is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.errors import UsageError
from firstlight.lab.storage.fit import fit_storage
from firstlight.lab.storage.model import read_model

READ, RUN, READ_RATE = 180_000, 90_000, 140_000_000
WRITE, WRITE_RATE, FLUSH = 250_000, 60_000_000, 1_500_000
TRACE = "      kworker/0:1-12      [000] d..1.    {time}: block_rq_{what}"
CONSOLE = "[    {time}] block_rq_{what}"


def log(form: str, *, noise: float = 0.0, sizes: tuple[int, ...] = (8, 32, 64, 256), reads: int = 120) -> list[str]:
    """A log of a disk with these costs; every twentieth read takes ten times as long where there is noise."""
    dice, now, end, lines = random.Random(3), 1_000_000_000, 0, []

    def line(what: str, text: str) -> None:
        lines.append(form.format(time=f"{now // 10**9}.{now // 1000 % 10**6:06}", what=what) + text + "\n")

    for number in range(reads):
        sectors = dice.choice(sizes)
        sequential = number % 3 == 1
        start = end if sequential else dice.randrange(1_000_000) * 8
        kind = "W" if number % 5 == 4 else "R"
        line(
            "issue", f": 179,0 {kind}{'A' if sequential else ''} {sectors * 512} () {start} + {sectors} none,0,0 [init]"
        )
        cost = (RUN if sequential else READ) + sectors * 512 * 10**9 // READ_RATE
        if kind == "W":
            cost = WRITE + sectors * 512 * 10**9 // WRITE_RATE
        else:
            end = start + sectors
        cost = round(cost * (1 + noise * dice.gauss(0, 1))) * (10 if noise and number % 20 == 0 else 1)
        now += cost
        line("complete", f": 179,0 {kind} () {start} + {sectors} [0]")
        now += 20_000
        if number % 10 == 9:
            line("issue", ": 179,0 FF 0 () 0 + 0 [jbd2/mmcblk0-8]")
            now += FLUSH
            line("complete", ": 179,0 FF () 0 + 0 [0]")
    return lines


@pytest.mark.parametrize("form", [TRACE, CONSOLE], ids=["trace", "console"])
def test_the_costs_that_were_planted_are_found(form: str) -> None:
    fit = fit_storage(log(form), "board", "a.log")
    read, write = fit.model.read, fit.model.write
    assert fit.device == "179,0"
    # The kernel's clock has microseconds.
    assert read.latency == pytest.approx(READ, abs=2_000)
    assert read.sequential_latency == pytest.approx(RUN, abs=2_000)
    assert read.bandwidth == pytest.approx(READ_RATE, rel=0.01)
    assert write.latency == pytest.approx(WRITE, abs=5_000)
    assert write.bandwidth == pytest.approx(WRITE_RATE, rel=0.01)
    assert fit.model.flush.latency == pytest.approx(FLUSH, abs=2_000)
    assert fit.median_error < 0.01
    assert fit.writes_are_fitted


def test_noise_and_outliers_do_not_lead_it_away() -> None:
    fit = fit_storage(log(TRACE, noise=0.05, reads=400), "board", "a.log")
    assert fit.model.read.latency == pytest.approx(READ, rel=0.1)
    assert fit.model.read.bandwidth == pytest.approx(READ_RATE, rel=0.1)
    assert fit.median_error < 0.1


def test_requests_that_overlap_do_not_count() -> None:
    lines = log(TRACE)
    other = [
        "x-1 [000] d... 1.000001: block_rq_issue: 179,0 R 4096 () 96 + 8 [x]\n",
        "x-1 [000] d... 1.900000: block_rq_complete: 179,0 R () 96 + 8 [0]\n",
    ]
    fit = fit_storage([lines[0], other[0], lines[1], other[1], *lines[2:]], "board", "a.log")
    assert fit.overlapping == 2
    with pytest.raises(UsageError, match="reads without overlap"):
        fit_storage([other[0], *lines[:40]], "board", "a.log")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["[    0.000000] Linux version 6.1\n"], "no block requests"),
        (log(TRACE, reads=8), "reads without overlap, but 20 are needed"),
        (log(TRACE, sizes=(8,)), "do not show a bandwidth"),
    ],
    ids=["none", "few", "one size"],
)
def test_what_a_log_lacks_is_named(lines: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        fit_storage(lines, "board", "a.log")
    assert caught.value.hint


def test_another_disk_can_be_chosen(tmp_path: Path) -> None:
    lines = log(TRACE) + [line.replace("179,0", "8,16") for line in log(TRACE, reads=60)]
    assert fit_storage(lines, "board", "a.log", "8,16").reads < fit_storage(lines, "board", "a.log").reads
    with pytest.raises(UsageError, match="no disk has the number 1,1") as caught:
        fit_storage(lines, "board", "a.log", "1,1")
    assert caught.value.hint == "there are: 179,0, 8,16"


def test_the_command_writes_a_model_that_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, out = tmp_path / "trace.txt", tmp_path / "board.toml"
    record.write_bytes("".join(log(TRACE)).encode() + b"\xff\n")
    assert run(["calibrate", str(record), "--storage", "-o", str(out)]) == 0
    assert "140." in capsys.readouterr().out
    model = read_model(out)
    assert model.name == "board"
    assert "Fitted to" in model.source
    assert firstlight.calibrate_storage(record).model.read == model.read
    assert run(["calibrate", str(record), "--storage", "-o", str(out)]) != 0
    assert "already exists" in capsys.readouterr().err
    assert run(["calibrate", str(tmp_path / "none"), "--storage"]) != 0
    assert run(["calibrate", str(record), "--device", "8,0"]) == 2
    assert run(["calibrate", str(record), "--storage", "--pairs", "12"]) == 2
    assert run(["calibrate", str(record), "--storage", "--json"]) == 0
