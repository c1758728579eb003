"""A predicted boot, booted: the difference of the recipe that takes the work out, and the prediction's error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import polars as pl

from firstlight.analysis.replay.predict import Prediction, Taken
from firstlight.analysis.replay.select import WorkPart
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.cache import digest_of, entry
from firstlight.errors import FirstlightError
from firstlight.experiment.try_change import attempt
from firstlight.lab.host.progress import Progress
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.lab.rootfs.tree import tree_digest
from firstlight.recipe.options import RecordOptions

_ALL = 1_000_000
_GENERATORS = "systemd/system-generators"
_VERSION = "1"


@dataclass(frozen=True)
class Proof:
    """A prediction and what a boot said of it."""

    boot: Path
    how: tuple[str, ...]
    """The differences of the recipe."""
    proved_ns: int
    """When the goal was reached."""
    error_ns: int
    """The prediction less that."""
    baseline_booted: bool
    """The baseline was booted again: its inputs are no longer the recorded ones."""

    @property
    def error(self) -> float:
        """The error as a share of the time that was measured."""
        return self.error_ns / self.proved_ns


def prove(
    boot: Boot,
    prediction: Prediction,
    progress: Progress | None = None,
    output: Path | None = None,
    *,
    force: bool = False,
    trust: bool = False,
) -> Proof:
    """Boot the recipe of a boot without what a prediction took out.

    :param output: where the bundle of that boot goes; it is in the cache alone when not given.
    :param force: replace a bundle that is there.
    :param trust: use what a bundle names that was not recorded here.
    :raises FirstlightError: when no difference of the recipe takes the work out, or the boot does not come up.
    """
    words, links, how = _difference(boot, prediction.taken)

    def modify(options: RecordOptions) -> RecordOptions:
        append = " ".join(filter(None, (options.append.strip(), *words)))
        return replace(options, append=append, overlay=_with_links(options.overlay, links))

    made = attempt(boot.directory, modify, progress, output, force=force, trust=trust)
    marks = open_boot(made.changed).marks().filter(pl.col("mark") == prediction.goal)["time_ns"].to_list()
    if not marks or marks[0] is None:
        raise FirstlightError(
            f"the boot without it has no mark `{prediction.goal}`", where=str(made.changed),
            hint=f"`firstlight show {made.changed}` shows how far it got",
        )  # fmt: skip
    error = prediction.predicted_ns - marks[0]
    return Proof(made.changed, how, marks[0], error, made.baseline_booted)


def _difference(boot: Boot, taken: Sequence[Taken]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Words of the kernel's command line, files that become links to nothing, and both as a text."""
    where = str(boot.directory)
    masks, initcalls, links = [], [], []
    for each in taken:
        if each.less < _ALL:
            raise FirstlightError(
                f"`{each.name}` cannot be made faster by a recipe", where=where,
                hint="`--prove` boots without units, initcalls and generators; leave it out, or change the program and "
                "use `firstlight try --overlay DIR`",
            )  # fmt: skip
        if each.part is WorkPart.UNIT:
            masks.append(each.name)
        elif each.part is WorkPart.INITCALL:
            initcalls.append(each.name)
        elif generator := _generator(boot, each.name):
            links.append(generator)
        else:
            raise FirstlightError(
                f"Firstlight knows no recipe that boots without the {each.part} `{each.name}`", where=where,
                hint="`--prove` boots without units, initcalls and generators; `firstlight try` boots any other change",
            )  # fmt: skip
    words = [f"systemd.mask={name}" for name in masks]
    words += [f"initcall_blacklist={','.join(initcalls)}"] if initcalls else []
    return words, links, (*words, *(f"{link} -> /dev/null" for link in links))


def _generator(boot: Boot, name: str) -> str | None:
    """The link that switches a generator of systemd off (`man systemd.generator`)."""
    for image in boot.table("images")["image"].drop_nulls().unique():
        path = PurePosixPath(image)
        if name in (path.name, image) and str(path.parent).endswith(_GENERATORS):
            return f"/etc/{_GENERATORS}/{path.name}"
    return None


def _with_links(overlay: Path | None, links: Sequence[str]) -> Path | None:
    """An overlay and files that are links to nothing, in the cache."""
    if not links:
        return overlay
    key = digest_of(_VERSION, "masked", *links, "" if overlay is None else tree_digest(overlay))

    def make(folder: Path) -> None:
        made = folder / "overlay"
        if overlay is None:
            made.mkdir()
        else:
            shutil.copytree(overlay, made, symlinks=True)
        for link in links:
            place = made / link.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.symlink_to("/dev/null")
        for path in [*made.rglob("*"), made]:
            os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)

    return entry("overlays", key, make) / "overlay"
