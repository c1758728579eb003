"""The register of bundles that this user recorded on this machine, and of their input files.

The register is in the user's private cache. The digest of the manifest identifies a bundle. The manifest names every
choice and the digest of every table, so a changed bundle is another one. Only a user who can write to the cache can add
to the register.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from firstlight.bundle.manifest import Manifest
from firstlight.cache import cache_dir
from firstlight.errors import LabError
from firstlight.recipe.recipe import Files

_BUNDLES, _INPUTS = "recorded-here", "inputs-used-here"


def remember(manifest_digest: str, files: Files, digests: dict[str, str | None]) -> None:
    """Note a bundle that was recorded just now, and where its kernel and its initramfs lie.

    That it cannot be noted is not an error: the bundle counts as a stranger's then.
    """
    with suppress(OSError, LabError):
        (_folder(_BUNDLES) / manifest_digest).touch(mode=0o600)
        for name, path in (("kernel", files.kernel), ("initrd", files.initrd)):
            digest = digests.get(name)
            if digest is not None and path is not None:
                (_folder(_INPUTS) / digest).write_bytes(os.fsencode(path.absolute()))


def made_here(manifest: Manifest) -> bool:
    """Whether a bundle was recorded on this machine by this user, and not changed since.

    >>> made_here(firstlight.open(bundle).manifest)
    False
    """
    try:
        return _is_private(_folder(_BUNDLES)) and (_folder(_BUNDLES) / _name(manifest.file_digest)).is_file()
    except (OSError, LabError, ValueError):
        return False


def known_input(digest: str | None) -> Path | None:
    """Where a file of this content lay when it went into a recording on this machine; nothing where none did.

    Whether it still is that content is for the one to check who uses it.
    """
    if digest is None:
        return None
    try:
        folder = _folder(_INPUTS)
        path = Path(os.fsdecode((folder / _name(digest)).read_bytes()))
        return path if _is_private(folder) and path.is_file() else None
    except (OSError, LabError, ValueError):
        return None


def _folder(name: str) -> Path:
    folder = cache_dir() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _is_private(folder: Path) -> bool:
    """Nobody else can add to it."""
    status = folder.lstat()
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022


def _name(digest: str) -> str:
    """A digest as the name of a file.

    :raises ValueError: when it is none, and could lead elsewhere.
    """
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise ValueError("this is not a SHA-256")
    return digest
