"""Firstlight: a laboratory for Linux start-up time.

>>> import firstlight
>>> boot = firstlight.open(bundle)
>>> boot.marks()["mark"][0]
'power_on'
"""

from firstlight.boot.boot import Boot
from firstlight.boot.manifest import Manifest
from firstlight.boot.open import open
from firstlight.errors import BundleError, FirstlightError
from firstlight.version import version

__all__ = ["Boot", "BundleError", "FirstlightError", "Manifest", "__version__", "open"]
__version__ = version()
