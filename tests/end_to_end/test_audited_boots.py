"""A second observer looks at the same boot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import firstlight
from answers import answer
from firstlight.audit.boot import COUNT_TOLERANCE
from firstlight.cli.main import run
from firstlight.lab.run.record import record
from other_boots import OTHER_QEMU, with_other_input
from short_boots import short

pytestmark = pytest.mark.boot


def audited(bundle: Path) -> Any:
    """What `firstlight audit` says of a bundle."""
    code, said = answer("audit", str(bundle))
    assert code in (0, 1)
    assert said["reached"] is (code == 0)
    return said


def test_the_second_observer_sees_the_same_boot_and_agrees(short_boot: Path) -> None:
    said = audited(short_boot)
    counted = said["instructions"]
    assert abs(int(counted["recorded"]) - int(counted["observed"])) <= COUNT_TOLERANCE
    shares = {measure: share["share"] for measure, share in said["shares"].items()}
    assert shares["initcalls"] == 1.0
    assert shares["self"] >= 0.999
    assert shares["edges"] >= 0.999
    assert shares["counts"] >= 0.999
    checks = said["checks"]
    assert int(checks["not_at_return_address"]) * 1000 < int(checks["stack_pointers"])


@pytest.mark.skipif(OTHER_QEMU is None, reason="FIRSTLIGHT_OTHER_QEMU is not set")
def test_it_sees_it_with_another_qemu_too(boots: Path) -> None:
    bundle = record(short(output=boots / "audited-other.boot", qemu=Path(str(OTHER_QEMU))))
    shares = audited(bundle)["shares"]
    assert shares["initcalls"]["share"] == 1.0
    assert shares["self"]["share"] >= 0.999


def test_a_boot_whose_input_changed_is_not_booted(
    short_boot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = with_other_input(short_boot, "initrd", tmp_path)
    assert run(["audit", str(changed)]) == 1
    assert "the input `initrd` is not the recorded one" in capsys.readouterr().err


def test_a_boot_that_says_something_else_is_not_compared(
    short_boot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed.boot"
    shutil.copytree(short_boot, changed)
    console = changed / "raw/console.log"
    console.write_bytes(console.read_bytes().replace(b"Linux version", b"Minix version"))
    assert run(["audit", str(changed)]) == 1
    assert "the boots are not equal: the console differs" in capsys.readouterr().err


def test_a_cell_of_the_matrix_is_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_boot: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = firstlight.open(short_boot).manifest.model_dump(mode="json")["recipe"]["files"]["kernel"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["audit", "--matrix", "quick", "--kernel", kernel, "--cpu", "qemu64-v1", "--cpu", "nonesuch-v1"]
    assert run([*words, "-o", str(tmp_path / "matrix.md")]) in (0, 1)
    first = capfd.readouterr().err
    assert "[1/2]" in first
    assert "measured before" not in first
    document = (tmp_path / "matrix.md").read_text()
    assert "qemu64" in document
    assert "not booted: QEMU does not know the CPU model" in document
    run([*words, "-o", str(tmp_path / "again.md")])
    assert "measured before" in capfd.readouterr().err
    assert (tmp_path / "again.md").read_text() == document
