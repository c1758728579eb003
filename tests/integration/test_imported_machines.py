"""Imported boots, compared and in histories, baselines and gates: their machines and order, as records state them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answers import data_of_answer
from bundles import write_table
from firstlight.cli.main import run
from imported_records import imported

THINKPAD = "DMI: LENOVO 20XW00ABGE/20XW00ABGE, BIOS N32ET75W (1.51 ) 05/13/2022"
POWEREDGE = "DMI: Dell Inc. PowerEdge R740/0923K0, BIOS 2.10.2 02/24/2021"
BOARD = "Machine model: Acme Board Rev 1.1"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(directory: Path, name: str, model: str | None, end: float, processor: str | None = None) -> str:
    """Import the log of a boot whose kernel states the model of its machine, and that ends at some second."""
    stated = [(0.0, line) for line in (processor, model) if line is not None]
    lines = [(0.0, "Linux version 6.12.1 (a@b) (gcc 14.2.0) #1 SMP"), *stated]
    lines += [(end - 1, "Run /sbin/init as init process"), (end, "device is up")]
    (directory / name).mkdir()
    text = "".join(f"[{at:12.6f}] {words}\n" for at, words in lines)
    return str(imported(directory / name, {"dmesg.txt": text}, marks=(("ready", "device is up"),)).directory)


def history(place: Path, *models: str | None) -> None:
    """A history with a boot for each model; that of the server takes 9 s, every other one 5 s."""
    for number, model in enumerate(models):
        bundle = make(place, f"{number}", model, 9.0 if model == POWEREDGE else 5.0 + number / 1000)
        assert run(["history", "add", "h.duckdb", bundle, "--at", f"v{number:02}"]) == 0


def show(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What a history shows."""
    capsys.readouterr()
    assert run(["history", "show", "h.duckdb", *words, "--json"]) == 0
    found: dict[str, Any] = data_of_answer(capsys.readouterr().out)
    return found


def test_two_machines_are_two_testbeds_of_a_history(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(place, *[THINKPAD] * 4, *[POWEREDGE] * 4)
    found = show(capsys)
    assert (len(found["points"]), found["left_out"], found["changes"]) == (4, 4, [])
    assert run(["history", "show", "h.duckdb"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "4 boots of testbed 1 left out" in text
    assert "the machine is `LENOVO 20XW00ABGE`, not `Dell Inc. PowerEdge R740`" in text


@pytest.mark.parametrize("model", [THINKPAD, BOARD])
def test_records_that_do_not_state_their_machine_split_none(
    place: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    history(place, None, model, None, model)
    found = show(capsys)
    assert (len(found["points"]), found["left_out"]) == (4, 0)


def test_kernels_of_32_and_64_bits_on_one_board_are_two_testbeds(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for bits, processor in (
        (32, "CPU: ARMv7 Processor [410fd034] revision 4"),
        (64, "CPU: AArch64 Processor [410fd034]"),
    ):
        bundle = make(place, f"{bits}", BOARD, 5.0, processor)
        assert run(["history", "add", "h.duckdb", bundle, "--at", f"{bits} bits"]) == 0
    assert show(capsys)["left_out"] == 1


def test_a_record_that_fits_two_machines_is_of_neither(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(place, THINKPAD, None, POWEREDGE, THINKPAD)
    found = show(capsys)
    assert ([point["at"] for point in found["points"]], found["left_out"]) == (["v00", "v03"], 2)
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "do not state which of several machines" in " ".join(capsys.readouterr().out.split())


def start(bundle: str, at: str) -> None:
    """Let a boot be a capture that began at some time."""
    facts = pl.read_parquet(Path(bundle) / "facts.parquet")
    more = pl.DataFrame({name: [None] for name in facts.columns}, schema=facts.schema)
    more = more.with_columns(fact=pl.lit("capture.started_at"), value=pl.lit(at)).cast(facts.schema)
    write_table(Path(bundle), "facts", pl.concat([facts, more]))


def test_a_folder_of_captures_is_in_the_order_of_their_recording(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "boots").mkdir()
    for name, hour in (("a", 15), ("b", 13), ("c", 14)):
        bundle = make(place, name, None, 5.0)
        start(bundle, f"2026-10-24T{hour}:00:00+00:00")
        Path(bundle).rename(place / "boots" / f"{name}.boot")
    capsys.readouterr()
    assert run(["history", "show", "boots", "--json"]) == 0
    found = data_of_answer(capsys.readouterr().out)
    assert ([point["at"] for point in found["points"]], found["unordered"]) == (["b", "c", "a"], None)


@pytest.mark.parametrize("at", [None, "2026-10-24T15:00:00+00:00"])
def test_a_history_whose_order_of_recording_is_unknown_says_so(
    place: Path, at: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "boots").mkdir()
    for name in ("c", "a", "b"):
        bundle = make(place, name, None, 5.0)
        if at is not None:
            start(bundle, at)
        Path(bundle).rename(place / "boots" / f"{name}.boot")
    capsys.readouterr()
    assert run(["history", "regressions", "boots"]) == 0
    assert "3 imported boots are in the order of their names" in " ".join(capsys.readouterr().out.split())
    assert run(["history", "show", "boots", "--json"]) == 0
    found = data_of_answer(capsys.readouterr().out)
    assert [point["at"] for point in found["points"]] == ["a", "b", "c"]


def test_a_gate_rejects_boots_of_another_machine(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = ([make(place, f"{side}{number}", model, 5.0) for number in range(2)]
                for side, model in (("a", THINKPAD), ("b", POWEREDGE)))  # fmt: skip
    assert run(["baseline", "set", *old, *new, "--as", "both", "--because", "mixed"]) == 2
    assert "`Dell Inc. PowerEdge R740`, not `LENOVO 20XW00ABGE`" in capsys.readouterr().err
    assert run(["baseline", "set", *old, "--as", "thinkpad", "--because", "the first"]) == 0
    assert run(["gate", *new, "--baseline", "thinkpad"]) == 1
    assert "is from another testbed" in capsys.readouterr().err


def test_a_gate_of_boots_that_do_not_state_their_machine_says_so(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = [make(place, "a0", None, 5.0), make(place, "a1", THINKPAD, 5.0)]
    assert run(["baseline", "set", *base, "--as", "thinkpad", "--because", "the first"]) == 0
    stored = json.loads((place / "baselines" / "thinkpad.json").read_text(encoding="utf-8"))
    assert stored["testbed"]["machine"] == "LENOVO 20XW00ABGE"
    quiet, other = make(place, "b0", None, 5.0), make(place, "b1", POWEREDGE, 5.0)
    capsys.readouterr()
    assert run(["gate", quiet, "--baseline", "thinkpad"]) == 0
    assert "the records of the boots do not state their machine" in " ".join(capsys.readouterr().out.split())
    assert run(["gate", quiet, other, "--baseline", "thinkpad"]) == 1


def arm(place: Path, name: str, *models: str | None) -> str:
    """A folder with an imported boot for each model."""
    (place / name).mkdir()
    for number, model in enumerate(models):
        made = Path(make(place, f"{name}-{number}", model, 5.0 + number / 1000))
        made.rename(place / name / f"{number}.boot")
    return name


def test_a_comparison_of_boots_of_two_machines_says_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = make(place, "a", THINKPAD, 5.0), make(place, "b", POWEREDGE, 9.0)
    capsys.readouterr()
    assert run(["compare", one, other]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the records of B are of another machine than those of A" in text
    assert "the machine is `Dell Inc. PowerEdge R740`, not `LENOVO 20XW00ABGE`" in text


@pytest.mark.parametrize("others", [[None, POWEREDGE], [POWEREDGE, None]])
def test_a_comparison_of_arms_of_two_machines_says_so(
    place: Path, others: list[str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = arm(place, "before", *[THINKPAD] * 6), arm(place, "after", *others * 3)
    capsys.readouterr()
    assert run(["compare", before, after, "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    text = "the machine is `Dell Inc. PowerEdge R740`, not `LENOVO 20XW00ABGE`"
    assert any(text in note for note in found["notes"])


def test_an_arm_of_two_machines_is_rejected(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = arm(place, "before", *[THINKPAD] * 6), arm(place, "after", None, THINKPAD, *[POWEREDGE] * 4)
    capsys.readouterr()
    assert run(["compare", before, after]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "the boots of an arm must be of one machine: of `2.boot` the machine is `Dell Inc. PowerEdge R740`" in said
    assert "hint: put them into arms of their own" in said


def test_arms_that_state_no_other_machine_are_compared_without_a_word(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = arm(place, "before", *[THINKPAD] * 6), arm(place, "after", *[None] * 6)
    capsys.readouterr()
    assert run(["compare", before, after]) == 0
    assert "another machine" not in capsys.readouterr().out


def test_a_testbed_is_not_calibrated_with_boots_of_two_machines(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = arm(place, "both", *[THINKPAD] * 12, *[POWEREDGE] * 12)
    capsys.readouterr()
    assert run(["calibrate", both]) == 1
    assert "the boots of an arm must be of one machine" in " ".join(capsys.readouterr().err.split())


def test_an_arm_of_several_kernels_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = arm(place, "before", *[None] * 6), arm(place, "after", *[None] * 6)
    for number in range(0, 6, 2):
        facts = pl.read_parquet(place / after / f"{number}.boot" / "facts.parquet")
        kernel = pl.col("fact") == "kernel.release"
        changed = facts.with_columns(value=pl.when(kernel).then(pl.lit("6.1.55")).otherwise(pl.col("value")))
        write_table(place / after / f"{number}.boot", "facts", changed)
    capsys.readouterr()
    assert run(["compare", before, after]) == 0
    assert "the boots of `after` are of 2 kernels: 6.1.55, 6.12.1" in " ".join(capsys.readouterr().out.split())
