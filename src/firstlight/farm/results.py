"""Results of a store: a packed bundle under its digest, and a JSON object that refers to it."""

from __future__ import annotations

from pathlib import Path

from firstlight.cache import file_digest
from firstlight.errors import LabError
from firstlight.farm.packing import unpack
from firstlight.farm.store import Store


def packed_name(key: str, digest: str) -> str:
    """The name of a packed bundle. Workers whose bytes differ write different files.

    >>> packed_name("a" * 64, "b" * 64) == "a" * 64 + "." + "b" * 64 + ".tar"
    True
    """
    return f"{key}.{digest}.tar"


def fetch_bundle(store: Store, key: str, digest: str, bundle: Path) -> None:
    """Fetch and unpack the bundle of a result.

    :param digest: of the packed bundle, as the result states it.
    :param bundle: the directory to make.
    :raises LabError: when the bundle is missing or damaged, or the store cannot be used.
    """
    packed = bundle.with_suffix(".tar")
    name = packed_name(key, digest)
    try:
        if not store.fetch("results", name, packed):
            raise LabError("its bundle is missing", where=name)
        if file_digest(packed) != digest:
            raise LabError("its bundle does not match its digest", where=name)
        unpack(packed, bundle)
    finally:
        packed.unlink(missing_ok=True)


def remove_result(store: Store, key: str) -> None:
    """Remove a result: first the JSON object, because a reader that finds it reads the bundle next."""
    store.remove("results", f"{key}.json")
    for name in store.names("results"):
        if name.startswith(f"{key}."):
            store.remove("results", name)
