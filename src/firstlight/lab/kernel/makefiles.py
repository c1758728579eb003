"""Which option of the configuration puts which source file into a kernel, as its Makefiles say.

Source of the rules: the kernel's `Documentation/kbuild/makefiles.rst`, "The kbuild files".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_ASSIGNMENT = re.compile(r"^\s*([\w./$()-]+?)\s*(?:\+=|:=|=|\?=)\s*(.*)$")
_OF_OPTION = re.compile(r"\$[({]CONFIG_(\w+)[)}]")
_CONDITION = re.compile(r"^\s*(ifdef|ifndef|ifeq|ifneq|else|endif)\b(.*)$")
_SET = re.compile(r"^\s*(?:(?P<ifdef>CONFIG_\w+)|\(\$\((?P<ifeq>CONFIG_\w+)\),\s*y\s*\))\s*$")
_LISTS = ("obj", "lib", "libs", "core", "drivers", "net", "virt", "init")
_SOURCES = (".c", ".S")
#: Folders that the topmost Makefile enters, besides that of the architecture.
_TOP = (
    "init", "usr", "kernel", "certs", "mm", "fs", "ipc", "security", "crypto", "block", "io_uring", "drivers", "sound",
    "net", "virt", "lib",
)  # fmt: skip

_Key = tuple[str, str | None, tuple[str, ...]]
"""A list of a Makefile: its name, the option it depends on, the options of conditions around it."""


@dataclass(frozen=True)
class SourceFile:
    """A file that becomes part of a kernel."""

    path: str
    """Below the tree's root, without its suffix: `fs/ext4/super`."""
    options: tuple[str, ...]
    """All of them have to be set, the outermost first, without `CONFIG_`; none where the file is always there."""
    module: str
    """The module that it would be part of, with underscores."""

    @property
    def folder(self) -> str:
        """Where it is: the first two parts of its path."""
        return "/".join(self.path.split("/")[:-1][:2])


def source_files(tree: Path, architecture: str) -> list[SourceFile]:
    """The files that the Makefiles of a kernel's source name, in their order.

    A condition (`ifdef`, `ifeq`) counts where it asks for one option to be set, and is passed over elsewhere.

    :param tree: the root of the source.
    :param architecture: the folder below `arch` that counts.
    :raises OSError: when a Makefile cannot be read.
    """
    found: dict[SourceFile, None] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for folder in (*_TOP, f"arch/{architecture}"):
        found |= dict.fromkeys(_of_folder(tree, folder, (), seen))
    return list(found)


def _of_folder(
    tree: Path, folder: str, gates: tuple[str, ...], seen: set[tuple[str, tuple[str, ...]]]
) -> Iterator[SourceFile]:
    place = tree / folder
    makefile = next((place / name for name in ("Kbuild", "Makefile") if (place / name).is_file()), None)
    if makefile is None or (folder, gates) in seen:
        return
    seen.add((folder, gates))
    lists = _lists(makefile.read_text(encoding="utf-8", errors="replace"))
    for (name, option, conditions), words in lists.items():
        if name not in _LISTS:
            continue
        mine = _joined(gates, conditions, option)
        for word in words:
            if word.endswith("/"):
                # The Makefile of an architecture names folders from the tree's root.
                inner = f"{folder}/{word}" if (place / word).is_dir() else word
                yield from _of_folder(tree, inner.rstrip("/"), mine, seen)
            elif word.endswith(".o"):
                yield from _of_object(place, folder, word.removesuffix(".o"), mine, lists)


def _of_object(
    place: Path, folder: str, name: str, gates: tuple[str, ...], lists: Mapping[_Key, list[str]]
) -> Iterator[SourceFile]:
    """The file of an object, or those that it is linked from."""
    parts = [(key, words) for key, words in lists.items() if key[0] == name]
    module = name.rpartition("/")[2].replace("-", "_")
    if not parts or any((place / f"{name}{suffix}").is_file() for suffix in _SOURCES):
        yield SourceFile(f"{folder}/{name}", gates, module)
    for (_, option, conditions), words in parts:
        for word in words:
            if word.endswith(".o") and word != f"{name}.o":
                yield SourceFile(
                    f"{folder}/{word.removesuffix('.o')}", _joined(gates, conditions, option), module
                )  # fmt: skip


def _joined(gates: tuple[str, ...], conditions: tuple[str, ...], option: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*gates, *conditions, *([option] if option else [])]))


def _lists(text: str) -> dict[_Key, list[str]]:
    """The lists of a Makefile with their words.

    >>> _lists("obj-$(CONFIG_EXT4_FS) += ext4.o\\next4-y := balloc.o \\\\\\n  super.o")
    {('obj', 'EXT4_FS', ()): ['ext4.o'], ('ext4', None, ()): ['balloc.o', 'super.o']}
    """
    found: dict[_Key, list[str]] = {}
    around: list[str | None] = []
    for line in text.replace("\\\n", " ").splitlines():
        line = line.partition("#")[0]
        if line.startswith("\t"):
            continue
        if (condition := _CONDITION.match(line)) is not None:
            _enter(around, condition[1], condition[2])
        elif (match := _ASSIGNMENT.match(line)) is not None:
            target = match[1]
            if (gate := _OF_OPTION.search(target)) is not None:
                name, option = target[: gate.start()].rstrip("-"), gate[1]
            else:
                name, _, kind = target.rpartition("-")
                option = None
                if kind not in ("y", "objs", "m"):
                    continue
            conditions = tuple(each for each in around if each is not None)
            found.setdefault((name, option, conditions), []).extend(match[2].split())
    return found


def _enter(around: list[str | None], word: str, rest: str) -> None:
    """Follow a condition: what it asks to be set, or nothing where it asks something else."""
    if word == "endif":
        del around[-1:]
    elif word == "else":
        around[-1:] = [None]
    else:
        asked = _SET.match(rest) if word in ("ifdef", "ifeq") else None
        around.append(None if asked is None else (asked["ifdef"] or asked["ifeq"]).removeprefix("CONFIG_"))
