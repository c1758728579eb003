"""`firstlight ui`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firstlight import api

if TYPE_CHECKING:
    from firstlight.ui.fence import Access


def ui(
    directory: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A folder with boots at any depth, one bundle, or the store of a farm."),
    ] = ".",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="N", help="The port (default: 8437, or a free one; 0: a free one)."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and do not open a browser.")
    ] = False,
) -> None:
    """Browse the boots of a folder: list, open, compare, query; histories, experiments, studies and fleets.

    It runs until Ctrl-C. Only this machine can reach it, and only with the token in the address that it prints.

    \b
    Examples:
      firstlight ui
      firstlight ui boots --no-browser
      firstlight ui a.boot --port 9000
      firstlight ui sftp://lab1/srv/farm
    """

    def ready(access: Access) -> None:
        print(access.address, flush=True)

    api.serve(directory, port=port, browser=not no_browser, ready=ready)
