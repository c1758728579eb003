"""Changes that ought not to matter: how far the figures of a boot move under each, by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.command_line import PADDING
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.open import read_manifest
from firstlight.comparison import known_bands
from firstlight.comparison.exact.ledger import ledger_of
from firstlight.comparison.exact.totals import whole
from firstlight.comparison.exact.tree import tree_difference
from firstlight.comparison.noise_band import FEWEST, LEVELS, Band, band_of, figures_of_boot, path_moves
from firstlight.comparison.statistical.breakdown import parts_of
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.experiment import boot_cache
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.qemu.command_line import kernel_command_line
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.isa import DEFAULT, architectures
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions


@dataclass(frozen=True)
class Perturbation:
    """A change that ought not to matter."""

    name: str
    options: RecordOptions


def make_band(bundle: Path, progress: Progress | None = None, *, trust: bool = False) -> Band:
    """Boot an exact boot's recipe under changes that ought not to matter, and see how far its figures move.

    Boots that were recorded before are taken from the cache.

    :param bundle: the boot; it has to be whole.
    :param trust: use what a boot names that was not recorded here.
    :raises FirstlightError: when it is not exact, or its inputs are others now.
    :raises UnhealthyBootError: when it, or the boot with a change, did not come up.
    :raises LabError: when an input is missing.

    Source: nuisance perturbation, the deterministic counterpart of an A/A test (Mytkowicz et al. 2009, Producing wrong
    data without doing anything obviously wrong).
    """
    progress = progress or SilentProgress()
    manifest, where = read_manifest(bundle), str(bundle)
    if manifest.mode != RecordMode.EXACT:
        hint = "give a folder with boots of one recipe, or a live recording: `firstlight calibrate -h`"
        raise FirstlightError(f"a boot in {manifest.mode} mode has no noise band", where=where, hint=hint)
    if manifest.failure is not None:
        raise UnhealthyBootError("this boot failed, so it cannot be calibrated", where=where)
    former = options_from_manifest(manifest, bundle, where, trust=trust)
    key = key_of_boot(manifest)
    if resolve(former, progress).key != key:
        message = "its inputs changed since the recording: other boots would differ by more than noise"
        raise FirstlightError(message, where=where, hint="record it again")
    changes, skipped = nuisances(former, manifest)
    boots = []
    for number, change in enumerate(changes, start=1):
        progress.step(f"{change.name} ({number} of {len(changes)})")
        boots.append((change.name, _boot(change, progress)))
    band = band_of_boots(open_boot(bundle), boots, skipped)
    known_bands.store(band)
    return band


def band_of_boots(first: Boot, perturbed: Sequence[tuple[str, Boot]], skipped: Sequence[str] = ()) -> Band:
    """The band of a boot and of others that differ from it by nothing that matters.

    A boot whose tables are those of one before it shows nothing, and does not count.

    :param perturbed: what was changed, and the boot.
    :param skipped: what could not be changed, with the reason.
    :raises UsageError: for fewer than 8 boots that differ from each other.
    """
    boots, missing = [first], list(skipped)
    names = [""]
    for name, boot in perturbed:
        if any(equal_tables(boot, known) for known in boots):
            missing.append(f"{name}: changes nothing")
        else:
            boots.append(boot)
            names.append(name)
    trees = [tree_difference(first, boot, whole(first, boot)) for boot in boots[1:]]
    moves = [path_moves(tree) for tree in trees if tree is not None]
    figures = [figures_of_boot(name, boot.manifest) for name, boot in zip(names, boots, strict=True)]
    parts = [parts_of(boot, LEVELS) for boot in boots]

    def of(members: Sequence[int]) -> Band:
        return band_of(
            [figures[number] for number in (0, *members)], [parts[number] for number in (0, *members)],
            [moves[number - 1] for number in members] if moves else [],
            boot=str(first.directory), manifest=first.manifest, release=first.fact_values().get("kernel.release"),
            skipped=missing,
        )  # fmt: skip

    numbers = range(1, len(boots))
    band = of(numbers)
    residual = 0
    for left_out, tree in zip(numbers, trees, strict=True):
        if tree is not None and len(boots) > FEWEST:
            others = of([number for number in numbers if number != left_out])
            found = ledger_of(first, boots[left_out], tree, others.tolerance)
            residual = max(residual, found.gross_caused_ns)
    return band.model_copy(update={"residual_ns": residual})


def nuisances(former: RecordOptions, manifest: Manifest) -> tuple[list[Perturbation], list[str]]:
    """The changes that ought not to matter to a recipe, and those that cannot be made, with the reason.

    >>> options = RecordOptions(output=Path("a.boot"))
    >>> changes, skipped = nuisances(options, firstlight.open(bundle).manifest)
    >>> [change.name for change in changes][:2], len(changes), skipped
    (['command line longer by 21 bytes', 'command line longer by 24 bytes'], 11, [])
    """
    found, skipped = [], []
    architecture = architectures().get(manifest.recipe_text("architecture") or "", DEFAULT)
    for length in (1, 4, 13, 27, 64, 120, 200):
        append = f"{former.append} {PADDING}{'x' * length}".strip()
        name = f"command line longer by {len(append) - len(former.append) + (not former.append)} bytes"
        try:
            kernel_command_line(architecture, append)
        except UsageError as error:
            skipped.append(f"{name}: {error.message}")
            continue
        found.append(Perturbation(name, replace(former, append=append)))
    if former.root_as is not None:
        skipped.append("initramfs in another order: the kernel mounts its root without one")
    elif former.initrd is None:
        found += [Perturbation(f"initramfs in another order ({order})", replace(former, initramfs_order=order))
                  for order in (1, 2)]  # fmt: skip
    else:
        skipped.append("initramfs in another order: it is your own and may be compressed")
    found += [Perturbation(f"seed {former.seed + more}", replace(former, seed=former.seed + more)) for more in (1, 2)]
    return found, skipped


def _boot(change: Perturbation, progress: Progress) -> Boot:
    inputs = resolve(change.options, progress)
    try:
        return open_boot(boot_cache.obtain(change.options, inputs, progress)[0])
    except UnhealthyBootError as error:
        message = f"with {change.name}: {error.message}"
        raise UnhealthyBootError(message, where=error.where, hint=error.hint) from error
