"""The kernel that is booted: a file that somebody gives, or the distribution's own for virtual machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firstlight.cache import check_kept, file_digest
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.kernel.image_header import HEAD_SIZE, NotBootableError, read_head
from firstlight.lab.kernel.package import unpacked_kernel
from firstlight.lab.kernel.vmlinux import is_vmlinux, read_vmlinux


@dataclass(frozen=True)
class Kernel:
    """A kernel that boots here, and what was found beside it."""

    path: Path
    digest: str
    """SHA-256 of the file."""
    release: str | None
    """As ``uname -r`` will print it."""
    modules: Path | None
    """Its directory ``lib/modules/RELEASE``."""
    config: Path | None
    """The configuration it was built with."""
    is_elf: bool = False
    """Whether it is an uncompressed `vmlinux`, which QEMU enters without firmware and without unpacking it."""


def default_kernel() -> Kernel:
    """The distribution's kernel for virtual machines, from the cache; the first time it is downloaded.

    :raises LabError: when the package client cannot download it.
    """
    return _opened(unpacked_kernel(refresh=False))


def refresh_default_kernel() -> Kernel:
    """As :func:`default_kernel`, but asks the distribution for its newest one.

    :raises LabError: when the package client cannot download it.
    """
    return _opened(unpacked_kernel(refresh=True))


def open_kernel(path: Path) -> Kernel:
    """Check a kernel and look for what belongs to it.

    :param path: a bzImage (``vmlinuz``) for x86_64, or a ``vmlinux`` with an entry for virtual machines.
    :raises LabError: when it is missing, cannot be read, is no kernel, is for another architecture, is truncated, or
        is a damaged part of the cache.

    >>> from firstlight.errors import MISSING_INPUT, LabError
    >>> try:
    ...     open_kernel(Path("/dev/null"))
    ... except LabError as error:
    ...     print(error.message)
    not a regular file
    """
    check_kept(path)
    return _opened(path)


def _opened(path: Path) -> Kernel:
    head, size = _read(path)
    try:
        release = read_vmlinux(path).release if is_vmlinux(head) else read_head(head, size).release
    except NotBootableError as error:
        raise LabError(f"this is {error}", where=str(path), hint=error.hint) from error
    except (OSError, ValueError) as error:
        raise LabError(f"cannot read the kernel: {error}", where=str(path)) from error
    real = path.resolve()
    modules = next((folder for folder in _module_folders(real, release) if folder.is_dir()), None)
    config = next((file for file in _config_files(real, release, modules) if file.is_file()), None)
    return Kernel(path, file_digest(path), release, modules, config, is_elf=is_vmlinux(head))


def running_kernel() -> Path | None:
    """The file of the kernel that this machine runs, when it can be read."""
    path = Path("/boot") / f"vmlinuz-{os.uname().release}"
    return path if os.access(path, os.R_OK) else None


def _read(path: Path) -> tuple[bytes, int]:
    where = str(path)
    try:
        if path.is_dir():
            raise LabError("this is a directory, not a kernel", where=where, hint="give the file in it: a bzImage")
        if path.exists() and not path.is_file():
            raise LabError("not a regular file", where=where)
        with path.open("rb") as file:
            return file.read(HEAD_SIZE), os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        running = running_kernel()
        hint = f"this machine's own is {running}" if running else "leave the option out for the distribution's kernel"
        raise LabError("there is no such kernel", where=where, hint=hint, exit_code=MISSING_INPUT) from error
    except PermissionError as error:
        hint = f"copy it: `sudo install -m 644 {path} .`"
        raise LabError("this kernel cannot be read by you", where=where, hint=hint, exit_code=MISSING_INPUT) from error
    except OSError as error:
        raise LabError(f"cannot read the kernel: {error.strerror}", where=where) from error


def _module_folders(path: Path, release: str | None) -> Iterator[Path]:
    if release is None:
        return
    if path.parent.name == release:
        yield path.parent
    if path.parent.name == "boot":
        yield path.parent.parent / "lib/modules" / release
        yield path.parent.parent / "usr/lib/modules" / release
    yield path.parent / "lib/modules" / release


def _config_files(path: Path, release: str | None, modules: Path | None) -> Iterator[Path]:
    if release is not None:
        yield path.parent / f"config-{release}"
    if modules is not None:
        yield modules / "config"
    if path.parts[-4:] == ("arch", "x86", "boot", "bzImage"):
        yield path.parents[3] / ".config"
    if path.name == "vmlinux":
        yield path.with_name(".config")
