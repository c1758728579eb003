"""Firstlight: a laboratory for Linux start-up time.

>>> import firstlight
>>> boot = firstlight.open(bundle)
>>> boot.marks()["mark"][0]
'power_on'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from firstlight.errors import BundleError, FirstlightError
from firstlight.version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from firstlight.bundle.boot import Boot
    from firstlight.bundle.manifest import Manifest
    from firstlight.bundle.open import open

__all__ = ["Boot", "BundleError", "FirstlightError", "Manifest", "__version__", "open"]

# What needs Polars is loaded when it is first used: a command that reads no table answers at once.
_LATER = {"Boot": "firstlight.bundle.boot", "Manifest": "firstlight.bundle.manifest", "open": "firstlight.bundle.open"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'firstlight' has no attribute {name!r}")
