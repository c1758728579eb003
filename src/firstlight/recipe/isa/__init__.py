"""The processor architectures of guests: a module here for each, called by its name.

What is particular to an architecture stands in its module and nowhere else in the lab
(`docs/design/architectures.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from firstlight.errors import UsageError
from firstlight.recipe.isa.architecture import Architecture, FunctionMark, NamedLoader

__all__ = [
    "DEFAULT",
    "Architecture",
    "FunctionMark",
    "NamedLoader",
    "architecture_named",
    "architecture_of",
    "architecture_of_file",
    "architectures",
    "chosen_architecture",
]


@cache
def architectures() -> Mapping[str, Architecture]:
    """The architectures by their names: the constant `ARCHITECTURE` of each module of this package.

    >>> sorted(architectures())
    ['aarch64', 'arm', 'mips64el', 'ppc64le', 'riscv64', 'x86_64']
    """
    names = sorted(each.name for each in iter_modules(__path__) if each.name != "architecture")
    return MappingProxyType({name: import_module(f"{__name__}.{name}").ARCHITECTURE for name in names})


def architecture_of(name: str) -> Architecture:
    """The architecture of a name.

    :raises KeyError: when there is none.

    >>> architecture_of("x86_64").console_device
    'ttyS0'
    """
    return architectures()[name]


def architecture_named(name: str) -> Architecture | None:
    """The architecture of a name that a user gives: its own, or the distribution's; `None` when there is none.

    >>> architecture_named("arm64") is architecture_named("aarch64")
    True
    """
    return next((each for each in architectures().values() if name in (each.name, each.distribution_name)), None)


def chosen_architecture(name: str | None) -> Architecture:
    """The architecture of a name that a user gives; of none, the usual one.

    :raises UsageError: when there is none; the hint has all.

    >>> chosen_architecture("arm64").name
    'aarch64'
    """
    if name is None:
        return DEFAULT
    if (found := architecture_named(name)) is None:
        known = ", ".join(each.distribution_name for each in architectures().values())
        raise UsageError(f"no architecture of guests is called `{name}`", where="--arch", hint=f"use {known}")
    return found


def architecture_of_file(head: bytes) -> Architecture | None:
    """The architecture that a kernel or a program is for; `None` where nothing says so.

    :param head: the first bytes of the file, 4 KiB where it has as many.

    >>> architecture_of_file(b"#!/bin/sh") is None
    True
    """
    return next((each for each in architectures().values() if each.is_kernel(head)), None)


#: What boots where nothing else is asked for.
DEFAULT = architecture_of("x86_64")
