"""Guests of other kinds, each booted for real: a machine without firmware's PC, an unpacked kernel, no power-off."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import firstlight
from firstlight.lab.kernel.command_line.image import open_image
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions
from short_boots import short


def test_a_word_that_nobody_reads_is_a_warning_and_a_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = record(short(output=tmp_path / "a.boot", append="loop.max_loop=200 quiet", profile=False))
    assert "warning: nothing read `loop.max_loop=200`" in capsys.readouterr().err
    words = {word.text: word.reader.value for word in firstlight.open(bundle).command_line_words()}
    assert words["loop.max_loop=200"] == "nobody"
    assert words["quiet"] == words["nokaslr"] == words["console=ttyS0"] == "kernel"


def test_a_guest_that_cannot_power_off_comes_up(tmp_path: Path) -> None:
    bundle = record(RecordOptions(output=tmp_path / "a.boot", append="acpi=off", profile=False))
    manifest = firstlight.open(bundle).manifest
    assert manifest.failure is None
    assert manifest.completeness.complete


def test_an_uncompressed_kernel_has_no_decompression(tmp_path: Path) -> None:
    image = open_image(default_kernel().path.read_bytes())
    if image is None:
        warnings.warn("the default kernel cannot be unpacked here", stacklevel=1)
        return
    (tmp_path / "vmlinux").write_bytes(image.content)
    boot = firstlight.open(record(short(output=tmp_path / "a.boot", kernel=tmp_path / "vmlinux")))
    marks = boot.marks()["mark"].to_list()
    assert "decompression_start" not in marks
    assert marks[:2] == ["power_on", "kernel_start"]
    assert boot.manifest.completeness.complete


def test_a_small_machine_has_a_profile_and_a_report(tmp_path: Path) -> None:
    boot = firstlight.open(record(RecordOptions(output=tmp_path / "a.boot", machine="microvm")))
    assert boot.manifest.completeness.complete
    assert boot.marks()["mark"][-1] == "ready"
    assert boot.functions().height > 1000


def test_what_qemu_cannot_emulate_of_a_processor_is_a_fact(tmp_path: Path) -> None:
    bundle = record(short(output=tmp_path / "a.boot", cpu="EPYC-Milan-v1", profile=False))
    facts = dict(firstlight.open(bundle).facts().iter_rows())
    assert "xsaves" in facts["machine.features_left_out"].split()
