"""The arms of a comparison: each is one boot or several of one recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.manifest import BootState
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.recipe.mode import RecordMode


class CompareError(FirstlightError):
    """Arms that cannot be compared, or that say nothing when they are."""


@dataclass(frozen=True)
class Excluded:
    """A boot that does not take part, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class BootSet:
    """One side of a comparison.

    Its boots are in the order of their names; `firstlight.comparison.noisy` pairs the boots of two arms by that order.
    """

    name: str
    boots: tuple[Boot, ...]
    excluded: tuple[Excluded, ...] = ()

    @property
    def mode(self) -> str:
        """How its boots were recorded: `exact`, `live` or `imported`."""
        return self.boots[0].manifest.mode

    @property
    def is_equal(self) -> bool:
        """Every boot has the same tables; so has a single boot."""
        return all(equal_tables(self.boots[0], boot) for boot in self.boots[1:])

    @property
    def is_exact(self) -> bool:
        """One boot stands for the arm: its boots are exact recordings, and all are equal."""
        return self.mode == RecordMode.EXACT and self.is_equal


def read_arms(paths: Sequence[Path], *, least: int = 2) -> list[BootSet]:
    """Open the arms of a comparison; the first is the baseline.

    A path is a bundle, or a directory with several of one recipe. Boots that failed, and those in a directory that
    cannot be read, do not take part; the arm names them with the reason.

    :param paths: one for each arm.
    :param least: so many arms are needed.
    :raises UsageError: when there are fewer.
    :raises BundleError: when a path is neither a bundle nor a directory of bundles.
    :raises UnhealthyBootError: when no boot of an arm came up.
    :raises CompareError: when the boots of an arm are not of one mode and one clock.

    >>> [(arm.mode.value, len(arm.boots), arm.is_exact) for arm in read_arms([bundle], least=1)]
    [('exact', 1, True)]
    """
    if len(paths) < least:
        message = f"a comparison needs {least} arms, there {'is' if len(paths) == 1 else 'are'} {len(paths)}"
        raise UsageError(message, hint="`firstlight compare a.boot b.boot`; the first is the baseline")
    return [read_arm(path) for path in paths]


def read_arm(path: Path) -> BootSet:
    """Open one arm; see :func:`read_arms`."""
    inside = [] if (path / "manifest.json").exists() or not path.is_dir() else _bundles(path)
    boots: list[Boot] = []
    excluded: list[Excluded] = []
    for bundle in inside or [path]:
        try:
            boot = open_boot(bundle)
        except FirstlightError as error:
            if not inside:
                raise
            excluded.append(Excluded(bundle, error.message))
            continue
        failure = boot.manifest.failure
        if failure is None and boot.manifest.status == BootState.COMPLETE:
            boots.append(boot)
        else:
            said = f" ({failure.reason}): {failure.detail}" if failure is not None else ""
            excluded.append(Excluded(bundle, f"the boot failed{said}"))
    if not boots:
        why = "; ".join(dict.fromkeys(each.reason for each in excluded))
        number = f"none of its {len(excluded)} boots can be compared" if inside else "it cannot be compared"
        hint = "`firstlight show` states how it ended; record it again"
        raise UnhealthyBootError(f"{number}: {why}", where=str(path), hint=hint)
    _check_one_clock(path, boots)
    return BootSet(str(path), tuple(boots), tuple(excluded))


def _bundles(directory: Path) -> list[Path]:
    """The bundles right below a directory, in the order of their names; hidden ones are still being written."""
    return sorted(
        below
        for below in directory.iterdir()
        if not below.name.startswith(".") and (below.suffix == ".boot" or (below / "manifest.json").exists())
    )


def _check_one_clock(path: Path, boots: Sequence[Boot]) -> None:
    for boot in boots[1:]:
        for what, one, other in (
            ("mode", boots[0].manifest.mode, boot.manifest.mode),
            ("clock", _clock(boots[0]), _clock(boot)),
        ):
            if one != other:
                names = f"`{boots[0].directory.name}` has {one}, `{boot.directory.name}` {other}"
                message = f"the boots of an arm must have the same {what}: {names}"
                raise CompareError(message, where=str(path), hint="put them into arms of their own")


def _clock(boot: Boot) -> str:
    clock = boot.manifest.clock
    shift = "" if clock.icount_shift is None else f", icount shift {clock.icount_shift}"
    return f"{clock.kind} from {clock.origin}{shift}"
