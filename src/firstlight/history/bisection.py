"""Finds the version that changed a boot, by booting versions between a good and a bad one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from firstlight.atomic import atomic_write
from firstlight.errors import FirstlightError, UsageError
from firstlight.quantities import counted

_FORMAT = "firstlight bisection 1"


@dataclass(frozen=True)
class Measured:
    """One version that was built and booted, or could not be."""

    version: str
    time_ns: int | None
    skipped: str | None = None
    """Why it has no time."""
    booted: bool = False
    """It was booted now; otherwise its time was known."""


@dataclass(frozen=True)
class Bisection:
    """What a bisection found."""

    versions: tuple[str, ...]
    """From the good one to the bad one."""
    measured: tuple[Measured, ...]
    """In the order of measuring."""
    last_good: str
    suspects: tuple[str, ...]
    """The version that changed the boot; several, in order, where those between could not be booted."""
    before_ns: int
    after_ns: int
    total_change_ns: int
    """From the good version to the bad one."""

    @property
    def change_ns(self) -> int:
        """From the last good version to the last suspect."""
        return self.after_ns - self.before_ns

    @property
    def first_bad(self) -> str:
        """The last suspect, which is known to be bad."""
        return self.suspects[-1]

    @property
    def booted(self) -> int:
        """How many boots it took."""
        return sum(each.booted for each in self.measured)


def boots_needed(versions: int) -> int:
    """How many boots a bisection needs where none fails: both ends, and one for each halving.

    >>> [boots_needed(versions) for versions in (2, 3, 17, 1000)]
    [2, 3, 6, 12]
    """
    return 2 + math.ceil(math.log2(max(versions - 1, 1)))


def bisect_versions(
    versions: list[str], measure: Callable[[str], Measured], *, note: Callable[[str], None] = lambda _text: None
) -> Bisection:
    """Find the version whose boot is nearer to the bad end than to the good one, while its predecessor's is not.

    :param versions: the good one first, the bad one last.
    :param measure: builds and boots one version.
    :param note: reports what is measured next.
    :raises UsageError: for fewer than two versions.
    :raises FirstlightError: when an end does not boot, or both ends take the same time.

    >>> times = dict(a=100, b=100, c=None, d=120, e=121)
    >>> found = bisect_versions(list(times), lambda name: Measured(name, times[name], "no build", True))
    >>> found.last_good, found.suspects, found.change_ns
    ('b', ('c', 'd'), 20)
    """
    if len(versions) < 2:
        raise UsageError("a bisection needs two versions at least", hint="give a good one and a bad one")
    note(f"{counted(len(versions), 'version')}: about {counted(boots_needed(len(versions)), 'boot')}")
    times: dict[int, int] = {}
    measured: list[Measured] = []

    def try_version(place: int) -> bool:
        found = measure(versions[place])
        measured.append(found)
        if found.time_ns is None:
            note(f"{found.version}: skipped, {found.skipped}")
            return False
        times[place] = found.time_ns
        note(f"{found.version}: {found.time_ns:,} ns{'' if found.booted else ' (known)'}")
        return True

    good, bad = 0, len(versions) - 1
    for end in (good, bad):
        if not try_version(end):
            raise FirstlightError(f"one end of the range does not boot: {measured[-1].skipped}", where=versions[end])
    first, last = times[good], times[bad]
    if first == last:
        message = f"both ends take {first:,} ns: there is nothing to find"
        raise FirstlightError(message, hint="choose other marks with `--from` and `--to`, or another range")
    skipped: set[int] = set()
    while middle := next(_middles(good, bad, skipped), 0):
        if not try_version(middle):
            skipped.add(middle)
        elif abs(times[middle] - last) < abs(times[middle] - first):
            bad = middle
        else:
            good = middle
    suspects = tuple(versions[good + 1 : bad + 1])
    return Bisection(tuple(versions), tuple(measured), versions[good], suspects, times[good], times[bad], last - first)


def _middles(good: int, bad: int, skipped: set[int]) -> Iterator[int]:
    """The versions between two others that can be tried, the one nearest to the middle first."""
    yield from sorted(set(range(good + 1, bad)) - skipped, key=lambda place: (abs(2 * place - good - bad), place))


class BisectionState:
    """What is known of versions, in a file, so that a bisection that was killed continues."""

    def __init__(self, directory: Path, question: Mapping[str, object]) -> None:
        """Read the state of a directory, or begin it.

        :param question: everything that decides what a version takes.
        :raises UsageError: when the directory belongs to another question.
        """
        self._path = directory / "bisection.json"
        self._question = json.loads(json.dumps(dict(question)))
        self._known: dict[str, Measured] = {}
        directory.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            return
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            same = data["format"] == _FORMAT and data["question"] == self._question
            known = {each["version"]: Measured(**each) for each in data["measured"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError("this is not a bisection's state", where=str(self._path), hint="remove it") from error
        if not same:
            hint = "choose another directory with `--output`"
            raise UsageError("this directory belongs to another bisection", where=str(directory), hint=hint)
        self._known = known

    def find(self, version: str) -> Measured | None:
        """What is known of a version."""
        return self._known.get(version)

    def add(self, found: Measured) -> None:
        """Store what was measured."""
        self._known[found.version] = found
        rows = [{**asdict(each), "booted": False} for each in self._known.values()]
        data = {"format": _FORMAT, "question": self._question, "measured": rows}
        with atomic_write(self._path, force=True) as path:
            path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
