"""A worker: takes jobs from a store, boots them on this machine, and uploads the results."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.bundle.open import read_manifest
from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, LabError, UnhealthyBootError
from firstlight.experiment.boot_cache import is_cacheable
from firstlight.farm.job import Job, MissingInputError, UntrustedJobError, job_keys, options_of, read_job, unequal
from firstlight.farm.leases import Beat, give_up, take
from firstlight.farm.packing import pack
from firstlight.farm.results import packed_name
from firstlight.farm.store import Store
from firstlight.lab.host.process import ended_with_us, interruptible
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import resolve

MOST_ATTEMPTS = 3
"""A job with this many failures is not tried again."""
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass
class Worked:
    """What a worker did."""

    worker: str
    boots: int = 0
    failed: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Reasons, by the keys of jobs, why this machine cannot make an equal boot."""


def own_name() -> str:
    """The name of this worker: the machine's name and the process number.

    >>> own_name().endswith(str(os.getpid()))
    True
    """
    host = _NOT_IN_A_NAME.sub("-", socket.gethostname()).strip("-.")[:64] or "worker"
    return f"{host}.{os.getpid()}"


def worker_command(store: str, wait_s: float, *options: str) -> list[str]:
    """The command of a worker that is interrupted when the thread that starts it ends.

    >>> worker_command("/mnt/farm", 60)[-6:]
    ['-m', 'firstlight', 'work', '/mnt/farm', '--wait', '60']
    """
    program = [sys.executable, "-m", "firstlight", "work", store, "--wait", str(wait_s)]
    return [*ended_with_us("INT"), *program, *options]


def work(
    store: Store, *, name: str, wait_s: float, most: int | None = None, progress: Progress | None = None
) -> Worked:
    """Make jobs until there is none for *wait_s* seconds.

    :param name: of this worker, unique in the farm.
    :param wait_s: seconds to wait for another job.
    :param most: maximum number of boots.
    :raises LabError: when the store cannot be used, or the worker is excluded because its boots differ.
    :raises KeyboardInterrupt: on an interrupt; another worker can take the job at once.
    """
    progress = progress or SilentProgress()
    worked = Worked(name)
    state: dict[str, object] = {"state": "waiting", "boots": 0, "failed": 0, "refused": {}}
    with interruptible(), Beat(store, "workers", f"{name}.json", state) as beat:
        try:
            until = time.monotonic() + wait_s
            while most is None or worked.boots + worked.failed < most:
                _check_trusted(store, name)
                if _take_one(store, worked, beat, progress):
                    until = time.monotonic() + wait_s
                elif time.monotonic() > until:
                    break
                else:
                    progress.step("waiting for a job")
                    time.sleep(2 * store.poll_s)
        finally:
            beat.state["state"] = "ended"
            beat.write()
    return worked


def _check_trusted(store: Store, name: str) -> None:
    if store.has("excluded", f"{name}.json"):
        raise LabError(
            "this worker is left out: its boots differ from those of another machine",
            where=store.where_is("excluded", f"{name}.json"),
            hint="check this machine's memory, and start the worker again",
        )


def _take_one(store: Store, worked: Worked, beat: Beat, progress: Progress) -> bool:
    done = set(store.names("results"))
    failed = store.names("failed")
    for key in job_keys(store):
        if f"{key}.json" in done or key in worked.refused:
            continue
        if sum(each.startswith(f"{key}.") for each in failed) >= MOST_ATTEMPTS:
            continue
        lease = take(store, key, worked.worker)
        if lease is None:
            continue
        try:
            with Beat(store, "leases", lease, {"worker": worked.worker}):
                _do(store, key, worked, beat, progress)
        except MissingInputError:
            continue
        finally:
            give_up(store, key)
        return True
    return False


def _do(store: Store, key: str, worked: Worked, beat: Beat, progress: Progress) -> None:
    """Make one boot, or note why not.

    :raises MissingInputError: when the store does not have an input.
    """
    beat.state |= {"state": "booting", "key": key}
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="firstlight-work-"))
    try:
        if store.has("results", f"{key}.json"):
            return
        try:
            job = read_job(store, key)
        except UntrustedJobError as error:
            worked.refused[key] = error.message
            return
        if job is None:
            # Removed meanwhile, or no JSON object.
            if store.has("jobs", f"{key}.json"):
                worked.refused[key] = "this is not a job: `firstlight farm tidy` removes it"
                progress.note(f"{store.where_is('jobs', f'{key}.json')}: {worked.refused[key]}")
            return
        progress.step(f"boot {key[:12]}")
        reason, boot_s = _boot(store, job, folder / "a.boot")
        if reason is not None:
            worked.refused[key] = reason
            progress.note(f"job {key[:12]} is left to other workers: {reason}")
            return
        pack(folder / "a.boot", folder / "packed")
        packed = file_digest(folder / "packed")
        about = {
            "key": key,
            "worker": worked.worker,
            "manifest": file_digest(folder / "a.boot" / "manifest.json"),
            "packed": packed,
            "boot_s": round(boot_s, 3),
            "took_s": round(time.monotonic() - began, 3),
        }
        # The name has the digest: if this worker dies before it writes the result, no other result refers to this file.
        store.put("results", packed_name(key, packed), lambda made: shutil.copyfile(folder / "packed", made))
        store.put_text("results", f"{key}.json", store.keys.signed("result", about))
        worked.boots += 1
    except MissingInputError:
        raise
    except FirstlightError as error:
        worked.failed += 1
        failure = {"worker": worked.worker, "error": str(error), "hint": error.hint}
        number = next(each for each in range(1, 1000) if store.put_text("failed", f"{key}.{each}.json", failure))
        progress.note(f"job {key[:12]} failed ({number}): {error}")
    finally:
        beat.state |= {"state": "waiting", "boots": worked.boots, "failed": worked.failed, "refused": worked.refused}
        beat.state.pop("key", None)
        beat.write()
        shutil.rmtree(folder, ignore_errors=True)


def _boot(store: Store, job: Job, output: Path) -> tuple[str | None, float]:
    """Record a job's boot; returns why this machine cannot make an equal one, and the recording time in seconds.

    :raises FirstlightError: when the boot fails for a reason other than its recipe.
    """
    options = options_of(job, output, store)
    began = time.monotonic()
    resolved = resolve(options)
    reason = unequal(job, resolved.key, resolved)
    if reason is not None:
        return reason, 0.0
    try:
        record(options, inputs=resolved)
    except UnhealthyBootError:
        # A failure that every boot of the recipe has is a result.
        if not is_cacheable(read_manifest(output)):
            raise
    return None, time.monotonic() - began
