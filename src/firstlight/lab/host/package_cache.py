"""Packages of the distribution, unpacked into the cache without installing them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from firstlight.cache import cache_dir, entry, entry_damage, file_digest, require_making
from firstlight.errors import LabError
from firstlight.lab.host.apt import downloaded, unpack


@dataclass(frozen=True)
class Package:
    """What is wanted of a package."""

    name: str
    content: str
    """The pattern of its file, from the top of the package; the last one in order counts."""
    what: str
    """What it is for, in messages."""
    instead: str
    """What a user may do when it cannot be had."""
    depended_on: str | None = None
    """As :func:`~firstlight.lab.host.apt.downloaded` takes it."""
    architecture: str | None = None
    """The distribution's name of another architecture than this machine's."""
    release: str | None = None
    """As :func:`~firstlight.lab.host.apt.downloaded` takes it."""


def unpacked_file(kind: str, package: Package, key: str | None = None) -> Path:
    """The path of a package's file in the cache.

    A file in the cache names the current one: when it is there and complete, the package client is not asked.

    :param kind: the folder of the cache.
    :param key: the name in that file, by default the package's.
    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    index = cache_dir() / kind / "current.json"
    key = key or package.name
    if (known := _read_index(index, key)) is not None:
        what = entry_damage(kind, known.relative_to(index.parent).parts[0])
        if what is None:
            return known
        print(f"note: {package.what} is downloaded again, because in the cache {what}", file=sys.stderr)
    require_making(package.what)
    found = _download(kind, package)
    _write_index(index, key, found)
    return found


def known_file(kind: str, name: str) -> Path | None:
    """The file of a package that is in the cache already, by the package's name; nothing is downloaded.

    :param kind: the folder of the cache.

    >>> known_file("kernels", "linux-image-of-nothing") is None
    True
    """
    return _read_index(cache_dir() / kind / "current.json", name)


def _read_index(index: Path, key: str) -> Path | None:
    try:
        path = index.parent / json.loads(index.read_text())[key]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    inside = path.resolve().is_relative_to(index.parent.resolve()) and path != index.parent
    return path if inside and path.is_file() else None


def _write_index(index: Path, key: str, found: Path) -> None:
    try:
        known = dict(json.loads(index.read_text()))
    except (OSError, ValueError, TypeError):
        known = {}
    known[key] = str(found.relative_to(index.parent))
    descriptor, temporary = tempfile.mkstemp(dir=index.parent, prefix=".current-")
    with os.fdopen(descriptor, "w") as file:
        json.dump(known, file)
    Path(temporary).rename(index)


def _download(kind: str, package: Package) -> Path:
    with downloaded(
        package.name,
        package.what,
        package.instead,
        depended_on=package.depended_on,
        architecture=package.architecture,
        release=package.release,
    ) as deb:
        unpacked = entry(kind, file_digest(deb), lambda path: unpack(deb, path))
    files = sorted(unpacked.glob(package.content))
    if not files:
        message = f"the package `{deb.name}` does not contain {package.what}"
        raise LabError(message, where=str(unpacked), hint=package.instead)
    return files[-1]
