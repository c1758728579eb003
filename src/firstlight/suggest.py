"""Names that the user may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from firstlight.errors import BundleError

#: Up to this many names are all listed; a boot has some thirty phases.
_FEW = 40
#: Of more, where nothing lists them, so many are named.
_SOME = 5


def nearest(name: str, known: Collection[str]) -> str:
    """What the user may have meant, to follow a message; empty where nothing is near.

    >>> nearest("user_strat", ["user_start", "ready"]), nearest("x", ["ready"])
    ('; did you mean `user_start`?', '')
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f"; did you mean `{near[0]}`?" if near else ""


def one_of(name: str, known: Collection[str]) -> str:
    """The hint for a name that is none of a few: the one that the user may have meant, and all of them.

    >>> print(one_of("tree-wakl", ["tree-walk", "udev-ptys"]))
    did you mean `tree-walk`?
    there are: `tree-walk`, `udev-ptys`
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hints = [f"did you mean `{near[0]}`?"] if near else []
    return "\n".join([*hints, "there are: " + ", ".join(f"`{other}`" for other in known)])


def unknown_name(kind: str, name: str, known: Collection[str], where: str, listed: str | None = "functions") -> None:
    """Raise unless *name* is one of the *known*.

    :param kind: what the name is of, for the message.
    :param listed: the command that lists them all, where they are too many; none if there is no such command.
    :raises BundleError: with the nearest known names, and all of them when they are few, as its hint.

    >>> unknown_name("phase", "firmware", ["firmware"], "a.boot")
    >>> from firstlight.errors import BundleError
    >>> try:
    ...     unknown_name("function", "start_kernal", ["start_kernel", "schedule"], "a.boot")
    ... except BundleError as error:
    ...     print(error.report())
    error: a.boot: no function `start_kernal`
    hint: did you mean `start_kernel`?
    there are: `start_kernel`, `schedule`
    """
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    near = near or sorted(other for other in known if name and name in other)[:3]
    hints = ["did you mean " + " or ".join(f"`{other}`" for other in near) + "?"] if near else []
    if not known:
        hints.append("there is none")
    elif len(known) <= _FEW:
        hints.append("there are: " + ", ".join(f"`{other}`" for other in known))
    elif not near and listed is not None:
        hints.append(f"`firstlight {listed} {where}` lists them")
    elif not near:
        some = ", ".join(f"`{other}`" for other in sorted(known)[:_SOME])
        hints.append(f"there are {len(known):,}, such as {some}")
    raise BundleError(f"no {kind} `{name}`", where=where, hint="\n".join(hints))
