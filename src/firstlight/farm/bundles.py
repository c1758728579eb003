"""The boot bundles that the workers of a store made, unpacked temporarily."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.farm.results import fetch_bundle
from firstlight.farm.store import Store

_AT_ONCE = 200
"""Maximum number of bundles that are unpacked at a time."""


def bundles_of(
    store: Store, known: Container[str], failed: Callable[[str, str], None], skipped: Callable[[], None]
) -> Iterator[Path]:
    """Yield directories with bundles `KEY.boot` of a store. Each directory exists until the next one is requested.

    :param known: digests of the manifests of bundles to skip.
    :param failed: called with the place of each bundle that cannot be fetched, and the reason.
    :param skipped: called for each bundle in *known*.
    :raises LabError: when the store cannot be used.
    """
    wanted = []
    for name in store.names("results"):
        about = store.read("results", name) if name.endswith(".json") else None
        if about is None:
            continue
        if str(about.get("manifest")) in known:
            skipped()
        else:
            wanted.append((name.removesuffix(".json"), about))
    for first in range(0, len(wanted), _AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="firstlight-farm-") as folder:
            for key, about in wanted[first : first + _AT_ONCE]:
                if (objection := store.keys.objection("result", about)) is not None:
                    failed(store.where_is("results", f"{key}.json"), f"this result is rejected: {objection}")
                    continue
                try:
                    fetch_bundle(store, key, str(about.get("packed")), Path(folder) / f"{key}.boot")
                except FirstlightError as error:
                    failed(store.where_is("results", f"{key}.json"), error.message)
            yield Path(folder)
