"""Records that are left out, and clocks that cannot be right: no boot of them is called complete."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.schema.spans import Grade
from imported_records import imported
from invented_records import InventedBoot


def _reasons(boot: firstlight.Boot) -> str:
    return "\n".join(boot.manifest.completeness.missing)


@pytest.mark.parametrize("how", ["by its version", "by its lines"])
def test_a_boot_whose_record_was_left_out_is_not_complete(how: str, tmp_path: Path) -> None:
    made, other = InventedBoot(), InventedBoot()
    if how == "by its version":
        other = InventedBoot(seed=7, version=made.version.replace("Mon Jan 1", "Tue Jan 2"))
    else:
        other.lines = [(at + (at * 7919) % 90_000 if at else 0, text) for at, text in other.lines]
    boot = imported(tmp_path, {"dmesg.txt": made.dmesg(), "odd.txt": other.dmesg()})
    assert not boot.manifest.completeness.complete
    assert "odd.txt: left out" in _reasons(boot)
    assert boot.manifest.completeness.share is None
    alone = imported(tmp_path, {"dmesg.txt": made.dmesg()})
    assert alone.manifest.completeness.complete


def test_a_record_that_no_reader_knows_is_missing_where_the_user_named_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "dmesg.txt").write_text(InventedBoot().dmesg())
    (folder / "notes.bin").write_bytes(b"\x00\x01 of no known format \x02" * 20)
    output = tmp_path / "a.boot"
    assert run(["import", str(folder), "-o", str(output)]) == 0
    assert firstlight.open(output).manifest.completeness.complete
    named = [str(folder / name) for name in ("dmesg.txt", "notes.bin")]
    assert run(["import", *named, "-o", str(output), "--force"]) == 0
    boot = firstlight.open(output)
    assert not boot.manifest.completeness.complete
    assert "notes.bin" in _reasons(boot)


def test_links_that_lead_out_of_a_folder_are_named_and_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "dmesg.txt").write_text(InventedBoot().dmesg())
    (elsewhere / "journal.json").write_text(InventedBoot().journal())
    (folder / "journal.json").symlink_to(elsewhere / "journal.json")
    (folder / "more").symlink_to(elsewhere)
    output = tmp_path / "a.boot"
    assert run(["import", str(folder), "-o", str(output)]) == 0
    said = capsys.readouterr().err
    assert "link to a file outside of the folder" in said
    assert "link to a folder outside of it" in said
    boot = firstlight.open(output)
    assert not boot.manifest.completeness.complete
    assert "journal.json" in _reasons(boot)


Host = Callable[[int], int]


def _at_random(at: int) -> int:
    return 100_000_000 + random.Random(at).randrange(50_000_000)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (lambda at: 100_000_000 + 3 * at, "3.000 times as fast"),
        (lambda at: 2_000_000_000 + 1000 * at, "1000 times as fast"),
        (lambda at: 100_000_000 + at * 6 // 5, "1.200 times as fast"),
        (lambda at: 100_000_000 + at // 1000, "stands still"),
        (lambda at: 100_000_000 + at + (86_400_000_000 if at > 1_000_000 else 0), "from any common clock"),
        (_at_random, "from any common clock"),
    ],
    ids=["three times", "thousand times", "a fifth", "still", "a day", "at random"],
)
def test_a_capture_clock_that_cannot_be_right_is_named_and_doubted(host: Host, said: str, tmp_path: Path) -> None:
    boot = imported(tmp_path, {"serial.log": _captured(InventedBoot(), host)})
    clock = next(each for each in boot.manifest.sources if each.part == "capture clock")
    problems = {problem.kind: problem.detail for problem in clock.problems}
    assert said in problems["impossible_clock"]
    assert not boot.manifest.completeness.complete
    assert said in _reasons(boot)
    phases = boot.spans().filter(boot.spans()["kind"] == "phase")
    [reason] = phases.filter(phases["grade"] == Grade.DOUBTFUL)["reason"].unique().to_list()
    assert reason.startswith("the clock of its record cannot be right")
    # The kernel's own stamps are not in doubt.
    calls = boot.spans().filter(boot.spans()["kind"] == "initcall")
    assert Grade.DOUBTFUL not in calls["grade"].to_list()


def _captured(made: InventedBoot, host: Host) -> str:
    """A capture without any delay of the console, after two lines of a loader."""
    rows = [(host(0) - 1_500_000, "U-Boot 2024.01 (Jan 01 2024)"), (host(0) - 700_000, "Starting kernel ...")]
    rows += [(host(at), f"[{at // 10**6:5}.{at % 10**6:06}] {text}") for at, text in made.lines]
    return "".join(f"[{at // 10**6}.{at % 10**6:06} 0.000000] {text}\n" for at, text in rows)


@pytest.mark.parametrize("drift_ppm", [-100, 0, 100])
def test_a_capture_clock_of_a_quartz_is_believed(drift_ppm: int, tmp_path: Path) -> None:
    made = InventedBoot()
    boot = imported(tmp_path, {"serial.log": made.grabserial(lambda at: 7_000_000 + at + at * drift_ppm // 10**6)})
    assert boot.manifest.completeness.complete
    assert Grade.DOUBTFUL not in boot.spans()["grade"].to_list()


def test_one_clock_that_shows_two_times_is_doubted(tmp_path: Path) -> None:
    made, moved = InventedBoot(), InventedBoot()
    moved.lines = [(at + 3_000_000, text) for at, text in moved.lines]
    boot = imported(tmp_path, {"dmesg.txt": made.dmesg(), "moved.txt": moved.dmesg()})
    assert "3.000000 s off" in _reasons(boot)


def test_few_shared_lines_that_lie_apart_are_doubted(tmp_path: Path) -> None:
    made = InventedBoot()
    three = [line for line in made.lines if "says something new" in line[1]][:3]
    other = "".join(f"[{(at + number * 900_000) / 1e6:12.6f}] {text}\n" for number, (at, text) in enumerate(three))
    boot = imported(tmp_path, {"dmesg.txt": made.dmesg(), "few.txt": other})
    assert "from any common clock" in _reasons(boot)


@pytest.mark.parametrize("ends", ["in the kernel", "in userspace"])
def test_a_log_that_ends_in_the_kernel_says_that_userspace_is_not_seen(
    ends: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = InventedBoot().dmesg().splitlines(keepends=True)
    cut = lines.index(next(line for line in lines if "Freeing unused" in line))
    lines = [line for line in lines[:cut] if "initcall" not in line and "calling" not in line] + (
        lines[cut:] if ends == "in userspace" else []
    )
    imported(tmp_path, {"dmesg.txt": "".join(lines)})
    assert run(["show", str(tmp_path / "a.boot")]) == 0
    said = "no line shows that userspace began" in capsys.readouterr().out
    assert said == (ends == "in the kernel")
