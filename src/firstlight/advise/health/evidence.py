"""The evidence of a boot's health: facts, messages, units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from firstlight.analysis.units import failed_units, units
from firstlight.bundle.boot import Boot
from firstlight.bundle.contents import read_regular
from firstlight.bundle.manifest import Manifest

_STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_LARGEST_CONSOLE = 64 << 20


class Evidence:
    """The evidence of one boot; each part is read when a check needs it."""

    def __init__(self, boot: Boot) -> None:
        self.boot = boot

    @property
    def manifest(self) -> Manifest:
        """The boot's manifest."""
        return self.boot.manifest

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
