"""Roots that the kernel mounts, or unpacks, by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from firstlight.errors import LabError
from firstlight.lab.kernel.build import kernel_place
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions
from short_boots import short

pytestmark = pytest.mark.boot


def test_a_kernel_that_has_what_it_takes_as_modules_is_refused_before_it_boots(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot mount squashfs-zstd by itself: these are not built in") as caught:
        record(RecordOptions(output=tmp_path / "a.boot", root_as="squashfs-zstd"))
    assert "firstlight image build kernel" in str(caught.value.hint)
    assert not (tmp_path / "a.boot").exists()


def test_the_small_guest_comes_up_as_such_a_root_and_runs_what_it_is_told(tmp_path: Path) -> None:
    built = kernel_place() if shutil.which("mksquashfs") else None
    kernel = built if built is not None and built.is_file() else None
    kind = "initramfs" if kernel is None else "squashfs-zstd"
    command = "mkdir -p /run/firstlight/export; grep ' / ' /proc/mounts >/run/firstlight/export/root"
    path = record(
        short(output=tmp_path / "a.boot", kernel=kernel, root_as=kind, guest_commands=(command,), profile=False)
    )
    boot = firstlight.open(path)
    assert boot.manifest.completeness.missing == []
    assert f"--root-as {kind}" in boot.manifest.reproduce
    mounted = (boot.kept("root") or b"").decode().split()
    assert mounted[:4] == (
        ["rootfs", "/", "rootfs", *mounted[3:4]] if kernel is None else ["/dev/root", "/", "squashfs", mounted[3]]
    )
    assert kernel is None or mounted[3].startswith("ro")
