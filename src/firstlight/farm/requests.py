"""Boots made by workers: uploads jobs to a store, waits for the results, and checks them before they count.

This machine repeats the first boot of each worker, and one in fifty of the others. A worker whose bytes differ is
excluded by name, and its boots are made again.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firstlight.bundle.digests import check_digests
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.cache import file_digest
from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError
from firstlight.experiment import boot_cache
from firstlight.farm.job import Job, is_asked, submit
from firstlight.farm.results import fetch_bundle, remove_result
from firstlight.farm.status import live_workers
from firstlight.farm.store import Store
from firstlight.farm.worker import MOST_ATTEMPTS
from firstlight.lab.host.progress import Progress, SilentProgress, Snapshot
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import Inputs
from firstlight.recipe.options import RecordOptions

CHECKED_OF = 50
"""One boot in this many is repeated here."""
_LOOK_S = 5.0
_SAY_S = 30.0


@dataclass(frozen=True)
class _Asked:
    """A requested boot."""

    options: RecordOptions
    inputs: Inputs
    key: str


class Requests:
    """The boots that one session requests from the workers of a store; several threads call it."""

    def __init__(self, store: Store, note: Callable[[str], None], *, trusting: bool) -> None:
        self.store = store
        self._trusting = trusting
        self._note = note
        self._guard = threading.Lock()
        self._checking: dict[str, threading.Lock] = {}
        """One for each worker, because the check of a boot takes as long as the boot."""
        self._trusted: set[str] = set()
        self._accepted: dict[str, list[tuple[str, Path]]] = defaultdict(list)
        self.withdrawn: list[str] = []
        """Keys of boots by workers that were found to be wrong later."""

    def __call__(self, options: RecordOptions, inputs: Inputs, progress: Progress) -> None:
        """Have a worker make a boot, and write it to the `output` of the options.

        :raises UnhealthyBootError: when the guest failed to boot; the bundle is written.
        :raises LabError: when no worker can make it.
        """
        asked = _Asked(options, inputs, inputs.key)
        with tempfile.TemporaryDirectory(prefix=".firstlight-", dir=options.output.parent) as folder:
            boot_cache.copy(self._fetched(asked, progress, Path(folder)), options.output, replacing=True)
        boot_cache.require_success(options.output)

    def _fetched(self, asked: _Asked, progress: Progress, folder: Path) -> Path:
        job = self._submit(asked)
        began = looked = said = time.monotonic()
        number = 0
        while True:
            about = self.store.read("results", f"{asked.key}.json")
            if about is not None:
                number += 1
                bundle = folder / f"{number}.boot"
                if self._takes(about, asked, bundle):
                    return bundle
                continue
            now = time.monotonic()
            progress.boot(Snapshot(now - began, 0, None))
            if now - looked >= _LOOK_S:
                looked = now
                said = self._look(asked, job, said)
            time.sleep(self.store.poll_s)

    def _submit(self, asked: _Asked) -> Job:
        return submit(asked.options, asked.key, asked.inputs, self.store)

    def _takes(self, about: dict[str, Any], asked: _Asked, bundle: Path) -> bool:
        """Fetch and check a result; a wrong result is removed from the store."""
        worker, key = str(about.get("worker")), asked.key
        if (objection := self._objection(about, key)) is not None:
            self._note(f"a result with the name of worker `{worker}` is removed: {objection}")
            remove_result(self.store, key)
            return False
        try:
            self._unpack(about, key, bundle)
        except FirstlightError as error:
            if self.store.read("results", f"{key}.json") != about:
                # `farm tidy` or another session removed it during the read: the worker is not at fault.
                shutil.rmtree(bundle, ignore_errors=True)
                return False
            self._exclude(worker, key, f"its result for {key[:12]} is not a boot of this job: {error.message}")
            return False
        with self._guard:
            checking = self._checking.setdefault(worker, threading.Lock())
        with checking:
            if self.store.has("excluded", f"{worker}.json"):
                remove_result(self.store, key)
                return False
            if (worker not in self._trusted and not self._trusting) or int(key[:8], 16) % CHECKED_OF == 0:
                if not self._is_equal(asked, bundle):
                    self._exclude(worker, key, f"its boot {key[:12]} differs from the same boot on this machine")
                    return False
                self._trusted.add(worker)
            self._accepted[worker].append((key, asked.options.output))
        return True

    def _objection(self, about: dict[str, Any], key: str) -> str | None:
        if self.store.keys.trusted and about.get("key") != key:
            return "its signature is for another boot"
        return self.store.keys.objection("result", about)

    def _unpack(self, about: dict[str, Any], key: str, bundle: Path) -> None:
        """Fetch the bundle of a result.

        :raises FirstlightError: when it is missing, damaged, or the boot of another key.
        """
        fetch_bundle(self.store, key, str(about.get("packed")), bundle)
        manifest = read_manifest(bundle)
        check_digests(bundle, manifest, manifest.tables)
        if key_of_boot(manifest) != key or not boot_cache.is_cacheable(manifest):
            raise BundleError("this is the boot of another key", where=str(bundle))

    def _is_equal(self, asked: _Asked, bundle: Path) -> bool:
        """Record the same boot here; returns whether every byte is equal.

        :raises LabError: when an input changed on this machine, so that its boot is a different one.
        """
        own = bundle.with_suffix(".check")
        # A failed boot has a bundle as well, which must be the same.
        with suppress(UnhealthyBootError):
            record(replace(asked.options, output=own, force=True), SilentProgress())
        if key_of_boot(read_manifest(own)) != asked.key:
            message = "an input of this boot changed after the request, so the result cannot be checked"
            raise LabError(message, where=asked.key[:12], hint="run this again")
        return file_digest(own / "manifest.json") == file_digest(bundle / "manifest.json")

    def _exclude(self, worker: str, key: str, reason: str) -> None:
        """Exclude a worker, and remove all its results and the result of *key*."""
        try:
            self.store.put_text("excluded", f"{worker}.json", {"worker": worker, "reason": reason})
        except LabError:
            worker = "unknown"
        self._note(f"worker `{worker}` is left out: {reason}")
        remove_result(self.store, key)
        for name in self.store.names("results"):
            if name.endswith(".json") and (self.store.read("results", name) or {}).get("worker") in (worker, None):
                remove_result(self.store, name.removesuffix(".json"))
        for made, output in self._accepted.pop(worker, []):
            shutil.rmtree(output, ignore_errors=True)
            boot_cache.forget(made)
            self.withdrawn.append(made)

    def _look(self, asked: _Asked, job: Job, said: float) -> float:
        """Check that a worker can make the boot; print a note when there is no worker."""
        key = asked.key
        attempts = [name for name in self.store.names("failed") if name.startswith(f"{key}.")]
        if len(attempts) >= MOST_ATTEMPTS:
            last = self.store.read("failed", attempts[-1]) or {}
            raise LabError(
                f"{len(attempts)} attempts of workers failed; the last error: {last.get('error')}",
                where=self.store.where_is("failed", attempts[-1]),
                hint="remove the files of this job from `failed`, and run this again",
            )
        if not is_asked(job, self.store):
            self._submit(asked)
        workers = live_workers(self.store)
        refusals = [refused[key] for refused in workers.values() if key in refused]
        if workers and len(refusals) == len(workers):
            raise LabError(f"no worker can make this boot: {refusals[0]}", where=key[:12])
        if not workers and time.monotonic() - said >= _SAY_S:
            self._note(f"there is no worker: start one with `firstlight work {self.store.where}`")
            return time.monotonic()
        return said


@contextmanager
def asked_of(store: Store, note: Callable[[str], None], *, trusting: bool = False) -> Iterator[Requests]:
    """In this context, the workers of a store make the boots that the cache does not have.

    :param trusting: the workers run on this machine. Their first boots are not repeated; one in fifty is.
    :raises LabError: at the end, when boots that had counted were withdrawn.
    """
    requests = Requests(store, note, trusting=trusting)
    with boot_cache.recorded_by(requests):
        yield requests
    if requests.withdrawn:
        raise LabError(
            f"{len(requests.withdrawn)} boots of an excluded worker had counted; they are removed",
            where=store.where,
            hint="run this again: other workers make the boots",
        )
