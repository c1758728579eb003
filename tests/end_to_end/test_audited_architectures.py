"""The second observer and the recorder agree on arm64 and riscv64, with each QEMU that is there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from answers import answer
from firstlight.cli.main import run
from firstlight.lab.run.record import record
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from other_boots import other_qemu

pytestmark = pytest.mark.boot


@pytest.mark.parametrize("second", [False, True], ids=["own QEMU", "second QEMU"])
@pytest.mark.parametrize("name", ["aarch64", "riscv64"])
def test_the_second_observer_sees_the_same_boot_and_agrees(tmp_path: Path, name: str, second: bool) -> None:
    architecture = architecture_of(name)
    qemu = other_qemu(architecture.qemu_binary) if second else None
    if second and qemu is None:
        pytest.skip(f"there is no second {architecture.qemu_binary}")
    if shutil.which(architecture.qemu_binary) is None:
        pytest.skip(f"{architecture.qemu_binary} is not installed")
    bundle = record(RecordOptions(tmp_path / "a.boot", arch=architecture.distribution_name, qemu=qemu))
    code, said = answer("audit", str(bundle))
    assert (code, said["reached"]) == (0, True), said["shares"]
    shares = {measure: share["share"] for measure, share in said["shares"].items()}
    assert shares["counts"] == shares["initcalls"] == 1.0
    assert shares["self"] > 0.99999
    assert shares["edges"] > 0.99999
    checks = said["checks"]
    assert int(checks["stack_pointers"]) > 1000
    assert int(checks["not_at_return_address"]) == 0


@pytest.mark.skipif(shutil.which("qemu-system-aarch64") is None, reason="QEMU for arm64 is not installed")
def test_a_guest_with_several_processors_is_not_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = record(RecordOptions(tmp_path / "a.boot", arch="arm64", cpus=2))
    assert run(["audit", str(bundle)]) == 1
    assert "this guest has 2 processors, and the second observer follows one" in capsys.readouterr().err
