"""Whether two boots can be compared at all, and what to keep in mind when they are."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.bundle.phase_bounds import unsure_phases
from firstlight.bundle.reliability import HINT, broken, invariant_text, unreliable_text
from firstlight.comparison.sides.arms import CompareError
from firstlight.quantities import joined, time_text
from firstlight.recipe.mode import RecordMode

#: A note has no more names of phases than this.
_MOST_PHASES = 4
_PART = "compare a part that both have with `--from MARK --to MARK`; `firstlight show` lists the marks"


@dataclass(frozen=True)
class Flag:
    """Something that a reader of a comparison has to know."""

    kind: str
    """`completeness`, `profile`, `invariant`, `doubtful`, `unstable`, `one_boot`, `inputs`, `bounds`,
    `machine`, `noise_band` or `excluded`."""
    text: str

    @property
    def title(self) -> str:
        """Its kind as people read it.

        >>> Flag("one_boot", "").title
        'one boot'
        """
        return self.kind.replace("_", " ")


def check_comparable(a: Boot, b: Boot) -> list[Flag]:
    """Check that the figures of two boots mean the same, and say where they do so only in part.

    :raises CompareError: when they differ in mode, clock, icount shift, or in their first or last mark, or when an
        invariant that concerns every figure of one of them does not hold.

    >>> import firstlight
    >>> check_comparable(firstlight.open(bundle), firstlight.open(bundle))
    []
    """
    for boot, name in zip((a, b), names_of(a, b), strict=True):
        if (text := unreliable_text(boot.manifest, Concern.EVERYTHING)) is not None:
            message = f"`{name}` is not reliable, so it cannot be compared: {text}"
            raise CompareError(message, where=str(boot.directory), hint=HINT)
    one, other = a.manifest, b.manifest
    if one.mode != other.mode:
        _refuse(a, b, "mode", f"recorded in {one.mode} mode", f"in {other.mode} mode", "record both in one mode")
    if one.clock.icount_shift != other.clock.icount_shift:
        hint = "one instruction takes 2^N ns: record both with the same `--shift`"
        texts = (f"with icount shift {one.clock.icount_shift}", f"with {other.clock.icount_shift}")
        _refuse(a, b, "clock", *texts, hint)
    if one.clock != other.clock and not (a.is_part and b.is_part and one.clock.kind == other.clock.kind):
        texts = (
            f"on the {one.clock.kind} clock from {one.clock.origin}",
            f"{other.clock.kind} from {other.clock.origin}",
        )
        same = one.clock.kind == other.clock.kind
        _refuse(a, b, "clock", *texts, _PART if same else "times of two different clocks cannot be subtracted")
    first, second = window(a), window(b)
    for what, mark, its in (("first mark", first.first, second.first), ("last mark", first.end, second.end)):
        if mark != its:
            _refuse(a, b, what, f"`{mark}`", f"`{its}`", _PART)
    return [*_completeness(a, b), *_profile(a, b), *_invariants(a, b), *_bounds(a, b)]


def is_rejected(a: Boot, b: Boot, concern: Concern) -> bool:
    """Whether what a broken invariant of one of the boots concerns is not to be compared.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> is_rejected(boot, boot, Concern.FUNCTIONS)
    False
    """
    return any(broken(boot.manifest, concern, Concern.EVERYTHING) for boot in (a, b))


def names_of(a: Boot, b: Boot) -> tuple[str, str]:
    """What two boots are called in messages: their bundles' names, or their paths where these are the same name.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> names_of(boot, boot) == (str(bundle), str(bundle))
    True
    """
    one, other = a.directory.name, b.directory.name
    return (str(a.directory), str(b.directory)) if one == other else (one, other)


def _refuse(a: Boot, b: Boot, what: str, one: str, other: str, hint: str) -> None:
    first, second = names_of(a, b)
    message = f"the arms differ in their {what}: `{first}` is {one}, `{second}` {other}"
    raise CompareError(message, where=str(b.directory), hint=hint)


def _completeness(a: Boot, b: Boot) -> list[Flag]:
    one, other = a.manifest.completeness, b.manifest.completeness
    if (one.complete, one.missing, one.share) == (other.complete, other.missing, other.share) and one.complete:
        return []
    texts = []
    for name, known in zip(names_of(a, b), (one, other), strict=True):
        share = "" if known.share is None else f" ({known.share * 100:.1f} % of its records)"
        if not known.complete or known.missing:
            texts.append(f"`{name}` has incomplete evidence: {'; '.join(known.missing) or 'a part is missing'}{share}")
        else:
            texts.append(f"`{name}` is complete{share}")
    return [Flag("completeness", ", ".join(texts) + ": evidence that only one side has looks like a change")]


def _profile(a: Boot, b: Boot) -> list[Flag]:
    without = [boot for boot in (a, b) if boot.calls().is_empty()]
    if not without or a.manifest.mode != RecordMode.EXACT:
        return []
    if a.is_part and b.is_part:
        return [Flag("profile", f"functions are not compared between two marks: {a.why_no_profile()[0]}")]
    names = dict(zip((a, b), names_of(a, b), strict=True))
    why = "; ".join(f"`{names[boot]}` has no profile: {boot.why_no_profile()[0]}" for boot in without)
    return [Flag("profile", f"functions are not compared: {why}")]


def _bounds(a: Boot, b: Boot) -> list[Flag]:
    """Phases of which the records of a boot do not show when they began or ended."""
    texts = []
    for boot, name in zip((a, b), names_of(a, b), strict=True):
        unsure = unsure_phases(boot.phases())
        if not unsure.is_empty():
            phases = joined([f"`{phase}`" for phase in unsure["phase"].to_list()], _MOST_PHASES)
            most = None if unsure["unsure_ns"].null_count() else max(unsure["unsure_ns"].to_list())
            far = "by an unknown time" if most is None else f"by up to {time_text(most)}"
            texts.append(f"{phases} of `{name}` may be off {far}")
    return [Flag("bounds", f"no record shows when each phase began: {'; '.join(texts)}")] if texts else []


_REFUSED = {
    Concern.FUNCTIONS: "functions, their tree and moved work are not compared",
    Concern.INITCALLS: "initcalls and the critical path are not compared, and phases of initcall levels may begin late",
    Concern.PROCESSES: "processes, services, system calls and files are not compared",
}


def _invariants(a: Boot, b: Boot) -> list[Flag]:
    """What is refused, with the invariants that do not hold and whose they are."""
    return [
        Flag("invariant", f"{refused}: `{name}` is not reliable there: {invariant_text(*each)}; {HINT}")
        for concern, refused in _REFUSED.items()
        for boot, name in zip((a, b), names_of(a, b), strict=True)
        for each in broken(boot.manifest, concern).items()
    ]
