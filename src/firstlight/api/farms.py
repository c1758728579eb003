"""Farms: machines that share a store, and boot for one another."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, progress_of
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from firstlight.farm.status import FarmStatus
    from firstlight.farm.tidy import Tidied
    from firstlight.farm.worker import Worked

_LOCAL = "local:"
_MOST_LOCAL = 256


def work(
    store: PathLike,
    *,
    name: str | None = None,
    wait_s: float = 60.0,
    most: int | None = None,
    progress: bool = False,
) -> Worked:
    """Take the jobs of a store, boot them on this machine, and put the results there.

    :param store: what the machines of a farm share: a directory, `s3://BUCKET/PREFIX`, `gs://`, `az://` or
        `sftp://HOST/DIRECTORY`; where nothing is, a store is made.
    :param name: the name of this worker, of its own in the farm; by default host and process number.
    :param wait_s: seconds to wait for another job before it ends.
    :param most: end after so many boots.
    :param progress: show the progress on a terminal.
    :returns: how many boots it made, and which jobs it left to others.
    :raises FirstlightError: when the store or the name cannot be used, or this worker was left out: its boots differ.

    Source: docs/design/farm.md.

    >>> import firstlight
    >>> firstlight.work(bundle.parent / "store", wait_s=0).boots
    0
    """
    from firstlight.farm.store import open_store
    from firstlight.farm.worker import own_name
    from firstlight.farm.worker import work as work_on

    opened = open_store(store, make=True)
    with progress_of(progress) as shown:
        return work_on(opened, name=name or own_name(), wait_s=wait_s, most=most, progress=shown)


def work_on_dask(
    store: str,
    scheduler: str,
    *,
    wait_s: float = 60.0,
    most: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> tuple[Worked, ...]:
    """Start workers on a Dask cluster, each a :func:`work` of its own, and wait until they end.

    Firstlight has to be installed in the environment of Dask's workers. Whoever can reach the scheduler can run any
    program there: protect it as the documentation of Dask says.

    :param store: what the machines of the farm share, as they see it; where nothing is, a store is made.
    :param scheduler: the address of the scheduler, such as ``tcp://lab1:8786``.
    :param wait_s: seconds that each worker waits for another job before it ends.
    :param most: each worker ends after so many boots.
    :param workers: how many; by default one for each thread of the cluster.
    :param progress: show the progress on a terminal.
    :returns: what each worker did.
    :raises UsageError: when the cluster has no thread and no number is given.
    :raises FirstlightError: when no scheduler answers, or a worker cannot be started or ends with an error.

    Source: docs/design/farm.md.

    Example: ``firstlight.work_on_dask("/mnt/farm", "tcp://lab1:8786")``.
    """
    from firstlight.farm.on_dask import work_on_dask as start

    with progress_of(progress) as shown:
        return start(store, scheduler, wait_s=wait_s, most=most, workers=workers, progress=shown)


def farm_status(store: PathLike) -> FarmStatus:
    """Read the state of a farm: jobs, workers, and what went wrong.

    :param store: what the machines of the farm share, as :func:`work` takes it.
    :raises FirstlightError: when it is not a store or cannot be used.

    >>> import firstlight
    >>> _ = firstlight.work(bundle.parent / "store", wait_s=0, name="lab1")
    >>> [(each.name, each.state) for each in firstlight.farm_status(bundle.parent / "store").workers]
    [('lab1', 'ended')]
    """
    from firstlight.farm.status import farm_status as read
    from firstlight.farm.store import open_store

    return read(open_store(store))


def tidy_farm(store: PathLike) -> Tidied:
    """Remove what a farm no longer needs: jobs that are done, with their results, and inputs without a job.

    A boot that is asked for again is then booted again, or taken from the cache of who asks.

    :param store: what the machines of the farm share, as :func:`work` takes it.
    :raises FirstlightError: when it is not a store or cannot be used.

    >>> import firstlight
    >>> _ = firstlight.work(bundle.parent / "store", wait_s=0)
    >>> firstlight.tidy_farm(bundle.parent / "store").jobs
    0
    """
    from firstlight.farm.store import open_store
    from firstlight.farm.tidy import tidy

    return tidy(open_store(store))


def farm_key(directory: PathLike | None = None) -> FarmKey:
    """The key of this machine, which signs its jobs and results; the first time, it is made.

    :param directory: where it is (default: ``$FIRSTLIGHT_FARM_KEYS``, else ``~/.config/firstlight/farm``).
    :raises FirstlightError: when it cannot be read or written, or others can read it.

    Source: docs/design/farm.md.

    >>> import firstlight
    >>> len(firstlight.farm_key(bundle.parent / "keys").public_key)
    64
    """
    from firstlight.farm.signing import keys_directory, make_key

    chosen = Path(directory) if directory is not None else keys_directory()
    name, public = make_key(chosen)
    return FarmKey(name, public, str(chosen))


@dataclass(frozen=True)
class FarmKey:
    """What others have to know of a machine that signs."""

    name: str
    """Of the machine; whoever trusts it may choose another."""
    public_key: str
    """Ed25519, in hexadecimal."""
    directory: str
    """Where the private key is, and the list of trusted ones."""


@contextmanager
def boots_by(workers: str | None, note: Callable[[str], None] | None = None) -> Iterator[None]:
    """Within this context, workers make the boots that are not in the cache.

    :param workers: the store of a farm, or ``local:N`` for N workers on this machine; `None` boots as usual.
    :param note: hears what a user should know, such as that no worker is there; by default it goes to standard error.
    :raises UsageError: for a number of workers that cannot be.
    :raises FirstlightError: when the store cannot be used; at the end, when a worker turned out to give other boots.

    Source: docs/design/farm.md.

    Example: ``with firstlight.boots_by("store:///mnt/farm"): firstlight.run_experiment("pty.toml")``.
    """
    if workers is None:
        yield
        return
    from firstlight.farm.requests import asked_of
    from firstlight.farm.store import open_store

    with ExitStack() as stack:
        location, trusting = workers, workers.startswith(_LOCAL)
        if trusting:
            location = stack.enter_context(tempfile.TemporaryDirectory(prefix="firstlight-farm-"))
            stack.enter_context(_local_workers(_number(workers), location))
        stack.enter_context(asked_of(open_store(location, make=True), note or _to_stderr, trusting=trusting))
        yield


def _number(workers: str) -> int:
    text = workers.removeprefix(_LOCAL)
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= _MOST_LOCAL:
        raise UsageError(f"`{workers}` is not a number of workers", hint=f"`local:2`; 1 to {_MOST_LOCAL}")
    return int(text)


@contextmanager
def _local_workers(number: int, location: str) -> Iterator[None]:
    """So many workers on this machine, which end with this program."""
    from firstlight.farm.store import open_store
    from firstlight.farm.worker import worker_command

    open_store(location, make=True)
    command = worker_command(location, 86400)
    started = [
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(number)
    ]
    try:
        yield
    finally:
        for each in started:
            each.terminate()
        for each in started:
            each.wait()


def _to_stderr(text: str) -> None:
    from firstlight.escape import printable

    print(f"note: {printable(text)}", file=sys.stderr)
