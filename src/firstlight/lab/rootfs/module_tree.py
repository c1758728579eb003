"""A kernel's modules in the root file system of its guest, as a distribution installs them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from firstlight.cache import digest_of, file_digest
from firstlight.errors import LabError
from firstlight.lab.host.foreign_programs import foreign_command
from firstlight.lab.host.package_manager import install_hint
from firstlight.lab.host.tools import failure_text, run_tool
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.recipe.isa import DEFAULT, architecture_of_file

_PLACE = "usr/lib/modules"
#: Links to the kernel's source, and what depmod makes anew.
_LEFT_OUT = re.compile(r"build|source|modules\.(dep|alias|symbols|softdep|devname|builtin\.alias|dep\.bin|.*\.bin)")


def module_tree_digest(modules: Path) -> str:
    """What identifies a kernel's modules: names and contents, whoever unpacked them.

    :param modules: its `lib/modules/RELEASE`.
    :raises LabError: when one cannot be read.
    """
    parts = [modules.name]
    for path in _files(modules):
        parts += [str(path.relative_to(modules)), file_digest(path)]
    return digest_of(*parts)


def module_tree_size(modules: Path) -> int:
    """Bytes of a kernel's modules."""
    return sum(path.stat().st_size for path in _files(modules))


def add_modules(modules: Path, tree: Path) -> None:
    """Lay a kernel's modules into a userspace, with the files of `depmod`, so that `modprobe` finds them.

    All of it belongs to root, and has the guest's first date. The userspace's own depmod is run, because its modprobe
    reads what it writes.

    :param modules: the kernel's `lib/modules/RELEASE`.
    :param tree: a Debian userspace, which is changed.
    :raises LabError: when they cannot be copied, or depmod fails.
    """
    place = tree / _PLACE / modules.name
    try:
        for path in _files(modules):
            copy = place / path.relative_to(modules)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            copy.chmod(0o644)
    except OSError as error:
        raise LabError(f"the kernel's modules cannot be copied: {error.strerror}", where=str(modules)) from error
    _depmod(tree, modules.name)
    for each in (place.parent, place, *place.rglob("*")):
        if each.is_dir():
            each.chmod(0o755)
        os.utime(each, (EPOCH, EPOCH))


def _files(modules: Path) -> Iterator[Path]:
    for path in sorted(modules.rglob("*")):
        if path.is_file() and not _LEFT_OUT.fullmatch(path.relative_to(modules).parts[0]):
            yield path


def _depmod(tree: Path, release: str) -> None:
    program = tree / "usr/bin/kmod"
    architecture = (architecture_of_file(program.read_bytes()) if program.is_file() else None) or DEFAULT
    loader = next(iter(sorted(tree.glob(f"usr/lib*/**/{architecture.loader}"))), None)
    if loader is not None and program.is_file():
        libraries = tree / architecture.library_folders[0]
        command = [str(loader), "--library-path", str(libraries), "--argv0", "depmod", str(program)]
        command = foreign_command(architecture, [*command, "--basedir", str(tree), release])
    elif (found := shutil.which("depmod", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")) is not None:
        command = [found, "--basedir", str(tree), release]
    else:
        raise LabError("`depmod` is missing", hint=install_hint("kmod"))
    run = run_tool(command)
    if run.returncode != 0:
        raise LabError(f"depmod failed: {failure_text(run)}", where=str(tree))
