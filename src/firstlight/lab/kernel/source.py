"""The source of the distribution's kernel: downloaded once, stored as a package."""

from __future__ import annotations

import shutil
from pathlib import Path

from firstlight.cache import digest_of, entry, file_digest, place
from firstlight.errors import LabError
from firstlight.lab.host.apt import downloaded, unpack
from firstlight.lab.host.tools import failure_text, run_tool

#: Of the distribution's own lasting release.
PACKAGE = "linux-source-6.1"
_KIND = "kernel-sources"
_ARCHIVE = "linux-source.tar.xz"


def source_archive() -> Path:
    """The archive of the source, from the cache.

    :raises LabError: when it cannot be downloaded, or the package holds none.
    """
    kept = place(_KIND, digest_of(PACKAGE))
    if not (kept / _ARCHIVE).is_file():
        # An entry without it was damaged by somebody.
        shutil.rmtree(kept, ignore_errors=True)
    return entry(_KIND, digest_of(PACKAGE), _fetch, adopt=True) / _ARCHIVE


def has_source() -> bool:
    """Whether it was downloaded."""
    return (place(_KIND, digest_of(PACKAGE)) / _ARCHIVE).is_file()


def unpack_source(folder: Path) -> Path:
    """Unpack the source below a folder.

    :returns: the tree's root.
    :raises LabError: when it cannot be had, or is not an archive of one tree.
    """
    archive = source_archive()
    command = ["tar", "--extract", "--no-same-owner", f"--file={archive}", f"--directory={folder}"]
    run = run_tool(command)
    if run.returncode != 0:
        hint = f"free some space; if the archive is damaged, remove it to download it again: `rm {archive}`"
        raise LabError(f"the kernel's source cannot be unpacked: {failure_text(run)}", where=str(archive), hint=hint)
    trees = [each for each in folder.iterdir() if (each / "Kconfig").is_file()]
    if len(trees) != 1:
        raise LabError("the package holds no kernel source", where=str(archive))
    return trees[0]


def source_digest() -> str:
    """What identifies the source.

    :raises LabError: when it cannot be had.
    """
    return file_digest(source_archive())


def _fetch(folder: Path) -> None:
    instead = f"put its tarball there yourself: {place(_KIND, digest_of(PACKAGE)) / _ARCHIVE}"
    with downloaded(PACKAGE, "the kernel's source", instead) as deb:
        unpack(deb, folder / "package")
    found = sorted((folder / "package").glob("usr/src/linux-source-*.tar.xz"))
    if not found:
        raise LabError(f"the package `{PACKAGE}` holds no source", hint=instead)
    found[-1].rename(folder / _ARCHIVE)
    shutil.rmtree(folder / "package")
