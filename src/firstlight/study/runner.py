"""Where a study boots its arms."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError
from firstlight.experiment import boot_cache
from firstlight.experiment.parallel import side_by_side
from firstlight.experiment.runner import OneOfMany, RunProgress, boots_at_once
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress
from firstlight.lab.images import find_image
from firstlight.lab.run.resolve import resolve
from firstlight.quantities import joined
from firstlight.recipe.isa import DEFAULT, Architecture, chosen_architecture
from firstlight.recipe.options import RecordOptions
from firstlight.study.extent import Extent
from firstlight.study.outcome import MissingArm
from firstlight.study.table import MissingValue

Made = TypeVar("Made")

KERNEL = "kernel"
"""The image that is the lab's kernel."""


@dataclass(frozen=True)
class StudyArm:
    """One side of a study: a name, and what is booted for it. Where the bundle goes is the lab's business."""

    name: str
    options: RecordOptions | MissingValue
    """A gap where something that it is made of is missing: the other arms go on."""


@dataclass
class Lab:
    """Where a study boots its arms.

    In exact mode the same arm gives the same boot, so the cache has what was booted before, unless *fresh* is given.
    """

    folder: Path
    progress: RunProgress
    images: Mapping[str, Path | MissingValue] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    fresh: bool = False
    """Boot again what was booted before."""
    jobs: int | None = None
    """Maximum number of parallel boots; by default as many as there are processors and memory for."""
    missing: list[MissingArm] = field(default_factory=list)
    """Arms that could not be booted, or did not come up; :meth:`boot_all` adds to it."""
    own_memory: set[str] = field(default_factory=set)
    """Arms that set another memory than the one that was asked for; :meth:`boot_all` adds to it."""
    booted: set[str] = field(default_factory=set)
    """Keys of the boots that were made or taken: fresh enough for an arm that is the same boot."""

    @property
    def quick(self) -> bool:
        """Fewer arms and smaller sizes."""
        return self.extent.quick

    @property
    def full(self) -> bool:
        """The largest sizes too."""
        return self.extent.full

    @property
    def stock(self) -> bool:
        """The distribution's own kernel is booted beside the lab's: no other kernel was asked for."""
        return self.extent.kernel is None

    @property
    def architecture(self) -> Architecture:
        """Of the guests."""
        return self.extent.architecture

    @property
    def has_own_kernel(self) -> bool:
        """Whether the study boots another kernel than the distribution's: the lab's, or the user's."""
        return not self.stock or self.architecture.has_lab_kernel

    @property
    def architecture_notes(self) -> tuple[str, ...]:
        """A sentence that names the guests' architecture and machine, where these are not the usual ones."""
        one = self.architecture
        if one is DEFAULT:
            return ()
        return (f"Guests of {one.distribution_name}: QEMU's machine {one.machine} with the processor {one.cpu}.",)

    @property
    def extent_notes(self) -> tuple[str, ...]:
        """A sentence that names the arms on which `--memory` had no effect."""
        if self.extent.memory is None or not self.own_memory:
            return ()
        arms = joined([f"`{name}`" for name in sorted(self.own_memory)], 5)
        return (f"`--memory {self.extent.memory}` does not change the arms that set their own memory: {arms}.",)

    @property
    def scratch(self) -> Path:
        """A folder below the study's own, for what it makes on the way."""
        path = self.folder / "made"
        path.mkdir(exist_ok=True)
        return path

    def image(self, name: str) -> Path | MissingValue:
        """An image of the lab by its name, which :func:`make_images` made; or why it is not there."""
        if name == KERNEL and self.extent.kernel is not None:
            return self.extent.kernel
        return self.images[name]

    def boot_all(self, arms: Iterable[StudyArm]) -> dict[str, Boot | MissingValue]:
        """Boot every arm, several at a time.

        :returns: by the arms' names, in their order: the boot, or why there is none. A guest that did not come up is a
            gap; its bundle is kept all the same, and says why.
        :raises KeyboardInterrupt: when the user interrupts; what was booted stays.
        """
        wanted = list(arms)
        session = _Session(self)
        with interruptible():
            found = session.work(wanted)
        for arm in wanted:
            if isinstance(gap := found[arm.name], MissingValue):
                self.missing.append(MissingArm(arm.name, gap.reason))
        return {arm.name: found[arm.name] for arm in wanted}

    def prepare_all(
        self, makers: Mapping[str, Callable[[Progress], Made]], guest: RecordOptions
    ) -> dict[str, Made | MissingValue]:
        """Make what arms find when they boot, each by a guest of its own, several at a time.

        :param makers: by name; each reports its boot to the progress that it gets.
        :param guest: what they boot, for the memory that it takes.
        :returns: by name, in their order: what was made, or why it could not be.
        :raises KeyboardInterrupt: when the user interrupts.
        """
        made: dict[str, Made | MissingValue] = {}
        stop = threading.Event()

        def make(name: str) -> None:
            progress, began = OneOfMany(name, self.progress, stop), time.monotonic()
            try:
                made[name] = makers[name](progress)
                how = "prepared" if progress.booted else "taken"
            except FirstlightError as error:
                made[name] = MissingValue(error.message)
                how = f"not prepared: {error.message}"
            self.progress.done(name, 1, how, time.monotonic() - began, counts=progress.booted)

        at_once = boots_at_once([guest] * len(makers), self.jobs)
        self.progress.start(len(makers), 0, at_once)
        with interruptible():
            side_by_side(make, makers, at_once, stop)
        return {name: made[name] for name in makers}


def make_images(
    names: Iterable[str], progress: Progress, jobs: int | None = None, arch: str | None = None
) -> dict[str, Path | MissingValue]:
    """Make the images that a study boots, where they are not there already.

    :param jobs: compilers at a time.
    :param arch: the guests' architecture.
    :returns: by name, its file or why there is none: a study goes on with what it has.
    """
    made: dict[str, Path | MissingValue] = {}
    architecture = chosen_architecture(arch)
    for name in names:
        if name == KERNEL and not architecture.has_lab_kernel:
            made[name] = MissingValue(f"the lab's kernel is not made for guests of {architecture.distribution_name}")
            continue
        try:
            made[name] = find_image(name, arch).build(progress, jobs)
        except FirstlightError as error:
            # Where it happened is of this host: the user hears of it, and no table.
            made[name] = MissingValue(error.message)
            progress.note(f"the image `{name}` cannot be made: {error}")
    return made


class _Session:
    """One go at several arms."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._stop = threading.Event()
        self._found: dict[str, Boot | MissingValue] = {}
        # Two arms may be the same boot; the second then waits, and takes it.
        self._keys: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def work(self, arms: list[StudyArm]) -> Mapping[str, Boot | MissingValue]:
        lab = self._lab
        at_once = boots_at_once([arm.options for arm in arms if isinstance(arm.options, RecordOptions)], lab.jobs)
        lab.progress.start(len(arms), 0, at_once)
        side_by_side(self._make, arms, at_once, self._stop)
        return self._found

    def _make(self, arm: StudyArm) -> None:
        if self._stop.is_set():
            return
        if isinstance(arm.options, MissingValue):
            self._found[arm.name] = arm.options
            return
        began = time.monotonic()
        bundle = self._lab.folder / "boots" / f"{arm.name}.boot"
        bundle.parent.mkdir(exist_ok=True)
        booted = True
        try:
            booted = self._obtain(arm.name, arm.options, bundle)
            self._found[arm.name] = open_boot(bundle)
            how = "booted" if booted else "taken"
        except FirstlightError as error:
            self._found[arm.name] = MissingValue(f"{error.message}")
            how = f"not booted: {error.message}"
        self._lab.progress.done(arm.name, 1, how, time.monotonic() - began, counts=booted)

    def _obtain(self, name: str, options: RecordOptions, bundle: Path) -> bool:
        """Put an arm's boot where it belongs; returns whether it had to be booted."""
        progress = OneOfMany(name, self._lab.progress, self._stop)
        extent = self._lab.extent
        if options.memory is not None and options.memory != extent.memory:
            self._lab.own_memory.add(name)
        options = replace(
            options, output=bundle, memory=options.memory or extent.memory, arch=options.arch or extent.arch
        )
        inputs = resolve(options, progress)
        key = inputs.key
        with self._guard:
            lock = self._keys.setdefault(key, threading.Lock())
        with lock:
            if self._lab.fresh and key not in self._lab.booted:
                boot_cache.forget(key)
            self._lab.booted.add(key)
            return boot_cache.obtain(options, inputs, progress, bundle)[1]
