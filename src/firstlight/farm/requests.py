"""Boots asked of workers: puts jobs into a store, waits for the results, and checks them before they count.

Every worker's first boot, and one in fifty after it, is made on this machine, too. A worker whose bytes differ is named
and left out, and what it made is made again.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from firstlight.bundle.digests import check_digests
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.cache import file_digest
from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError
from firstlight.experiment import boot_cache
from firstlight.farm.job import submit
from firstlight.farm.packing import unpack
from firstlight.farm.status import live_workers
from firstlight.farm.store import Store
from firstlight.farm.worker import MOST_ATTEMPTS
from firstlight.lab.host.progress import Progress, SilentProgress, Snapshot
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.options import RecordOptions

CHECKED_OF = 50
"""One boot in so many is made twice."""
_POLL_S = 0.1
_LOOK_S = 5.0
_SAY_S = 30.0


class Requests:
    """The boots that one session asks of the workers of a store; called by several threads."""

    def __init__(self, store: Store, note: Callable[[str], None], *, trusting: bool) -> None:
        self.store = store
        self._trusting = trusting
        self._note = note
        self._checking = threading.Lock()
        self._trusted: set[str] = set()
        self._accepted: dict[str, list[tuple[str, Path]]] = defaultdict(list)
        self.withdrawn: list[str] = []
        """Keys of boots that a worker made that turned out to be wrong later."""

    def __call__(self, options: RecordOptions, key: str, progress: Progress) -> None:
        """Have the boot of a key made, and put it at the `output` of the options.

        :raises UnhealthyBootError: when the guest did not come up; the bundle is written.
        :raises LabError: when no worker can make it.
        """
        resolved = resolve(options)
        submit(options, key, resolved, self.store)
        with tempfile.TemporaryDirectory(prefix=".firstlight-", dir=options.output.parent) as folder:
            fetched = self._fetched(options, key, progress, Path(folder))
            boot_cache.copy(fetched, options.output, replacing=True)
        boot_cache.require_success(options.output)

    def _fetched(self, options: RecordOptions, key: str, progress: Progress, folder: Path) -> Path:
        began = looked = said = time.monotonic()
        number = 0
        while True:
            about = self.store.read("results", f"{key}.json")
            if about is not None:
                number += 1
                bundle = folder / f"{number}.boot"
                if self._takes(about, options, key, bundle):
                    return bundle
                continue
            now = time.monotonic()
            progress.boot(Snapshot(now - began, 0, None))
            if now - looked >= _LOOK_S:
                looked = now
                said = self._look(key, said)
            time.sleep(_POLL_S)

    def _takes(self, about: dict[str, Any], options: RecordOptions, key: str, bundle: Path) -> bool:
        """Fetch and check a result; one that is wrong is removed from the store."""
        worker = str(about.get("worker"))
        try:
            unpack(self.store.place("results", f"{key}.tar"), bundle)
            manifest = read_manifest(bundle)
            check_digests(bundle, manifest, manifest.tables)
            if key_of_boot(manifest) != key or not boot_cache.is_cacheable(manifest):
                raise BundleError("this is the boot of another key", where=str(bundle))
        except FirstlightError as error:
            self._exclude(worker, f"its result for {key[:12]} is no boot of this job: {error.message}")
            return False
        with self._checking:
            if self.store.has("excluded", f"{worker}.json"):
                self._remove(key)
                return False
            if (worker not in self._trusted and not self._trusting) or int(key[:8], 16) % CHECKED_OF == 0:
                if not self._is_equal(options, bundle):
                    self._exclude(worker, f"its boot {key[:12]} differs from the one that this machine makes")
                    return False
                self._trusted.add(worker)
            self._accepted[worker].append((key, options.output))
        return True

    def _is_equal(self, options: RecordOptions, bundle: Path) -> bool:
        """Whether this machine makes the same boot, byte for byte."""
        own = bundle.with_suffix(".check")
        # Of a boot that fails the bundle is there, too, and has to be the same.
        with suppress(UnhealthyBootError):
            record(replace(options, output=own, force=True), SilentProgress())
        return file_digest(own / "manifest.json") == file_digest(bundle / "manifest.json")

    def _exclude(self, worker: str, reason: str) -> None:
        """Name a worker, and take back all that it made."""
        try:
            self.store.put_text("excluded", f"{worker}.json", {"worker": worker, "reason": reason})
        except LabError:
            worker = "unknown"
        self._note(f"worker `{worker}` is left out: {reason}")
        for name in self.store.names("results"):
            if name.endswith(".json") and (self.store.read("results", name) or {}).get("worker") in (worker, None):
                self._remove(name.removesuffix(".json"))
        for key, output in self._accepted.pop(worker, []):
            shutil.rmtree(output, ignore_errors=True)
            boot_cache.forget(key)
            self.withdrawn.append(key)

    def _remove(self, key: str) -> None:
        # The order of reading: what says that it is there goes first.
        self.store.remove("results", f"{key}.json")
        self.store.remove("results", f"{key}.tar")

    def _look(self, key: str, said: float) -> float:
        """Check that a worker can make the boot; note where no worker is there."""
        attempts = [name for name in self.store.names("failed") if name.startswith(f"{key}.")]
        if len(attempts) >= MOST_ATTEMPTS:
            last = self.store.read("failed", attempts[-1]) or {}
            raise LabError(
                f"{len(attempts)} attempts of workers failed; the last said: {last.get('error')}",
                where=str(self.store.place("failed", attempts[-1])),
                hint="remove the files of this job from `failed`, and run this again",
            )
        workers = live_workers(self.store)
        refusals = [refused[key] for refused in workers.values() if key in refused]
        if workers and len(refusals) == len(workers):
            raise LabError(f"no worker can make this boot: {refusals[0]}", where=key[:12])
        if not workers and time.monotonic() - said >= _SAY_S:
            self._note(f"no worker is there: start some with `firstlight work {self.store.path}`")
            return time.monotonic()
        return said


@contextmanager
def asked_of(store: Store, note: Callable[[str], None], *, trusting: bool = False) -> Iterator[Requests]:
    """Within this context the workers of a store make the boots that are not in the cache.

    :param trusting: the workers run on this machine: their first boots are not made twice, one in fifty is.
    :raises LabError: at the end, when boots were withdrawn that had counted before.
    """
    requests = Requests(store, note, trusting=trusting)
    with boot_cache.recorded_by(requests):
        yield requests
    if requests.withdrawn:
        raise LabError(
            f"{len(requests.withdrawn)} boots of a worker that was left out had counted already; they are removed",
            where=str(store.path),
            hint="run this again: they are made by others",
        )
