"""What of a recorded boot cannot be relied on, because an invariant of its profile does not hold."""

from __future__ import annotations

from firstlight.bundle.manifest import Concern, Invariant, Manifest
from firstlight.errors import BundleError

#: What to do about a broken invariant; it follows what was said.
HINT = "`firstlight audit` counts the boot a second time by other means; please report it with the audit's result"

#: How a reader calls what is concerned.
CONCERNED = {
    Concern.EVERYTHING: "every figure",
    Concern.FUNCTIONS: "functions and their tree",
    Concern.INITCALLS: "initcalls and the phases of their levels",
    Concern.PROCESSES: "processes, system calls and files",
}


def broken(manifest: Manifest, *concerns: Concern) -> dict[str, Invariant]:
    """The invariants that do not hold, by name.

    :param concerns: only those that concern one of these; all of them when not given.

    >>> import firstlight
    >>> broken(firstlight.open(bundle).manifest)
    {}
    """
    return {
        name: invariant
        for name, invariant in manifest.invariants.items()
        if not invariant.holds and (not concerns or invariant.concerns in concerns)
    }


def broken_text(manifest: Manifest) -> str | None:
    """How many invariants are broken, and what they affect, in a few words; none where all hold.

    >>> import firstlight
    >>> broken_text(firstlight.open(bundle).manifest) is None
    True
    """
    found = broken(manifest)
    if not found:
        return None
    there = {invariant.concerns for invariant in found.values()}
    concerned = [Concern.EVERYTHING] if Concern.EVERYTHING in there else [each for each in Concern if each in there]
    verb = "is" if len(found) == 1 else "are"
    noun = "invariant" if len(manifest.invariants) == 1 else "invariants"
    return f"{len(found)} of {len(manifest.invariants)} {noun} {verb} broken (affects {', '.join(concerned)})"


def unreliable_text(manifest: Manifest, *concerns: Concern) -> str | None:
    """The broken invariants that concern one of these in one line; none where all of them hold.

    >>> import firstlight
    >>> unreliable_text(firstlight.open(bundle).manifest, Concern.EVERYTHING) is None
    True
    """
    found = list(broken(manifest, *concerns).items())
    if not found:
        return None
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(invariant_text(*each) for each in found[:3]) + more


def check_reliable(manifest: Manifest, where: str, concern: Concern) -> None:
    """Check that what is about to be read from a boot can be relied on.

    :param where: the bundle's path, for the message.
    :param concern: what is read; an invariant that concerns every figure concerns this, too.
    :raises BundleError: when an invariant that concerns it does not hold.

    >>> import firstlight
    >>> check_reliable(firstlight.open(bundle).manifest, "a.boot", Concern.FUNCTIONS)
    """
    text = unreliable_text(manifest, concern, Concern.EVERYTHING)
    if text is not None:
        what = "its figures are" if concern is Concern.EVERYTHING else f"its {CONCERNED[concern]} are"
        raise BundleError(f"{what} not reliable: {text}", where=where, hint=HINT)


def invariant_text(name: str, invariant: Invariant) -> str:
    """A broken invariant in one line: what was found, what is allowed, what it concerns, and the functions it names.

    >>> invariant_text("initcalls_entered", Invariant(holds=False, value=1, limit=0, concerns=Concern.INITCALLS,
    ...                                               functions=["net_init"]))
    'initcalls_entered: found 1, allowed 0; concerns initcalls and the phases of their levels; names `net_init`'
    """
    found = f"found {invariant.value:,}" if type(invariant.value) is int else f"found {invariant.value}"
    figures = [f"{figure.replace('_', ' ')} {value:,}" for figure, value in (invariant.model_extra or {}).items()
               if type(value) is int]  # fmt: skip
    limit = f", allowed {invariant.limit:,}" if invariant.limit is not None else ""
    parts = [
        f"{name}: {found}{limit}" + (f" ({', '.join(figures)})" if figures else ""),
        f"concerns {CONCERNED[invariant.concerns]}",
    ]
    if invariant.functions:
        parts.append(f"names {_named(invariant.functions)}")
    return "; ".join(parts)


def unknown_transfers(manifest: Manifest) -> tuple[int, str] | None:
    """How many transfers went through functions that behave as thunks and are not known as such, and their names.

    :returns: nothing where there were none.

    >>> import firstlight
    >>> unknown_transfers(firstlight.open(bundle).manifest) is None
    True
    """
    invariant = manifest.invariants.get("thunks_are_no_functions")
    number = None if invariant is None else (invariant.model_extra or {}).get("unknown_transfers")
    if invariant is None or type(number) is not int or number <= 0:
        return None
    return number, _named(invariant.functions) if invariant.functions else "a function without a name"


def _named(functions: list[str]) -> str:
    names = ", ".join(f"`{name if name.isprintable() else ascii(name)}`" for name in functions[:5])
    return names + (f" and {len(functions) - 5} more" if len(functions) > 5 else "")
