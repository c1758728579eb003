"""From a slow initcall of a fleet to the kernel that a laboratory has to boot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from firstlight.atomic import atomic_write
from firstlight.cache import cache_dir
from firstlight.errors import LabError, UsageError
from firstlight.fleet.analyses.joined import NOT_KNOWN
from firstlight.fleet.layout import Fleet
from firstlight.fleet.questions import Asked, Question, answer
from firstlight.lab.host.apt import downloaded, unpack
from firstlight.suggest import nearest

_KERNEL = "kernel"
#: What a release may have in it: it becomes a part of a package's name and of a path.
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-~")


@dataclass(frozen=True)
class SlowInitcall:
    """An initcall in the kernel in which its slowest hundredth takes longest."""

    initcall: str
    kernel: str
    boots: int
    p50_ns: float
    p99_ns: float


def slow_initcall(fleet: Fleet, initcall: str, where: str = "") -> SlowInitcall:
    """The kernel of a fleet in which the 99th percentile of an initcall is largest.

    :param where: conditions on attributes.
    :raises UsageError: when no boot has that initcall, or none of those that have it says which kernel it booted.
    """
    rows = answer(fleet, Asked(Question.INITCALLS, where, (_KERNEL,))).rows
    found = rows.filter(pl.col("name") == initcall)
    if found.is_empty():
        near = nearest(initcall, rows["name"].unique().to_list())
        hint = f"`firstlight fleet show {fleet.where} initcalls` lists them{near}"
        raise UsageError(f"no boot of the fleet has the initcall `{initcall}`", where="--initcall", hint=hint)
    found = found.filter(pl.col(_KERNEL) != NOT_KNOWN).sort(["p99_ns", _KERNEL], descending=[True, False])
    if found.is_empty():
        hint = "give its file: `--kernel vmlinuz`"
        raise UsageError(
            "the boots with this initcall do not say which kernel they are of", where="--initcall", hint=hint
        )
    row = found.row(0, named=True)
    return SlowInitcall(initcall, row[_KERNEL], row["boots"], row["p50_ns"], row["p99_ns"])


def kernel_of_release(release: str) -> Path:
    """The distribution's kernel of a release, downloaded once.

    :raises LabError: when the distribution has no package of it.
    """
    hint = "give the kernel's own file: `--kernel vmlinuz`"
    if not release or not set(release) <= _SIGNS or release.startswith(("-", ".")):
        raise LabError("no package can have the name of this release", where=release[:80], hint=hint)
    place = cache_dir() / "kernels-by-release" / release
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        package = f"linux-image-{release}"
        with downloaded(package, f"the kernel {release}", hint) as deb, atomic_write(place, directory=True) as made:
            unpack(deb, made)
    for path in sorted(place.glob("boot/vmlinuz-*")):
        return path
    raise LabError("the package has no kernel", where=str(place), hint=hint)
