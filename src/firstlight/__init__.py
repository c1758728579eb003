"""Firstlight: where Linux boot time goes.

The public interface is :mod:`firstlight.api`; its names are attributes here, too.

>>> import firstlight
>>> boot = firstlight.open(bundle)
>>> boot.marks()["mark"][0]
'power_on'
>>> firstlight.compare(boot, boot).total.change_ns
0
"""

from importlib import import_module
from typing import Any

# By name, since the layers below must not seem to import the interface: they all import this package.
_API = import_module("firstlight.api")

__all__ = ["__version__", *_API.__all__]


# A name is loaded when it is first used; what a command does not use costs it nothing. `__init__.pyi` has the types.
def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("firstlight.version").VERSION
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_API, name)


def __dir__() -> list[str]:
    return __all__
