"""Analyses that are made once for each boot, however many ask for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import polars as pl

from firstlight.bundle.boot import Boot

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def once(analysis: Callable[Concatenate[Boot, _Given], _Result]) -> Callable[Concatenate[Boot, _Given], _Result]:
    """An analysis whose result a boot keeps: asked again with the same arguments, it gives the same result.

    Each caller gets a frame of its own over the same columns, which costs nothing; so nobody sees what another one
    changes in place. Results of other types are shared, and nobody may change them. Tables that are replaced make the
    boot forget its results.

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
    def kept(boot: Boot, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        key: tuple[Any, ...] = (analysis, args, tuple(sorted(kwargs.items())))
        if key not in boot.results:
            boot.results[key] = analysis(boot, *args, **kwargs)
        found = boot.results[key]
        return cast(_Result, found.clone() if isinstance(found, pl.DataFrame) else found)

    return kept
