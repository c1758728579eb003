"""One cause in the catalogue: its evidence, its guard, its remedies, their effect and risk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from firstlight.advise.health.check_id import CheckId
from firstlight.experiment.change import FileChange
from firstlight.frozen import FrozenModel
from firstlight.toml import Duration, Percent


def _is_regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"this is not a regular expression: {error}") from error
    return pattern


Regex = Annotated[str, Field(min_length=1), AfterValidator(_is_regex)]
#: Facts that `words` may hold, in braces.
_FACTS_OF_WORDS = frozenset({"kernel.lpj"})
_FACT = re.compile(r"\{([^{}]*)\}")
EntryId = Annotated[str, Field(pattern=r"^[A-Z]{2,4}-\d{2}[a-z]?$")]


class Nature(StrEnum):
    """The kind of a cause."""

    LEFT_ON = "left on"
    """Something for development or diagnosis that a product does not need."""
    WAIT = "wait"
    """The boot waits for a device, a timeout, a peer or a timer."""
    WORK = "work"
    """The boot does work that it needs less of, or not now."""
    FEATURE = "feature"
    """A feature of the kernel or system costs time at every start; the remedy gives the feature up."""


class Only(StrEnum):
    """The part of a process's time that counts."""

    WAITS = "waits"
    """What it sleeps itself, not what it executes; its children do not count."""
    EXECUTION = "execution"
    """What it and its children execute, not what they sleep."""


class Layer(StrEnum):
    """The layer of the recipe that a remedy changes."""

    CMDLINE = "cmdline"
    KCONFIG = "kconfig"
    INITRAMFS = "initramfs"
    ROOTFS = "rootfs"
    MACHINE = "machine"


#: The kinds of evidence, in the order of how exactly they locate time; an item has exactly one of them.
KINDS = (
    "functions", "initcall", "process", "call", "unit", "stage", "gap", "log", "devices", "fact", "kconfig", "word",
    "package",
)  # fmt: skip
#: The kinds that locate time. The others show that there is a cause, and not what it costs.
TIMED = frozenset({"functions", "initcall", "process", "call", "unit", "stage", "gap"})
#: The modifiers that go with each kind.
_MODIFIERS = {
    "functions": {"under", "outside", "alone", "beyond", "part", "least", "share", "count"},
    "initcall": {"least", "share", "count"},
    "process": {"under", "least", "share", "count", "only"},
    "call": {"by", "path", "then", "loop", "least", "share", "count"},
    "unit": {"least", "share", "count", "state", "single"},
    "stage": {"least", "share"},
    "gap": {"until", "least", "share"},
    "log": {"count", "after", "takes"},
    "devices": {"count"},
    "fact": {"value", "above", "below"},
    "kconfig": {"value"},
    "word": {"above", "below"},
    "package": set(),
}


class EntryEvidence(FrozenModel):
    """One item that a boot shows or does not show.

    >>> EntryEvidence(functions=("alg_test",), least="2 ms").kind
    'functions'
    """

    functions: tuple[str, ...] = Field(
        default=(), description="kernel functions, without suffixes of the compiler; `name*` are all that begin so"
    )
    initcall: Regex | None = Field(default=None, description="the name of an initcall")
    process: Regex | None = Field(default=None, description="a process: its name, its executable or its arguments")
    call: Regex | None = Field(default=None, description="the name of a system call")
    unit: Regex | None = Field(default=None, description="the name of a unit")
    stage: Regex | None = Field(default=None, description="a stage of the boot that systemd reports")
    gap: Regex | None = Field(default=None, description="the line of the log before a silence")
    log: Regex | None = Field(default=None, description="a line of the log")
    devices: Regex | None = Field(default=None, description="devices by `bus/name`, subsystem or path of their uevents")
    fact: Regex | None = Field(default=None, description="the name of a fact")
    kconfig: str | None = Field(default=None, description="an option of the kernel's configuration")
    word: Regex | None = Field(default=None, description="a word of the kernel's command line; its first group is read")
    package: Regex | None = Field(default=None, description="an installed package, or the program of one")

    under: str | None = Field(default=None, description="only below this function, or of children of this process")
    outside: tuple[str, ...] = Field(default=(), description="not where one of these functions is a caller")
    alone: bool = Field(default=False, description="only what they execute themselves, without what they call")
    beyond: Literal["lpj"] | None = Field(
        default=None, description="only what they take beyond the true value of this setting, which is set too large"
    )
    part: tuple[Regex, Regex] | None = Field(
        default=None, description="only the part that devices of the first pattern have among those of the second"
    )
    until: Regex | None = Field(default=None, description="the line of the log after the silence")
    takes: Regex | None = Field(
        default=None, description="the time that the line states: its first group is a number with its unit"
    )
    by: Regex | None = Field(default=None, description="the process that makes the system call")
    path: Regex | None = Field(default=None, description="the path that the system call is about")
    then: Regex | None = Field(
        default=None, description="only calls that the thread's next call follows with this name; what both take counts"
    )
    loop: Regex | None = Field(
        default=None,
        description="what the thread executes in the turn of its loop counts: from one such call to the next",
    )
    state: str | None = Field(default=None, description="how the start of the unit ended")
    value: Regex | None = Field(default=None, description="the value of the fact or option")
    above: float | None = Field(default=None, description="the figure is more than this")
    below: float | None = Field(default=None, description="the figure is less than this")
    after: Duration | None = Field(default=None, description="the line comes later than this")
    single: bool = Field(default=False, description="only the unit of these that holds the boot longest")
    only: Only | None = Field(default=None, description="only what the process waits counts, or only what it executes")
    least: Duration | None = Field(default=None, description="it holds the boot for at least this")
    share: Percent | None = Field(default=None, description="it holds at least this share of the boot")
    count: int | None = Field(default=None, ge=1, description="at least so many of them")

    @property
    def kind(self) -> str:
        """Its kind."""
        return next(kind for kind in KINDS if getattr(self, kind))

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(f'`{kind}`' for kind in KINDS)}")
        kind = given[0]
        for name in sorted(self.model_fields_set - {kind}):
            if name not in _MODIFIERS[kind] and getattr(self, name) not in (None, (), False):
                raise ValueError(f"`{name}` does not go with `{kind}`")
        if self.takes is not None and re.compile(self.takes).groups < 1:
            raise ValueError("`takes` needs a group that matches a number with its unit, such as `took (\\d+ ms)`")
        return self


class Remedy(FrozenModel):
    """A change that removes a cause, in one layer of the recipe.

    What the laboratory cannot change by itself is said in `by_hand`. `words` may hold facts of the boot in braces:
    `lpj={kernel.lpj}`.
    """

    layer: Layer
    words: str = Field(default="", description="parameters added to the kernel's command line")
    without: tuple[Regex, ...] = Field(default=(), description="words taken off the command line: what matches whole")
    kconfig: tuple[str, ...] = Field(default=(), description="lines of the kernel's configuration")
    files: dict[str, FileChange] = Field(default_factory=dict, description="files of the root or of the initramfs")
    mask: tuple[str, ...] = Field(default=(), description="units that are masked")
    compression: str | None = Field(default=None, description="of the initramfs: none, lz4, zstd, gzip or xz")
    cpu: str | None = Field(default=None, description="another processor model")
    machine: str | None = Field(default=None, description="another machine type")
    memory: str | None = Field(default=None, description="another size of memory")
    without_options: tuple[Regex, ...] = Field(default=(), description="words taken off QEMU's command line")
    by_hand: str = Field(default="", description="what a person changes where no file of the recipe says it")
    with_entries: tuple[EntryId, ...] = Field(default=(), description="entries whose remedy it needs beside it")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        fields = {
            Layer.CMDLINE: {"words", "without"},
            Layer.KCONFIG: {"kconfig"},
            Layer.INITRAMFS: {"files", "compression"},
            Layer.ROOTFS: {"files", "mask"},
            Layer.MACHINE: {"cpu", "machine", "memory", "without_options"},
        }
        given = {name for name in self.model_fields_set if getattr(self, name)}
        given -= {"layer", "by_hand", "with_entries"}
        if wrong := sorted(given - fields[self.layer]):
            raise ValueError(f"`{wrong[0]}` does not go with the layer `{self.layer}`")
        if not given and not self.by_hand:
            raise ValueError("it changes nothing: say what, or `by_hand`")
        if unknown := sorted(set(self.needed_facts) - _FACTS_OF_WORDS):
            known = ", ".join(f"`{{{each}}}`" for each in sorted(_FACTS_OF_WORDS))
            raise ValueError(f"`words` cannot hold the fact `{{{unknown[0]}}}`, only {known}")
        return self

    @property
    def needed_facts(self) -> tuple[str, ...]:
        """The facts that `words` hold in braces.

        >>> Remedy(layer="cmdline", words="lpj={kernel.lpj}").needed_facts
        ('kernel.lpj',)
        """
        return tuple(_FACT.findall(self.words))

    def filled(self, facts: Mapping[str, str]) -> Self:
        """The remedy with the facts of a boot in its `words`; a fact that the boot does not have stays in braces.

        >>> Remedy(layer="cmdline", words="lpj={kernel.lpj}").filled({"kernel.lpj": "4000"}).words
        'lpj=4000'
        """
        words = _FACT.sub(lambda match: facts.get(match[1], match[0]), self.words)
        return self if words == self.words else self.model_copy(update={"words": words})

    @property
    def is_applicable(self) -> bool:
        """Whether the lab can apply it without the user."""
        return any(getattr(self, name) for name in type(self).model_fields if name not in _NO_CHANGE)


_NO_CHANGE = ("layer", "by_hand", "with_entries")


class Entry(FrozenModel):
    """One known cause of a long boot."""

    id: EntryId
    title: str = Field(min_length=3, description="a few words")
    nature: Nature
    mechanism: str = Field(min_length=20, description="what happens, in two sentences")
    all: tuple[EntryEvidence, ...] = Field(default=(), description="each of these has to be seen")
    any: tuple[EntryEvidence, ...] = Field(default=(), description="one of these has to be seen")
    more: tuple[EntryEvidence, ...] = Field(default=(), description="what it holds too, where it is seen")
    none: tuple[EntryEvidence, ...] = Field(default=(), description="none of these may be seen: the guard")
    general: bool = Field(
        default=False,
        description="its functions also do the work of other causes: it is estimated from what those leave",
    )
    guard: str = Field(default="", description="when the remedy is pointless or dangerous, in words")
    machine: tuple[str, ...] = Field(
        default=(), description="costs of the emulated machine, by their ids, that are this cause's own here"
    )
    remedies: tuple[Remedy, ...] = Field(min_length=1, description="the advised one first")
    effect: str = Field(min_length=3, description="what the remedy gained where it was measured")
    source: str = Field(min_length=3, description="who says so: code, documentation, measurement")
    risk: str = Field(min_length=3, description="what the remedy may break, in one sentence")
    checks: tuple[CheckId, ...] = Field(default=(), description="health checks that notice it")

    @model_validator(mode="after")
    def _has_evidence(self) -> Self:
        if not (self.all or self.any):
            raise ValueError("an entry without evidence is found nowhere: give `all` or `any`")
        return self

    def filled(self, facts: Mapping[str, str]) -> Self:
        """The entry with the facts of a boot in its remedies."""
        if not any(remedy.needed_facts for remedy in self.remedies):
            return self
        return self.model_copy(update={"remedies": tuple(remedy.filled(facts) for remedy in self.remedies)})


class EntryFile(FrozenModel):
    """One file of the catalogue: the entries of one group."""

    entry: tuple[Entry, ...] = ()
