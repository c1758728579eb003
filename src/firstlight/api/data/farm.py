"""Data of `firstlight farm` and `firstlight work`; times are seconds."""

from typing_extensions import TypedDict

from firstlight.farm.status import WorkerState


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
