"""What a directory held when it was made: size and SHA-256 of every file, so that later damage is found."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from firstlight.processors import usable_processors

_VERSION = 1
_WORKERS = 4
#: Up to this many bytes a file is hashed without a thread: starting one takes longer.
_SMALL = 1 << 20


def write_seal(folder: Path, seal: Path) -> None:
    """Write down what a directory holds: names, sizes, SHA-256 digests, the targets of links.

    Owners, rights and times are not written down: none of them changes what a boot is made of.

    :param folder: the directory, which must not change meanwhile.
    :param seal: the file to write; one that is there is replaced.
    :raises OSError: when the directory cannot be read, or the file not written.
    """
    text = json.dumps({"version": _VERSION, "files": _content(folder)}, sort_keys=True)
    temporary = seal.with_name(f"{seal.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(seal)


def damage(folder: Path, seal: Path) -> str | None:
    """Say what differs in a directory from its seal.

    Every file is read whole: a date or a size does not show a byte that a failing disk, or a program, changed in
    place.

    :returns: the first difference in words, such as ``initramfs.cpio has 100 bytes instead of 2,260,480``; `None` when
        there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     place = Path(name)
    ...     (place / "entry").mkdir()
    ...     _ = (place / "entry/file").write_text("whole")
    ...     write_seal(place / "entry", place / "seal")
    ...     before = damage(place / "entry", place / "seal")
    ...     _ = (place / "entry/file").write_text("wholf")
    ...     (before, damage(place / "entry", place / "seal"))
    (None, 'file has another content')
    """
    known: dict[str, list[str | int]]
    try:
        said = json.loads(seal.read_text(encoding="utf-8"))
        if said["version"] != _VERSION:
            return "its list of digests has another version"
        known = {str(name): [str(about[0]), int(about[1]), str(about[2])] for name, about in said["files"].items()}
    except FileNotFoundError:
        return "it has no list of digests"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return "its list of digests cannot be read"
    try:
        # Names and sizes first: they cost nothing, and show most changes.
        for name, (kind, size, digest) in _listing(folder).items():
            if name not in known:
                return f"{name} is new"
            if known[name][:2] != [kind, size]:
                return _shape(name, known[name], kind, size)
            if kind == "link" and known[name][2] != digest:
                return f"{name} leads elsewhere"
        found = _content(folder)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    for name, about in known.items():
        if name not in found:
            return f"{name} is missing"
        if found[name] != about:
            return f"{name} has another content"
    return None


def _shape(name: str, known: list[str | int], kind: str, size: int) -> str:
    if known[0] == kind:
        return f"{name} has {size:,} bytes instead of {known[1]:,}"
    return f"{name} is of another kind"


def _content(folder: Path) -> dict[str, list[str | int]]:
    listing = _listing(folder)
    large = [name for name, (kind, size, _) in listing.items() if kind == "file" and size > _SMALL]
    digests: dict[str, str] = {}
    if len(large) > 1:
        with ThreadPoolExecutor(min(_WORKERS, usable_processors())) as workers:
            digests = dict(zip(large, workers.map(lambda name: _digest(folder / name), large), strict=True))
    content: dict[str, list[str | int]] = {}
    for name, (kind, size, target) in listing.items():
        digest = target if kind != "file" else digests.get(name) or _digest(folder / name)
        content[name] = [kind, size, digest]
    return content


def _listing(folder: Path) -> dict[str, tuple[str, int, str]]:
    """Kind, size and, of links, the target of everything below a directory, by its name there."""
    return {name: _about(Path(folder, name)) for name in sorted(_names(folder))}


def _names(folder: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    for directory, directories, files in os.walk(folder, onerror=refuse):
        for name in (*directories, *files):
            yield os.path.relpath(os.path.join(directory, name), folder)  # noqa: PTH118 (thousands of files)


def _about(path: Path) -> tuple[str, int, str]:
    info = path.lstat()
    if stat.S_ISREG(info.st_mode):
        return "file", info.st_size, ""
    if stat.S_ISLNK(info.st_mode):
        return "link", 0, os.fsencode(path.readlink()).hex()
    return ("directory" if stat.S_ISDIR(info.st_mode) else "other"), 0, ""


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
