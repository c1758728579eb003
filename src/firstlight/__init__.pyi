"""The types of the names that `__init__.py` loads when they are first used."""

from firstlight.api import *  # noqa: F403

__all__: list[str]
__version__: str
