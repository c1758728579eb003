"""Images that a kernel mounts as its root, made from a directory without mounting and without root.

The same tree gives the same bytes: times and identities are fixed. libfaketime replaces them for programs that take
them from the clock or from a random source.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.host.package_manager import install_hint
from firstlight.lab.rootfs.cramfs import write_cramfs
from firstlight.lab.rootfs.ext4 import EPOCH, make_image, measure
from firstlight.lab.rootfs.filesystems import ERASE_SIZE, SUMMARY, RootFormat
from firstlight.lab.rootfs.newc import Archive
from firstlight.lab.rootfs.reproducible_tree import ordered_tree

_MIB = 1 << 20
_UUID = "4c460000-0000-4000-8000-000000000003"
#: Of this machine, which need not be the guest's kind.
_FAKETIME_PLACES = (
    f"/usr/lib/{os.uname().machine}-linux-gnu/faketime",
    "/usr/lib/faketime",
    "/usr/lib64/faketime",
    "/usr/lib",
)
#: The least that these take, and room for what is written.
_SIZES = {"ext2": 8, "ext3": 16, "ext4": 16, "xfs": 48, "btrfs": 48, "f2fs": 96}


def make_root(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str] = ()) -> None:
    """Make an image of a tree.

    :param form: the kind of image.
    :param tree: what becomes the root directory; nothing in it is changed.
    :param image: the file to write.
    :param prefix: what stands before a command, such as ``fakeroot`` with its state.
    :raises LabError: when a program is missing (the hint names its package) or fails.
    """
    check_tools(form)
    makers: dict[str, Callable[[RootFormat, Path, Path, Sequence[str]], None]] = {
        "cramfs": _cramfs, "romfs": _romfs, "jffs2": _jffs2, "squashfs": _squashfs, "erofs": _erofs,
        "ubifs": _ubifs,
        "ext2": _ext, "ext3": _ext, "ext4": _ext, "xfs": _xfs, "btrfs": _btrfs, "f2fs": _f2fs, "": _initramfs,
    }  # fmt: skip
    makers[form.file_system](form, tree, image, prefix)
    os.truncate(image, form.whole(image.stat().st_size))


def check_tools(form: RootFormat) -> None:
    """Make sure that what makes an image of this kind is there.

    :raises LabError: naming the program that is missing, and its package.
    """
    for name, package in form.tools:
        found = _faketime() if name.startswith("lib") else _which(name)
        if found is None:
            raise LabError(f"`{name}` of the package {package} is missing", hint=install_hint(package))


def tool_versions(form: RootFormat) -> tuple[str, ...]:
    """What identifies the programs that make an image of this kind: their files' sizes and names.

    Another version of a program makes another image of the same tree.
    """
    paths = [_faketime() if name.startswith("lib") else _which(name) for name, _ in form.tools]
    return tuple(f"{Path(path).name} {Path(path).stat().st_size}" for path in paths if path is not None)


def _which(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _faketime() -> str | None:
    paths = (Path(place) / "libfaketime.so.1" for place in _FAKETIME_PLACES)
    return next((str(path) for path in paths if path.is_file()), None)


def _run(command: Sequence[str | Path], prefix: Sequence[str] = (), **environment: str) -> None:
    name = str(command[0])
    words = [*prefix, *(["env", *(f"{key}={value}" for key, value in environment.items())] if environment else [])]
    words += [_which(name) or name, *map(str, command[1:])]
    given = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": str(EPOCH)}
    if name == "mksquashfs":
        # It sets its times itself, and rejects a second setting.
        del given["SOURCE_DATE_EPOCH"]
    run = subprocess.run(words, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        said = [line for line in (run.stderr + "\n" + run.stdout).splitlines() if line.strip()]
        raise LabError(f"`{name}` failed: {(said or [f'it ended with {run.returncode}'])[-1]}")


def _steady(*, files: bool = False) -> dict[str, str]:
    """The environment in which a program sees a fixed date and draws the same numbers each time.

    :param files: it sees that date on files, too.
    """
    steady = {
        "LD_PRELOAD": str(_faketime()),
        "FAKETIME": "2024-01-01 00:00:00",
        "FAKERANDOM_SEED": "0x12345678DEADBEEF",
        "FAKETIME_FAKEPID": "4242",
    }
    return steady if files else {**steady, "NO_FAKE_STAT": "1"}


def _cramfs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    if form.device == "xip":
        try:
            write_cramfs(tree, image)
        except (OSError, ValueError) as error:
            raise LabError(f"this cannot be a cramfs: {error}", where=str(tree)) from error
        return
    _run(["mkfs.cramfs", "-N", "little", "-n", "firstlight", tree, image], prefix)


def _romfs(_form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    with ordered_tree(tree) as (copy, before):
        _run(["genromfs", "-d", copy, "-f", image, "-V", "firstlight"], (*before, *prefix))


def _jffs2(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    # Padded to whole blocks, each marked as erased cleanly, as flash comes from the factory.
    _run(["mkfs.jffs2", "-r", tree, "-o", image, "-e", hex(ERASE_SIZE), "-l", f"--pad={4 * _MIB}", "-f", "-U"], prefix)
    if SUMMARY in form.options:
        plain = image.rename(image.with_name(f"{image.name}.plain"))
        _run(["sumtool", "-i", plain, "-o", image, "-e", hex(ERASE_SIZE), "-l", "-p"])
        plain.unlink()


def _ubifs(_form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    # Flash without pages, as memory is: a block of UBI has two headers of 64 bytes.
    block, volume, settings = (
        ERASE_SIZE - 128,
        image.with_name(f"{image.name}.vol"),
        image.with_name(f"{image.name}.ini"),
    )
    most = -(-measure(tree).blocks * 4096 * 3 // 2 // block) + 64
    _run(["mkfs.ubifs", "-q", "-r", tree, "-m", "8", "-e", str(block), "-c", str(most), "-x", "lzo", "-o", volume],
         prefix, **_steady())  # fmt: skip
    settings.write_text(
        f"[root]\nmode=ubi\nimage={volume}\nvol_id=0\nvol_type=dynamic\nvol_name=root\nvol_flags=autoresize\n",
        encoding="utf-8",
    )
    _run(["ubinize", "-o", image, "-p", str(ERASE_SIZE), "-m", "1", "-Q", "1", settings])
    volume.unlink()
    settings.unlink()
    # Empty blocks, for wear levelling and the journal, as far as persistent memory goes.
    size = image.stat().st_size
    with image.open("ab") as file:
        file.write(b"\xff" * (-(size + 24 * ERASE_SIZE) % (2 * _MIB) + 24 * ERASE_SIZE))


def _squashfs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    fixed = ["-all-root", "-mkfs-time", str(EPOCH), "-all-time", str(EPOCH), "-processors", "1"]
    _run(["mksquashfs", tree, image, *form.options, *fixed, "-noappend", "-no-progress", "-quiet"], prefix)


def _erofs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    _run(["mkfs.erofs", "-T", str(EPOCH), "-U", _UUID, "--all-root", *form.options, image, tree], prefix)


def _ext(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    make_image(tree, image, prefix, kind=form.file_system, size=_size(form, tree), more=form.options)


def _size(form: RootFormat, tree: Path) -> int:
    content = measure(tree)
    if form.device == "ram":
        # The kernel copies all of it: what is not held would be copied, too.
        return content.blocks * 4096 * 9 // 8 + content.entries * 512 + _MIB
    held = content.blocks * 4096 * 3 // 2 + content.entries * 512
    room = _SIZES[form.file_system] * _MIB
    return room + -(-held // _MIB) * _MIB


def _empty(form: RootFormat, tree: Path, image: Path) -> None:
    with image.open("xb") as file:
        file.truncate(_size(form, tree))


def _xfs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    prototype = image.with_name(f"{image.name}.proto")
    prototype.write_text(_prototype(tree), encoding="utf-8")
    _empty(form, tree, image)
    # mkfs.xfs makes less than 300 MB for its own tests only, which these words stand for.
    small = {"TEST_DIR": "/", "TEST_DEV": "/", "QA_CHECK_FS": "1"}
    _run(["mkfs.xfs", "-q", "-f", "-m", f"uuid={_UUID}", "-p", prototype, image], prefix, **small, **_steady())
    prototype.unlink()


def _prototype(tree: Path) -> str:
    """What mkfs.xfs reads: a file per line, in the old form of mkfs's `proto`."""
    lines = ["/", "0 0"]

    def describe(path: Path, name: str, depth: int) -> None:
        info = path.lstat()
        if any(character.isspace() for character in str(path)):
            raise LabError("mkfs.xfs takes no blanks in names", where=str(path))
        rights = f"{'u' if info.st_mode & stat.S_ISUID else '-'}{'g' if info.st_mode & stat.S_ISGID else '-'}"
        owners = (info.st_uid, info.st_gid) if os.geteuid() == 0 else (0, 0)
        rights += f"{stat.S_IMODE(info.st_mode) & 0o777:03o} {owners[0]} {owners[1]}"
        lead = f"{' ' * depth}{name} " if name else ""
        if stat.S_ISLNK(info.st_mode):
            lines.append(f"{lead}l{rights} {path.readlink()}")
        elif stat.S_ISREG(info.st_mode):
            lines.append(f"{lead}-{rights} {path}")
        elif stat.S_ISDIR(info.st_mode):
            lines.append(f"{lead}d{rights}")
            for each in sorted(path.iterdir()):
                describe(each, each.name, depth + 1)
            lines.append(f"{' ' * depth}$")

    describe(tree, "", 0)
    return "\n".join(lines) + "\n"


def _btrfs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    _empty(form, tree, image)
    with ordered_tree(tree) as (copy, before):
        one = ["-m", "single", "-d", "single"]
        command: list[str | Path] = ["mkfs.btrfs", "-q", "-f", "-U", _UUID, *one, "--rootdir", copy, image]
        # It keeps when files came to lie where they are, among other times.
        _run(command, (*before, *prefix), **_steady(files=True))


def _f2fs(form: RootFormat, tree: Path, image: Path, prefix: Sequence[str]) -> None:
    _empty(form, tree, image)
    _run(["mkfs.f2fs", "-q", "-f", "-U", _UUID, image], prefix, **_steady())
    _run(["sload.f2fs", "-f", tree, "-t", "/", "-T", str(EPOCH), image], prefix, **_steady())


def _initramfs(_form: RootFormat, tree: Path, image: Path, _prefix: Sequence[str]) -> None:
    archive = Archive()
    for path in sorted(tree.rglob("*")):
        name, info = str(path.relative_to(tree)), path.lstat()
        if stat.S_ISLNK(info.st_mode):
            archive.link(name, str(path.readlink()))
        elif stat.S_ISREG(info.st_mode):
            archive.file(name, path.read_bytes(), stat.S_IMODE(info.st_mode))
        elif stat.S_ISDIR(info.st_mode):
            archive.directory(name, stat.S_IMODE(info.st_mode))
    if "dev/console" not in archive.paths():
        # The kernel opens it before anything is mounted.
        archive.character_device("dev/console", 5, 1)
    image.write_bytes(archive.bytes())
