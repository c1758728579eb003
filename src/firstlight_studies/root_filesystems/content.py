"""What every root file system of the study holds beside the small guest, and what the guest does with it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from firstlight import LabError
from firstlight.study import needed_libraries, settle

FILES = 48
"""Texts below `/usr/share/data`, read whole in every arm and checked against their sums."""
SYNCED = 120
"""Files that are written and synced before the crash."""
LATE = 40
"""Files that are written after that, and not synced."""

KEEP = "/run/firstlight/export"
_DATA = "usr/share/data"


def _sequence(first: int, step: int, last: int) -> bytes:
    """What `seq FIRST STEP LAST` prints."""
    return "".join(f"{number}\n" for number in range(first, last + 1, step)).encode()


def _sums(files: dict[str, bytes]) -> str:
    return "".join(f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {name}\n"
                   for name, content in sorted(files.items()))  # fmt: skip


def data_files() -> dict[str, bytes]:
    """The texts by path: some 20 kB each, as compressible as settings and tables are."""
    return {f"{_DATA}/{number:02}.txt": _sequence(number, 137, number * 3000 + 400_000) for number in range(FILES)}


def written_files() -> dict[str, bytes]:
    """What the guest writes and syncs before the crash, by path."""
    return {f"srv/synced/{number}": _sequence(number, 7, number * 40) for number in range(1, SYNCED + 1)}


def late_files() -> dict[str, bytes]:
    """What it writes after that."""
    return {f"srv/late/{number}": _sequence(number, 7, number * 40) for number in range(1, LATE + 1)}


def write_content(folder: Path) -> Path:
    """Write it as an overlay.

    :returns: the overlay's directory, below *folder*.
    """
    overlay = folder / "content"
    texts = {name: content.decode() for name, content in data_files().items()}
    texts["usr/share/data.md5"] = _sums(data_files())
    texts["usr/share/synced.md5"] = _sums(written_files())
    texts["usr/share/late.md5"] = _sums(late_files())
    for name, text in texts.items():
        path = overlay / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (overlay / "srv").mkdir(exist_ok=True)
    settle(overlay)
    return overlay


def write_tools(content: Path, folder: Path, programs: Sequence[str]) -> Path:
    """Write the content with programs of this machine and their libraries, as another overlay.

    :raises LabError: when a program or a library of it is not there.
    """
    shutil.copytree(content, folder, dirs_exist_ok=True)
    wanted = [_found(name) for name in programs]
    done: set[Path] = set()
    while wanted:
        path = wanted.pop()
        if path in done:
            continue
        done.add(path)
        data = path.read_bytes()
        place = folder / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o755)
        wanted += [_found(name) for name in needed_libraries(data, str(path))]
    settle(folder)
    return folder


def _found(name: str) -> Path:
    """A program or library of this machine; the loader is named by its path."""
    places = ("/usr/sbin", "/usr/bin", f"/lib/{os.uname().machine}-linux-gnu", "/lib64", "/usr/lib")
    for place in places:
        if (path := Path(place) / name).is_file():
            return path
    raise LabError(f"`{name}` is missing", hint="install it: `apt install mtd-utils`")


def script(lines: Iterable[str]) -> str:
    """A command that stops at the first of its lines that fails; a part of a list of commands would go on.

    >>> print(script(["false", "echo never"]))
    sh -e <<'END'
    false
    echo never
    END
    """
    return "\n".join(["sh -e <<'END'", *lines, "END"])


def count_whole(sums: str, folder: str = "/") -> str:
    """A command that counts the files whose content is as it should be."""
    return f"cd {folder} && md5sum -c {sums} 2>/dev/null | grep -c 'OK$'"


#: What the guest runs before it is ready, in every arm.
COMMANDS = (
    f"mkdir -p {KEEP}; cp /proc/meminfo {KEEP}/meminfo; /init stamp up",
    f"{count_whole('/usr/share/data.md5')} >{KEEP}/data; /init stamp read",
    f"if [ -d /srv/synced ]; then {count_whole('/usr/share/synced.md5')} >{KEEP}/synced; fi || true",
    f"if [ -d /srv/late ]; then {count_whole('/usr/share/late.md5')} >{KEEP}/late; fi || true",
)
