"""Boots of several versions: the version that changed a boot, and anchors between testbeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.errors import UsageError
from firstlight.escape import printable

if TYPE_CHECKING:
    from firstlight.comparison.exact.difference import ExactDifference
    from firstlight.history.bisection import Bisection
    from firstlight.history.history import Added


@dataclass(frozen=True)
class FoundVersion:
    """The version that changed a boot, and what it changed."""

    bisection: Bisection
    difference: ExactDifference
    """From the last good version to the found one."""
    path: tuple[str, ...]
    """The call path below which most of the change lies, outermost function first."""


def bisect(
    against: PathLike,
    *,
    git: str | None = None,
    repository: PathLike = ".",
    versions: Sequence[str] = (),
    package: str | None = None,
    build: str | None = None,
    kernel: str | None = None,
    initrd: str | None = None,
    overlay: str | None = None,
    append_file: str | None = None,
    first: str | None = None,
    last: str | None = None,
    output: PathLike = "bisection",
    trust: bool = False,
    progress: bool = False,
) -> FoundVersion:
    """Find the version that changed a boot, by exact boots between a good and a bad version.

    :param against: an exact boot; all versions have its recipe.
    :param git: a range of commits, `GOOD..BAD`, of *repository*.
    :param versions: instead of commits: names of versions, the good one first.
    :param package: the Debian package of these versions; its files are the directory of a version.
    :param build: a shell command that builds a version in its directory; `VERSION` is in its environment.
    :param kernel: the kernel in the directory of a version; *initrd*, *overlay* and *append_file* likewise.
    :param first: measure from this mark, and to *last*; by default all of the boot.
    :param output: the directory of the boots; an interrupted bisection continues there.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :raises UsageError: when there are no versions, or none of their files is booted.
    :raises FirstlightError: when an end does not boot, or both ends take the same time.

    Example: ``firstlight.bisect("a.boot", git="v1..v2", build="make bzImage", kernel="arch/x86/boot/bzImage").path``.
    """
    from firstlight.history.bisection import bisect_versions
    from firstlight.history.version_boots import VersionBoots, VersionFiles, changed_path
    from firstlight.history.versions import GitVersions, ListedVersions

    if (git is None) == (not versions):
        raise UsageError("which versions?", hint="give either `--git GOOD..BAD`, or `--version` several times")
    source = GitVersions(Path(repository), git) if git is not None else ListedVersions(tuple(versions), package)
    names = source.names()
    with progress_of(progress) as shown:
        files = VersionFiles(kernel, initrd, overlay, append_file)
        boots = VersionBoots(
            Path(against), source, files, Path(output), shown, command=build, first=first, last=last, trust=trust
        )
        found = bisect_versions(names, boots.measure, note=shown.note)
    difference = boots.difference(found)
    return FoundVersion(found, difference, tuple(changed_path(difference)))


def anchor_history(
    history: PathLike, boot: PathLike, *, at: str, qemu: PathLike | None = None, output: PathLike | None = None,
    trust: bool = False, progress: bool = False,
) -> Added:  # fmt: skip
    """Boot the recipe of an earlier boot with the present QEMU, and add it to a history as an anchor.

    The ratio of both boots scales the points of the earlier testbed.

    :param history: a DuckDB file.
    :param boot: an exact boot that the history has, of the earlier testbed.
    :param at: its label in the history.
    :param qemu: the QEMU to boot with; by default the present one of the distribution.
    :param output: the bundle of the new boot; by default it is in the cache alone.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param progress: show the progress on a terminal.
    :raises UsageError: when the history has no boot with that label.
    :raises FirstlightError: when QEMU is still the one of the boot.

    Example: ``firstlight.anchor_history("boots.duckdb", "v4.boot", at="v4").boots``.
    """
    from firstlight.bundle.open import open as open_boot
    from firstlight.history.open_history import open_history
    from firstlight.history.version_boots import repeat_boot

    with open_history(Path(history)) as opened:
        labels = list(dict.fromkeys(str(row["label"]) for row in opened.boots()))
    if at not in labels:
        hint = f"the newest is `{printable(labels[-1], 200)}`" if labels else None
        raise UsageError(f"the history has no boot at `{at}`", where="--at", hint=hint)
    with progress_of(progress) as shown:
        bundle = repeat_boot(Path(boot), as_path(output), shown, qemu=as_path(qemu), trust=trust)
    with open_history(Path(history), write=True) as written:
        return written.add([open_boot(bundle)], at)
