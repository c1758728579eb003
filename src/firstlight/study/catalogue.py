"""The studies by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from firstlight.errors import UsageError
from firstlight.study.historical import historical_tables
from firstlight.study.outcome import Finding, Outcome
from firstlight.study.runner import Laboratory
from firstlight.study.table import Chart, Table
from firstlight.suggest import one_of


@dataclass(frozen=True)
class Study:
    """A question with its boots."""

    name: str
    title: str
    question: str
    images: tuple[str, ...]
    """Of the laboratory, that it boots."""
    package: str
    """Below :mod:`firstlight.study`; its module `study` has a function `run`."""

    def run(self, laboratory: Laboratory) -> Outcome:
        """Boot every arm, and say what they tell.

        :raises FirstlightError: when not even one arm can be booted.
        """
        # Late: what a study computes with takes most of a second to load.
        run: Callable[[Laboratory], Outcome] = import_module(f"firstlight.study.{self.package}.study").run
        return run(laboratory)

    def repeated(self, laboratory: Laboratory) -> str:
        """The command that runs it again, and where its boots are."""
        return (
            f"`firstlight study {self.name}{laboratory.form} -o DIR` repeats it; DIR/boots has each arm as a bundle, "
            "whose manifest says how to repeat it alone."
        )

    def outcome(
        self, laboratory: Laboratory, *, recipe: Sequence[str], tables: Sequence[Table], findings: Sequence[Finding],
        charts: Iterable[Chart | None] = (), notes: Sequence[str] = (),
    ) -> Outcome:  # fmt: skip
        """What it found, with its question, the tables of the old study, and what is missing.

        :param charts: those that could not be drawn are `None`.
        """
        return Outcome(
            study=self.name,
            title=self.title,
            question=self.question,
            quick=laboratory.quick,
            recipe=(self.repeated(laboratory), *recipe),
            tables=tuple(tables),
            historical=historical_tables(self.name),
            findings=tuple(findings),
            charts=tuple(chart for chart in charts if chart is not None),
            missing=tuple(laboratory.missing),
            notes=tuple(notes),
        )


STUDIES = (
    Study(
        "udev-ptys",
        "What 256 legacy pseudo-terminals cost udev",
        "What does a device cost that the kernel makes ahead of any need, and who pays?",
        ("kernel", "debian"),
        "udev_ptys",
    ),
    Study(
        "lvm-activation",
        "Why event activation of LVM takes minutes with a thousand volumes",
        "How does the time until the last volume is active grow with the number of physical volumes?",
        ("kernel", "debian-storage"),
        "lvm_activation",
    ),
    Study(
        "kernel-hotspots",
        "Which hot spots lie between start_kernel and init",
        "What do the classic hot spots of a kernel's start cost now, and what does each remedy save and break?",
        ("kernel",),
        "kernel_hotspots",
    ),
    Study(
        "tree-walk",
        "What one extra stat per directory costs a tree walk",
        "What is the penalty of one more stat for each directory, and which tools wake an automount?",
        ("kernel", "debian-storage"),
        "tree_walk",
    ),
    Study(
        "root-filesystems",
        "How root file systems compare",
        "From power on and from start_kernel to user space: what does the root file system decide?",
        ("kernel",),
        "root_filesystems",
    ),
)


def find_study(name: str) -> Study:
    """The study of a name.

    :raises UsageError: when there is none; the hint says the nearest, and all.

    >>> find_study("tree-walk").package
    'tree_walk'
    """
    for study in STUDIES:
        if study.name == name:
            return study
    raise UsageError(f"there is no study `{name}`", hint=one_of(name, [study.name for study in STUDIES]))
