"""The firmware or boot loader that starts the kernel: the distribution's, or a file of the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from firstlight._core import elf_has_symbols, elf_headers
from firstlight.cache import file_digest
from firstlight.errors import MISSING_INPUT, LabError, UsageError
from firstlight.lab.host.package_manager import install_hint
from firstlight.quantities import size_text
from firstlight.recipe.isa import Architecture

#: The Platform Initialization Specification, "Firmware Volume Header": its sign, and where in it that stands.
_VOLUME_SIGN = b"_FVH"
_VOLUME_SIGN_AT = 0x28
_VOLUME_STEP = 4096
#: U-Boot's, and coreboot's.
_BANNER = re.compile(rb"(?:U-Boot (?:SPL )?20\d\d\.\d\d|coreboot-\d+\.\d+)[A-Za-z0-9.+~_-]*")


@dataclass(frozen=True)
class Loader:
    """One that is there."""

    path: Path
    digest: str
    """SHA-256 of the file."""
    title: str
    """As its own content says."""
    is_firmware: bool
    """Whether it is UEFI firmware: the loader is then the kernel's own EFI stub."""

    @property
    def runs_first(self) -> str | None:
        """What the loader is called that has the machine's first instruction; nothing where firmware has it."""
        return None if self.is_firmware else self.title


def find_loader(architecture: Architecture, name: str) -> Loader:
    """Find a loader by its name or its path.

    :param architecture: of the guest.
    :param name: one of the architecture's own, or a file.
    :raises UsageError: for a file that the machine has no room for, or a name that the architecture does not have.
    :raises LabError: when it is not there, with the package that has it.

    >>> from firstlight.errors import UsageError
    >>> from firstlight.recipe.isa import DEFAULT
    >>> try:
    ...     find_loader(DEFAULT, "grub")
    ... except UsageError as error:
    ...     print(error.report())
    error: --loader grub: there is no such file, and guests of amd64 have no loader of this name
    hint: give `ovmf`, or the file of a firmware
    """
    named = architecture.loaders.get(name)
    path = Path(named.file if named is not None else name)
    where = f"--loader {name}"
    if named is not None and not path.is_file():
        raise LabError(
            f"{named.title} is not installed: there is no {path}",
            where=where,
            hint=f"{install_hint(named.package)}; or give its file: `--loader FILE`",
            exit_code=MISSING_INPUT,
        )
    if not path.exists():
        own = " or ".join(f"`{each}`" for each in architecture.loaders) or "none by name"
        raise UsageError(
            f"there is no such file, and guests of {architecture.distribution_name} have no loader of this name",
            where=where,
            hint=f"give {own}, or the file of a firmware",
        )
    return open_loader(architecture, path, where)


def open_loader(architecture: Architecture, path: Path, where: str) -> Loader:
    """Check the file of a loader.

    :param where: the option that names it.
    :raises UsageError: for a file that the machine cannot run.
    :raises LabError: when it cannot be read.
    """
    if not path.is_file():
        raise UsageError("this is not a regular file", where=where, hint="give the file of a firmware or boot loader")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LabError(f"cannot read it: {error.strerror}", where=where) from error
    size = len(content)
    if size == 0 or size > architecture.largest_loader:
        raise UsageError(
            f"this file has {size_text(size)}, but the machine has {size_text(architecture.largest_loader)} for it",
            where=where,
            hint="give the file that is written into the flash memory",
        )
    if content[:4] == b"\x7fELF":
        raise UsageError(
            "this is an ELF file, which the machine cannot execute at reset",
            where=where,
            hint="give the binary that is made from it, such as `u-boot.bin`",
        )
    if size % architecture.loader_step:
        raise UsageError(
            f"this file has {size:,} bytes, which is not a multiple of {size_text(architecture.loader_step)}",
            where=where,
            hint="give the whole image, such as `OVMF.fd`",
        )
    return Loader(path.absolute(), file_digest(path), title_of(content), is_uefi(content))


def title_of(content: bytes) -> str:
    """What a firmware or boot loader is called: its own banner, where it is known how that looks.

    >>> title_of(b"U-Boot 2023.01 (Jun 22 2026 - 08:38:07 +0000)")
    'U-Boot 2023.01'
    """
    if (banner := _BANNER.search(content)) is not None:
        return banner[0].decode("ascii")
    return "UEFI firmware" if is_uefi(content) else "the boot loader"


def check_symbols(architecture: Architecture, path: Path, loader: Loader) -> None:
    """Check the program file that is to name the functions of a boot loader.

    :raises UsageError: for a file that cannot, with the reason.
    :raises LabError: when it cannot be read.
    """
    where = f"--loader-symbols {path}"
    if loader.is_firmware:
        raise UsageError(
            "UEFI firmware consists of many programs, but a file names the functions of only one",
            where=where,
            hint="leave it out: the firmware has its own row",
        )
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise LabError("there is no such file", where=where, exit_code=MISSING_INPUT) from error
    except OSError as error:
        raise LabError(f"cannot read it: {error.strerror}", where=where) from error
    try:
        headers, has_symbols = elf_headers(content), elf_has_symbols(content)
    except ValueError as error:
        raise UsageError(
            f"this is not a program in the ELF format, or a truncated one: {error}",
            where=where,
            hint="give the program that the loader was made from, such as `u-boot`",
        ) from error
    if headers.bits != 64:
        raise UsageError(
            "this program has 32 bits; Firstlight reads functions only from 64-bit ELF files",
            where=where,
            hint="give the program that the loader was made from, such as `u-boot`",
        )
    if headers.machine != architecture.elf_machine:
        raise UsageError("this program is for another processor", where=where, hint=f"give one for {architecture.name}")
    if not has_symbols:
        raise UsageError(
            "this program has no symbols: they were stripped",
            where=where,
            hint="give the unstripped file of the build, such as `u-boot` in the folder of U-Boot's build",
        )


def is_uefi(content: bytes) -> bool:
    """Whether a file holds a volume of UEFI firmware.

    >>> is_uefi(bytes(0x28) + b"_FVH"), is_uefi(bytes(8192))
    (True, False)
    """
    at = content.find(_VOLUME_SIGN)
    while at >= 0:
        if at % _VOLUME_STEP == _VOLUME_SIGN_AT:
            return True
        at = content.find(_VOLUME_SIGN, at + 1)
    return False
