"""Removes what a farm no longer needs."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.errors import FirstlightError
from firstlight.farm.job import job_keys, read_job, strays
from firstlight.farm.leases import EXPIRED_S, give_up, is_leased
from firstlight.farm.results import remove_result
from firstlight.farm.store import Store

_YOUNG_S = 3600.0
"""A younger input without a job may belong to a job that is being uploaded."""


@dataclass(frozen=True)
class Tidied:
    """The numbers of removed files."""

    jobs: int
    inputs: int
    workers: int
    strays: int = 0
    """Files among the jobs that were none."""


def tidy(store: Store) -> Tidied:
    """Remove finished jobs, inputs without a job, workers that ended or are lost, and files that are not jobs.

    Exclusions of workers stay.

    :raises LabError: when the store cannot be used.
    """
    results = set(store.names("results"))
    named: set[str] = set()
    jobs = 0
    others = 0
    for stray in strays(store):
        store.remove("jobs", stray)
        others += 1
    for key in job_keys(store):
        file = f"{key}.json"
        if file in results and not is_leased(store, key):
            # The result goes last: without it, a worker would make the job again.
            store.remove("jobs", file)
            give_up(store, key)
            for attempt in [name for name in store.names("failed") if name.startswith(f"{key}.")]:
                store.remove("failed", attempt)
            remove_result(store, key)
            jobs += 1
            continue
        try:
            # Without keys: other machines may trust jobs that this one does not.
            job = read_job(Store(store.place), key)
        except FirstlightError:
            continue
        if job is not None:
            named |= {each.digest for each in job.inputs.values()}
        elif store.has("jobs", file) and not is_leased(store, key):
            # No JSON object: no version of Firstlight wrote it.
            store.remove("jobs", file)
            give_up(store, key)
            others += 1
    inputs = 0
    for digest in store.names("inputs"):
        age_s = store.age_s("inputs", digest)
        if digest not in named and age_s is not None and age_s > _YOUNG_S:
            store.remove("inputs", digest)
            inputs += 1
    workers = 0
    for file in store.names("workers"):
        age_s = store.age_s("workers", file)
        if age_s is not None and age_s > EXPIRED_S:
            store.remove("workers", file)
            workers += 1
    return Tidied(jobs, inputs, workers, others)
