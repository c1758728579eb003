"""The same inputs give the same boot; the profile disturbs nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import firstlight
from answers import answer
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.app import app
from firstlight.lab.run.record import record
from firstlight.lab.run.verify import compare, verify
from other_boots import OTHER_QEMU, with_other_input
from short_boots import short

pytestmark = pytest.mark.boot


def console(bundle: Path) -> bytes:
    """What the guest printed."""
    return (bundle / "raw/console.log").read_bytes()


def test_a_boot_on_a_loaded_machine_is_equal_in_every_table(default_boot: Path, loaded_boot: Path) -> None:
    verdict = compare(default_boot, loaded_boot)
    assert verdict.differences == ()
    assert verdict.equal
    assert verdict.tables["calls"] > 1000
    for table, fewest in {"processes": 80, "images": 10, "wakeups": 300, "system_calls": 1000}.items():
        assert verdict.tables[table] >= fewest
    assert console(default_boot) == console(loaded_boot)
    assert (default_boot / "raw/report.bin").read_bytes() == (loaded_boot / "raw/report.bin").read_bytes()


def test_the_profile_leaves_the_guest_undisturbed(default_boot: Path, plain_boot: Path) -> None:
    assert console(default_boot) == console(plain_boot)
    # Which words the kernel's first code reads is known from its symbols, which only a profile needs.
    from_symbols = pl.col("fact") == "kernel.command_line.words"
    facts = [firstlight.open(bundle).facts().filter(~from_symbols).rows() for bundle in (default_boot, plain_boot)]
    assert facts[0] == facts[1]


def test_verify_boots_the_recipe_again_and_finds_it_equal(short_boot: Path) -> None:
    code, said = answer("verify", str(short_boot))
    assert code == 0
    assert said["equal"] is True
    assert set(said["tables"]) == set(SCHEMAS)


def test_verify_names_the_input_that_changed_and_boots_nothing(short_boot: Path, tmp_path: Path) -> None:
    changed = with_other_input(short_boot, "initrd", tmp_path)
    verdict = verify(changed)
    assert [each.name for each in verdict.inputs] == ["initrd"]
    assert not verdict.equal
    assert verdict.tables == {}


def test_another_plugin_decides_nothing_and_is_named_beside_the_verdict(plain_boot: Path, tmp_path: Path) -> None:
    changed = with_other_input(plain_boot, "plugin", tmp_path)
    result = CliRunner().invoke(app, ["verify", str(changed)])
    assert result.exit_code == 0, result.output
    assert "equal with another plugin" in result.stdout
    assert "plugin: 000000000000 when recorded, none now" in result.stdout


def test_another_word_on_the_command_line_is_found_to_differ(short_boot: Path, boots: Path) -> None:
    other = record(short(output=boots / "quiet.boot", append="quiet"))
    verdict = compare(short_boot, other)
    assert not verdict.equal
    differing = {difference.table: difference for difference in verdict.differences}
    assert {"marks", "calls", "log", "facts"} <= set(differing)
    assert "kernel.command_line" in str(firstlight.open(other).facts()["fact"].to_list())
    # A silent boot has the same marks in the same order: they come from functions, not from the console.
    marks = [firstlight.open(bundle).marks()["mark"].to_list() for bundle in (short_boot, other)]
    assert marks[0] == marks[1]


def test_a_userspace_with_systemd_is_equal_twice(debian_boot: Path, boots: Path) -> None:
    first = debian_boot
    second = record(short(output=boots / "debian-2.boot", rootfs="debian"))
    verdict = compare(first, second)
    assert verdict.differences == ()
    assert verdict.equal
    facts = dict(firstlight.open(first).facts().iter_rows())
    assert any("pmem" in value for name, value in facts.items() if name == "mount./")


@pytest.mark.skipif(OTHER_QEMU is None, reason="there is no second QEMU: see make/other-qemu.sh")
def test_another_qemu_repeats_itself_too(boots: Path, short_boot: Path) -> None:
    qemu = Path(OTHER_QEMU or "")
    first = record(short(output=boots / "other-1.boot", qemu=qemu))
    second = record(short(output=boots / "other-2.boot", qemu=qemu))
    assert compare(first, second).equal
    ours, theirs = firstlight.open(short_boot), firstlight.open(first)
    assert ours.manifest.versions["qemu"] != theirs.manifest.versions["qemu"]
    assert ours.marks()["mark"].to_list() == theirs.marks()["mark"].to_list()
