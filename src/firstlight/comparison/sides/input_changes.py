"""Which inputs of two boots differ: what a change of their time may come from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from firstlight.bundle.manifest import Manifest
from firstlight.recipe.choices import Choices

#: Fields of the recipe that name files: their digests say whether they differ, their paths do not.
_PATHS = frozenset({"kernel", "initrd", "rootfs", "image", "loader", "loader_symbols", "dtb", "storage", "qemu"})
#: What ends a recording that would not end by itself.
_LIMITS = frozenset({"timeout_wall_s", "timeout_virtual_s"})
#: Choices that name folders, and what was used: digests say whether they differ.
_FOLDERS = frozenset({"overlay", "initramfs_files", "files"})
#: Inputs that only watch a boot.
OBSERVERS = frozenset({"plugin", "profile", "symbols", "loader symbols"})


@dataclass(frozen=True)
class InputChange:
    """An input that is not the same on both sides."""

    name: str
    """A digest's name (`kernel`, `qemu`, ...) or a field of the recipe (`command_line`, `memory`, ...)."""
    a: str | None
    b: str | None
    detail: str = ""
    """A text of the change, where it is known: the parameters that a command line gained and lost."""


def input_changes(a: Manifest, b: Manifest) -> list[InputChange]:
    """Every input in which two recordings differ, in the order of their names.

    >>> import firstlight
    >>> manifest = firstlight.open(bundle).manifest
    >>> input_changes(manifest, manifest)
    []
    """
    changes = [
        InputChange(name, a.digests.get(name), b.digests.get(name), _version(name, a, b))
        for name in a.digests.keys() | b.digests.keys()
        if a.digests.get(name) != b.digests.get(name)
    ]
    # What was chosen shows in what was used, and `append` is a part of the command line.
    skipped = _PATHS | _LIMITS | {"append", "chosen", "files", "image_size"}
    first, second = (manifest.recipe.model_dump(mode="json") for manifest in (a, b))
    for field in (first.keys() | second.keys()) - skipped:
        one, other = first.get(field), second.get(field)
        # A recipe that does not name a list and one whose list is empty ask for the same.
        if one != other and _text(one) != _text(other):
            detail = _words(str(one or ""), str(other or "")) if field == "command_line" else ""
            changes.append(InputChange(field, _text(one), _text(other), detail))
    return sorted(changes, key=lambda change: change.name)


def recipe_changes(a: Manifest, b: Manifest) -> list[InputChange]:
    """Every input in which two recordings differ and that can change a boot.

    >>> import firstlight
    >>> manifest = firstlight.open(bundle).manifest
    >>> other = manifest.model_copy(update={"digests": {**manifest.digests, "kernel": "0", "plugin": "0"}})
    >>> [change.name for change in recipe_changes(manifest, other)]
    ['kernel']
    """
    return [change for change in input_changes(a, b) if change.name not in OBSERVERS]


def other_choices(before: Choices, after: Choices) -> list[str]:
    """What was chosen otherwise for a recording than for one before, as text; digests distinguish files.

    >>> other_choices(Choices(seed=2), Choices(append="quiet", seed=2))
    ['`append` (+ quiet)']
    """
    changed = [
        name
        for name in sorted({each.name for each in fields(Choices)} - _PATHS - _LIMITS - OBSERVERS - _FOLDERS)
        if getattr(before, name) != getattr(after, name)
    ]
    texts = []
    for name in changed:
        one, other = getattr(before, name), getattr(after, name)
        detail = _words(one or "", other or "") if name == "append" else f"{_text(other)}, not {_text(one)}"
        texts.append(f"`{name}` ({detail})")
    return texts


def _text(value: Any) -> str | None:
    """A value of the recipe as people write it; nothing for an empty list.

    >>> _text(["nfit", "nd_pmem"]), _text([]), _text({"a": 1})
    ('nfit, nd_pmem', None, 'a=1')
    """
    if isinstance(value, dict):
        value = [f"{name}={each}" for name, each in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or None
    return None if value is None else str(value)


def _version(name: str, a: Manifest, b: Manifest) -> str:
    one, other = (manifest.versions.get(name) for manifest in (a, b))
    return f"{one} became {other}" if one and other and one != other else ""


def _words(one: str, other: str) -> str:
    """The words that a command line gained and lost; where none did, their order changed.

    >>> _words("console=ttyS0 quiet", "console=ttyS0 splash")
    '+ splash, - quiet'
    """
    before, after = one.split(), other.split()
    gained = [f"+ {word}" for word in after if after.count(word) > before.count(word)]
    lost = [f"- {word}" for word in before if before.count(word) > after.count(word)]
    return ", ".join(dict.fromkeys([*gained, *lost])) or "the same parameters in another order or spacing"
