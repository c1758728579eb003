"""Data of `firstlight farm` and `firstlight work`; times are seconds."""

from typing_extensions import TypedDict


class Worker(TypedDict):
    """A worker: `state` is `booting`, `waiting`, `ended`, `lost` or `left out`."""

    name: str
    state: str
    boots: int
    failed: int
    refused: int
    seen_s: float
    reason: str | None


class Status(TypedDict):
    """`firstlight farm status`."""

    store: str
    jobs: int
    done: int
    running: int
    waiting: int
    failed: int
    workers: list[Worker]


class Key(TypedDict):
    """`firstlight farm key`: the public key of this machine, in hexadecimal."""

    name: str
    public_key: str
    directory: str


class Tidied(TypedDict):
    """`firstlight farm tidy`: how many of each were removed."""

    store: str
    jobs: int
    inputs: int
    workers: int


class Worked(TypedDict):
    """`firstlight work`; `refused` has the reason for each job that this machine cannot make."""

    worker: str
    boots: int
    failed: int
    refused: dict[str, str]
