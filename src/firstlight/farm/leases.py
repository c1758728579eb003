"""Leases: which worker makes which job. Leases save work; the bytes of a boot do not depend on them.

A lease is a file that its worker rewrites periodically. A lease that was not rewritten for `EXPIRED_S`, by the clock of
the store, has expired; another worker then takes the next number.
"""

from __future__ import annotations

import threading
from typing import Self

from firstlight.errors import LabError
from firstlight.farm.store import Store

BEAT_S = 3.0
EXPIRED_S = 20.0
"""Seconds without a write after which a lease expires, by the clock of the store."""


class Beat:
    """Writes a state periodically while a block runs, in a separate thread."""

    def __init__(self, store: Store, folder: str, name: str, state: dict[str, object]) -> None:
        self._place = (store, folder, name)
        self.state = state
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"beat of {name}", daemon=True)

    def __enter__(self) -> Self:
        self.write()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def write(self) -> None:
        """Write the state now."""
        store, folder, name = self._place
        store.replace(folder, name, dict(self.state))

    def _run(self) -> None:
        while not self._over.wait(BEAT_S):
            try:
                self.write()
            except LabError:
                # The store cannot be reached. If the lease expires, another worker makes the same boot.
                continue


def is_leased(store: Store, key: str, names: list[str] | None = None) -> bool:
    """Whether a worker makes a job now."""
    numbers = _numbers(store, key, names)
    if not numbers:
        return False
    age = store.age_s("leases", f"{key}.{numbers[-1]}")
    return age is not None and age < EXPIRED_S


def take(store: Store, key: str, worker: str) -> str | None:
    """Take the lease of a job; returns its name, or `None` when another worker has it."""
    if is_leased(store, key):
        return None
    numbers = _numbers(store, key)
    name = f"{key}.{(numbers[-1] if numbers else 0) + 1}"
    return name if store.put_text("leases", name, {"worker": worker}) else None


def give_up(store: Store, key: str) -> None:
    """Remove every lease of a job."""
    for number in _numbers(store, key):
        store.remove("leases", f"{key}.{number}")


def _numbers(store: Store, key: str, names: list[str] | None = None) -> list[int]:
    found = (name.rpartition(".") for name in (store.names("leases") if names is None else names))
    return sorted(int(number) for owner, _, number in found if owner == key and number.isdecimal())
