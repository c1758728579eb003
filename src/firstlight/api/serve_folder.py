"""The browser over a folder of boots."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, progress_of

if TYPE_CHECKING:
    from firstlight.ui.fence import Access

_MOST_OF_STORE = 2_000
"""Maximum number of boots of a store that are unpacked."""


def serve(
    directory: PathLike = ".",
    *,
    port: int | None = None,
    browser: bool = True,
    ready: Callable[[Access], None] | None = None,
) -> None:
    """Serve a local browser over the boots of a folder or of a farm's store, until it is interrupted.

    It lists and filters boots, opens their report pages, compares two of them, and runs SQL over their tables. It also
    shows histories, experiments, studies and fleets of the folder. It listens on 127.0.0.1, asks for a token, and
    serves nothing outside the folder.

    :param directory: a folder with boots at any depth, a bundle, or the store of a farm: its boots are unpacked into a
        temporary directory, up to 2,000.
    :param port: the port to listen on; by default 8437, or a free one if that is taken.
    :param browser: open the user's browser.
    :param ready: is called when the server listens; its argument has the `address`.
    :raises UsageError: when there is no such directory, or the port cannot be used.
    :raises FirstlightError: when the port is taken, or the packages of `firstlight[ui]` are not installed.

    Source: docs/concepts/security.md.

    Example: ``firstlight.serve("boots", ready=lambda access: print(access.address))``.
    """
    from firstlight.farm.store import is_store
    from firstlight.lab.host.process import interruptible
    from firstlight.ui.serve import serve

    if is_store(directory):
        with interruptible(), tempfile.TemporaryDirectory(prefix="firstlight-ui-") as temporary:
            serve(_unpacked(directory, Path(temporary)), port, browser=browser, ready=ready)
    else:
        serve(Path(directory), port, browser=browser, ready=ready)


def _unpacked(location: PathLike, temporary: Path) -> Path:
    """A directory with the boots of a store, of the store's name."""
    from firstlight.farm.bundles import unpack_bundles
    from firstlight.farm.store import open_store

    store = open_store(location)
    folder = temporary / (PurePosixPath(store.where).name or "store")
    folder.mkdir()
    with progress_of(True) as shown:
        shown.step(f"unpacking the boots of {store.where}")
        found = unpack_bundles(store, folder, lambda where, why: shown.warn(f"{where}: {why}"), _MOST_OF_STORE)
        if found > _MOST_OF_STORE:
            shown.warn(
                f"{store.where} has {found:,} boots; {_MOST_OF_STORE:,} are shown: `firstlight fleet add` takes all"
            )
    return folder
