"""`firstlight farm`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Json

app = command_group("Show and tidy a farm, the store that several machines boot from; make its keys.")

StorePath = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="Store of the farm: a directory, s3://BUCKET/PREFIX, gs://, az://, or sftp://HOST/DIR.",
    ),
]


@app.command("status")
def status(store: StorePath, json: Json = False) -> None:
    """Show the jobs and workers of a farm.

    A worker is lost when the store did not hear from it for 20 seconds. A worker is left out when its boots differ
    from those of the machine that asked for them.

    \b
    Examples:
      firstlight farm status /mnt/farm
      firstlight farm status /mnt/farm --json | jq '.data.workers[] | [.name, .state]'
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.farm import status_report

    found = api.farm_status(store)
    if json:
        print_json({"store": store, "waiting": found.waiting, **dataclasses.asdict(found)})
    else:
        print_report(status_report(found))


@app.command("tidy")
def tidy(store: StorePath, json: Json = False) -> None:
    """Remove what a farm no longer needs.

    That is jobs that are done with their results, inputs without a job, workers that ended, and files other than jobs.

    \b
    Examples:
      firstlight farm tidy /mnt/farm
    """
    from firstlight.quantities import counted

    found = api.tidy_farm(store)
    if json:
        print_json({"store": store, **dataclasses.asdict(found)})
    else:
        removed = [counted(found.jobs, "job"), counted(found.inputs, "input"), counted(found.workers, "worker")]
        if found.strays:
            removed.append(counted(found.strays, "file that was not a job", "files that were not jobs"))
        print(f"removed: {', '.join(removed)}")


@app.command("key")
def key(json: Json = False) -> None:
    """Print the public key of this machine. The first time, make the key.

    A machine with a key signs its jobs and results. To accept only signed ones, list the keys of the other machines in
    the file `trusted` next to the key, one a line. Keys are in ~/.config/firstlight/farm or $FIRSTLIGHT_FARM_KEYS.

    \b
    Examples:
      firstlight farm key
      ssh lab2 firstlight farm key >> ~/.config/firstlight/farm/trusted
    """
    found = api.farm_key()
    if json:
        print_json(dataclasses.asdict(found))
    else:
        print(f"{found.name} {found.public_key}")
