"""The kernel of a boot: a file of the user, or the distribution's kernel for virtual machines."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from firstlight.cache import check_cached, file_digest
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.kernel import elf_image, flat_image, zimage
from firstlight.lab.kernel.image_header import FORMAT, HEAD_SIZE, Head, NotBootableError, read_head
from firstlight.lab.kernel.package import unpacked_kernel
from firstlight.lab.kernel.vmlinux import is_vmlinux, read_vmlinux
from firstlight.recipe.isa import DEFAULT, Architecture, architecture_of_file

#: As much of a file as its signs take.
_SIGNS = 1 << 12
#: Readers of the head of a kernel's file, by `Architecture.kernel_format`.
READERS: Mapping[str, Callable[[bytes, int], Head]] = {
    FORMAT: read_head,
    zimage.FORMAT: zimage.read_zimage,
    **{name: image.read for name, image in (flat_image.FORMATS | elf_image.FORMATS).items()},
}


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
    architecture: Architecture = DEFAULT
    """What it runs on."""

    @property
    def build_folder(self) -> Path | None:
        """The top of the kernel's build, when the file lies where that left it."""
        parts = PurePosixPath(self.architecture.kernel_image).parts
        path = self.path.resolve()
        return path.parents[len(parts) - 1] if path.parts[-len(parts) :] == parts else None


def default_kernel(architecture: Architecture = DEFAULT) -> Kernel:
    """The distribution's kernel for virtual machines, from the cache; the first time it is downloaded.

    :param architecture: of the guest.
    :raises LabError: when the package client cannot download it.
    """
    return _opened(unpacked_kernel(architecture))


def open_kernel(path: Path) -> Kernel:
    """Check a kernel and look for what belongs to it.

    :param path: a bzImage (``vmlinuz``) for x86_64, a ``vmlinux`` with an entry for virtual machines, or an
        uncompressed Image for arm64 or riscv64, a zImage for 32-bit arm, or a `vmlinux` for ppc64le or mips64el.
    :raises LabError: when it is missing, cannot be read, is no kernel, is for another architecture, is truncated, or
        is a damaged part of the cache.

    >>> from firstlight.errors import MISSING_INPUT, LabError
    >>> try:
    ...     open_kernel(Path("/dev/null"))
    ... except LabError as error:
    ...     print(error.message)
    not a regular file
    """
    check_cached(path)
    return _opened(path)


def _opened(path: Path) -> Kernel:
    head, size = _read(path)
    architecture = architecture_of_file(head) or DEFAULT
    try:
        read = READERS[architecture.kernel_format]
        release = read_vmlinux(path).release if is_vmlinux(head) else read(head, size).release or _given_release(path)
    except NotBootableError as error:
        raise LabError(f"this is {error}", where=str(path), hint=error.hint) from error
    except (OSError, ValueError) as error:
        raise LabError(f"cannot read the kernel: {error}", where=str(path)) from error
    real = path.resolve()
    modules = next((folder for folder in _module_folders(real, release) if folder.is_dir()), None)
    kernel = Kernel(path, file_digest(path), release, modules, None, is_vmlinux(head), architecture)
    return replace(kernel, config=next((file for file in _config_files(kernel) if file.is_file()), None))


def _given_release(path: Path) -> str | None:
    """The release by the text that the kernel prints first.

    An image that is not compressed has it, and no pointer to it.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        found = re.search(rb"Linux version (\d[\x21-\x7e]{0,63}) ", image)
        return found[1].decode("ascii") if found else None


def architecture_of_kernel(path: Path | None) -> Architecture:
    """The architecture of a kernel's file, without a check of the file; the default one where it does not say.

    :param path: none for the distribution's kernel.
    """
    if path is None or not path.is_file():
        return DEFAULT
    try:
        with path.open("rb") as file:
            return architecture_of_file(file.read(_SIGNS)) or DEFAULT
    except OSError:
        return DEFAULT


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


def _config_files(kernel: Kernel) -> Iterator[Path]:
    path = kernel.path.resolve()
    if kernel.release is not None:
        yield path.parent / f"config-{kernel.release}"
    if kernel.modules is not None:
        yield kernel.modules / "config"
    if kernel.build_folder is not None:
        yield kernel.build_folder / ".config"
    if path.name == "vmlinux":
        yield path.with_name(".config")
