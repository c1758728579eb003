"""Boots from power-on through a boot loader are exact, and what ran before the kernel has rows of its own."""

from __future__ import annotations

import filecmp
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.lab.images import find_image
from firstlight.recipe.isa import DEFAULT, architecture_of
from firstlight.recipe.options import RecordOptions

OVMF = DEFAULT.loaders["ovmf"].file
U_BOOT = architecture_of("aarch64").loaders["u-boot"].file

pytestmark = pytest.mark.boot


SYMBOLS = find_image("u-boot-symbols", "arm64").built()


def differing(one: Path, other: Path) -> list[str]:
    files = [file.name for file in one.glob("*.parquet")] + ["raw/console.log", "raw/report.bin"]
    same, different, missing = filecmp.cmpfiles(one, other, files, shallow=False)
    assert len(same) + len(different) + len(missing) == len(files)
    manifests = [json.loads((each / "manifest.json").read_text()) for each in (one, other)]
    for manifest in manifests:
        # How often our clock was compared with QEMU's may differ by some, on a loaded host.
        assert manifest["invariants"]["clock_is_qemus"].pop("checks") > 0
    return different + missing + ([] if manifests[0] == manifests[1] else ["manifest.json"])


def rows(boot: firstlight.Boot) -> dict[str, int]:
    calls = boot.calls().filter(kind="loader").select("function", "total_instructions")
    return dict(calls.iter_rows())


@pytest.mark.skipif(not Path(OVMF).is_file(), reason="OVMF is not installed")
def test_firmware_hands_over_to_the_kernels_stub(tmp_path: Path) -> None:
    # The firmware waits by the clock: with long instructions it polls less often.
    first, _ = (
        firstlight.record_with(RecordOptions(tmp_path / f"{name}.boot", loader="ovmf", shift=5)) for name in ("a", "b")
    )
    assert differing(tmp_path / "a.boot", tmp_path / "b.boot") == []
    marks = first.marks()["mark"].to_list()
    # This kernel's stub unpacks it by itself.
    assert marks[:4] == ["power_on", "loader_start", "kernel_entry", "kernel_start"]
    phases = first.spans().filter(kind="phase")["name"].to_list()
    assert phases[:3] == ["firmware", "loader", "kernel_entry"]
    assert rows(first)["[loader]"] > 0
    assert {name for name, invariant in first.manifest.invariants.items() if not invariant.holds} == set()
    assert first.manifest.completeness.complete
    assert first.manifest.digests["loader"]
    assert first.processes().height > 0
    banner = first.log().filter(pl.col("text").str.contains("EFI stub:"))["time_ns"].item()
    times = dict(first.marks().select("mark", "time_ns").iter_rows())
    # The firmware cleared the screen in front of it.
    assert 0 < banner < times["kernel_entry"]


@pytest.mark.skipif(
    not Path(U_BOOT).is_file() or shutil.which("qemu-system-aarch64") is None,
    reason="U-Boot or QEMU for arm64 is not installed",
)
def test_a_boot_loader_from_the_first_instruction_on(tmp_path: Path) -> None:
    first, _ = (
        firstlight.record_with(RecordOptions(tmp_path / f"{name}.boot", arch="arm64", loader="u-boot", shift=5))
        for name in ("a", "b")
    )
    assert differing(tmp_path / "a.boot", tmp_path / "b.boot") == []
    marks = dict(first.marks().select("mark", "time_ns").iter_rows())
    assert list(marks)[:4] == ["power_on", "loader_start", "kernel_entry", "kernel_start"]
    assert marks["loader_start"] == 0
    assert rows(first)["[loader]"] > 0
    assert {name for name, invariant in first.manifest.invariants.items() if not invariant.holds} == set()
    log = dict(first.log().select("text", "time_ns").iter_rows())
    banner = next(time for text, time in log.items() if text.startswith("U-Boot 20"))
    starting = next(time for text, time in log.items() if text.startswith("Starting kernel"))
    # It waits two seconds for a key.
    assert 0 < banner < starting - 2_000_000_000 < starting <= marks["kernel_entry"]


@pytest.mark.skipif(shutil.which("qemu-system-aarch64") is None, reason="QEMU for arm64 is not installed")
def test_a_loader_that_never_does_anything_leaves_a_bundle_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loader").write_bytes(bytes(100_000))
    options = RecordOptions(tmp_path / "a.boot", arch="arm64", loader=str(tmp_path / "loader"), timeout_wall_s=5)
    with pytest.raises(firstlight.UnhealthyBootError, match="wall_timeout"):
        firstlight.record_with(options)
    assert run(["show", str(tmp_path / "a.boot")]) == 0
    assert "Failed: wall timeout" in capsys.readouterr().out


@pytest.mark.skipif(SYMBOLS is None, reason="`make loader-symbols` has not built U-Boot's program file")
def test_the_instructions_of_a_boot_loader_belong_to_its_functions(tmp_path: Path) -> None:
    first, plain = (
        firstlight.record_with(
            RecordOptions(tmp_path / f"{name}.boot", arch="arm64", loader="u-boot", loader_symbols=symbols, shift=5)
        )
        for name, symbols in (("a", SYMBOLS), ("plain", None))
    )
    # Reading the functions changes nothing.
    for name in ("raw/console.log", "raw/report.bin"):
        assert (tmp_path / "a.boot" / name).read_bytes() == (tmp_path / "plain.boot" / name).read_bytes()
    assert first.manifest.totals == plain.manifest.totals
    assert rows(first)["[loader]"] == rows(plain)["[loader]"]
    row = first.calls().filter(kind="loader").row(0, named=True)
    assert row["self_instructions"] * 100 < row["total_instructions"]
    functions = first.calls().filter(parent=row["node"])
    assert functions["self_instructions"].sum() + row["self_instructions"] == row["total_instructions"]
    names = set(functions["function"])
    # Before U-Boot moves itself, the move, and behind it.
    assert {"board_init_f", "relocate_code", "board_init_r", "do_bootm_linux"} <= names
    assert {name for name, invariant in first.manifest.invariants.items() if not invariant.holds} == set()
