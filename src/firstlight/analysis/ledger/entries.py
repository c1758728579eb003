"""The ledger itself: known costs of the emulated machine, as data."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import Field, model_validator

from firstlight.frozen import StrictModel
from firstlight.recipe.isa import architectures


class Owner(StrEnum):
    """Whose cost it is."""

    MACHINE = "machine"
    """A current server does not have it, or not as instructions."""
    KERNEL = "kernel"
    """Every machine that boots this kernel has it. It is listed because it is often taken for the machine's."""


class Nature(StrEnum):
    """What sort of cost it is."""

    MISSING_FEATURE = "missing feature"
    """The processor model lacks what current processors have, and the kernel does the work in another way."""
    BUSY_WAIT = "busy wait"
    """The kernel polls a clock or a device. The time that a real machine waits is counted as instructions here."""
    STRING_INSTRUCTION = "string instruction"
    """The emulator counts each step of a repeated string instruction; a real processor moves many bytes at once."""
    EMULATED_DEVICE = "emulated device"
    """The machine has a device, or firmware, that a server does not have or has in another form."""
    LAB = "laboratory"
    """The way in which Firstlight boots the guest causes it."""
    SELF_TEST = "self-test"
    """The kernel tests its own code."""


class MeasuredCost(StrictModel):
    """What a remedy did in a pair of recordings that differ in nothing else."""

    recipe: str = Field(description="arguments for `firstlight record` that both boots share; empty: the default")
    before_ns: int = Field(description="`power_on` to `ready` without the remedy, virtual time in nanoseconds")
    after_ns: int = Field(description="the same with it")
    on: str = Field(description="kernel, processor model and emulator of the pair")

    @property
    def saved_ns(self) -> int:
        """What the remedy took away, in nanoseconds of virtual time; negative where it made the boot longer."""
        return self.before_ns - self.after_ns


class Remedy(StrictModel):
    """A change of the recipe that removes a cost."""

    change: str = Field(description="arguments for `firstlight record`")
    price: str = Field(description="what the change gives up, in words; empty: nothing")
    measured: MeasuredCost


class Entry(StrictModel):
    """One known cost."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    title: str = Field(description="a few words")
    owner: Owner
    nature: Nature
    functions: tuple[str, ...] = Field(default=(), description="kernel functions, without suffixes of the compiler")
    kinds: tuple[str, ...] = Field(default=(), description="kinds of rows of the tree, such as `firmware`")
    callee: str | None = Field(default=None, description="only contexts that call this function directly")
    outside: tuple[str, ...] = Field(default=(), description="not where one of these functions is a caller")
    why: str = Field(description="why the machine causes it, or why it is the kernel's own")
    remedies: tuple[Remedy, ...] = Field(default=(), description="the advised one first")
    no_remedy: str = Field(default="", description="why there is none")

    @model_validator(mode="after")
    def _is_usable(self) -> Entry:
        if not (self.functions or self.kinds):
            raise ValueError(f"{self.id}: names neither functions nor kinds of rows")
        if bool(self.remedies) == bool(self.no_remedy):
            raise ValueError(f"{self.id}: needs either remedies or the reason why there is none")
        return self


class Ledger(StrictModel):
    """All known costs of the machines of one architecture."""

    entries: tuple[Entry, ...]

    @model_validator(mode="after")
    def _is_unambiguous(self) -> Ledger:
        ids = [entry.id for entry in self.entries]
        if len(set(ids)) != len(ids):
            raise ValueError("two entries have one id")
        return self


def read_ledger(text: str) -> Ledger:
    """Read a ledger.

    :param text: TOML, with one ``[[entries]]`` for each cost.
    :raises ValueError: when it is not TOML, or an entry lacks something, names something unknown or shares its id.

    >>> read_ledger("entries = []").entries
    ()
    """
    # JSON mode: a list of TOML may stand for a tuple, a text for a word of an enum.
    import json

    return Ledger.model_validate_json(json.dumps(tomllib.loads(text)))


@cache
def ledger(architecture: str) -> Ledger:
    """The ledger for the machines of an architecture; one without entries where nothing is known of them.

    :param architecture: as the manifest's recipe names it.

    >>> [entry.id for entry in ledger("x86_64").entries][:2]
    ['entropy-before-seeding', 'entropy-from-jitter']
    >>> ledger("vax").entries
    ()
    """
    known = files(__package__).joinpath(f"{architecture}.toml") if architecture in architectures() else None
    if known is None or not known.is_file():
        return Ledger(entries=())
    return read_ledger(known.read_text(encoding="utf-8"))
