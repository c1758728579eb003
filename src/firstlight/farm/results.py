"""Results of a store: a packed bundle under its digest, and a JSON object that says that it is there."""

from __future__ import annotations

from firstlight.farm.store import Store


def packed_name(key: str, digest: str) -> str:
    """The name of a packed bundle: workers that make other bytes write other files.

    >>> packed_name("a" * 64, "b" * 64) == "a" * 64 + "." + "b" * 64 + ".tar"
    True
    """
    return f"{key}.{digest}.tar"


def remove_result(store: Store, key: str) -> None:
    """Remove a result. What says that it is there goes first: a reader that finds it reads the bundle next."""
    store.remove("results", f"{key}.json")
    for name in store.names("results"):
        if name.startswith(f"{key}."):
            store.remove("results", name)
