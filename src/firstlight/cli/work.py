"""`firstlight work`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.farm import StorePath
from firstlight.cli.output import Json
from firstlight.errors import UsageError
from firstlight.escape import printable
from firstlight.quantities import counted


def work(
    store: StorePath,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Seconds to wait for another job before the worker ends.")
    ] = 60.0,
    most: Annotated[int | None, typer.Option(metavar="N", min=1, help="End after this number of boots.")] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of this worker (default: host and process number).")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="SCHEDULER",
            help="Start workers on this Dask cluster, such as tcp://lab1:8786, and wait for them.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=10_000, help="With --dask: number of workers (default: one for each thread)."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Take boots from a store, make them on this machine, and put the results there.

    A worker boots only what it can boot exactly as asked: with the same QEMU, firmware, plugin and Firstlight. It
    leaves other jobs to other workers and reports why. Its QEMU ends with it; its job is free for others soon after.
    An empty directory becomes a store.

    With --dask the workers run on a Dask cluster, where Firstlight has to be installed; STORE is what they see.

    \b
    Examples:
      firstlight work /mnt/farm
      firstlight work store:///mnt/farm --wait 3600
      ssh lab2 firstlight work /mnt/farm
      sbatch --wrap 'firstlight work /mnt/farm --wait 10'
      firstlight work /mnt/farm --dask tcp://lab1:8786
    """
    if dask is not None:
        if name is not None:
            raise UsageError("`--name` names one worker, and `--dask` starts several")
        _on_dask(store, dask, wait, most, workers, json)
    if workers is not None:
        raise UsageError(
            "`--workers` needs `--dask`", hint="one command runs one worker on this machine: run it again for another"
        )
    worked = api.work(store, name=name, wait_s=wait, most=most, progress=True)
    if json:
        print_json(dataclasses.asdict(worked))
    else:
        _print([worked])
    raise typer.Exit(1 if worked.refused and not worked.boots else 0)


def _on_dask(store: str, scheduler: str, wait: float, most: int | None, workers: int | None, json: bool) -> NoReturn:
    all_worked = api.work_on_dask(store, scheduler, wait_s=wait, most=most, workers=workers, progress=True)
    boots = sum(each.boots for each in all_worked)
    if json:
        print_json(
            {"scheduler": scheduler, "boots": boots, "workers": [dataclasses.asdict(each) for each in all_worked]}
        )
    else:
        _print(all_worked)
    raise typer.Exit(1 if not boots and any(each.refused for each in all_worked) else 0)


def _print(all_worked: Sequence[api.Worked]) -> None:
    for worked in all_worked:
        left = f"{worked.failed} failed, {len(worked.refused)} left to others"
        print(f"{printable(worked.worker)}: {counted(worked.boots, 'boot')}, {left}")
        for reason in sorted(set(worked.refused.values())):
            print(f"  {printable(reason)}")
