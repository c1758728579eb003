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
from firstlight.recipe.isa import DEFAULT

_KIND = "kernels"


def unpacked_kernel() -> Path:
    """The path of the distribution's kernel in the cache.

    A file in the cache names the current one: when it is there and complete, the package client is not asked.

    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    index = cache_dir() / _KIND / "current.json"
    if (known := _read_index(index)) is not None:
        what = entry_damage(_KIND, known.relative_to(index.parent).parts[0])
        if what is None:
            return known
        print(f"note: the default kernel is downloaded again, because in the cache {what}", file=sys.stderr)
    require_making("the default kernel")
    kernel = _download(DEFAULT.kernel_package)
    _write_index(index, kernel)
    return kernel


def _read_index(index: Path) -> Path | None:
    try:
        path = index.parent / json.loads(index.read_text())[DEFAULT.kernel_package]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    inside = path.resolve().is_relative_to(index.parent.resolve()) and path != index.parent
    return path if inside and path.is_file() else None


def _write_index(index: Path, kernel: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=index.parent, prefix=".current-")
    with os.fdopen(descriptor, "w") as file:
        json.dump({DEFAULT.kernel_package: str(kernel.relative_to(index.parent))}, file)
    Path(temporary).rename(index)


def _download(package: str) -> Path:
    instead = "give a kernel yourself: `--kernel /boot/vmlinuz-RELEASE`"
    with downloaded(package, "the default kernel", instead, depended_on=r"linux-image-[a-z0-9.+-]+") as deb:
        unpacked = entry(_KIND, file_digest(deb), lambda path: unpack(deb, path))
    kernels = sorted((unpacked / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise LabError(f"the package `{deb.name}` holds no kernel", where=str(unpacked), hint=instead)
    return kernels[-1]
