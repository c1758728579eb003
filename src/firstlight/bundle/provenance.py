"""What a manifest says of one recording alone, in a file of its own: equal boots have equal `manifest.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, JsonValue

from firstlight.frozen import StrictModel
from firstlight.recipe.key import OBSERVERS

PROVENANCE = "provenance.json"

#: The version of the schema that moved these fields out of `manifest.json`.
SPLIT_IN = 4

_FIELDS = ("reproduce", "recorded_at", "host")
#: As given by the user, or as they lie on one machine: the digests and the resolved fields decide the boot.
_GIVEN = tuple(name for name in OBSERVERS if name.startswith(("chosen.", "files.")))


class Provenance(StrictModel):
    """`provenance.json`, as `docs/reference/formats/boot-bundle.md` specifies it."""

    model_config = ConfigDict(allow_inf_nan=False)

    reproduce: str = Field(description="the command line that makes this boot again")
    recorded_at: str = Field(description="when, for people; no analysis reads it")
    host: dict[str, JsonValue] = Field(description="where, for people; no analysis reads it")
    recipe: dict[str, JsonValue] = Field(
        default_factory=dict, description="fields of the recipe that do not decide the boot, by their dotted names"
    )


def split(manifest: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide a manifest into what every equal boot has, and what only this recording has.

    :param manifest: all of it, as JSON.
    :returns: the contents of `manifest.json` and of `provenance.json`.

    >>> both = {"mode": "imported", "recipe": {}, "reproduce": "firstlight import a", "recorded_at": "", "host": {}}
    >>> equal, own = split(both)
    >>> equal, list(own)
    ({'mode': 'imported', 'recipe': {}}, ['reproduce', 'recorded_at', 'host', 'recipe'])
    """
    equal = {name: value for name, value in manifest.items() if name not in _FIELDS}
    own: dict[str, Any] = {name: manifest[name] for name in _FIELDS} | {"recipe": {}}
    recipe = dict(manifest["recipe"])
    if "chosen" not in recipe:
        return equal, own
    parts = {part: dict(recipe[part]) for part in ("chosen", "files")}
    for name in _GIVEN:
        part, _, field = name.partition(".")
        if field in parts[part]:
            own["recipe"][name] = parts[part].pop(field)
            # The copy for readers, where there is one.
            if part == "chosen" and field in _COPIED:
                recipe.pop(field, None)
    return equal | {"recipe": recipe | parts}, own


_COPIED = ("kernel", "initrd", "rootfs", "overlay", "initramfs_files", "append")


def joined(manifest: Mapping[str, Any], provenance: Provenance) -> dict[str, Any]:
    """A manifest with what stands in `provenance.json`.

    :param manifest: the content of `manifest.json`.
    :raises ValueError: naming a field that stands in both, or that belongs into the manifest.

    >>> both = {"recipe": {"chosen": {"append": "quiet", "seed": 1}, "files": {"kernel": "/k"}}, "reproduce": "",
    ...         "recorded_at": "", "host": {}}
    >>> equal, own = split(both)
    >>> equal["recipe"], joined(equal, Provenance(**own)) == both
    ({'chosen': {'seed': 1}, 'files': {}}, True)
    """
    for name in _FIELDS:
        if name in manifest:
            raise ValueError(f"`{name}` belongs into `{PROVENANCE}`")
    known = provenance.model_dump(mode="json")
    found = dict(manifest) | {name: known[name] for name in _FIELDS}
    recipe = manifest.get("recipe")
    if not provenance.recipe:
        return found
    if not isinstance(recipe, Mapping) or not all(
        isinstance(recipe.get(part), Mapping) for part in ("chosen", "files")
    ):
        raise ValueError(f"`{PROVENANCE}` says more of the recipe, and the manifest has none that was chosen")
    parts = {part: dict(recipe[part]) for part in ("chosen", "files")}
    for name, value in provenance.recipe.items():
        part, _, field = name.partition(".")
        if name not in _GIVEN:
            raise ValueError(f"`recipe.{name}` is not a field that an equal boot may have otherwise")
        if field in parts[part]:
            raise ValueError(f"`recipe.{name}` stands in both files")
        parts[part][field] = value
    return found | {"recipe": dict(recipe) | parts}


def joined_text(text: str, manifest: Mapping[str, Any], provenance: Provenance) -> str:
    """What :func:`joined` yields, as JSON; most boots need nothing but the end of the text replaced for that.

    :param text: of `manifest.json`, an object.
    :param manifest: its content.
    :raises ValueError: as :func:`joined` does.

    >>> own = Provenance(reproduce="", recorded_at="", host={})
    >>> joined_text('{"mode": "imported"}', {"mode": "imported"}, own)
    '{"mode": "imported", "reproduce": "", "recorded_at": "", "host": {}}'
    """
    found = joined(manifest, provenance)
    if provenance.recipe or not manifest:
        return json.dumps(found)
    own = json.dumps({name: found[name] for name in _FIELDS})
    return f"{text.rstrip().removesuffix('}')}, {own[1:]}"


def text_of(fields: Mapping[str, Any]) -> bytes:
    """One of the two files.

    >>> text_of({"mode": "exact"})
    b'{\\n "mode": "exact"\\n}\\n'
    """
    return (json.dumps(fields, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def digest_of_files(manifest: bytes, provenance: bytes | None = None) -> str:
    """The digest that identifies one recording: of the contents of `manifest.json` and, since schema 4, of
    `provenance.json`.

    >>> digest_of_files(b"{}") == digest_of_files(b"{}", b"{}")
    False
    """
    digest = hashlib.sha256(manifest)
    if provenance is not None:
        digest = hashlib.sha256(digest.digest() + hashlib.sha256(provenance).digest())
    return digest.hexdigest()
