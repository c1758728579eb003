"""Marks of the user's own in imported boots: `--ready REGEX` and `--mark NAME=REGEX`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import firstlight
from firstlight.api import Boot
from firstlight.errors import UsageError

CONSOLE = """\
[    1.000000] U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)
[    3.500000] [    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP
[    4.000000] [    0.500000] widget: ready
[    4.250000] camera 0 up
[    5.000000] app: picture shown
[    9.000000] box login:
"""


def imported(directory: Path, text: str = CONSOLE, **wanted: Any) -> Boot:
    record = directory / "board.log"
    record.write_text(text)
    return firstlight.import_(record, output=directory / "a.boot", force=True, **wanted)


def marks(boot: Boot) -> dict[str, int]:
    return dict(boot.marks().select("mark", "time_ns").iter_rows())


def missing(boot: Boot) -> list[str]:
    return list(boot.manifest.completeness.missing)


def test_a_boot_ends_where_its_ready_line_is(tmp_path: Path) -> None:
    boot = imported(tmp_path, ready="picture shown$", marks=["camera_up=camera [0-9] up"])
    found = marks(boot)
    assert list(found)[-1] == "ready"
    assert (found["camera_up"], found["ready"]) == (3_250_000_000, 4_000_000_000)
    assert "login_prompt" not in found
    assert boot.phases()["duration_ns"].sum() == found["ready"]


def test_without_patterns_nothing_changes(tmp_path: Path) -> None:
    assert list(marks(imported(tmp_path)))[-1] == "login_prompt"


@pytest.mark.parametrize(("name", "hint"), [("kernel_start", "another name"), ("ready", "--ready")])
def test_a_mark_of_the_vocabulary_is_rejected(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=name) as rejected:
        imported(tmp_path, marks=[f"{name}=picture"])
    assert hint in str(rejected.value.hint)


def test_the_first_line_that_matches_has_the_mark(tmp_path: Path) -> None:
    assert (
        marks(imported(tmp_path, CONSOLE + CONSOLE.splitlines(keepends=True)[-1], marks=["up=up$|login"]))["up"]
        == 3_250_000_000
    )


def test_a_pattern_that_matches_nothing_is_a_reason_of_incompleteness(tmp_path: Path) -> None:
    boot = imported(tmp_path, ready="never")
    assert "no line matches the pattern of the mark `ready`: `never`" in missing(boot)
    assert list(marks(boot))[-1] == "login_prompt"


def test_two_marks_of_one_line_are_both_set_and_named(tmp_path: Path) -> None:
    (tmp_path / "board.log").write_text(CONSOLE)
    written = firstlight.import_all(
        [tmp_path / "board.log"], output=tmp_path / "a.boot", marks=["one=camera", "two=camera 0"]
    )
    assert [text for text in written[0].summary["warnings"] if "`one` and `two`" in text]
    found = marks(firstlight.open(tmp_path / "a.boot"))
    assert found["one"] == found["two"]


def test_a_mark_after_ready_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "board.log").write_text(CONSOLE)
    written = firstlight.import_all(
        [tmp_path / "board.log"], output=tmp_path / "a.boot", ready="widget", marks=["camera=camera"]
    )
    assert [text for text in written[0].summary["warnings"] if "`camera` is 0.250000 s after the end" in text]
    assert list(marks(firstlight.open(tmp_path / "a.boot")))[-1] == "ready"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"ready": "("}, "cannot be read"),
        ({"ready": ""}, "it is empty"),
        ({"marks": ["camera"]}, "needs NAME=REGEX"),
        ({"marks": ["Camera Up=x"]}, "needs NAME=REGEX"),
        ({"marks": ["a=x", "a=y"]}, "is given twice"),
        ({"marks": ["ready=x"], "ready": "y"}, "is given twice"),
    ],
)
def test_a_wrong_pattern_or_name_is_rejected_before_anything_is_read(
    tmp_path: Path, wanted: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        imported(tmp_path, **wanted)
    assert not (tmp_path / "a.boot").exists()


@pytest.mark.parametrize("first_us", [400, 999, 1041, 5000])
def test_a_clock_that_begins_anew_is_treated_the_same_wherever_it_begins(tmp_path: Path, first_us: int) -> None:
    version = "Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP"
    before = [(0, version), (20_000, "gizmo: bound"), (44_000, "tsc: Detected")]
    after = [(first_us, "one"), (first_us + 100, "two"), (first_us + 9_000, "three"), (60_000, "four")]
    base = 44_000 + 5_000 - first_us
    lines = [(1_000_000 + at, at, text) for at, text in before]
    lines += [(1_000_000 + base + at, at, text) for at, text in after]
    text = "".join(f"[{host / 1e6:12.6f}] [{own / 1e6:12.6f}] {line}\n" for host, own, line in lines)
    boot = imported(tmp_path, text, ready="four")
    assert missing(boot) == []
    assert marks(boot)["ready"] == (base + 60_000) * 1_000
