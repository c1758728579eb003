"""The browser over a folder of boots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike

if TYPE_CHECKING:
    from firstlight.ui.fence import Access


def serve(
    directory: PathLike = ".",
    *,
    port: int | None = None,
    browser: bool = True,
    ready: Callable[[Access], None] | None = None,
) -> None:
    """Serve a local browser over the boots of a folder, until it is interrupted.

    It lists and filters boots, opens their report pages, compares two of them, and runs SQL over their tables. It also
    shows histories, experiments, studies and fleets of the folder. It listens on 127.0.0.1, asks for a token, and
    serves nothing outside the folder.

    :param directory: a folder with boots at any depth, or a bundle.
    :param port: the port to listen on; by default 8437, or a free one if that is taken.
    :param browser: open the user's browser.
    :param ready: is called when the server listens; its argument has the `address`.
    :raises UsageError: when there is no such directory, or the port cannot be used.
    :raises FirstlightError: when the port is taken, or the packages of `firstlight[ui]` are not installed.

    Source: docs/concepts/security.md.

    Example: ``firstlight.serve("boots", ready=lambda access: print(access.address))``.
    """
    from firstlight.ui.serve import serve

    serve(Path(directory), port, browser=browser, ready=ready)
