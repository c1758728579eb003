"""One change, one answer: a boot's recipe with a change, against that boot."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import read_manifest
from firstlight.bundle.writer import check_destination
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.experiment import boot_cache
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions

Modify = Callable[[RecordOptions], RecordOptions]
"""Makes of the baseline's choices those of the other boot."""


@dataclass(frozen=True)
class Trial:
    """A boot and what it is compared with."""

    baseline: Path
    changed: Path
    baseline_booted: bool
    """The baseline had to be booted again: its inputs are others now."""
    changed_booted: bool
    """The changed recipe was booted; else it had been before."""


def attempt(
    against: Path,
    modify: Modify,
    progress: Progress | None = None,
    output: Path | None = None,
    *,
    force: bool = False,
    trust: bool = False,
) -> Trial:
    """Boot a recorded boot's recipe with a change, unless that was booted before.

    The baseline is taken as it is where all its inputs are unchanged; else it is booted again, and that is reported.

    :param against: the baseline's bundle.
    :param modify: the change.
    :param output: where the changed boot's bundle goes; it is in the cache alone when not given.
    :param force: replace a bundle that is there.
    :param trust: use what a baseline names that was not recorded here.
    :raises BundleError: when the baseline is damaged or no recording.
    :raises UsageError: when the change cannot be, or is none.
    :raises FirstlightError: when the baseline is not exact, or failed, or the change reaches no input.
    :raises LabError: when an input is missing.
    :raises UnhealthyBootError: when the changed boot did not come up.
    """
    progress = progress or SilentProgress()
    manifest = read_manifest(against)
    _check_baseline(manifest, str(against))
    if output is not None:
        check_destination(output, force=force)
    former = options_from_manifest(manifest, against, str(against), trust=trust)
    options = modify(former)
    if options == former:
        raise UsageError("nothing is to be changed", hint="give for example `--append quiet`; see `firstlight try -h`")
    with ThreadPoolExecutor(1) as pool:
        # Beside the boot: everything that the baseline was made of is read once more.
        looking = pool.submit(resolve, former)
        inputs = resolve(options, progress)
        if inputs.key == key_of_boot(manifest):
            hint = "it would be the very same boot again"
            raise FirstlightError("this changes no input of the boot", where=str(against), hint=hint)
        changed, changed_booted = boot_cache.obtain(options, inputs, progress, output)
        now = looking.result()
    baseline, baseline_booted = against, False
    if now.key != key_of_boot(manifest):
        names = ", ".join(f"`{name}`" for name in _changed(manifest, now)) or "the recipe"
        progress.note(f"{names} changed since `{against}` was recorded: the baseline is booted again")
        baseline, baseline_booted = boot_cache.obtain(former, now, progress)
    return Trial(baseline, changed, baseline_booted, changed_booted)


def _check_baseline(manifest: Manifest, where: str) -> None:
    if manifest.mode != RecordMode.EXACT:
        raise FirstlightError(
            f"one boot in {manifest.mode} mode is not enough",
            where=where,
            hint="write an experiment with `repeats`, and `firstlight experiment run` it",
        )
    if manifest.failure is not None:
        reason = f"({manifest.failure.reason})"
        raise UnhealthyBootError(
            f"this boot failed {reason}, so it cannot be a baseline", where=where, hint="record one that comes up"
        )


def _changed(manifest: Manifest, now: Inputs) -> list[str]:
    names = manifest.digests.keys() | now.digests.keys()
    return sorted(name for name in names if manifest.digests.get(name) != now.digests.get(name))
