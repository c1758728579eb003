"""Separate files with the symbols of programs: found by build id in directories, and on debuginfod servers."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from firstlight import _core
from firstlight.cache import cache_dir

_TIMEOUT_S = 30.0
#: The largest file that is taken from a server.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class DebugFiles:
    """Where debug files are looked for."""

    directory: Path | None = None
    """By build id (`.build-id/ab/cdef.debug`, also below `usr/lib/debug`), by path, and by file name."""
    servers: tuple[str, ...] = ()
    """Addresses of debuginfod servers."""

    def find(self, path: str, build_id: str) -> Path | None:
        """The debug file of the program or library at *path* in the guest; nothing where there is none.

        >>> DebugFiles().find("/bin/true", "abcdef01") is None
        True
        """
        if self.directory is not None:
            for candidate in _candidates(self.directory, path, build_id):
                if candidate.is_file() and _core.build_id(str(candidate)) == build_id:
                    return candidate
        return next((found for server in self.servers if (found := _fetched(server, build_id)) is not None), None)


def debug_files(directory: Path | None) -> DebugFiles:
    """Debug files of a directory and of the servers that `DEBUGINFOD_URLS` names."""
    urls = os.environ.get("DEBUGINFOD_URLS", "").split()
    return DebugFiles(directory, tuple(url for url in urls if url.startswith(("https://", "http://"))))


def _candidates(directory: Path, path: str, build_id: str) -> list[Path]:
    by_id = f".build-id/{build_id[:2]}/{build_id[2:]}.debug"
    below = PurePosixPath(path).relative_to("/") if path.startswith("/") else PurePosixPath(path)
    names = [by_id, f"{below}.debug", f"{below}", f"{below.name}.debug", below.name]
    roots = (directory, directory / "usr/lib/debug", directory / "lib/debug")
    return [root / name for name in names for root in roots if ".." not in PurePosixPath(name).parts]


def _fetched(server: str, build_id: str) -> Path | None:
    """The debug file from a server, by debuginfod's protocol, kept in the cache."""
    kept = cache_dir() / "debuginfod" / f"{build_id}.debug"
    if kept.is_file():
        return kept
    url = f"{server.rstrip('/')}/buildid/{build_id}/debuginfo"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except (urllib.error.URLError, OSError, ValueError):
        return None
    if len(content) > _MOST_BYTES:
        return None
    kept.parent.mkdir(parents=True, exist_ok=True)
    temporary = kept.with_name(f"{kept.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.replace(kept)
    return kept if _core.build_id(str(kept)) == build_id else None
