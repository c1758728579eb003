"""The boot bundles of a store: what its workers made, unpacked for a while."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, LabError
from firstlight.farm.packing import unpack
from firstlight.farm.results import packed_name
from firstlight.farm.store import Store

_AT_ONCE = 200
"""Bundles that lie unpacked at a time."""


def bundles_of(
    store: Store, known: Container[str], failed: Callable[[str, str], None], skipped: Callable[[], None]
) -> Iterator[Path]:
    """Directories with bundles `KEY.boot` of a store, some at a time; each is there until the next is asked for.

    :param known: digests of manifests whose bundles are not wanted.
    :param failed: hears where a bundle was found that cannot be had, and why.
    :param skipped: called for each bundle that is known.
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
                    failed(store.where_is("results", f"{key}.json"), f"this result is not taken: {objection}")
                    continue
                try:
                    _unpack(store, key, str(about.get("packed")), Path(folder))
                except FirstlightError as error:
                    failed(store.where_is("results", f"{key}.json"), error.message)
            yield Path(folder)


def _unpack(store: Store, key: str, digest: str, folder: Path) -> None:
    packed = folder / f"{key}.tar"
    name = packed_name(key, digest)
    try:
        if not store.fetch("results", name, packed):
            raise LabError("its bundle is missing", where=name)
        if file_digest(packed) != digest:
            raise LabError("its bundle is not what its digest says", where=name)
        unpack(packed, folder / f"{key}.boot")
    finally:
        packed.unlink(missing_ok=True)
