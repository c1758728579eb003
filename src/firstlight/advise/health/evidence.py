"""The evidence of a boot's health: facts, messages, units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import cached_property

import polars as pl

from firstlight.analysis.units import failed_units, units
from firstlight.bundle.boot import Boot
from firstlight.bundle.contents import read_regular
from firstlight.bundle.manifest import Manifest
from firstlight.recipe.mode import RecordMode
from firstlight.schema.records import Channel, FormatName, ProblemKind

_STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_LARGEST_CONSOLE = 64 << 20
#: The origin of all that a recorded boot has.
_RECORDER = "recorder"
#: What lists every unit. A log names only those that a message is about, on some systems by their descriptions.
_LISTINGS = frozenset({_RECORDER, FormatName.SYSTEMD_SHOW, FormatName.SYSTEMD_PLOT_JSON, FormatName.SYSTEMD_PLOT_SVG})
_UNIT = re.compile(r"\.(?:service|socket|target|mount|automount|swap|path|timer|slice|scope|device)$")


class HealthEvidence:
    """The evidence of one boot; each part is read when a check needs it."""

    def __init__(self, boot: Boot) -> None:
        self.boot = boot

    @property
    def manifest(self) -> Manifest:
        """The boot's manifest."""
        return self.boot.manifest

    @cached_property
    def origins(self) -> frozenset[str]:
        """The formats of the records that the boot was imported from, or the recorder."""
        return frozenset(self._format_of_file.values())

    def origins_of(self, source: str | None) -> frozenset[str]:
        """The formats of the records that the `source` of a row names."""
        if self.manifest.mode != RecordMode.IMPORTED:
            return self.origins
        files = (source or "").split(" and ")
        return frozenset(self._format_of_file[file] for file in files if file in self._format_of_file)

    def can_show(self, origins: Set[str]) -> bool:
        """Whether the boot has a record of one of these formats: what it lacks did not happen, or is not there."""
        return not self.origins.isdisjoint(origins)

    @cached_property
    def lost_head(self) -> bool:
        """Whether a record of the boot lacks its beginning."""
        return any(each.kind == ProblemKind.LOST_HEAD for source in self.manifest.sources for each in source.problems)

    @cached_property
    def _format_of_file(self) -> dict[str, str]:
        if self.manifest.mode != RecordMode.IMPORTED:
            return {"": _RECORDER}
        return {each.file: each.format for each in self.manifest.sources if each.format is not None}

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """The facts by their names."""
        return self.boot.fact_values()

    def group(self, prefix: str) -> dict[str, str]:
        """The facts with a prefix, by the rest of their names."""
        return {name.removeprefix(prefix): value for name, value in self.facts.items() if name.startswith(prefix)}

    def number(self, fact: str) -> int | None:
        """A fact that is a whole number."""
        text = self.facts.get(fact, "").strip()
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 30 else None

    @cached_property
    def messages(self) -> list[str]:
        """The log without the kernel's times."""
        return [message_of(text) for text in self.boot.log()["text"].to_list() if text]

    @cached_property
    def kernel_log(self) -> pl.DataFrame:
        """The lines of the log that are not known to come from a program."""
        programs = (Channel.JOURNAL, Channel.UDEV)
        return self.boot.log().filter(~pl.col("channel").is_in(programs).fill_null(False))

    @cached_property
    def console(self) -> str | None:
        """Everything that a recorded guest printed, also after it was ready."""
        try:
            content = read_regular(self.boot.directory / "raw" / "console.log", _LARGEST_CONSOLE)
        except OSError:
            return None
        return content.decode("utf-8", "replace")

    @cached_property
    def unit_states(self) -> dict[str, str]:
        """The outcome of the last start of each unit."""
        frame = units(self.boot).select("unit", "state").drop_nulls()
        return dict(frame.iter_rows())

    def shows_unit(self, name: str, baseline: HealthEvidence) -> bool:
        """Whether this evidence would show that a unit of the baseline's is up: then its absence says something.

        A log is comparable with one like it. A start without an end may have lost its second line.
        """
        is_unit = _UNIT.search(name) is not None
        alike = not self.unit_states or any((_UNIT.search(each) is not None) == is_unit for each in self.unit_states)
        if alike and self.can_show(baseline.unit_origins.get(name, frozenset())):
            return True
        if self._lists_units and is_unit:
            return True
        return self.unit_states.get(name, "unfinished") != "unfinished"

    @cached_property
    def unit_origins(self) -> dict[str, frozenset[str]]:
        """The formats of the records that name each unit."""
        rows = units(self.boot).select("unit", "source").unique().iter_rows()
        found: dict[str, frozenset[str]] = {}
        for unit, source in rows:
            found[unit] = found.get(unit, frozenset()) | self.origins_of(source)
        return found

    @cached_property
    def _lists_units(self) -> bool:
        return any(not origins.isdisjoint(_LISTINGS) for origins in self.unit_origins.values())

    @cached_property
    def failed_units(self) -> list[str] | None:
        """The failed units; none where the evidence has no units."""
        if "systemd.failed" not in self.facts and not self.unit_states:
            return None
        return failed_units(self.boot)

    @cached_property
    def reported(self) -> bool:
        """Whether the guest's report has the state of the system."""
        return "interrupts.counted" in self.facts


def message_of(text: str) -> str:
    """A line of a log without its time.

    >>> message_of("[    0.000000][    T0] Linux version 6.1")
    'Linux version 6.1'
    """
    return _STAMP.sub("", text.rstrip("\r"))


def masked(message: str) -> str:
    """A message without the parts that vary between boots: addresses and numbers.

    >>> masked("tsc: Refined TSC clocksource calibration: 999.993 MHz at 0xffff8800")
    'tsc: Refined TSC clocksource calibration: N MHz at ADDRESS'
    """
    return _NUMBER.sub("N", _ADDRESS.sub("ADDRESS", message))
