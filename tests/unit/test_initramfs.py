"""The initramfs: the helper, its configuration, and what the recipe needs, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.kernel.modules import Module
from firstlight.lab.rootfs import initramfs
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.initramfs import GuestConfig, build_initramfs

STATIC = b"\x7fELF\x02\x01\x01" + bytes(25) + (64).to_bytes(8, "little") + bytes(14) + b"\x38\x00\x01\x00" + bytes(6)


@pytest.fixture(autouse=True)
def _stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper and a busybox of a few bytes, so that only the builder is looked at."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "guest").write_bytes(b"helper")
    (tmp_path / "busybox").write_bytes(STATIC + b"\x01" + bytes(55))
    (tmp_path / "busybox").chmod(0o755)
    monkeypatch.setattr(initramfs, "asset_path", lambda name: tmp_path / "guest")
    monkeypatch.setattr("shutil.which", lambda name, path=None: str(tmp_path / "busybox"))


def paths(archive: bytes) -> list[str]:
    """The names in an archive, read without the code under test."""
    found: list[str] = []
    position = 0
    while True:
        size, name_size = (int(archive[position + at : position + at + 8], 16) for at in (54, 94))
        name = archive[position + 110 : position + 110 + name_size - 1].decode()
        if name == "TRAILER!!!":
            return found
        found.append(name)
        position = -(-(position + 110 + name_size) // 4) * 4
        position = -(-(position + size) // 4) * 4


def test_the_default_recipe_has_a_busybox_userspace() -> None:
    built = build_initramfs(GuestConfig())
    content = built.path.read_bytes()
    members = {"init", "firstlight.conf", "dev/console", "bin/busybox", "bin/sh", "userland.sh", "proc", "sys", "run"}
    assert members <= set(paths(content))
    assert b"action=boot\nscript=/userland.sh\nreport=/dev/ttyS1\n" in content


def test_a_root_to_switch_to_needs_only_its_modules() -> None:
    modules = [Module("libnvdimm", b"first"), Module("nfit", b"second")]
    content = build_initramfs(GuestConfig(root="/dev/pmem0", unit=False), modules).path.read_bytes()
    assert "bin/busybox" not in paths(content)
    expected = (
        b"action=boot\nmodule=/firstlight/modules/00-libnvdimm.ko\nmodule=/firstlight/modules/01-nfit.ko\n"
        b"root=/dev/pmem0\nroot_type=ext4\ninit=/sbin/init\nunit=no\nreport=/dev/ttyS1\n"
    )
    assert expected in content


def test_a_stage_before_the_root_has_a_shell_and_its_files(tmp_path: Path) -> None:
    files = tmp_path / "files"
    (files / "usr/bin").mkdir(parents=True)
    (files / "before-root").write_text("exit 0\n")
    (files / "usr/bin/udevadm").write_bytes(b"program")
    config = GuestConfig(root="/dev/pmem0", before_root=True)
    content = build_initramfs(config, overlay=files).path.read_bytes()
    assert {"bin/busybox", "bin/sh", "before-root", "usr/bin/udevadm"} <= set(paths(content))
    assert b"init=/sbin/init\nbefore_root=/before-root\nreport=/dev/ttyS1\n" in content


def test_the_probe_for_symbols_has_no_userspace() -> None:
    content = build_initramfs(GuestConfig(action="symbols")).path.read_bytes()
    assert b"action=symbols\nreport=/dev/ttyS1\n" in content
    assert "bin/busybox" not in paths(content)


def test_the_same_content_is_the_same_file() -> None:
    first, second = build_initramfs(GuestConfig()), build_initramfs(GuestConfig())
    assert first == second
    assert build_initramfs(GuestConfig(report="/dev/ttyS2")).digest != first.digest


@pytest.mark.parametrize("value", ["/sbin/init\nmodule=/x", "/sbin/init ", "/\x1b[2J"])
def test_a_value_cannot_bring_in_a_line_of_its_own(value: str) -> None:
    with pytest.raises(LabError, match="cannot be the value of `init`"):
        GuestConfig(root="/dev/pmem0", init=value).text([])


def test_a_busybox_that_needs_libraries_is_refused(tmp_path: Path) -> None:
    assert static_busybox() == tmp_path / "busybox"
    (tmp_path / "busybox").write_bytes(STATIC + b"\x03" + bytes(55))
    with pytest.raises(LabError, match="needs libraries") as caught:
        static_busybox()
    assert "busybox-static" in str(caught.value.hint)


def test_without_busybox_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path=None: None)
    with pytest.raises(LabError, match="busybox is missing"):
        static_busybox()
