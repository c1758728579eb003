"""The version of the installed package."""

from __future__ import annotations

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("firstlight")
    except metadata.PackageNotFoundError:
        return "unknown"


VERSION = _installed()
"""As the package's metadata has it; `unknown` in a checkout that was not installed."""
