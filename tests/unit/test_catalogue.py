"""The catalogue of known causes: its entries, and what is said of entries that are wrong."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from firstlight.advise.entry import Entry, Layer
from firstlight.advise.read import catalogue, parse
from firstlight.errors import UsageError

ENTRY = """
[[entry]]
id = "MY-01"
title = "a cause of mine"
nature = "work"
mechanism = "Something happens at every start. It takes its time."
any = [{ functions = ["my_init"], least = "2 ms" }]
remedies = [{ layer = "cmdline", words = "my.off" }]
effect = "3 ms"
source = "a measurement"
risk = "None."
checks = ["HC-DMESG"]
"""


def directory(place: Path, *texts: str) -> Path:
    """A directory of a catalogue with so many files."""
    place.mkdir()
    for number, text in enumerate(texts):
        (place / f"group{number}.toml").write_text(text, encoding="utf-8")
    return place


def test_the_package_has_many_entries_in_one_file_for_each_group() -> None:
    entries = catalogue().entries
    assert len(entries) >= 120
    folder = files("firstlight.advise").joinpath("catalogue")
    groups = {
        each.name: {entry.id.partition("-")[0] for entry in parse(each.read_text("utf-8"), each.name)}
        for each in folder.iterdir()
    }
    assert all(len(letters) == 1 for letters in groups.values())


@pytest.mark.parametrize("entry", catalogue().entries, ids=lambda entry: entry.id)
def test_an_entry_says_what_happens_in_two_sentences_and_what_it_risks_in_one(entry: Entry) -> None:
    assert len(re.findall(r"[.:](?:\s|$)", entry.mechanism)) >= 2
    assert entry.risk.endswith(".")
    assert entry.effect
    assert entry.source
    assert entry.checks


def test_remedies_reach_every_layer_of_the_recipe() -> None:
    applicable = {remedy.layer for entry in catalogue().entries for remedy in entry.remedies if remedy.is_applicable}
    assert applicable == set(Layer)


def test_a_person_adds_entries_of_their_own(tmp_path: Path) -> None:
    known = catalogue([directory(tmp_path / "mine", ENTRY)])
    assert known.entry("my-01").title == "a cause of mine"
    assert len(known.entries) == len(catalogue().entries) + 1


WRONG = {
    "an unknown field of an entry": (
        ENTRY.replace("risk =", "rsik ="), "MY-01: unknown key `rsik` in `entry` number 1", "did you mean `risk`?",
    ),
    "an unknown field of evidence": (
        ENTRY.replace("least =", "leest ="),
        "MY-01: unknown key `leest` in `entry.any` number 1", "did you mean `least`?",
    ),
    "a bad regular expression": (
        ENTRY.replace('functions = ["my_init"], least = "2 ms"', 'log = "("'),
        "MY-01: `entry.any.log`: this is not a regular expression", None,
    ),
    "several mistakes": (
        ENTRY.replace('risk = "None."', 'risk = ""').replace('"cmdline"', '"cmdlin"'),
        "MY-01: ", "also wrong: `entry.risk` in line",
    ),
    "evidence of two kinds": (
        ENTRY.replace('least = "2 ms"', 'log = "x"'), "MY-01: `entry.any`: give exactly one of `functions`", None,
    ),
    "a modifier of another kind": (
        ENTRY.replace('least = "2 ms"', 'state = "failed"'), "`state` does not go with `functions`", None,
    ),
    "a health check that there is not": (ENTRY.replace("HC-DMESG", "HC-DMSG"), "`entry.checks`", None),
    "a fact that words cannot hold": (
        ENTRY.replace("my.off", "lpj={kernel.nope}"), "`words` cannot hold the fact `{kernel.nope}`", None,
    ),
    "a stated time without a group": (
        ENTRY.replace('functions = ["my_init"], least = "2 ms"', "log = 'took', takes = 'took'"),
        "`takes` needs a group", None,
    ),
    "a duration without unit": (ENTRY.replace('"2 ms"', '"2"'), "write a duration with its unit", None),
    "no evidence": (
        ENTRY.replace('any = [{ functions = ["my_init"], least = "2 ms" }]', ""),
        "an entry without evidence is found nowhere", None,
    ),
    "a remedy of another layer": (
        ENTRY.replace('words = "my.off"', 'memory = "1G"'), "`memory` does not go with the layer `cmdline`", None,
    ),
    "a remedy that changes nothing": (ENTRY.replace(', words = "my.off"', ""), "it changes nothing", None),
    "an unknown layer": (ENTRY.replace('"cmdline"', '"cmdlin"'), "MY-01: `entry.remedies.layer`", None),
    "a missing field": (ENTRY.replace('risk = "None."', ""), "MY-01: `risk` is missing", None),
    "no TOML": (ENTRY + "x", "the file is not TOML", None),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_entry_is_named_with_file_line_and_field(what: str, tmp_path: Path) -> None:
    text, message, hint = WRONG[what]
    with pytest.raises(UsageError, match=re.escape(message)) as raised:
        catalogue([directory(tmp_path / "mine", text)])
    assert "group0.toml" in str(raised.value.where)
    assert hint is None or hint in (raised.value.hint or "")


def test_an_id_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"CAL-01: this id is already that of an entry in `calibration.toml`"):
        catalogue([directory(tmp_path / "mine", ENTRY.replace("MY-01", "CAL-01"))])


def test_remedies_do_not_need_one_another_in_a_circle(tmp_path: Path) -> None:
    one = ENTRY.replace('words = "my.off"', 'words = "my.off", with_entries = ["MY-02"]')
    other = ENTRY.replace("MY-01", "MY-02").replace('words = "my.off"', 'words = "b", with_entries = ["MY-01"]')
    with pytest.raises(UsageError, match=r"MY-01: `with_entries` goes in a circle: MY-01 > MY-02 > MY-01"):
        catalogue([directory(tmp_path / "mine", one, other)])
    with pytest.raises(UsageError, match="names `MY-02`, which no file has"):
        catalogue([directory(tmp_path / "one", one)])


def test_a_directory_that_is_none_or_is_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a directory of a catalogue"):
        catalogue([tmp_path / "missing"])
    with pytest.raises(UsageError, match=r"has no `\*.toml`"):
        catalogue([directory(tmp_path / "empty")])


def test_an_unknown_id_has_a_hint() -> None:
    with pytest.raises(UsageError, match="no entry `CLA-01`") as raised:
        catalogue().entry("CLA-01")
    assert "`CAL-01`" in (raised.value.hint or "")
    with pytest.raises(UsageError, match="no entry `QQQQQQ`") as raised:
        catalogue().entry("QQQQQQ")
    assert "the groups are" in (raised.value.hint or "")
    assert "`CAL`" in (raised.value.hint or "")
