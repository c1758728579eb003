"""Workers that a Dask cluster starts: one `firstlight work` for each of its threads.

Dask chooses the machines and starts the processes, under Slurm, PBS, LSF, Kubernetes or by ssh; the jobs and results
stay in the store. So nothing of a boot passes through Dask, and a worker that it starts is like any other.
"""

from __future__ import annotations

import json
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from firstlight.errors import FirstlightError, UsageError
from firstlight.farm.worker import Worked, worker_command
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from distributed import Client

_ANSWERS_WITHIN_S = 20
_ADDRESS_HINT = "`dask scheduler` prints its address, such as `tcp://lab1:8786`"
_INSTALL_HINT = "install the same Firstlight on every machine of the cluster, in the environment of its workers"


def work_on_dask(
    store: str,
    scheduler: str,
    *,
    wait_s: float,
    most: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Worked, ...]:
    """Start workers on a Dask cluster, and wait until they end.

    :param store: the store as those machines see it.
    :param scheduler: the address of Dask's scheduler, such as `tcp://lab1:8786`.
    :param wait_s: seconds that each worker waits for another job.
    :param most: the most boots of each worker.
    :param workers: how many workers; by default one for each thread of the cluster.
    :returns: what each worker did.
    :raises UsageError: when the cluster has no thread and no number is given.
    :raises FirstlightError: when no scheduler answers, or a worker cannot be started or ends with an error.
    """
    from distributed import as_completed

    progress = progress or SilentProgress()
    with interruptible(), _connected(scheduler) as client:
        number = workers or sum(int(each) for each in client.nthreads().values())
        if not number:
            hint = "start workers with `dask worker`, or give `--workers N` if the cluster grows with its tasks"
            raise UsageError("the cluster has no worker", where=scheduler, hint=hint)
        run = uuid.uuid4().hex[:8]
        futures = [
            client.submit(_work, store, wait_s, most, key=f"firstlight-work-{run}-{each}", pure=False, retries=0)
            for each in range(number)
        ]
        ended: list[Worked] = []
        try:
            progress.step(f"{number} workers on {scheduler}")
            for future in as_completed(futures, loop=client.loop):
                ended.append(_worked(future, scheduler))
        finally:
            client.cancel(futures)
    return tuple(sorted(ended, key=lambda each: each.worker))


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    from distributed import Client

    _check_reachable(scheduler)
    try:
        client = Client(scheduler, timeout=_ANSWERS_WITHIN_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise FirstlightError("no Dask scheduler answers", where=scheduler, hint=_ADDRESS_HINT) from error
    try:
        yield client
    finally:
        client.close(timeout=5)


def _check_reachable(scheduler: str) -> None:
    """Dask itself tries for a minute, and leaves threads behind.

    :raises UsageError: when this is not an address.
    :raises FirstlightError: when nothing listens there.
    """
    try:
        address = urlsplit(scheduler)
        host, port = address.hostname, address.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise UsageError("this is not an address of a scheduler", where=scheduler, hint=_ADDRESS_HINT)
    try:
        socket.create_connection((host, port), _ANSWERS_WITHIN_S).close()
    except OSError as error:
        said = f"no Dask scheduler answers: {error.strerror or error}"
        raise FirstlightError(said, where=scheduler, hint=_ADDRESS_HINT) from error


def _worked(future: Any, scheduler: str) -> Worked:
    """What a worker did.

    :raises FirstlightError: when it could not be started, or ended with an error.
    """
    error = future.exception()
    if isinstance(error, ModuleNotFoundError) or "No module named 'firstlight" in str(error):
        raise FirstlightError("Firstlight is not installed there", where=scheduler, hint=_INSTALL_HINT)
    if error is not None:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise FirstlightError(f"a worker did not start, or was lost: {first}", where=scheduler)
    answer = future.result()
    if "data" not in answer:
        said = answer.get("error", {})
        raise FirstlightError(f"a worker ended: {said.get('message')}", where=said.get("where"), hint=said.get("hint"))
    return Worked(**answer["data"])


def _work(store: str, wait_s: float, most: int | None) -> dict[str, Any]:
    """Runs in a thread of Dask, which lives as long as Dask's worker; when that ends, this worker is interrupted."""
    command = worker_command(store, wait_s, "--json", *(["--most", str(most)] if most is not None else []))
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(run.stdout)
    except json.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        said = (run.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        return {"error": {"message": f"exit code {run.returncode}: {said}"}}
    return answer
