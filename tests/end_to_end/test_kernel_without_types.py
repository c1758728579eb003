"""A kernel that does not describe its types: a boot without processes, which says so, and has everything else."""

from __future__ import annotations

import pytest

import firstlight
from firstlight.api import Boot
from firstlight.cli.main import run
from firstlight.lab.kernel.command_line.image import open_image
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot

#: How a description of types begins (`struct btf_header` of linux/btf.h).
HEADER = bytes.fromhex("9feb0100 18000000")


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("untyped")
    image = open_image(default_kernel().path.read_bytes())
    assert image is not None
    assert image.content.count(HEADER) == 1
    (folder / "vmlinux").write_bytes(image.content.replace(HEADER, bytes(len(HEADER))))
    options = short(output=folder / "untyped.boot", kernel=folder / "vmlinux", user_functions=True)
    return firstlight.open(record(options))


def test_the_recording_is_sound_and_states_what_is_missing(boot: Boot) -> None:
    assert all(invariant.holds for invariant in boot.manifest.invariants.values())
    (missing,) = boot.manifest.completeness.missing
    assert "CONFIG_DEBUG_INFO_BTF" in missing
    for table in ("processes", "system_calls", "wakeups", "user_functions"):
        assert boot.table(table).is_empty(), table


def test_functions_and_threads_are_complete(boot: Boot) -> None:
    assert boot.functions()["self_instructions"].sum() == boot.manifest.totals.instructions
    assert boot.manifest.invariants["runs_partition_the_kernel"].holds
    assert boot.threads().height > 50
    assert boot.threads()["name"].null_count() == 0


@pytest.mark.parametrize(
    "command", [["processes"], ["syscalls"], ["files"], ["packages"], ["functions", "--user"], ["units", "--manager"]]
)
def test_each_command_says_why_it_has_nothing(
    boot: Boot, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command[0], str(boot.directory), *command[1:]]) == 0
    assert "CONFIG_DEBUG_INFO_BTF=y" in capsys.readouterr().err
