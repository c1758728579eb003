"""Opening a bundle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from firstlight.bundle.contents import LARGEST_MANIFEST, check_contents, read_regular
from firstlight.bundle.contradictions import contradiction
from firstlight.bundle.manifest import DESCRIBED, RECORDED, SCHEMA_VERSION, Manifest
from firstlight.bundle.older import RENAMED_IN, present_manifest
from firstlight.bundle.provenance import PROVENANCE, SPLIT_IN, Provenance, digest_of_files, joined_text
from firstlight.errors import BundleError

if TYPE_CHECKING:
    from firstlight.bundle.boot import Boot

_DAMAGED = "it was truncated or changed: copy the bundle again, or record it again"
_CHANGED = "the bundle was changed or damaged: copy it again, or record the boot again"


def open(path: str | os.PathLike[str]) -> Boot:
    """Open the boot bundle at *path*; its tables are read when they are asked for.

    :raises BundleError: when there is nothing, something that is not a bundle, one of a newer schema, or a damaged one.

    >>> import firstlight
    >>> firstlight.open(bundle).manifest.totals.idle_ns
    124000527
    """
    from firstlight.bundle.boot import Boot  # its frames take long to load, and who only wants the manifest needs none

    bundle = Path(path)
    return Boot(bundle, read_manifest(bundle))


def read_manifest(bundle: Path) -> Manifest:
    """The manifest of the boot bundle at *bundle*, checked.

    :raises BundleError: when there is nothing, something that is not a bundle, one of a newer schema, or a damaged one.

    >>> read_manifest(bundle).mode.value
    'exact'
    """
    where = str(bundle)
    if not bundle.is_dir():
        if not bundle.exists():
            raise BundleError("no such bundle", where=where, hint=f"`firstlight record -o {where}` records one")
        raise BundleError("not a boot bundle: it is a file", where=where, hint="a bundle is a directory `NAME.boot`")
    try:
        text = _text(bundle, "manifest.json", "the manifest")
    except FileNotFoundError as error:
        hint = "a bundle is a directory `NAME.boot` that holds `manifest.json`"
        raise BundleError("not a boot bundle: it has no manifest", where=where, hint=hint) from error
    manifest = _manifest(text, bundle)
    check_contents(bundle)
    return manifest


def _text(bundle: Path, name: str, what: str) -> str:
    """One of the two files, as a text.

    :raises FileNotFoundError: when there is none.
    """
    try:
        return read_regular(bundle / name, LARGEST_MANIFEST).decode()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        denied = isinstance(error, PermissionError)
        hint = "permission denied: ask its owner for access" if denied else _DAMAGED
        raise BundleError(f"{what} cannot be read: {reason}", where=str(bundle), hint=hint) from error


def _json(text: str, where: str, what: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise BundleError(f"{what} is damaged: {error.msg}", where=place, hint=_DAMAGED) from error
    except RecursionError as error:
        raise BundleError(f"{what} is damaged: it is nested too deeply", where=where, hint=_DAMAGED) from error


def _manifest(text: str, bundle: Path) -> Manifest:
    """Check the text of a manifest; a newer version is distinguished before anything else in it is looked at."""
    where = str(bundle / "manifest.json")
    raw = _json(text, where, "the manifest")
    if not isinstance(raw, dict) or type(raw.get("schema_version")) is not int:
        raise BundleError("not the manifest of a boot bundle: it names no schema version", where=where, hint=_DAMAGED)
    if raw["schema_version"] > SCHEMA_VERSION:
        message = f"the bundle has schema version {raw['schema_version']}, this Firstlight reads up to {SCHEMA_VERSION}"
        raise BundleError(message, where=where, hint="update Firstlight")
    digest = digest_of_files(text.encode())
    if raw["schema_version"] < RENAMED_IN:
        text = json.dumps(present_manifest(raw))
    elif raw["schema_version"] >= SPLIT_IN:
        provenance, own = _provenance(bundle)
        digest = digest_of_files(text.encode(), own.encode())
        try:
            text = joined_text(text, raw, provenance)
        except ValueError as error:
            raise BundleError(f"the manifest is damaged: {error}", where=where, hint=_DAMAGED) from error
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise BundleError(f"the manifest is damaged: {_first_fault(error)}", where=where, hint=_DAMAGED) from error
    found = contradiction(manifest)
    if found is not None:
        raise BundleError(f"the manifest contradicts itself: {found}", where=where, hint=_CHANGED)
    manifest._file_digest = digest
    return manifest


def _provenance(bundle: Path) -> tuple[Provenance, str]:
    """What `provenance.json` says, and its text."""
    where, what = str(bundle / PROVENANCE), f"`{PROVENANCE}`"
    try:
        text = _text(bundle, PROVENANCE, what)
    except FileNotFoundError as error:
        raise BundleError(f"it has no {what}", where=str(bundle), hint=_DAMAGED) from error
    try:
        return Provenance.model_validate_json(text), text
    except ValidationError as error:
        _json(text, where, what)
        raise BundleError(f"{what} is damaged: {_first_fault(error)}", where=where, hint=_DAMAGED) from error


def _first_fault(error: ValidationError) -> str:
    """The first field that does not fit, and why."""
    first = error.errors(include_url=False, include_context=False)[0]
    # The tag of a union's member is not a field.
    place = [str(part) for part in first["loc"] if part not in (RECORDED, DESCRIBED)]
    unknown = first["type"] in ("extra_forbidden", "unexpected_keyword_argument")
    said = "no such field is known" if unknown else first["msg"].removeprefix("Value error, ")
    return f"`{'.'.join(place) or 'manifest'}`: {said}"
