"""Boots of versions: the recipe of a recorded boot with the files of each version."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from firstlight.analysis.mark_interval import measure
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.open import read_manifest
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.errors import BundleError, FirstlightError, UnhealthyBootError, UsageError
from firstlight.experiment import boot_cache
from firstlight.history.bisection import Bisection, BisectionState, Measured
from firstlight.history.versions import BuildError, GitVersions, ListedVersions, build
from firstlight.lab.host.progress import Progress
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions


@dataclass(frozen=True)
class VersionFiles:
    """What a version changes of the recipe: paths in its directory, which may hold `*`."""

    kernel: str | None = None
    initrd: str | None = None
    overlay: str | None = None
    append: str | None = None
    """A file whose text is added to the kernel's command line."""

    def apply(self, options: RecordOptions, folder: Path) -> RecordOptions:
        """The choices of a boot with the files of a version.

        :raises BuildError: when one is missing.
        """
        changes: dict[str, Any] = {}
        for name in ("kernel", "initrd", "overlay"):
            pattern = getattr(self, name)
            if pattern is not None:
                changes[name] = _only(folder, pattern)
        if "initrd" in changes:
            changes["rootfs"] = None
        if self.append is not None:
            text = _only(folder, self.append).read_text(encoding="utf-8", errors="replace").split()
            changes["append"] = " ".join([*options.append.split(), *text])
        return replace(options, **changes)


def _only(folder: Path, pattern: str) -> Path:
    found = [folder] if pattern == "." else sorted(folder.glob(pattern))
    if len(found) != 1:
        raise BuildError(f"{'no' if not found else 'more than one'} `{pattern}` after the build")
    return found[0].absolute()


def _check_marks(against: Path, first: str | None, last: str | None) -> None:
    """Check that a boot can be measured between two marks, before the first version is built."""
    if first is None and last is None:
        return
    try:
        measure(open_boot(against), first, last)
    except BundleError as error:
        raise UsageError(error.message, where=error.where, hint=error.hint) from error


class VersionBoots:
    """Builds, boots and measures versions; what was measured once is in the state of the directory."""

    def __init__(
        self, against: Path, source: GitVersions | ListedVersions, files: VersionFiles, output: Path,
        progress: Progress, *, command: str | None = None, first: str | None = None, last: str | None = None,
        trust: bool = False,
    ) -> None:  # fmt: skip
        """Prepare to boot versions.

        :param against: the exact boot whose recipe they have.
        :param command: builds a version in its directory.
        :param first: measure from this mark, and to *last*; by default all of the boot.
        :raises UsageError: when no file of a version reaches the boot, the boot is not exact, or it has no such marks.
        """
        if files == VersionFiles():
            hint = (
                "give `--kernel`, `--initrd`, `--overlay` or `--append-file`: a path in the directory of each version"
            )
            raise UsageError("nothing of a version is booted", hint=hint)
        manifest = read_manifest(against)
        check_exact(manifest, against)
        if isinstance(source, GitVersions) and not source.repository.is_dir():
            raise UsageError("there is no such directory", where=str(source.repository))
        _check_marks(against, first, last)
        self._options = options_from_manifest(manifest, against, str(against), trust=trust)
        self._source, self._files, self._command = source, files, command
        self._marks, self._output, self._progress = (first, last), output, progress
        question = {"recipe": key_of_boot(manifest), "source": repr(source), "files": asdict(files), "command": command,
                    "marks": self._marks}  # fmt: skip
        self._state = BisectionState(output, question)

    def measure(self, version: str) -> Measured:
        """Build and boot a version, unless that was done before; one that cannot be is skipped."""
        known = self._state.find(version)
        if known is not None and (known.time_ns is None or self.bundle(version).is_dir()):
            return known
        try:
            booted = self._boot(version)
            time_ns = measure(open_boot(self.bundle(version)), *self._marks).time_ns
            found = Measured(version, time_ns, booted=booted)
        except BuildError as error:
            found = Measured(version, None, str(error))
        except UnhealthyBootError as error:
            found = Measured(version, None, error.message, booted=True)
        self._state.add(found)
        return found

    def bundle(self, version: str) -> Path:
        """Where the boot of a version is."""
        return self._output / f"{version.replace(':', '_')}.boot"

    def difference(self, found: Bisection) -> ExactDifference:
        """What the found version changed: its boot against that of the last good one."""
        return exact_difference(open_boot(self.bundle(found.last_good)), open_boot(self.bundle(found.first_bad)))

    def _boot(self, version: str) -> bool:
        self._progress.step(f"building {version[:40]}")
        folder = self._source.prepare(version, self._output)
        if self._command is not None:
            build(self._command, version, folder)
        options = self._files.apply(self._options, folder)
        inputs = resolve(options, self._progress)
        return boot_cache.obtain(options, inputs, self._progress, self.bundle(version))[1]


def check_exact(manifest: Manifest, where: Path) -> None:
    """Check that one boot of a recipe is an answer.

    :raises FirstlightError: when the boot is not exact.
    :raises UnhealthyBootError: when it failed.
    """
    if manifest.mode != RecordMode.EXACT:
        raise FirstlightError("this boot is not exact, so one boot of its recipe proves nothing", where=str(where),
                              hint="record it again without `--live`")  # fmt: skip
    if manifest.failure is not None:
        raise UnhealthyBootError(f"this boot failed ({manifest.failure.reason})", where=str(where))


def repeat_boot(
    boot: Path, output: Path | None, progress: Progress, *, qemu: Path | None = None, trust: bool = False
) -> Path:
    """Boot the recipe of an exact boot with another QEMU.

    :param qemu: the program; the present one of the distribution when not given.
    :returns: the bundle; in the cache if there is no *output*.
    :raises FirstlightError: when the toolchain is still that of the boot.
    """
    manifest = read_manifest(boot)
    check_exact(manifest, boot)
    options = replace(options_from_manifest(manifest, boot, str(boot), trust=trust), qemu=qemu)
    inputs = resolve(options, progress)
    if inputs.digests.get("qemu") == manifest.digests.get("qemu"):
        raise FirstlightError("QEMU is the same as in this boot: there is no other testbed to chain", where=str(boot),
                              hint="give `--qemu` the new one")  # fmt: skip
    return boot_cache.obtain(options, inputs, progress, output)[0]


def changed_path(difference: ExactDifference) -> list[str]:
    """The call path below which most of a change lies: from the root, callees with at least half of the change.

    :returns: function names, outermost first; nothing without profiles.
    """
    if difference.tree is None or not difference.whole.change_ns:
        return []
    rows = difference.tree.nodes.select("node", "parent", "function", "change_ns").to_dicts()
    callees: dict[int | None, list[dict[str, Any]]] = {}
    for row in rows:
        callees.setdefault(row["parent"], []).append(row)
    change, path = difference.whole.change_ns, []
    node: int | None = None
    while below := [row for row in callees.get(node, ()) if 2 * row["change_ns"] / change >= 1]:
        largest = max(below, key=lambda row: (abs(row["change_ns"]), str(row["function"])))
        node = largest["node"]
        path.append(str(largest["function"]))
    return path
