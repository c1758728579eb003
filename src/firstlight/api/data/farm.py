"""Data of `firstlight farm` and `firstlight work`; times are seconds."""

from typing_extensions import TypedDict

from firstlight.farm.status import WorkerState
from firstlight.farm.worker import Worked


class Status(TypedDict):
    """`firstlight farm status`."""

    store: str
    jobs: int
    done: int
    running: int
    waiting: int
    failed: int
    workers: list[WorkerState]
    strays: int


class Tidied(TypedDict):
    """`firstlight farm tidy`: how many of each were removed."""

    store: str
    jobs: int
    inputs: int
    workers: int
    strays: int


class DaskWorkers(TypedDict):
    """`firstlight work --dask`."""

    scheduler: str
    boots: int
    """Of all workers."""
    workers: list[Worked]
