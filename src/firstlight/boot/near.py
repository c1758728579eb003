"""Names that a person may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from firstlight.errors import BundleError


def unknown_name(kind: str, name: str, known: Collection[str], where: str) -> None:
    """Raise unless *name* is one of the *known*.

    :param kind: what the name is of, for the message.
    :raises BundleError: with the nearest known names, or all of them when they are few, as its hint.

    >>> unknown_name("phase", "firmware", ["firmware"], "a.boot")
    >>> from firstlight.errors import BundleError
    >>> try:
    ...     unknown_name("function", "start_kernal", ["start_kernel", "schedule"], "a.boot")
    ... except BundleError as error:
    ...     print(error.report())
    error: a.boot: no function `start_kernal`
    hint: did you mean `start_kernel`?
    """
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    near = near or sorted(other for other in known if name and name in other)[:3]
    if near:
        hint = "did you mean " + " or ".join(f"`{other}`" for other in near) + "?"
    elif len(known) <= 20:
        hint = "there are: " + ", ".join(f"`{other}`" for other in known)
    else:
        hint = f"`firstlight functions {where}` lists them"
    raise BundleError(f"no {kind} `{name}`", where=where, hint=hint)
