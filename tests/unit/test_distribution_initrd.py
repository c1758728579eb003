"""A distribution's own initramfs and a root file system that it mounts itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.bundle.manifest import Failure
from firstlight.errors import UsageError
from firstlight.lab.guest.failure_hints import advice
from firstlight.lab.guest.report import Report
from firstlight.lab.kernel.modules import Module
from firstlight.lab.rootfs.distribution_initrd import add_helper, root_words, with_drivers
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason

MODULES = [Module("libnvdimm", b"one"), Module("nd_pmem", b"two")]


@pytest.fixture(autouse=True)
def _private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_initramfs_stays_as_it_is_and_the_drivers_stand_behind_it(tmp_path: Path) -> None:
    initrd = tmp_path / "initrd.img"
    initrd.write_bytes(b"070701 and more")
    made = with_drivers(initrd, MODULES)
    content = made.path.read_bytes()
    assert content.startswith(b"070701 and more" + b"\0" + b"070701")
    assert content.index(b"firstlight/modules/00-libnvdimm.ko") < content.index(b"firstlight/modules/01-nd_pmem.ko")
    assert b"insmod /firstlight/modules/01-nd_pmem.ko" in content
    assert with_drivers(initrd, MODULES) == made
    assert initrd.read_bytes() == b"070701 and more"


def test_a_kernel_with_everything_built_in_takes_the_initramfs_itself(tmp_path: Path) -> None:
    initrd = tmp_path / "initrd.img"
    initrd.write_bytes(b"own")
    assert with_drivers(initrd, []).path == initrd


def test_the_root_is_named_unless_the_person_names_one() -> None:
    assert root_words("quiet", "/dev/pmem0") == "root=/dev/pmem0 rootfstype=ext4 rw"
    assert root_words("root=UUID=1 quiet", "/dev/pmem0") == ""
    assert root_words("quiet -- root=x", "/dev/pmem0") != ""


def test_both_may_be_given_and_then_the_helper_is_in_the_userspace(tmp_path: Path) -> None:
    options = RecordOptions(
        output=tmp_path / "a.boot", initrd=tmp_path / "i", rootfs="debian", guest_commands=("sync",)
    )
    check_choices(options, X86_64)
    assert options.guest_helper
    assert not RecordOptions(output=tmp_path / "a.boot", initrd=tmp_path / "i").guest_helper
    with pytest.raises(UsageError, match="cannot be combined with `--initramfs-files`"):
        check_choices(RecordOptions(**{**vars(options), "initramfs_files": tmp_path}), X86_64)
    with pytest.raises(UsageError, match="`--initrd` cannot be combined with `--guest-command`"):
        check_choices(RecordOptions(**{**vars(options), "rootfs": None}), X86_64)


def test_the_helper_is_a_unit_of_the_userspace(tmp_path: Path) -> None:
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree, scratch):
        folder.mkdir()
    add_helper(tree, scratch, "/dev/ttyS1")
    unit = (tree / "etc/systemd/system/firstlight-ready.service").read_text()
    assert "After=default.target" in unit
    assert "ExecStart=/usr/lib/firstlight/guest ready /dev/ttyS1" in unit
    assert (tree / "usr/lib/firstlight/guest").stat().st_mode & 0o111
    assert (tree / "etc/systemd/system/default.target.wants/firstlight-ready.service").is_symlink()


@pytest.mark.parametrize(
    "line",
    [
        "ALERT!  /dev/pmem0 does not exist.  Dropping to a shell!",
        "Gave up waiting for root file system device.  Common problems:",
        "[ 9.1] dracut-initqueue: timeout, still waiting for following initqueue hooks:",
    ],
)
def test_an_initramfs_that_never_mounts_its_root_is_reported_as_such(tmp_path: Path, line: str) -> None:
    options = RecordOptions(output=tmp_path / "a.boot", initrd=tmp_path / "i", rootfs="debian")
    failure = Failure(reason=FailureReason.VIRTUAL_TIMEOUT, detail="", console_tail=[line, "(initramfs) "])
    said = advice(failure, options, Report())
    assert said.startswith("the initramfs never mounted its root (`")
    assert "nd_pmem" in said
