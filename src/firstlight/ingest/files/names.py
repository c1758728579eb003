"""Names of files, which are any bytes on Linux, as text that a manifest, a terminal and a shell can hold."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

_LONGEST = 255
"""Bytes that a file system takes for one part of a path."""


def readable(name: str) -> str:
    r"""A name in which the bytes that are not UTF-8 stand as escapes.

    >>> readable("caf\udce9.log"), readable("café.log")
    ('caf\\xe9.log', 'café.log')
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def shell_line(words: Sequence[str]) -> str:
    r"""A command line that means *words*; those that are not UTF-8 in the form `$'...'` of bash, ksh and zsh.

    >>> print(shell_line(["import", "two words", "it's caf\udce9.log"]))
    import 'two words' $'it\'s caf\xe9.log'
    """
    return " ".join(shlex.quote(word) if readable(word) == word else _ansi_c(word) for word in words)


def _ansi_c(word: str) -> str:
    quoted = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{readable(quoted)}'"


def safe_name(name: str) -> str | None:
    """A member's name as a path inside its archive; none when it points outside or is none.

    >>> safe_name("./a/./b.log"), safe_name("../b"), safe_name("/etc/passwd"), safe_name("a/../../b")
    ('a/b.log', None, None, None)
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\x00" in name or not path.name:
        return None
    return readable(str(path))


class Names:
    """The names in a folder or an archive: none is given twice, and each is one that a file system takes.

    >>> names = Names()
    >>> names.free("a/b.log"), names.free("a/b.log"), names.free("a/b.log")
    ('a/b.log', 'a/2-b.log', 'a/3-b.log')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def free(self, name: str) -> str:
        """*name*; where it is taken already, with a number before its last part."""
        name = "/".join(map(_shortened, name.split("/")))
        folder, slash, last = name.rpartition("/")
        free, number = name, self._next.get(name, 2)
        while free in self._taken:
            free, number = f"{folder}{slash}{_shortened(f'{number}-{last}')}", number + 1
        self._next[name] = number
        self._taken.add(free)
        return free


def _shortened(part: str) -> str:
    """Escapes, and numbers, may make a part of a path too long: then its middle goes."""
    written = part.encode()
    if len(written) <= _LONGEST:
        return part
    return f"{written[:150].decode(errors='ignore')}...{written[-90:].decode(errors='ignore')}"
