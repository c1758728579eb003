"""The busybox of the minimal guest: a program that runs without any library."""

from __future__ import annotations

import shutil
from pathlib import Path

from firstlight._core import elf_needs
from firstlight.errors import LabError
from firstlight.lab.host.package_cache import Package, unpacked_file
from firstlight.lab.host.package_manager import install_hint
from firstlight.recipe.isa import DEFAULT, Architecture

_PACKAGE = "busybox-static"
_KIND = "busybox"


def static_busybox(architecture: Architecture = DEFAULT) -> Path:
    """Find a busybox for a guest, and make sure that it runs without any library.

    It is this machine's own, where that is for the guest's architecture; else the distribution's package for it,
    unpacked into the cache.

    :param architecture: of the guest.
    :raises LabError: when there is none, or only one that is linked dynamically.
    """
    found = shutil.which("busybox", path="/bin:/usr/bin:/sbin:/usr/sbin") or shutil.which("busybox")
    if found is not None and architecture is not DEFAULT and not architecture.is_kernel(_head(Path(found))):
        found = None
    if found is None and architecture is not DEFAULT:
        return _checked(unpacked_file(_KIND, _package(architecture), f"{_PACKAGE}:{architecture.distribution_name}"))
    if found is None:
        raise LabError("busybox is missing", hint=install_hint(_PACKAGE))
    return _checked(Path(found))


def _package(architecture: Architecture) -> Package:
    return Package(
        _PACKAGE,
        content="**/bin/busybox",
        what=f"the busybox of guests on {architecture.name}",
        instead="give an initramfs yourself: `--initrd FILE --ready REGEX`",
        architecture=architecture.distribution_name,
        release=architecture.distribution_release,
    )


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _checked(path: Path) -> Path:
    if not _is_static(path.read_bytes()):
        raise LabError(
            "this busybox needs libraries, which an initramfs lacks", where=str(path), hint=install_hint(_PACKAGE)
        )
    return path


def _is_static(elf: bytes) -> bool:
    """An ELF program without an interpreter."""
    try:
        return elf_needs(elf)[0] is None
    except ValueError:
        return False
