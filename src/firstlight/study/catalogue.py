"""The studies by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from firstlight.errors import FirstlightError, UsageError
from firstlight.plugins import plugins
from firstlight.quantities import joined
from firstlight.recipe.isa import DEFAULT
from firstlight.study.claims import claims_of
from firstlight.study.extent import Extent
from firstlight.study.historical import historical_tables
from firstlight.study.made_of import made_of
from firstlight.study.outcome import Outcome
from firstlight.study.runner import Lab
from firstlight.study.table import Chart, Table
from firstlight.study.verdicts import Figures, evaluate
from firstlight.suggest import one_of

GROUP = "firstlight.studies"
"""The entry point group by which packages offer studies: names of studies, each a :class:`Study`."""


@dataclass(frozen=True)
class Study:
    """A question with its boots."""

    name: str
    title: str
    question: str
    images: tuple[str, ...]
    """Of the lab, that it boots."""
    module: str
    """Its function `run` takes a :class:`~firstlight.study.Lab` and gives an :class:`~firstlight.study.Outcome`.
    A function `check`, if there is one, refuses an :class:`~firstlight.study.Extent` before anything is made.
    The module is loaded when the study runs."""
    sizes: str = ""
    """What `--sizes` counts; empty where the study has no sizes."""
    architectures: tuple[str, ...] = (DEFAULT.distribution_name,)
    """Of guests, that it covers, as the distribution calls them."""
    whole_images: tuple[str, ...] = ()
    """Of the lab, that it boots besides, unless the run is quick."""

    @property
    def package(self) -> str:
        """Where its claims and the tables of others are."""
        return self.module.rpartition(".")[0] or self.module

    def images_of(self, extent: Extent) -> tuple[str, ...]:
        """The images of the lab that a run boots.

        >>> Study("mine", "T", "Q?", ("kernel",), "mine.run", whole_images=("debian",)).images_of(Extent(quick=True))
        ('kernel',)
        """
        return self.images if extent.quick else (*self.images, *self.whole_images)

    def check(self, extent: Extent) -> None:
        """Check that the study can be run to an extent.

        Nothing is made or replaced before this check.

        :raises UsageError: for sizes of a study without sizes or wrong ones, for an architecture that the study does
            not cover, and for a memory that is none.
        :raises FirstlightError: for a kernel of another architecture, and for wrong claims.
        """
        if (name := extent.architecture.distribution_name) not in self.architectures:
            raise UsageError(
                f"the study `{self.name}` does not cover guests of {name}",
                where="--arch",
                hint=f"it covers {joined(self.architectures, 8)}: {self._other_way()}",
            )
        if extent.sizes and not self.sizes:
            raise UsageError(f"the study `{self.name}` has no sizes", where="--sizes", hint="leave the option out")
        extent.check_kernel()
        extent.check_memory()
        self.check_claims()
        if (check := getattr(self._loaded, "check", None)) is not None:
            check(extent)

    def check_claims(self) -> None:
        """Check the claims, and the tables of others, as far as that is possible before a boot.

        :raises FirstlightError: naming what is wrong.
        """
        claims_of(self.package)
        historical_tables(self.package)

    def _other_way(self) -> str:
        if self.architectures == (DEFAULT.distribution_name,):
            return "leave `--arch` out"
        return f"give one of them, such as `--arch {self.architectures[0]}`"

    def run(self, lab: Lab) -> Outcome:
        """Boot every arm, and report what the boots show.

        :raises FirstlightError: when not even one arm can be booted.
        """
        run: Callable[[Lab], Outcome] = self._loaded.run
        return run(lab)

    @property
    def _loaded(self) -> ModuleType:
        # Late: what a study computes with takes most of a second to load.
        return import_module(self.module)

    def repeated(self, lab: Lab) -> str:
        """The command that runs it again, and where its boots are."""
        return (
            f"`firstlight study {self.name}{lab.extent.options} -o DIR` repeats it. DIR/boots has a bundle of each "
            "arm, and its manifest has the command that repeats it alone."
        )

    def outcome(
        self, lab: Lab, *, recipe: Sequence[str], tables: Sequence[Table], figures: Figures,
        charts: Iterable[Chart | None] = (), notes: Sequence[str] = (),
    ) -> Outcome:  # fmt: skip
        """What it found, with its question and its claims evaluated, and what is missing.

        :param figures: by the names that its claims use.
        :param charts: those that could not be drawn are `None`; the first is the picture of its page.
        :raises FirstlightError: when a claim is wrong, or names a figure that is not among *figures*.
        """
        return Outcome(
            study=self.name,
            title=self.title,
            question=self.question,
            quick=lab.quick,
            recipe=(self.repeated(lab), *recipe),
            tables=tuple(tables),
            historical=historical_tables(self.package),
            findings=evaluate(claims_of(self.package), figures, architecture=lab.architecture),
            charts=tuple(chart for chart in charts if chart is not None),
            missing=tuple(lab.missing),
            notes=(*lab.architecture_notes, *lab.extent_notes, *notes),
            architecture=lab.architecture.distribution_name,
            made_of=made_of(self.package, lab.extent),
        )


def studies() -> list[Study]:
    """Every study that an installed package offers in the entry point group `firstlight.studies`.

    One that cannot be loaded is left out, with a warning on standard error.

    >>> "tree-walk" in [study.name for study in studies()]
    True
    """
    return [study for plugin in plugins(GROUP) if (study := plugin.load()) is not None]


def find_study(name: str) -> Study:
    """The study of a name; no other is loaded.

    :raises UsageError: when there is none; the hint says the nearest, and all.
    :raises FirstlightError: when it cannot be loaded, or has another name itself.

    >>> find_study("tree-walk").images
    ('kernel', 'debian-programs')
    """
    found = {plugin.name: plugin for plugin in plugins(GROUP)}
    if name not in found:
        raise UsageError(f"there is no study `{name}`", hint=one_of(name, list(found)))
    study: Study = found[name].require()
    if study.name != name:
        raise FirstlightError(
            f"the study `{study.name}` is offered under the name `{name}`",
            where=study.package,
            hint=f"give the study and its entry point in `{GROUP}` the same name",
        )
    return study
