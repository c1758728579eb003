"""The manifest of a bundle: what was booted, how, and what came of it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

#: The version of the bundle's schema that this Firstlight writes; it reads this and every older one.
SCHEMA_VERSION = 1

Reason = Literal["panic", "wall_timeout", "virtual_timeout", "never_ready", "qemu_died", "plugin"]


class _Part(BaseModel):
    """A part of the manifest: nothing converted, nothing unknown, nothing changed."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Tool(_Part):
    """The program that wrote the bundle."""

    name: str = Field(description="`firstlight`, or the program that a bundle was imported from")
    version: str = Field(description="its version")


class Failure(_Part):
    """Why the boot did not come up."""

    reason: Reason = Field(description="the kind of failure")
    detail: str = Field(description="the same in words")
    console_tail: list[str] = Field(description="the last lines of the console, oldest first")


class Clock(_Part):
    """The clock of every time in the bundle."""

    kind: Literal["virtual", "host", "imported"] = Field(description="`virtual`: the emulated clock of exact mode")
    unit: Literal["ns"] = Field(description="nanoseconds")
    origin: str = Field(description="the mark that is time 0")
    icount_shift: int | None = Field(default=None, description="one instruction takes 2^N ns; null outside exact mode")


class Completeness(_Part):
    """Whether all evidence is there."""

    complete: bool = Field(description="nothing is missing")
    missing: list[str] = Field(default_factory=list, description="what is missing, in words")


class Invariant(BaseModel):
    """A statement about the profile that was checked when it was recorded; further fields explain the value."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    holds: bool = Field(description="the statement is true")
    value: JsonValue = Field(default=None, description="the figure that was checked")


class Totals(_Part):
    """The whole boot up to the freeze; null where the mode cannot know."""

    instructions: int | None = Field(description="instructions executed")
    virtual_ns: int | None = Field(description="nanoseconds of the bundle's clock")
    idle_ns: int | None = Field(description="of these, how much the processor was idle")


class Table(_Part):
    """One Parquet table."""

    rows: int = Field(ge=0, description="number of rows")
    sha256: str = Field(description="digest of the file")


class Manifest(_Part):
    """`manifest.json`, as `docs/formats/boot-bundle.md` specifies it."""

    schema_version: int = Field(ge=1, le=SCHEMA_VERSION, description="version of the bundle's schema")
    tool: Tool = Field(description="the program that wrote the bundle")
    mode: Literal["exact", "live", "imported"] = Field(description="how the boot was recorded")
    status: Literal["complete", "failed"] = Field(description="whether the boot reached its last mark")
    failure: Failure | None = Field(description="why not")
    clock: Clock = Field(description="the clock of every time in the bundle")
    recipe: dict[str, JsonValue] = Field(description="everything that decides the boot; paths as given")
    digests: dict[str, str | None] = Field(description="sha256 of every input")
    versions: dict[str, JsonValue] = Field(description="QEMU's version text and the plugin API it spoke")
    completeness: Completeness = Field(description="whether all evidence is there")
    invariants: dict[str, Invariant] = Field(description="checked statements about the profile; empty without one")
    totals: Totals = Field(description="the whole boot up to the freeze")
    tables: dict[str, Table] = Field(description="every table of the bundle")
    repeat: str = Field(description="the command line that makes this boot again")
    recorded_at: str = Field(description="when, for people; no analysis reads it")
    host: dict[str, JsonValue] = Field(description="where, for people; no analysis reads it")

    def recipe_text(self, key: str) -> str | None:
        """A field of the recipe as text; none when it is absent, null or empty."""
        value = self.recipe.get(key)
        return None if value is None or value == "" else str(value)
