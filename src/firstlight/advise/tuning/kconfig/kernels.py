"""Finds the smallest kernel for a recipe: the space, its builds, their boots and their health."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Protocol

from firstlight.advise.entry import Layer
from firstlight.advise.tuning.kconfig.candidates import Space, option_uses, smallest_space, space_of
from firstlight.advise.tuning.kconfig.feature import Feature, kept_features, lost_feature, unused_feature
from firstlight.advise.tuning.kconfig.minimise import AttemptOutcome, Groups, Minimised, Stage, minimise
from firstlight.advise.tuning.kconfig.result import KernelSearch, TriedKernel
from firstlight.advise.tuning.remedy import Remedy, RemedyFile, Risk
from firstlight.advise.tuning.search import Measured
from firstlight.bundle.boot import Boot
from firstlight.errors import LabError
from firstlight.experiment.change import Kconfig, RecipeChange
from firstlight.experiment.plan_parser import checked, parse_toml
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.kconfig import as_lines, options
from firstlight.lab.kernel.makefiles import source_files
from firstlight.quantities import time_text
from firstlight.recipe.isa import Architecture

_GROUPS = "groups.toml"
REMEDY = "kernel-configuration"
"""The name of the remedy that the kernel is."""


class Builder(Protocol):
    """Configures and builds kernels; :class:`firstlight.lab.kernel.tree.KernelTree` does."""

    def root(self) -> Path:
        """The root of the source."""

    def configure(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """The configuration that the source's rules make of settings."""

    def build(self, config: Mapping[str, str]) -> Path:
        """The kernel of a configuration."""


Boots = Callable[[Path, Sequence[str]], tuple[Measured, Boot | None]]
"""Boots a kernel, with the differences of health that are expected: what it gave, and the boot if there is one."""


@dataclass(frozen=True)
class KernelWish:
    """What a user asks of the kernel."""

    keep: tuple[str, ...] = ()
    """Features that are kept besides the default ones."""
    smallest: bool = False
    """Keep nothing but these and what a recording needs."""
    builds: int = 12
    """The most kernels that are built."""
    source: Path | None = None
    """The kernel's source; none for that of the distribution's kernel."""


@dataclass(frozen=True)
class FoundKernel:
    """The kernel that a search found, and the remedy that it is."""

    search: KernelSearch
    remedy: Remedy | None
    """Nothing where no kernel counts."""
    kernel: Path | None
    expects: tuple[str, ...]


def shipped_fragments() -> list[Remedy]:
    """The fragments of kernel configuration that Firstlight tries.

    >>> all(each.layer is Layer.KCONFIG for each in shipped_fragments())
    True
    """
    text = resources.files(__package__).joinpath(_GROUPS).read_text(encoding="utf-8")
    return checked(parse_toml(text, _GROUPS), RemedyFile, text, _GROUPS).remedy


def find_kernel(
    baseline: Boot,
    config: Path,
    architecture: Architecture,
    builder: Builder,
    boots: Boots,
    wish: KernelWish,
    fragments: Sequence[Remedy],
    progress: Progress,
) -> FoundKernel:
    """Find the smallest kernel that keeps the features and the system's health.

    :param baseline: the boot of the distribution's kernel, with its profile.
    :param config: the configuration of that kernel.
    :param fragments: remedies of the layer `kconfig` besides the shipped ones.
    :raises UsageError: when a feature is not known.
    :raises BundleError: when the baseline has no profile.
    :raises LabError: when the source or the configuration cannot be read.
    """
    features = kept_features(wish.keep, wish.smallest)
    before = _read(config)
    progress.step("reading the kernel's Makefiles")
    try:
        files = source_files(builder.root(), PurePosixPath(architecture.kernel_image).parts[1])
    except OSError as error:
        raise LabError(f"cannot read a Makefile: {error.strerror}", where=str(error.filename)) from error
    facts = baseline.fact_values()
    every = [each for each in (*shipped_fragments(), *fragments) if not each.unfit(facts)]
    if wish.smallest:
        space = smallest_space(before, files, features, every)
    else:
        uses = option_uses(baseline, builder.root(), files, before)
        modules = {name.removeprefix("module.") for name in baseline.fact_values() if name.startswith("module.")}
        space = space_of(before, uses, files, modules, features, every)
    attempt = _Attempt(space, features, before, builder, boots, progress)
    found = minimise([each.id for each in space.groups], attempt.refusal, attempt.outcome, wish.builds)
    return _found(found, attempt, wish, features)


class _Attempt:
    """Configures, builds and boots kernels without groups."""

    def __init__(
        self, space: Space, features: Sequence[Feature], before: Mapping[str, str], builder: Builder, boots: Boots,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.space = space
        self.features = features
        self.before = before
        self.builder = builder
        self.boots = boots
        self.progress = progress
        self.kernels: dict[Groups, Path] = {}
        self.configs: dict[Groups, dict[str, str]] = {}

    def config(self, without: Groups) -> dict[str, str]:
        if without not in self.configs:
            self.configs[without] = self.builder.configure(self.space.wanted(without))
        return self.configs[without]

    def refusal(self, without: Groups) -> str:
        return lost_feature(self.features, self.config(without), self.before)

    def expects(self, without: Groups) -> list[str]:
        stated = [each for group in self.space.groups if group.id in without for each in group.expects]
        return [*self.space.expects, *stated]

    def outcome(self, without: Groups) -> AttemptOutcome:
        config = self.config(without)
        self.progress.note(
            f"a kernel without {len(without)} of {len(self.space.groups)} groups: {_size(config)} options"
        )
        try:
            kernel = self.builder.build(config)
        except LabError as error:
            outcome = AttemptOutcome(Stage.BUILD, None, " ".join(str(error.message).split())[:300])
        else:
            self.kernels[without] = kernel
            measured, boot = self.boots(kernel, self.expects(without))
            why = measured.why
            if not why and boot is not None:
                why = unused_feature(self.features, set(boot.functions()["function"].to_list()))
            outcome = AttemptOutcome(Stage.BOOT, measured.time_ns, why)
        took = "" if outcome.time_ns is None else time_text(outcome.time_ns)
        self.progress.note(", ".join(filter(None, (took, outcome.why))))
        return outcome


def _found(found: Minimised, attempt: _Attempt, wish: KernelWish, features: Sequence[Feature]) -> FoundKernel:
    space = attempt.space
    config = {} if found.without is None else attempt.config(found.without)
    search = KernelSearch(
        features=tuple(each.id for each in features),
        smallest=wish.smallest,
        builds=wish.builds,
        complete=found.complete,
        trouble=found.trouble,
        options_before=_size(attempt.before),
        options_after=_size(config) if config else None,
        modules_left_out=space.left_out,
        modules_kept=space.modules,
        without=tuple(each.title for each in space.groups if each.id in (found.without or ())),
        restored=dict(found.restored),
        tried=tuple(
            TriedKernel(
                groups=len(without), options=_size(attempt.config(without)), stage=outcome.stage,
                time_ns=outcome.time_ns, why=outcome.why,
            )
            for without, outcome in found.tried.items()
        ),
    )  # fmt: skip
    if found.without is None:
        return FoundKernel(search, None, None, ())
    expects = attempt.expects(found.without)
    remedy = Remedy(
        id=REMEDY,
        title=f"a kernel with {_size(config)} of {_size(attempt.before)} options",
        layer=Layer.KCONFIG,
        change=RecipeChange(kconfig=Kconfig(text=as_lines(fragment_of(attempt.before, config)))),
        risk=Risk.HIGH,
        takes_away=_taken(space, found.without, wish.smallest),
        expects=expects,
    )
    return FoundKernel(search, remedy, attempt.kernels[found.without], tuple(expects))


def fragment_of(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What turns one configuration into another, as a fragment that `scripts/kconfig/merge_config.sh` takes.

    >>> fragment_of({"A": "y", "B": "m", "C": "y"}, {"A": "y", "B": "y", "D": "n"})
    {'B': 'y', 'D': 'n', 'C': 'n'}
    """
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    gone = {name: "n" for name, value in before.items() if name not in after and value in ("y", "m")}
    return {**changed, **gone}


def _taken(space: Space, without: Groups, smallest: bool) -> str:
    if smallest:
        return "Everything but the kept features: devices, drivers, protection, most file systems and protocols."
    return f"{space.left_out} modules that the boot did not load, and {len(without)} groups of options it did not use."


def _size(config: Mapping[str, str]) -> int:
    return sum(1 for value in config.values() if value in ("y", "m"))


def _read(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LabError(f"cannot read the kernel's configuration: {error.strerror}", where=str(path)) from error
    return options(text)
