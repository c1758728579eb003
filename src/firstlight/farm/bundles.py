"""The boot bundles that the workers of a store made, unpacked temporarily."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError
from firstlight.farm.results import fetch_bundle
from firstlight.farm.store import Store

_AT_ONCE = 200
"""Maximum number of bundles that are unpacked at a time."""
_DIGITS = 12
"""Digits of a key in the name of a bundle, if they differ in all keys."""


Failed = Callable[[str, str], None]
"""Called with the place of a bundle that cannot be fetched, and the reason."""


def bundles_of(store: Store, known: Container[str], failed: Failed, skipped: Callable[[], None]) -> Iterator[Path]:
    """Yield directories with bundles `KEY.boot` of a store. Each directory exists until the next one is requested.

    :param known: digests of the manifests of bundles to skip.
    :param skipped: called for each bundle in *known*.
    :raises LabError: when the store cannot be used.
    """
    wanted = []
    for key, about in _results(store):
        if str(about.get("manifest")) in known:
            skipped()
        else:
            wanted.append((key, about))
    for first in range(0, len(wanted), _AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="firstlight-farm-") as folder:
            for key, about in wanted[first : first + _AT_ONCE]:
                _fetch(store, key, about, Path(folder) / f"{key}.boot", failed)
            yield Path(folder)


def unpack_bundles(store: Store, folder: Path, failed: Failed, most: int) -> int:
    """Unpack the bundles of a store into a directory, each as `KEY.boot` with the first digits of its key.

    :param most: maximum number of bundles.
    :returns: how many bundles the store has; those beyond *most* are left out.
    :raises LabError: when the store cannot be used.
    """
    found = list(_results(store))
    digits = _DIGITS if len({key[:_DIGITS] for key, _ in found}) == len(found) else None
    for key, about in found[:most]:
        _fetch(store, key, about, folder / f"{key[:digits]}.boot", failed)
    return len(found)


def _results(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in store.names("results"):
        about = store.read("results", name) if name.endswith(".json") else None
        if about is not None:
            yield name.removesuffix(".json"), about


def _fetch(store: Store, key: str, about: dict[str, Any], bundle: Path, failed: Failed) -> None:
    if (objection := store.keys.objection("result", about)) is not None:
        failed(store.where_is("results", f"{key}.json"), f"this result is rejected: {objection}")
        return
    try:
        fetch_bundle(store, key, str(about.get("packed")), bundle)
    except FirstlightError as error:
        failed(store.where_is("results", f"{key}.json"), error.message)
