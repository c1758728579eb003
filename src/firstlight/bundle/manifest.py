"""The manifest of a bundle: what was booted, how, and what came of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, JsonValue, PrivateAttr, Tag

from firstlight.frozen import StrictModel
from firstlight.recipe.choices import Choices
from firstlight.recipe.described import Described
from firstlight.recipe.field_types import Whole
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.recipe import Recipe
from firstlight.schema.records import ClockKind, FailureReason, ProblemKind

#: The version of the bundle's schema that this Firstlight writes; it reads this and every older one.
SCHEMA_VERSION = 4

#: The version of the schema that counts in the key of a boot: names that changed since do not change a boot.
KEY_VERSION = 2

#: The name of a table is that of a file in the bundle, and leads nowhere else.
TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class BootState(StrEnum):
    """What came of a boot."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """It reached its last mark; evidence of it is missing."""
    FAILED = "failed"


class _Part(StrictModel):
    """A part of the manifest: nothing converted, nothing unknown, nothing changed."""

    model_config = ConfigDict(allow_inf_nan=False)


class Tool(_Part):
    """The program that wrote the bundle."""

    name: str = Field(description="`firstlight`, or the program that a bundle was imported from")
    version: str = Field(description="its version")


class Failure(_Part):
    """Why the boot did not come up."""

    reason: FailureReason = Field(description="the kind of failure")
    detail: str = Field(description="the same in words")
    console_tail: list[str] = Field(description="the last lines of the console, oldest first")


class Clock(_Part):
    """The clock of every time in the bundle."""

    kind: Literal[ClockKind.VIRTUAL, ClockKind.HOST, ClockKind.IMPORTED] = Field(
        description="`virtual`: the emulated clock of exact mode"
    )
    unit: Literal["ns"] = Field(description="nanoseconds")
    origin: str = Field(description="the mark that is time 0")
    icount_shift: int | None = Field(
        default=None, ge=0, le=10, description="one instruction takes 2^N ns; null outside exact mode"
    )


class Completeness(_Part):
    """Whether all evidence is there."""

    complete: bool = Field(description="nothing is missing")
    missing: list[str] = Field(default_factory=list, description="what is missing, in words")
    parsed: Whole | None = Field(default=None, description="records of the evidence that were read; imported boots")
    lost: Whole | None = Field(default=None, description="records missing or unparsed; imported boots")
    share: float | None = Field(default=None, description="parsed / (parsed + lost); null where not countable")


class Fit(_Part):
    """How one clock follows another: theirs = offset + rate * this one."""

    reference: str = Field(description="the clock that is followed: `bundle`, or another source's file")
    offset_ns: Whole = Field(description="the other clock's time when this one is 0")
    rate: float = Field(description="nanoseconds of the other clock for one of this; 1 where it was not fitted")
    shared_events: Whole = Field(description="events that both records hold")
    residual_median_ns: Whole | None = Field(description="half of the shared events lie closer than this")
    residual_max_ns: Whole | None = Field(description="the one that lies farthest off")
    basis: str = Field(description="what the fit rests on, in words")


_NOTES = frozenset(
    {
        ProblemKind.CLAMPED,
        ProblemKind.CLOCK_WRAP,
        ProblemKind.EMBEDDED,
        ProblemKind.ESCAPES,
        ProblemKind.QUANTISED,
        ProblemKind.REPLAY,
        ProblemKind.SHIFTED_MICROSECONDS,
    }
)


class SourceProblem(_Part):
    """Something wrong with a record."""

    kind: str = Field(description="as `docs/reference/formats/boot-bundle.md` lists them")
    detail: str = Field(description="the same in words")
    line: Whole | None = Field(description="where it was met first")
    lost: Whole | None = Field(description="how many records are missing, where that can be counted")

    @property
    def is_note(self) -> bool:
        """Whether the reader resolved it: nothing is missing, and no figure is in doubt beyond its grade."""
        return self.kind in _NOTES


class Source(_Part):
    """One record, or a part of one, that an imported boot was made of."""

    file: str = Field(description="where it stands in the bundle, below `raw/`")
    name: str = Field(description="its name as the user gave it")
    sha256: str = Field(description="digest of the file")
    size_bytes: Whole = Field(ge=0, description="length of the file")
    format: str | None = Field(description="what it was read as; null: not recognised")
    part: str = Field(description="the part of the file; empty for the whole")
    clock: str = Field(description="the record's own clock")
    fit: Fit | None = Field(description="how its clock was aligned to the bundle's; null: not aligned")
    parsed: Whole = Field(ge=0, description="lines or records that were read")
    unparsed: Whole = Field(default=0, ge=0, description="lines or records that have no shape of the format")
    problems: list[SourceProblem] = Field(description="what is wrong with it")


class Statement(_Part):
    """What one source says."""

    source: str = Field(description="the file")
    value: str = Field(description="its figure or name")


class Contradiction(_Part):
    """Sources that exclude one another; nothing is averaged."""

    subject: str = Field(description="what they disagree on")
    statements: list[Statement] = Field(description="what each says; the first is the one that the tables follow")


class Concern(StrEnum):
    """What of a recording cannot be relied on when an invariant is broken."""

    EVERYTHING = "everything"
    FUNCTIONS = "functions"
    INITCALLS = "initcalls"
    PROCESSES = "processes"


class Invariant(BaseModel):
    """A statement about the profile that was checked when it was recorded; further fields explain the value."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, allow_inf_nan=False)

    holds: bool = Field(description="the statement is true")
    value: JsonValue = Field(default=None, description="the figure that was checked")
    limit: Whole | None = Field(
        default=None, description="the largest value that holds; null where another figure is it"
    )
    concerns: Annotated[Concern, Field(strict=False)] = Field(
        default=Concern.EVERYTHING, description="what cannot be relied on when it is broken"
    )
    functions: list[str] = Field(default_factory=list, description="the functions it is about, the worst first")


class Totals(_Part):
    """The whole boot up to the freeze; null where the mode cannot know."""

    instructions: Whole | None = Field(description="instructions executed")
    virtual_ns: Whole | None = Field(description="nanoseconds of the bundle's clock")
    idle_ns: Whole | None = Field(description="of these, how much the processor was idle")


class Table(_Part):
    """One Parquet table."""

    rows: Whole = Field(ge=0, description="number of rows")
    sha256: str = Field(description="digest of the file")


def _kind_of_recipe(recipe: Any) -> str:
    chosen = "chosen" in recipe if isinstance(recipe, dict) else isinstance(recipe, Recipe)
    return RECORDED if chosen else DESCRIBED


RECORDED, DESCRIBED = "recorded", "described"
AnyRecipe = Annotated[
    Annotated[Recipe, Tag(RECORDED)] | Annotated[Described, Tag(DESCRIBED)], Discriminator(_kind_of_recipe)
]
"""A recipe that can be booted again, or a user's description of how a boot was made."""


class Manifest(_Part):
    """`manifest.json` with `provenance.json`, as `docs/reference/formats/boot-bundle.md` specifies them."""

    schema_version: int = Field(ge=1, le=SCHEMA_VERSION, description="version of the bundle's schema")
    tool: Tool = Field(description="the program that wrote the bundle")
    mode: Annotated[RecordMode, BeforeValidator(RecordMode)] = Field(description="how the boot was recorded")
    status: Literal[BootState.COMPLETE, BootState.FAILED] = Field(description="whether the boot reached its last mark")
    failure: Failure | None = Field(description="why not")
    clock: Clock = Field(description="the clock of every time in the bundle")
    recipe: AnyRecipe = Field(description="everything that decides the boot; paths as given")
    digests: dict[str, str | None] = Field(description="sha256 of every input")
    versions: dict[str, JsonValue] = Field(description="QEMU's version text and the plugin API it spoke")
    completeness: Completeness = Field(description="whether all evidence is there")
    invariants: dict[str, Invariant] = Field(description="checked statements about the profile; empty without one")
    totals: Totals = Field(description="the whole boot up to the freeze")
    sources: list[Source] = Field(default_factory=list, description="what an imported boot was made of")
    contradictions: list[Contradiction] = Field(default_factory=list, description="where they exclude one another")
    tables: dict[TableName, Table] = Field(description="every table of the bundle")
    reproduce: str = Field(description="the command line that makes this boot again")
    recorded_at: str = Field(description="when, for people; no analysis reads it")
    host: dict[str, JsonValue] = Field(description="where, for people; no analysis reads it")

    _file_digest: str = PrivateAttr(default="")

    @property
    def file_digest(self) -> str:
        """Digest of the files that this was read from, `manifest.json` and `provenance.json`; empty where it was read
        from none.
        """
        return self._file_digest

    @property
    def table_digests(self) -> dict[str, str]:
        """The digest of every table."""
        return {name: table.sha256 for name, table in self.tables.items()}

    def recipe_text(self, key: str) -> str | None:
        """A field of the recipe as text; none when it is absent, null or empty."""
        value = self.recipe.model_dump(mode="json").get(key)
        return None if value is None or value == "" else str(value)

    @property
    def state(self) -> BootState:
        """The status for a reader: a boot that reached its last mark is complete only when its evidence is."""
        if self.status == BootState.COMPLETE and not self.completeness.complete:
            return BootState.INCOMPLETE
        return self.status

    @property
    def chosen(self) -> Choices | None:
        """What was chosen for the boot; nothing where Firstlight did not make it."""
        return self.recipe.chosen if isinstance(self.recipe, Recipe) else None
