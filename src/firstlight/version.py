"""The version of the installed package."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The version of Firstlight, as the package's metadata has it; ``unknown`` when it is not installed.

    >>> version().count(".") >= 1 or version() == "unknown"
    True
    """
    try:
        return metadata.version("firstlight")
    except metadata.PackageNotFoundError:
        return "unknown"
