"""The studies by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from firstlight.errors import UsageError
from firstlight.plugins import plugins
from firstlight.study.outcome import Finding, Outcome
from firstlight.study.runner import Lab
from firstlight.study.table import Chart, Table
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
    It is loaded when the study runs."""

    def run(self, lab: Lab) -> Outcome:
        """Boot every arm, and say what they tell.

        :raises FirstlightError: when not even one arm can be booted.
        """
        # Late: what a study computes with takes most of a second to load.
        run: Callable[[Lab], Outcome] = import_module(self.module).run
        return run(lab)

    def repeated(self, lab: Lab) -> str:
        """The command that runs it again, and where its boots are."""
        return (
            f"`firstlight study {self.name}{lab.form} -o DIR` repeats it; DIR/boots has each arm as a bundle, "
            "whose manifest says how to repeat it alone."
        )

    def outcome(
        self, lab: Lab, *, recipe: Sequence[str], tables: Sequence[Table], findings: Sequence[Finding],
        historical: Sequence[Table] = (), charts: Iterable[Chart | None] = (), notes: Sequence[str] = (),
    ) -> Outcome:  # fmt: skip
        """What it found, with its question, and what is missing.

        :param historical: tables that others measured, which are never mixed with ours.
        :param charts: those that could not be drawn are `None`.
        """
        return Outcome(
            study=self.name,
            title=self.title,
            question=self.question,
            quick=lab.quick,
            recipe=(self.repeated(lab), *recipe),
            tables=tuple(tables),
            historical=tuple(historical),
            findings=tuple(findings),
            charts=tuple(chart for chart in charts if chart is not None),
            missing=tuple(lab.missing),
            notes=tuple(notes),
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
    :raises FirstlightError: when it cannot be loaded.

    >>> find_study("tree-walk").images
    ('kernel', 'debian-storage')
    """
    found = {plugin.name: plugin for plugin in plugins(GROUP)}
    if name not in found:
        raise UsageError(f"there is no study `{name}`", hint=one_of(name, list(found)))
    study: Study = found[name].require()
    return study
