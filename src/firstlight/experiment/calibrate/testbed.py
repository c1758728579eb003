"""Boots of one recipe as two arms: what a testbed is calibrated by."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.open import read_manifest
from firstlight.bundle.writer import check_destination
from firstlight.comparison.sides.arms import CompareError, read_arm
from firstlight.comparison.sides.input_changes import OBSERVERS, input_changes
from firstlight.comparison.sides.machines import machine_of
from firstlight.comparison.sides.method import keep_alike
from firstlight.comparison.statistical.breakdown import parts_of
from firstlight.comparison.statistical.calibration import calibrate, random_pairs
from firstlight.comparison.statistical.testbed_noise import Calibration, facts_of_testbed
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.record import record
from firstlight.recipe.mode import RecordMode


def calibrate_by_boots(directory: Path, *, seed: int | None = None) -> Calibration:
    """Calibrate a testbed by boots of one recipe that are there already; neighbours in time are pairs.

    :param directory: has the bundles; the names of imported boots give their order.
    :param seed: of the lot that says which boot of a pair is which; drawn when not given.
    :raises UsageError: for fewer than 24 boots.
    :raises CompareError: when they are not of one recipe, or their records state several machines.
    :raises UnhealthyBootError: when they do not do the same.
    """
    arm = keep_alike(read_arm(directory))
    first = arm.boots[0].manifest
    if arm.mode == RecordMode.IMPORTED:
        machine_of(arm)
    for boot in arm.boots[1:]:
        changed = [change.name for change in input_changes(first, boot.manifest) if change.name not in OBSERVERS]
        if changed:
            named = f"`{boot.directory.name}` has another recipe than `{arm.boots[0].directory.name}`"
            message = f"{named}: {', '.join(changed)}"
            raise CompareError(message, where=arm.name, hint="calibrate with boots of one recipe")
    ordered = sorted(arm.boots, key=_place)
    return _calibrate(list(ordered), seed)


def calibrate_by_recording(
    bundle: Path,
    pairs: int,
    *,
    seed: int | None = None,
    keep: Path | None = None,
    progress: Progress | None = None,
    trust: bool = False,
) -> Calibration:
    """Calibrate a testbed by recording the recipe of a live boot again and again.

    A boot that fails takes its pair with it; as many pairs are recorded as were asked for.

    :param pairs: how many; at least 12.
    :param keep: the folder that the bundles stay in; by default they go.
    :param trust: use what a boot names that was not recorded here.
    :raises FirstlightError: when the boot is not a live recording, or a quarter of the boots fail.
    """
    progress = progress or SilentProgress()
    manifest = read_manifest(bundle)
    if manifest.mode != RecordMode.LIVE:
        hint = "record with `--live`, or give a folder with boots of one recipe"
        raise FirstlightError(f"a boot in {manifest.mode} mode is not recorded again", where=str(bundle), hint=hint)
    options = options_from_manifest(manifest, bundle, str(bundle), trust=trust)
    with tempfile.TemporaryDirectory(prefix="firstlight-calibrate-") as temporary:
        folder = keep if keep is not None else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        boots: list[Boot] = []
        failures, number = 0, 0
        while len(boots) < 2 * pairs:
            number += 1
            target = folder / f"{number:03}.boot"
            check_destination(target, force=False)
            progress.step(f"boot {len(boots) + 1} of {2 * pairs}")
            try:
                record(replace(options, output=target), progress)
            except UnhealthyBootError as error:
                failures += 1
                if failures > max(1, pairs // 2):
                    message = f"{failures} of {number} boots failed: this is not a testbed; the last: {error.message}"
                    raise UnhealthyBootError(message, where=str(bundle)) from error
                progress.note(f"boot {number} failed, so its pair is left out: {error.message}")
                boots = boots[: len(boots) // 2 * 2]
                continue
            boots.append(open_boot(target))
        return _calibrate(boots, seed)


def _calibrate(boots: list[Boot], seed: int | None) -> Calibration:
    drawn = random.SystemRandom().randrange(1 << 31) if seed is None else seed
    times = [parts_of(boot, ()).whole_ns for boot in boots]
    a, b = random_pairs(times, drawn)
    try:
        return calibrate(a, b, testbed=facts_of_testbed(boots[0].manifest), seed=drawn)
    except UsageError as error:
        raise UsageError(error.message, where=str(boots[0].directory.parent), hint=error.hint) from error


def _place(boot: Boot) -> tuple[str, str]:
    at = "" if boot.manifest.mode == RecordMode.IMPORTED else boot.manifest.recorded_at
    return at, boot.directory.name
