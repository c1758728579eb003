"""A complete root file system as one ext4 image, from a directory, an archive, an image or the Debian recipe."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from firstlight.assets import asset_path
from firstlight.cache import cache_dir, check_cached, digest_of, entry, file_digest
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.host.package_manager import install_hint
from firstlight.lab.rootfs.archive import check_archive, is_archive, unpack
from firstlight.lab.rootfs.commands import add_to_userspace
from firstlight.lab.rootfs.debian import debian_digest, debian_tar
from firstlight.lab.rootfs.distribution_initrd import add_helper
from firstlight.lab.rootfs.ext4 import check_image, make_image, measure, resolve
from firstlight.lab.rootfs.module_tree import add_modules, module_tree_digest, module_tree_size
from firstlight.lab.rootfs.overlay import apply_overlay
from firstlight.lab.rootfs.tree import copy_tree, tree_digest
from firstlight.recipe.isa import DEFAULT, Architecture

#: Raised when another image is made of the same source: what was cached before is then no longer found.
_VERSION = "1"
_KIND = "images"
_IMAGE = "root.ext4"
_FACTS = "image.json"
#: Where an init is looked for, in the kernel's order, and where systemd stands without a link to it.
_INITS = ("/sbin/init", "/etc/init", "/bin/init", "/init", "/usr/lib/systemd/systemd", "/lib/systemd/systemd")


@dataclass(frozen=True)
class RootImage:
    """An ext4 image that a guest can have as its root."""

    path: Path
    digest: str
    """SHA-256 of the image."""
    init: str
    """What to execute in it."""
    has_systemd: bool
    """Whether that is systemd."""
    size_bytes: int


@dataclass(frozen=True)
class _Addition:
    """What is put into a root file system before it becomes an image."""

    overlay: Path | None
    commands: tuple[str, ...]
    modules: Path | None = None
    """The kernel's `lib/modules/RELEASE`, for a userspace that has none of its own."""
    report: str | None = None
    """The port that the helper in the userspace reports to; none: something else brings it there."""
    architecture: Architecture = DEFAULT
    """Of the programs of the guest."""

    def key(self) -> tuple[str, ...]:
        """What it adds to the image's key; nothing where it adds nothing."""
        modules = () if self.modules is None else ("modules", module_tree_digest(self.modules))
        if self.report is not None:
            modules = (*modules, "helper", file_digest(asset_path(self.architecture.helper_asset)), self.report)
        if self.overlay is None and not self.commands:
            return modules
        return (*modules, "with", "" if self.overlay is None else tree_digest(self.overlay), *self.commands)

    def apply(self, tree: Path, folder: Path) -> None:
        """Put it into a tree, which is changed."""
        if self.modules is not None:
            add_modules(self.modules, tree)
        if self.report is not None:
            scratch = folder / "helper"
            scratch.mkdir()
            add_helper(tree, scratch, self.report, self.architecture)
            shutil.rmtree(scratch)
        if self.overlay is not None:
            apply_overlay(self.overlay, tree)
        if self.commands:
            scratch = folder / "commands"
            scratch.mkdir()
            add_to_userspace(self.commands, tree, scratch)
            shutil.rmtree(scratch)


def root_image(
    source: Path | Literal["debian"],
    overlay: Path | None = None,
    commands: Sequence[str] = (),
    modules: Path | None = None,
    report: str | None = None,
    architecture: Architecture = DEFAULT,
) -> RootImage:
    """Turn a source into an image, or find that image in the cache.

    An image is used where it is and never written: QEMU maps it privately.

    :param source: a directory; a tar, plain or compressed (gz, xz, bz2, zst); an ext4 image; or ``"debian"``.
    :param overlay: a directory that is laid over it.
    :param commands: what it runs before it is ready; it needs systemd for that.
    :param modules: the kernel's `lib/modules/RELEASE`; ``"debian"`` gets them. Any other userspace is used with those
        that it has.
    :param report: put Firstlight's helper into it, which reports to that port; it needs systemd for that.
    :param architecture: of the guest.
    :raises LabError: when the source is missing, damaged, hostile, holds no init, or the image cannot be made.
    """
    addition = _Addition(overlay, tuple(commands), report=report, architecture=architecture)
    if source == "debian":
        addition = replace(addition, modules=modules)
        return _cached(
            "debian",
            debian_digest((), architecture),
            addition,
            lambda folder: _from_archive(debian_tar((), architecture), folder, addition),
        )
    path = Path(source)
    try:
        if path.is_dir():
            return _cached("directory", tree_digest(path), addition, lambda folder: _from_tree(path, folder, addition))
        if not path.is_file():
            what = "not a regular file" if path.exists() else "there is no such root file system"
            hint = "give a directory, a tar, an ext4 image, `debian`, or what `firstlight image build NAME` prints"
            raise LabError(what, where=str(path), hint=hint, exit_code=MISSING_INPUT)
        check_cached(path)
        archive = is_archive(path)
    except OSError as error:
        raise LabError(f"cannot read: {error.strerror}", where=str(path), exit_code=MISSING_INPUT) from error
    if archive:
        return _cached("archive", file_digest(path), addition, lambda folder: _from_archive(path, folder, addition))
    if addition.key():
        hint = "give the directory or the tar that it was made of"
        if report is not None:
            hint += ", or give the console line that means that it is up: `--ready REGEX`"
        raise LabError("files cannot be added to an image: it is used unchanged", where=str(path), hint=hint)
    return _described(path, check_image(path), where=str(path))


def _cached(kind: str, digest: str, addition: _Addition, make: Callable[[Path], str]) -> RootImage:
    # Another user's owners come out differently, so that root and others have images of their own.
    key = digest_of(_VERSION, kind, digest, "root" if os.geteuid() == 0 else "fakeroot", *addition.key())

    def fill(folder: Path) -> None:
        where = make(folder)
        image = folder / _IMAGE
        facts = asdict(_described(image, image.stat().st_size, where=where))
        del facts["path"]
        (folder / _FACTS).write_text(json.dumps(facts))

    folder = entry(_KIND, key, fill)
    return RootImage(path=folder / _IMAGE, **json.loads((folder / _FACTS).read_text()))


def _from_tree(tree: Path, folder: Path, addition: _Addition) -> str:
    size = measure(tree).blocks * 4096
    _need_space(2 * size if addition.key() else size, folder)
    if addition.key():
        copied = folder / "tree"
        copy_tree(tree, copied, as_root(folder))
        addition.apply(copied, folder)
        make_image(copied, folder / _IMAGE, as_root(folder))
        _remove(copied)
    else:
        make_image(tree, folder / _IMAGE, as_root(folder))
    (folder / "fakeroot").unlink(missing_ok=True)
    return str(tree)


def _from_archive(archive: Path, folder: Path, addition: _Addition) -> str:
    # Unpacked, and then once more in the image.
    modules = 0 if addition.modules is None else module_tree_size(addition.modules)
    _need_space(2 * (check_archive(archive) + modules), folder)
    tree = folder / "tree"
    tree.mkdir()
    unpack(archive, tree, as_root(folder))
    addition.apply(tree, folder)
    make_image(tree, folder / _IMAGE, as_root(folder))
    _remove(tree)
    (folder / "fakeroot").unlink(missing_ok=True)
    return str(archive)


def as_root(folder: Path) -> Sequence[str]:
    """What stands before a command that keeps owners: as another user than root, fakeroot, which remembers them in a
    file of *folder* from one command to the next.

    :raises LabError: when it is missing.
    """
    if os.geteuid() == 0:
        return ()
    if (fakeroot := shutil.which("fakeroot")) is None:
        hint = f"{install_hint('fakeroot')}; or run as root"
        raise LabError("the owners of a root file system cannot be kept without root or `fakeroot`", hint=hint)
    state = folder / "fakeroot"
    state.touch()
    return (fakeroot, "-i", str(state), "-s", str(state), "--")


def _described(image: Path, size: int, where: str) -> RootImage:
    for init in _INITS:
        if (real := resolve(image, init)) is not None:
            return RootImage(image, file_digest(image), init, real.endswith("/systemd"), size)
    hint = f"it needs one of {', '.join(_INITS[:4])}"
    raise LabError("this root file system has no init", where=where, hint=hint)


def _need_space(size: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        hint = f"free some, or set XDG_CACHE_HOME; `rm -r {cache_dir()}` empties the cache"
        message = f"no space left: {size >> 20} MiB are needed in the cache, {free >> 20} MiB are free"
        raise LabError(message, where=str(cache_dir()), hint=hint)


def _remove(tree: Path) -> None:
    # A directory of the tree may deny its own owner to write; root does not care.
    if os.geteuid() != 0:
        for directory, _, _ in os.walk(tree):
            Path(directory).chmod(0o700)
    shutil.rmtree(tree)
