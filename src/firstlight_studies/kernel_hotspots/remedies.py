"""The remedies as data, and the arms that they become."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from firstlight.study import Boot, MissingValue

KernelName = Literal["lab", "stock"]
KERNELS: tuple[KernelName, ...] = ("stock", "lab")
PLAIN = "plain"
#: kHz of the time stamp counter at shift 0: it counts nanoseconds.
_KHZ = 1_000_000
_PLACE = re.compile(r"\{(lpj|khz)(?::([0-9.]+))?\}")


@dataclass(frozen=True)
class Remedy:
    """One side of a comparison: a remedy, or a machine that remedies are held beside."""

    name: str
    title: str
    spot: str
    words: str = ""
    """Of the kernel's command line; with places for what another arm measured."""
    cpu: str | None = None
    memory: str | None = None
    root_as: str | None = None
    """The kernel mounts a root of this kind by itself."""
    layered: bool = False
    """The guest lays a RAM disk and an overlay over the root, and mounts flash later."""
    module: str = ""
    """The guest loads this driver."""
    against: str = PLAIN
    add_memory: bool = False
    """The guest adds what memory was kept from the kernel, once it is up."""
    wrong: bool = False
    """Preset with a value that is wrong on purpose."""
    remedy: bool = True
    kernels: tuple[KernelName, ...] = ()
    quick: tuple[KernelName, ...] = ()
    meant: frozenset[str] = frozenset()
    """The facts of health that it is there to change."""

    @property
    def needs_measured(self) -> bool:
        """Whether its words hold something that another arm has to measure before."""
        return any(match[1] == "lpj" for match in _PLACE.finditer(self.words))

    def command_line(self, measured: Boot | None) -> str | MissingValue:
        """Its words with all places filled.

        :param measured: the arm that it is held beside.

        >>> Remedy("tsc", "TSC rate preset", "calibration", "tsc_early_khz={khz:0.5}").command_line(None)
        'tsc_early_khz=500000'
        """
        values = {"khz": _KHZ}
        if self.needs_measured:
            lpj = measured.fact_values().get("kernel.lpj") if measured is not None else None
            if lpj is None or not lpj.isdecimal():
                return MissingValue(f"the arm `{self.against}` has no loops per jiffy")
            values["lpj"] = int(lpj)
        return _PLACE.sub(lambda place: str(round(values[place[1]] * float(place[2] or 1))), self.words)


@cache
def remedies() -> tuple[Remedy, ...]:
    """All of them, in the order of the tables.

    >>> remedies()[0].words
    'quiet'
    """
    text = resources.files(__package__).joinpath("remedies.toml").read_text(encoding="utf-8")
    found = []
    for each in tomllib.loads(text)["arm"]:
        each["kernels"], each["quick"] = tuple(each["kernels"]), tuple(each["quick"])
        each["meant"] = frozenset(each.get("meant", ()))
        found.append(Remedy(**each))
    return tuple(found)


def chosen(kernel: KernelName, *, quick: bool) -> list[Remedy]:
    """The remedies that are tried on a kernel.

    >>> [each.name for each in chosen("stock", quick=True)]
    ['quiet', 'no-apic-timer', 'no-self-tests', 'loop-module']
    """
    return [each for each in remedies() if kernel in (each.quick if quick else each.kernels)]
