"""Single programs of a root file system with their libraries, for the minimal guest."""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.rootfs.libraries import needed_libraries
from firstlight.lab.rootfs.tar import UserspaceTar
from firstlight.recipe.isa import DEFAULT, architecture_of_file

_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")


@dataclass
class Programs:
    """Programs out of a userspace."""

    files: dict[str, bytes] = field(default_factory=dict)
    """By the name of a program, or by the path of a library without the first slash: the content."""
    missing: tuple[str, ...] = ()
    """Programs that the userspace has not."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of every package of the userspace, where dpkg knows it."""


def programs_of(tar: Path, names: Iterable[str], loaded: Iterable[bytes] = ()) -> Programs:
    """Take programs out of the tar of a userspace, with every library that they need.

    :param names: of programs, as a shell would find them.
    :param loaded: libraries from elsewhere that the programs shall load; what these need is taken, too.
    :raises LabError: when the tar cannot be read, or a library is missing.
    """
    wanted = tuple(dict.fromkeys(names))
    try:
        with tarfile.open(tar) as archive:
            return _taken(UserspaceTar(archive), tar, wanted, loaded)
    except (OSError, tarfile.TarError) as error:
        raise LabError(f"cannot read the root file system: {error}", where=str(tar)) from error


def _taken(source: UserspaceTar, where: Path, names: tuple[str, ...], loaded: Iterable[bytes]) -> Programs:
    taken: dict[str, bytes] = {}
    missing = []
    to_see = list(loaded)
    for name in names:
        content = source.first(f"{folder}/{name}" for folder in _FOLDERS)
        if content is None:
            missing.append(name)
        else:
            taken[name] = content
            to_see.append(content)
    while to_see:
        asking = to_see.pop()
        architecture = architecture_of_file(asking) or DEFAULT
        for library in _needs(asking):
            path = library.lstrip("/") if "/" in library else f"lib/{architecture.library_folder}/{library}"
            if path in taken:
                continue
            content = source.first(
                [path, *(f"{folder}/{posixpath.basename(library)}" for folder in architecture.library_folders)]
            )
            if content is None:
                raise LabError(f"the root file system has no `{library}`, which its programs need", where=str(where))
            taken[path] = content
            to_see.append(content)
    return Programs(taken, tuple(missing), _versions(source))


def _needs(content: bytes) -> list[str]:
    """Loader and libraries of whatever a program may be: a script, or a file that is damaged, asks for nothing."""
    try:
        return needed_libraries(content, "")
    except LabError:
        return []


def _versions(source: UserspaceTar) -> dict[str, str]:
    status = (source.read("var/lib/dpkg/status") or b"").decode("utf-8", "replace")
    return dict(re.findall(r"^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$", status, re.MULTILINE))
