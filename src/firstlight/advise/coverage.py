"""How many entries of the catalogue a boot has the evidence for, and what it lacks for the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from firstlight.advise.entry import Entry, EntryEvidence
from firstlight.advise.observed import Observed
from firstlight.advise.read import Catalogue
from firstlight.analysis.processes.processes import hint_for as process_hint
from firstlight.bundle.boot import Boot
from firstlight.recipe.mode import RecordMode


@dataclass(frozen=True)
class Lack:
    """Evidence that a boot does not have."""

    what: str
    hint: str
    """How to get it."""


@dataclass(frozen=True)
class Coverage:
    """What could be looked for in a boot."""

    entries: int
    """The number of entries with at least one way to be seen."""
    blocked: Mapping[str, tuple[Lack, ...]]
    """What each of the other entries needs, by its id."""
    lacks: tuple[Lack, ...]
    """What they need together, the evidence that is easy to add first."""


_COLLECT = "import an archive of `firstlight collector`"
_RECORD = "record the boot with `firstlight record`"
#: What an imported boot may lack, the evidence that is easy to add first.
_LACKS = {
    "log": Lack("log", "import the kernel's log as well"),
    "gap": Lack("log with times", "import the kernel's log with its timestamps"),
    "word": Lack("command line", "import a log that has the kernel's first lines"),
    "initcall": Lack("initcalls", "boot with `initcall_debug` and import the kernel's log"),
    "unit": Lack("units", "import what `systemctl show '*'` prints as well"),
    "stage": Lack("stages of systemd", "import the journal as well"),
    "kconfig": Lack("kernel configuration", "import `/proc/config.gz` as well"),
    "devices": Lack("devices", _COLLECT),
    "fact": Lack("facts of the machine", _COLLECT),
    "package": Lack("packages", _COLLECT),
    "functions": Lack("profile", _RECORD),
    "process": Lack("processes", _RECORD),
    "call": Lack("system calls", _RECORD),
}


def coverage(observed: Observed, known: Catalogue) -> Coverage:
    """How many entries of a catalogue can be looked for in a boot.

    >>> import firstlight
    >>> from firstlight.advise.read import catalogue
    >>> found = coverage(Observed(firstlight.open(bundle)), catalogue())
    >>> [lack.what for lack in found.lacks]
    ['kernel configuration', 'processes', 'system calls']
    """
    absent = _absent(observed)
    kinds = {entry.id: kinds for entry in known.entries if (kinds := _blocked_by(observed, entry, absent))}
    needed = frozenset().union(*kinds.values())
    lacks = {kind: _lack(observed.boot, kind) for kind in _LACKS if kind in needed}
    blocked = {id: tuple(lacks[kind] for kind in lacks if kind in those) for id, those in kinds.items()}
    return Coverage(len(known.entries) - len(kinds), blocked, tuple(lacks.values()))


def _lack(boot: Boot, kind: str) -> Lack:
    """What a boot lacks, and how to get it."""
    lack = _LACKS[kind]
    if boot.manifest.mode == RecordMode.IMPORTED:
        return lack
    if kind == "kconfig":
        return Lack(lack.what, "record a kernel with its `config-RELEASE` next to it")
    if kind in ("process", "call") and not boot.calls().is_empty():
        return Lack(lack.what, process_hint(boot))
    return Lack(lack.what, boot.why_no_profile()[1])


def _blocked_by(observed: Observed, entry: Entry, absent: Collection[str]) -> set[str]:
    """The kinds of evidence without which an entry cannot be seen; none if it can."""
    lacks = {item.kind for item in entry.all if not _has(observed, item, absent)}
    if entry.any and not any(_has(observed, item, absent) for item in entry.any):
        lacks |= {item.kind for item in entry.any}
    return lacks


def _has(observed: Observed, item: EntryEvidence, absent: Collection[str]) -> bool:
    """Whether a boot has evidence of a kind at all."""
    if item.kind == "fact" and observed.boot.manifest.mode == RecordMode.IMPORTED:
        return any(re.search(item.fact or "", name) for name in observed.facts)
    return item.kind not in absent


def _absent(observed: Observed) -> frozenset[str]:
    """The kinds of which a boot has no evidence. A kind that every recording has is never absent from a recording."""
    imported = observed.boot.manifest.mode == RecordMode.IMPORTED
    kinds = _PRESENT if imported else _NOT_IN_EACH_RECORDING
    return frozenset(kind for kind in kinds if not _PRESENT[kind](observed))


_NOT_IN_EACH_RECORDING = ("functions", "initcall", "process", "call", "kconfig")
_PRESENT: dict[str, Callable[[Observed], bool]] = {
    "functions": lambda observed: observed.contexts is not None,
    "initcall": lambda observed: not observed.initcalls.is_empty(),
    "process": lambda observed: bool(observed.processes),
    "call": lambda observed: not observed.calls.is_empty(),
    "unit": lambda observed: not observed.units.is_empty(),
    "stage": lambda observed: any(row.kind == "stage" for row in observed.rows),
    "gap": lambda observed: any(line.time_ns is not None for line in observed.log),
    "log": lambda observed: bool(observed.log),
    "devices": lambda observed: bool(observed.devices),
    "kconfig": lambda observed: bool(observed.kconfig),
    "word": lambda observed: bool(observed.words),
    "package": lambda observed: bool(observed.packages),
}
