"""Files that QEMU options name. They affect the boot, so they are inputs like the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.cache import digest_of, file_digest
from firstlight.errors import MISSING_INPUT, LabError, UsageError
from firstlight.lab.qemu.arguments import properties, raw_parts, read_options, written

# Options whose whole value is a file, and those that QEMU also looks for among its own firmware.
_WHOLE = frozenset({"bios", "dtb"})
_FIRMWARE = frozenset({("bios", ""), ("option-rom", "romfile"), ("device", "romfile")})
_PROPERTIES: dict[str, frozenset[str]] = {
    "option-rom": frozenset({"romfile"}),
    "fw_cfg": frozenset({"file"}),
    "acpitable": frozenset({"file", "data"}),
    "smbios": frozenset({"file", "path"}),
    "boot": frozenset({"splash"}),
    "device": frozenset({"file", "romfile", "sdrfile", "frudatafile"}),
    "object": frozenset({"mem-path", "file", "filename"}),
}


def with_inputs(words: Sequence[str], firmware: Sequence[Path] = ()) -> tuple[tuple[str, ...], dict[str, str | None]]:
    """Find the files that options name, make their paths absolute (QEMU runs in another directory), and take their
    digests.

    :param words: words of QEMU's command line.
    :param firmware: the directories in which QEMU looks for firmware that is named without a path.
    :returns: the words as QEMU gets them, and a digest for every option that names files, by `option:WORD`.
    :raises UsageError: for a word that is not an option.
    :raises LabError: for a file that is missing or cannot be read.
    """
    options = list(read_options(words))
    own = [Path(value).absolute() for option, value in options if option == "L"]
    search = [*own, *firmware]
    taken: list[tuple[str, str]] = []
    digests: dict[str, str | None] = {}
    for option, value in options:
        if option == "L":
            directory = Path(value)
            if not directory.is_dir():
                hint = "it has to hold firmware"
                raise LabError("there is no such directory", where=f"-L {value}", hint=hint, exit_code=MISSING_INPUT)
            taken.append((option, str(directory.absolute())))
            digests[f"option:-L {directory.absolute()}"] = directory_digest(directory)
            continue
        new, found = _read(option, value, search)
        taken.append((option, new))
        if found:
            # Under the word as QEMU gets it: the same from every directory.
            digests[f"option:-{option} {new}"] = digest_of(*(file_digest(path) for path in found))
    return written(taken), digests


def own_firmware(words: Sequence[str]) -> tuple[Path, ...]:
    """The directories of `-L`, in which QEMU looks for firmware first.

    >>> own_firmware(["-L", "/firmware", "-usb"])
    (PosixPath('/firmware'),)
    """
    return tuple(Path(value).absolute() for option, value in read_options(words) if option == "L")


def directory_digest(directory: Path) -> str:
    """SHA-256 of every file below a directory, and of their names.

    :raises OSError: a file that cannot be read.
    """
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return digest_of(*(part for path in files for part in (str(path.relative_to(directory)), file_digest(path))))


def _read(option: str, value: str, search: Sequence[Path]) -> tuple[str, list[Path]]:
    """The value with absolute paths, and the files that it names."""
    if option in _WHOLE:
        path = _find(option, "", value, search)
        return str(path), [path]
    names = _PROPERTIES.get(option, frozenset())
    found: list[Path] = []
    parts = []
    for part, (name, text) in zip(raw_parts(value), properties(option, value), strict=True):
        if name in names and text:
            # Of several tables each has a file of its own.
            paths = [
                _find(option, name, each, search) for each in (text.split(":") if option == "acpitable" else [text])
            ]
            found += paths
            quoted = ":".join(map(str, paths)).replace(",", ",,")
            part = f"{name}={quoted}" if part.startswith(f"{name}=") else quoted
        parts.append(part)
    return ",".join(parts), found


def _find(option: str, name: str, text: str, search: Sequence[Path]) -> Path:
    path = Path(text)
    if not path.exists() and "/" not in text and (option, name) in _FIRMWARE:
        path = next((each / text for each in search if (each / text).is_file()), path)
    where = f"-{option} {name}={text}" if name else f"-{option} {text}"
    if not path.exists():
        hint = "it is an input of the boot: give an existing file"
        raise LabError("there is no such file", where=where, hint=hint, exit_code=MISSING_INPUT)
    if not path.is_file():
        raise UsageError(
            "this is not a regular file, so its content cannot be recorded", where=where, hint="copy it into a file"
        )
    return path.absolute()
