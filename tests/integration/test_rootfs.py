"""Root file systems: one image from a directory, an archive or an image; the same input, the same bytes."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from firstlight import zstd
from firstlight.errors import LabError
from firstlight.lab.rootfs.ext4 import resolve, tool
from firstlight.lab.rootfs.image import RootImage, root_image

pytestmark = pytest.mark.skipif(
    shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin") is None
    or (os.geteuid() != 0 and shutil.which("fakeroot") is None),
    reason="e2fsprogs, and root or fakeroot, are needed",
)
WHEN = 1_600_000_000
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


@pytest.fixture(autouse=True)
def _private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def make_tree(folder: Path, *, reverse: bool = False) -> Path:
    """A root with systemd in its usual places; the order of making is free."""
    links = {"lib": "usr/lib", "sbin": "usr/sbin", "usr/sbin/init": "/lib/systemd/systemd"}
    files = ["usr/lib/systemd/systemd", *(f"etc/file{number:02}" for number in range(40))]
    for directory in ("usr/lib/systemd", "usr/sbin", "etc", "proc"):
        (folder / directory).mkdir(parents=True)
    for name in sorted(files, reverse=reverse):
        (folder / name).write_text(name)
    for name, target in sorted(links.items(), reverse=reverse):
        (folder / name).symlink_to(target)
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (WHEN, WHEN), follow_symlinks=False)
    return folder


def make_tar(path: Path, add: Callable[[tarfile.TarFile], None]) -> Path:
    with tarfile.open(path, "w") as archive:
        add(archive)
    return path


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), WHEN
    for field, value in fields.items():
        setattr(info, field, value)
    return info, io.BytesIO(content)


def debugfs(image: RootImage, request: str) -> str:
    command = [tool("debugfs"), "-R", request, str(image.path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def forget() -> None:
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "firstlight/images")


def test_a_directory_becomes_a_clean_image_with_its_systemd_found(tmp_path: Path) -> None:
    image = root_image(make_tree(tmp_path / "tree"))
    assert (image.init, image.has_systemd) == ("/sbin/init", True)
    assert image.size_bytes == image.path.stat().st_size
    assert image.size_bytes % (2 << 20) == 0
    subprocess.run([tool("e2fsck"), "-f", "-n", str(image.path)], check=True, capture_output=True)
    assert debugfs(image, "cat /etc/file07") == "etc/file07"
    assert sorted(path.name for path in image.path.parent.iterdir()) == ["image.json", "root.ext4"]


def test_the_same_tree_gives_the_same_bytes_whatever_the_order_of_making(tmp_path: Path) -> None:
    first = root_image(make_tree(tmp_path / "one"))
    forget()
    second = root_image(make_tree(tmp_path / "two", reverse=True))
    assert first.digest == second.digest
    assert first.path == second.path


def test_the_cache_notices_a_change_that_keeps_size_and_time(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    first = root_image(tree)
    assert root_image(tree) == first
    (tree / "etc/file00").write_text("etc/file99")
    os.utime(tree / "etc/file00", (WHEN, WHEN))
    assert root_image(tree).digest != first.digest


@pytest.mark.parametrize("ending", PACK)
def test_an_archive_gives_the_same_image_in_every_compression(tmp_path: Path, ending: str) -> None:
    tree = make_tree(tmp_path / "tree")
    plain = make_tar(tmp_path / "root.tar", lambda archive: archive.add(tree, "."))
    expected = root_image(plain)
    path = tmp_path / f"packed{ending}"
    path.write_bytes(PACK[ending](plain.read_bytes()))
    forget()
    image = root_image(path)
    assert image.digest == expected.digest
    assert image.has_systemd


def test_owners_rights_and_devices_of_an_archive_are_kept(tmp_path: Path) -> None:
    def add(archive: tarfile.TarFile) -> None:
        archive.addfile(*member("sbin/init", b"#!/bin/sh\n", mode=0o4755, uid=1234, gid=5678))
        archive.addfile(*member("dev/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3, mode=0o666))

    image = root_image(make_tar(tmp_path / "root.tar", add))
    assert (image.init, image.has_systemd) == ("/sbin/init", False)
    shown = debugfs(image, "stat /sbin/init")
    assert "Mode:  04755" in shown
    assert shown.split("User:")[1].split()[0] == "1234"
    assert shown.split("Group:")[1].split()[0] == "5678"
    assert "Device major/minor number: 01:03" in debugfs(image, "stat /dev/null")


@pytest.mark.parametrize(
    "hostile",
    [
        member("/etc/cron.d/evil", b"x"),
        member("../evil", b"x"),
        member("a/../../evil", b"x"),
        member("link", type=tarfile.LNKTYPE, linkname="/etc/shadow"),
        member("link", type=tarfile.LNKTYPE, linkname="../../etc/shadow"),
    ],
)
def test_an_archive_that_points_outside_is_refused(tmp_path: Path, hostile: tuple[tarfile.TarInfo, io.BytesIO]) -> None:
    def add(archive: tarfile.TarFile) -> None:
        archive.addfile(*member("sbin/init", b"#!/bin/sh\n"))
        archive.addfile(*hostile)

    path = make_tar(tmp_path / "root.tar", add)
    with pytest.raises(LabError, match="points outside"):
        root_image(path)
    assert not (tmp_path / "evil").exists()


def test_an_archive_that_writes_through_its_own_link_reaches_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()

    def add(archive: tarfile.TarFile) -> None:
        archive.addfile(*member("door", type=tarfile.SYMTYPE, linkname=str(outside)))
        archive.addfile(*member("door/evil", b"x"))

    with pytest.raises(LabError, match="cannot be unpacked"):
        root_image(make_tar(tmp_path / "root.tar", add))
    assert list(outside.iterdir()) == []
    kept = [path.name for path in (tmp_path / "cache/firstlight/images").iterdir()]
    assert all(name.endswith(".lock") for name in kept)


def test_a_damaged_or_empty_archive_is_called_so(tmp_path: Path) -> None:
    whole = make_tar(tmp_path / "root.tar", lambda archive: archive.addfile(*member("sbin/init", bytes(50_000))))
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[:20_000])
    with pytest.raises(LabError, match="the archive is damaged"):
        root_image(cut)
    packed = tmp_path / "cut.tar.xz"
    packed.write_bytes(lzma.compress(os.urandom(50_000))[:10_000])
    with pytest.raises(LabError, match="the archive is damaged"):
        root_image(packed)
    empty = tmp_path / "empty.tar.zst"
    empty.write_bytes(zstd.compress(bytes(10_240)))
    with pytest.raises(LabError, match="the archive is empty"):
        root_image(empty)


def test_a_root_without_init_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "tree/etc").mkdir(parents=True)
    with pytest.raises(LabError, match="has no init"):
        root_image(tmp_path / "tree")
    images = tmp_path / "cache/firstlight/images"
    assert not [path for path in images.iterdir() if path.is_dir()]


def test_an_image_is_used_where_it_is_and_not_changed(tmp_path: Path) -> None:
    made = root_image(make_tree(tmp_path / "tree"))
    image = tmp_path / "root.img"
    shutil.copy(made.path, image)
    image.chmod(0o400)
    found = root_image(image)
    assert found == RootImage(image, made.digest, "/sbin/init", True, made.size_bytes)


def test_an_image_that_cannot_serve_is_called_by_its_name(tmp_path: Path) -> None:
    made = root_image(make_tree(tmp_path / "tree"))
    image = tmp_path / "root.img"
    shutil.copy(made.path, image)
    os.truncate(image, made.size_bytes - 4096)
    with pytest.raises(LabError, match="a truncated image"):
        root_image(image)
    os.truncate(image, made.size_bytes + 512)
    with pytest.raises(LabError, match="not a multiple of a page") as caught:
        root_image(image)
    assert "truncate" in str(caught.value.hint)
    for content, name in ((b"QFI\xfb", "a qcow2 image"), (b"hsqs", "a squashfs image"), (b"x" * 5000, "another kind")):
        image.write_bytes(content)
        with pytest.raises(LabError, match=f"{name}, not an ext4 image"):
            root_image(image)


def test_a_source_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no such root file system"):
        root_image(tmp_path / "none")


def test_links_are_followed_inside_the_image_only(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    (tree / "etc/round").symlink_to("round")
    (tree / "etc/up").symlink_to("../../../../etc/file01")
    (tree / "etc/hostile").symlink_to('x" ; quit')
    image = root_image(tree).path
    assert resolve(image, "/sbin/init") == "/lib/systemd/systemd"
    assert resolve(image, "/etc/up") == "/etc/file01"
    assert resolve(image, "/etc/round") is None
    assert resolve(image, "/etc/hostile") is None
    assert resolve(image, "/etc") is None
