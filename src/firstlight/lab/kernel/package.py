"""The distribution's kernel package, unpacked without installing it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from firstlight.cache import cache_dir, entry, entry_damage, file_digest, require_making
from firstlight.errors import LabError
from firstlight.lab.host.apt import downloaded, unpack
from firstlight.recipe.isa import DEFAULT, Architecture

_KIND = "kernels"


def unpacked_kernel(architecture: Architecture = DEFAULT) -> Path:
    """The path of the distribution's kernel in the cache.

    A file in the cache names the current one: when it is there and complete, the package client is not asked.

    :param architecture: of the guest.
    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    index = cache_dir() / _KIND / "current.json"
    if (known := _read_index(index, architecture.kernel_package)) is not None:
        what = entry_damage(_KIND, known.relative_to(index.parent).parts[0])
        if what is None:
            return known
        print(f"note: the default kernel is downloaded again, because in the cache {what}", file=sys.stderr)
    require_making("the default kernel")
    kernel = _download(architecture)
    _write_index(index, architecture.kernel_package, kernel)
    return kernel


def _read_index(index: Path, package: str) -> Path | None:
    try:
        path = index.parent / json.loads(index.read_text())[package]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    inside = path.resolve().is_relative_to(index.parent.resolve()) and path != index.parent
    return path if inside and path.is_file() else None


def _write_index(index: Path, package: str, kernel: Path) -> None:
    try:
        known = dict(json.loads(index.read_text()))
    except (OSError, ValueError, TypeError):
        known = {}
    known[package] = str(kernel.relative_to(index.parent))
    descriptor, temporary = tempfile.mkstemp(dir=index.parent, prefix=".current-")
    with os.fdopen(descriptor, "w") as file:
        json.dump(known, file)
    Path(temporary).rename(index)


def _download(architecture: Architecture) -> Path:
    package = architecture.kernel_package
    other = None if architecture is DEFAULT else architecture.distribution_name
    instead = "give a kernel yourself: `--kernel /boot/vmlinuz-RELEASE`"
    depended_on = r"linux-image-[a-z0-9.+-]+"
    with downloaded(package, "the default kernel", instead, depended_on=depended_on, architecture=other) as deb:
        unpacked = entry(_KIND, file_digest(deb), lambda path: unpack(deb, path))
    kernels = sorted((unpacked / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise LabError(f"the package `{deb.name}` holds no kernel", where=str(unpacked), hint=instead)
    return kernels[-1]
