"""`firstlight work`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.farm import StorePath
from firstlight.cli.output import Json


def work(
    store: StorePath,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for another job before it ends.")
    ] = 60.0,
    most: Annotated[int | None, typer.Option(metavar="N", min=1, help="End after so many boots.")] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of this worker (default: host and process number).")
    ] = None,
    json: Json = False,
) -> None:
    """Take boots from a store, make them on this machine, and put the results there.

    A worker boots only what it can boot exactly as asked: with the same QEMU, firmware, plugin and Firstlight. It
    leaves other jobs to other workers and reports why. Its QEMU ends with it; its job is free for others soon after.
    An empty directory becomes a store.

    \b
    Examples:
      firstlight work /mnt/farm
      firstlight work store:///mnt/farm --wait 3600
      ssh lab2 firstlight work /mnt/farm
      sbatch --wrap 'firstlight work /mnt/farm --wait 10'
    """
    worked = api.work(store, name=name, wait_s=wait, most=most, progress=True)
    if json:
        print_json(
            {"worker": worked.worker, "boots": worked.boots, "failed": worked.failed, "refused": dict(worked.refused)}
        )
    else:
        print(f"{worked.worker}: {worked.boots} boots, {worked.failed} failed, {len(worked.refused)} left to others")
        for reason in sorted(set(worked.refused.values())):
            print(f"  {reason}")
    raise typer.Exit(1 if worked.refused and not worked.boots else 0)
