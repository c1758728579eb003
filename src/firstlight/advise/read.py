"""Reads the catalogue: the entries of the package, and those of the user's directories."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from firstlight.advise.entry import Entry, EntryFile
from firstlight.errors import MISSING_INPUT, UsageError
from firstlight.toml import read_text
from firstlight.toml_errors import explain as explain_error
from firstlight.toml_errors import explain_syntax

_LARGEST = 4 << 20


@dataclass(frozen=True)
class Catalogue:
    """All entries, in the order of the files and within each file."""

    entries: tuple[Entry, ...]

    def entry(self, id: str) -> Entry:
        """The entry with an id, in any case.

        :raises UsageError: when there is none; the hint has similar ids, or the groups.

        >>> catalogue().entry("cal-01").id
        'CAL-01'
        """
        known = {entry.id.lower(): entry for entry in self.entries}
        if id.lower() not in known:
            near = difflib.get_close_matches(id.upper(), [each.id for each in self.entries], n=3, cutoff=0.5)
            if near:
                hint = "did you mean " + " or ".join(f"`{each}`" for each in near) + "?"
            else:
                groups = ", ".join(f"`{group}`" for group in self.groups())
                hint = f"an id is a group and a number, such as `{self.entries[0].id}`; the groups are {groups}"
            raise UsageError(f"the catalogue has no entry `{id}`", hint=hint)
        return known[id.lower()]

    def groups(self) -> dict[str, list[Entry]]:
        """The entries by the letters of their ids."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.id.partition("-")[0], []).append(entry)
        return found


def catalogue(directories: Sequence[Path] = ()) -> Catalogue:
    """The entries of the package, and those of directories: each has one TOML file per group.

    :raises UsageError: when a directory or file cannot be read, an entry is wrong, two have one id, or remedies need
        one another in a circle; file, entry and field are named.

    >>> len(catalogue().entries) >= 120
    True
    """
    shipped = _shipped()
    if not directories:
        return Catalogue(tuple(entry for _, entry in shipped))
    read = [*shipped, *(found for directory in directories for found in _of_directory(Path(directory)))]
    return _checked(read)


@cache
def _shipped() -> tuple[tuple[str, Entry], ...]:
    folder = files(__package__).joinpath("catalogue")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".toml"))
    read = [(name, entry) for name in names for entry in parse(folder.joinpath(name).read_text("utf-8"), name)]
    _checked(read)
    return tuple(read)


def _of_directory(directory: Path) -> Iterable[tuple[str, Entry]]:
    if not directory.is_dir():
        raise UsageError("this is not a directory of a catalogue", where=str(directory), exit_code=MISSING_INPUT)
    paths = sorted(directory.glob("*.toml"))
    if not paths:
        raise UsageError("this directory has no `*.toml`", where=str(directory), hint="one file for each group")
    for path in paths:
        text = read_text(path, largest=_LARGEST)
        yield from ((str(path), entry) for entry in parse(text, str(path)))


def parse(text: str, where: str) -> tuple[Entry, ...]:
    """The entries of one file.

    :param where: the file, for messages.
    :raises UsageError: when it is not TOML or an entry is wrong; the message has line, entry and field.

    >>> parse("", "mine.toml")
    ()
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place, message = explain_syntax(str(error), where)
        raise UsageError(message.replace("the plan", "the file"), where=place) from error
    try:
        # As JSON: a list of TOML may stand for a tuple, a text for a word of an enum.
        return EntryFile.model_validate_json(json.dumps(data, default=str)).entry
    except ValidationError as error:
        place, message, hint = explain_error(error, EntryFile, text, where)
        name = _entry_of(data, error)
        raise UsageError(f"{name}: {message}" if name else message, where=place, hint=hint) from error


def _entry_of(data: dict[str, Any], error: ValidationError) -> str:
    """The id of the entry that is wrong, or its number."""
    problems = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    place = problems[0]["loc"]
    if len(place) < 2 or place[0] != "entry" or not isinstance(place[1], int):
        return ""
    entries = data.get("entry")
    found = entries[place[1]] if isinstance(entries, list) else None
    id = found.get("id") if isinstance(found, dict) else None
    return id if isinstance(id, str) else f"entry {place[1] + 1}"


def _checked(read: Sequence[tuple[str, Entry]]) -> Catalogue:
    """Check that ids are unique, and that the entries a remedy needs exist and form no cycle."""
    where: dict[str, str] = {}
    for file, entry in read:
        if entry.id in where:
            raise UsageError(
                f"{entry.id}: this id is already that of an entry in `{where[entry.id]}`", where=file,
                hint="give it an id of your own, such as `MY-01`",
            )  # fmt: skip
        where[entry.id] = file
    needs = {entry.id: [name for remedy in entry.remedies for name in remedy.with_entries] for _, entry in read}
    for file, entry in read:
        for name in needs[entry.id]:
            if name not in where:
                raise UsageError(
                    f"{entry.id}: `with_entries` names `{name}`, which no file has", where=file,
                    hint="an entry of the package, or one of the directories that are given",
                )  # fmt: skip
        if circle := _circle(entry.id, needs):
            raise UsageError(
                f"{entry.id}: `with_entries` goes in a circle: {' > '.join(circle)}", where=file,
                hint="a remedy may need another one, and not itself",
            )  # fmt: skip
    return Catalogue(tuple(entry for _, entry in read))


def _circle(start: str, needs: dict[str, list[str]]) -> list[str]:
    """The cycle from an entry back to itself, if there is one."""
    ways = [[start]]
    seen = set()
    while ways:
        way = ways.pop()
        for name in needs.get(way[-1], ()):
            if name == start:
                return [*way, name]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []
