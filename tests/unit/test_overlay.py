"""Files laid over a guest's own: added, replaced, removed; and nothing outside of the guest is ever reached."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.experiment.change import RecipeChange
from firstlight.experiment.files import overlay_for
from firstlight.lab.rootfs.ext4 import resolve
from firstlight.lab.rootfs.image import root_image
from firstlight.lab.rootfs.initramfs import GuestConfig, build_initramfs
from firstlight.lab.rootfs.overlay import apply_overlay, check_overlay, texts
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A user land with links as distributions have them."""
    tree = tmp_path / "tree"
    for name in ("sbin/init", "etc/motd", "usr/lib/a.so", "run/lock"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    (tree / "sbin/init").chmod(0o755)
    (tree / "lib").symlink_to("usr/lib")
    (tree / "var").mkdir()
    (tree / "var/run").symlink_to("/run")
    (tree / "out").symlink_to("../../..")
    return tree


def overlay(tmp_path: Path, *names: str) -> Path:
    """An overlay with files that hold their names."""
    folder = tmp_path / "overlay"
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"new {name}")
    return folder


def test_files_are_added_replaced_and_removed(tmp_path: Path, tree: Path) -> None:
    apply_overlay(overlay(tmp_path, "etc/new", "sbin/init", "etc/.wh.motd"), tree)
    assert sorted(path.name for path in (tree / "etc").iterdir()) == ["new"]
    assert (tree / "sbin/init").read_text() == "new sbin/init"


def test_a_directory_replaces_a_file(tmp_path: Path, tree: Path) -> None:
    apply_overlay(overlay(tmp_path, "etc/motd/x"), tree)
    assert (tree / "etc/motd/x").read_text() == "new etc/motd/x"


def test_links_of_the_guest_are_followed_within_the_guest(tmp_path: Path, tree: Path) -> None:
    apply_overlay(overlay(tmp_path, "lib/b.so", "var/run/x", "out/y"), tree)
    assert (tree / "usr/lib/b.so").exists()
    assert (tree / "lib").is_symlink()
    assert (tree / "run/x").exists()
    assert (tree / "y").exists()
    assert not (tmp_path / "y").exists()
    assert not Path("/run/x").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("etc/.wh.none", "does not exist"),
        ("etc", "the guest has a directory here"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, tree: Path, name: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        apply_overlay(overlay(tmp_path, name), tree)


def test_an_overlay_holds_files_directories_and_links_only(tmp_path: Path) -> None:
    folder = overlay(tmp_path, "a")
    os.mkfifo(folder / "pipe")
    with pytest.raises(LabError, match="files, directories and links only"):
        check_overlay(folder)
    with pytest.raises(LabError, match="no such directory"):
        check_overlay(tmp_path / "none")


def test_an_image_is_made_of_both_and_the_source_stays_as_it_is(tmp_path: Path, tree: Path) -> None:
    plain = root_image(tree)
    changed = root_image(tree, overlay(tmp_path, "etc/new", "etc/.wh.motd"))
    assert plain.digest != changed.digest
    assert resolve(changed.path, "/etc/new") == "/etc/new"
    assert resolve(changed.path, "/etc/motd") is None
    assert sorted(path.name for path in (tree / "etc").iterdir()) == ["motd"]
    assert root_image(tree, tmp_path / "overlay") == changed
    with pytest.raises(LabError, match="files cannot be added to an image"):
        root_image(plain.path, tmp_path / "overlay")


def test_the_small_guest_takes_files_but_keeps_its_own(tmp_path: Path) -> None:
    plain = build_initramfs(GuestConfig())
    added = build_initramfs(GuestConfig(), (), overlay(tmp_path, "etc/new"))
    assert b"new etc/new" in added.path.read_bytes()
    assert b"new etc/new" not in plain.path.read_bytes()
    with pytest.raises(LabError, match="`init` is in the archive already"):
        build_initramfs(GuestConfig(), (), overlay(tmp_path, "init"))
    (tmp_path / "overlay/init").unlink()
    with pytest.raises(LabError, match="nothing can be removed"):
        build_initramfs(GuestConfig(), (), overlay(tmp_path, ".wh.bin"))


def test_commands_run_at_the_end_of_the_small_guests_script() -> None:
    content = build_initramfs(GuestConfig(), (), None, ["echo one", "echo two"]).path.read_bytes()
    assert content.index(b"busybox --install") < content.index(b"echo one") < content.index(b"echo two")
    assert b"exit 0\n" not in content[content.index(b"busybox --install") :]


def test_an_initramfs_of_ones_own_is_booted_as_it_is() -> None:
    for word, change in (("--overlay", {"overlay": Path("o")}), ("--guest-command", {"guest_commands": ("true",)})):
        options = RecordOptions(output=Path("a.boot"), initrd=Path("i"), **change)
        with pytest.raises(UsageError, match=f"`--initrd` cannot be combined with `{word}`"):
            check_choices(options, X86_64)


def test_changes_of_files_in_a_plan_are_one_overlay_whatever_the_day(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    change = RecipeChange.model_validate(
        {
            "files": {
                "/etc/a": {"text": "A", "mode": "0600"},
                "/usr/bin/tool": {"from": "tool"},
                "/etc/link": {"link": "/dev/null"},
                "/etc/motd": {"remove": True},
            }
        }
    )
    made = overlay_for(change.files, tmp_path)
    assert made is not None
    found = {str(path.relative_to(made)): path for path in made.rglob("*") if not path.is_dir()}
    assert sorted(found) == ["etc/.wh.motd", "etc/a", "etc/link", "usr/bin/tool"]
    assert found["etc/a"].stat().st_mode & 0o777 == 0o600
    assert found["usr/bin/tool"].stat().st_mode & 0o111
    assert {int(path.lstat().st_mtime) for path in made.rglob("*")} == {1_704_067_200}
    assert overlay_for(change.files, tmp_path) == made
    (tmp_path / "tool").write_text("#!/bin/sh\nexit\n")
    assert overlay_for(change.files, tmp_path) != made
    assert overlay_for({}, tmp_path) is None
    with pytest.raises(FirstlightError, match="no such file"):
        overlay_for(RecipeChange.model_validate({"files": {"/x": {"from": "none"}}}).files, tmp_path)


def test_the_texts_of_an_overlay_are_those_of_its_small_files_and_of_no_link(tmp_path: Path) -> None:
    overlay, outside = tmp_path / "overlay", tmp_path / "outside"
    (overlay / "etc").mkdir(parents=True)
    outside.write_text("another")
    (overlay / "etc/b").write_bytes(b"my.word=\xff")
    (overlay / "a").write_text("first")
    (overlay / "large").write_bytes(b"x" * ((1 << 20) + 1))
    (overlay / "link").symlink_to(outside)
    assert texts(overlay) == "first\nmy.word=\ufffd"
