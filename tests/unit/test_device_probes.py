"""What the driver core did, of the plugin's answers: probes, deferrals, suppliers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bundles import make_bundle, write_table
from firstlight.analysis.devices import devices
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.tables import read_table
from firstlight.errors import LabError, UsageError
from firstlight.lab.qemu.processors import check_processors
from firstlight.lab.run.device_probes import check_functions, device_questions, read_driver_core, tables_from_devices
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa import DEFAULT, architecture_of
from firstlight.recipe.options import RecordOptions

REASON = "amba: supplier bus not ready\n"


class Answers:
    """The plugin's lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.calls = 0

    def call(self, question: int, start_ns: int, *values: Any, pid: int = 1) -> int:
        line = {"call": self.calls, "question": question, "start_ns": start_ns, "instructions": start_ns}
        self.lines.append(json.dumps(line | {"task": "swapper/0", "pid": pid, "tgid": pid, "values": values}))
        self.calls += 1
        return self.calls - 1

    def end(self, call: int, end_ns: int, result: Any) -> None:
        self.lines.append(json.dumps({"call": call, "end_ns": end_ns, "result": result}))


def board(first: int = 0) -> list[str]:
    """A gpio that waits for its bus, a clock that waits for good, a bus with a device in its own probe."""
    said = Answers()
    said.call(first + 2, 1, "gpio", "bus")
    probe = said.call(first, 10, "gpio", "pl061", "amba")
    reason = said.call(first + 1, 11, "%s: %pV")
    said.end(said.call(first + 1, 11, "%s-%d", pid=9), 12, "not-1")
    said.end(reason, 13, REASON)
    said.end(probe, 14, -517)
    bus = said.call(first, 20, "bus", "pcie", "platform")
    inner = said.call(first, 22, "0000:00", "serial", "pci")
    said.end(inner, 25, 19)
    said.end(bus, 30, 0)
    clock = said.call(first, 40, "clock", "rtc", "amba", pid=7)
    said.end(said.call(first + 1, 41, "%s: %pV", pid=7), 42, "amba: wait for supplier /acme")
    said.end(clock, 43, 517)
    said.end(said.call(first, 50, "gpio", "pl061", "amba", pid=7), 55, 0)
    said.call(first, 60, "late", "slow", None, pid=7)
    said.lines.append(json.dumps({"calls": said.calls}))
    return said.lines


def test_tries_have_their_results_reasons_and_suppliers() -> None:
    core = read_driver_core(board())
    found = [(one.device, one.start_ns, one.end_ns, one.returned, one.reason) for one in core.tries]
    assert found == [
        ("gpio", 10, 14, -517, REASON.strip()),
        ("bus", 20, 30, 0, ""),
        ("0000:00", 22, 25, -19, ""),
        ("clock", 40, 43, -517, "amba: wait for supplier /acme"),
        ("gpio", 50, 55, 0, ""),
        ("late", 60, None, None, ""),
    ]
    assert list(core.links) == [("gpio", "bus"), ("clock", "/acme")]
    assert core.still_deferred() == {"clock": "amba: wait for supplier /acme"}


def test_questions_of_others_come_first_and_their_answers_are_left_out() -> None:
    own = device_questions()["questions"]
    both = device_questions({"most": 5, "questions": [{"function": "schedule"}]})["questions"]
    assert both == [{"function": "schedule"}, *own]
    other = Answers()
    other.end(other.call(0, 5, "gpio"), 6, 1)
    lines = [line.replace('"call": ', '"call": 1') for line in board(1)]
    assert read_driver_core([*other.lines, *lines], 1) == read_driver_core(board())


def test_the_tables_have_them_and_devices_shows_them(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    before = read_table(bundle, "spans")
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(board()))
    facts = tables_from_devices(answers, bundle)
    assert facts == [
        ("kernel.deferred_probe.clock", "amba: wait for supplier /acme"),
        ("kernel.deferred_probes", "clock"),
    ]
    spans = read_table(bundle, "spans")
    added = spans.filter(kind="probe")
    assert added.height == 6
    assert spans.height == before.filter(pl.col("kind") != "probe").height + 6
    assert spans["span"].n_unique() == spans.height
    assert json.loads(added["attributes"][0]) == {
        "returned": "-517", "driver": "pl061", "bus": "amba", "tries": "1", "deferred_for": REASON.strip(),
    }  # fmt: skip
    assert added["grade"].to_list()[-2:] == ["exact", "unknown"]
    for table in ("spans", "links"):
        write_table(bundle, table, read_table(bundle, table))
    rows = {row["device"]: row for row in devices(open_boot(bundle)).iter_rows(named=True)}
    gpio = rows["gpio"]
    assert (gpio["tries"], gpio["deferrals"], gpio["deferred_ns"], gpio["waited_ns"]) == (2, 1, 4, 36)
    assert (gpio["supplier"], gpio["deferral"], gpio["result"]) == ("bus", REASON.strip(), "bound")
    assert rows["bus"]["consumers"] == "gpio"
    assert (rows["clock"]["result"], rows["clock"]["supplier"]) == ("deferred", "/acme")
    assert rows["0000:00"]["result"] == "failed: ENODEV"
    # A second time nothing is added twice.
    tables_from_devices(answers, bundle)
    assert read_table(bundle, "spans")["name"].to_list() == spans["name"].to_list()
    assert read_table(bundle, "links").height == read_table(bundle, "links").unique().height


def test_answers_that_are_missing_or_damaged(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    assert tables_from_devices(tmp_path / "none.jsonl", bundle) == []
    for damaged in ("{", '{"question": 0}', '{"call": 1, "question": 0, "values": 5}'):
        (tmp_path / "answers.jsonl").write_text(damaged)
        with pytest.raises(LabError, match="answers are damaged"):
            tables_from_devices(tmp_path / "answers.jsonl", bundle)


def test_a_kernel_without_the_functions_is_named(tmp_path: Path) -> None:
    symbols = tmp_path / "symbols"
    symbols.write_text("ffff t really_probe\nffff T kasprintf\nffff T device_link_add\n")
    check_functions(symbols, "Image")
    symbols.write_text("ffff t really_probe.isra.0\n")
    with pytest.raises(LabError, match="has no function `really_probe`") as caught:
        check_functions(symbols, "Image")
    assert "initcall_debug" in str(caught.value.hint)


def test_what_excludes_devices(tmp_path: Path) -> None:
    for options, word in (
        (RecordOptions(tmp_path / "a.boot", devices=True, live=True), "--live"),
        (RecordOptions(tmp_path / "a.boot", devices=True, profile=False), "--no-profile"),
    ):
        with pytest.raises(UsageError, match=f"`{word}` cannot be combined with `--devices`"):
            check_choices(options, DEFAULT)
    with pytest.raises(UsageError, match="`--devices` cannot be combined with `--cpus`"):
        check_processors(RecordOptions(tmp_path / "a.boot", devices=True, cpus=2), DEFAULT)
    options = RecordOptions(tmp_path / "a.boot", devices=True)
    for name in ("aarch64", "riscv64"):
        check_choices(options, architecture_of(name))
