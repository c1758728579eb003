"""Analyses that are made once for each boot, however many ask for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import polars as pl


class Keeper(Protocol):
    """A boot, as far as it keeps results."""

    results: dict[tuple[Any, ...], Any]


_Boot = TypeVar("_Boot", bound=Keeper)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def once(analysis: Callable[Concatenate[_Boot, _Given], _Result]) -> Callable[Concatenate[_Boot, _Given], _Result]:
    """An analysis whose result a boot keeps: asked again with the same arguments, it gives the same result.

    Each caller gets its own frame over shared columns, so a change in place does not reach other callers. Results of
    other types are shared and must not be changed. Replacing a table of the boot clears its results.

    :param analysis: a function of a boot, and of arguments that can be hashed, that depends on nothing else.

    >>> @once
    ... def rows_of(boot, table):
    ...     print("made")
    ...     return boot.table(table)
    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> rows_of(boot, "marks").equals(rows_of(boot, "marks"))
    made
    True
    """

    @wraps(analysis)
    def kept(boot: _Boot, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        key: tuple[Any, ...] = (analysis, args, tuple(sorted(kwargs.items())))
        if key not in boot.results:
            boot.results[key] = analysis(boot, *args, **kwargs)
        found = boot.results[key]
        return cast(_Result, found.clone() if isinstance(found, pl.DataFrame) else found)

    return kept
