"""The remedies as data, and the arms that they become."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from firstlight.study import DEFAULT, Architecture, Boot, MachineFeature, MissingValue, lacking

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
    built_in: bool = False
    """It takes drivers that the lab's kernel has built in."""
    needs: tuple[MachineFeature, ...] = ()
    """What a guest has to have."""
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
        each["needs"] = tuple(map(MachineFeature, each.get("needs", ())))
        found.append(Remedy(**each))
    return tuple(found)


def chosen(
    kernel: KernelName, *, quick: bool, alone: bool = False, architecture: Architecture = DEFAULT
) -> list[Remedy]:
    """The remedies that are tried on a kernel.

    :param alone: no other kernel is booted, so those of the other are tried on this one, as far as it can.
    :param architecture: of the guests; what they do not have is not tried.

    >>> [each.name for each in chosen("stock", quick=True)]
    ['quiet', 'no-apic-timer', 'no-self-tests', 'loop-module']
    """
    return [each for each in _wanted(kernel, quick=quick, alone=alone) if not _why_not(each, architecture)]


def left_out(
    kernel: KernelName, *, quick: bool, alone: bool = False, architecture: Architecture = DEFAULT
) -> dict[str, str]:
    """The remedies that are not tried on an architecture, by name, each with the reason.

    >>> left_out("lab", quick=True)
    {}
    """
    wanted = _wanted(kernel, quick=quick, alone=alone)
    if alone:
        wanted += [each for each in remedies() if each.built_in and (each.quick or not quick)]
    lab = "the lab's kernel has the drivers for it built in, and it is not made for this architecture"
    reasons = {each.name: _why_not(each, architecture) or (lab if each.built_in and alone else "") for each in wanted}
    return {name: why for name, why in reasons.items() if why}


def _why_not(remedy: Remedy, architecture: Architecture) -> str:
    if remedy.root_as is not None and not architecture.has_kernel_roots:
        return "a kernel there cannot mount its root by itself"
    return lacking(remedy.needs, architecture)


def _wanted(kernel: KernelName, *, quick: bool, alone: bool) -> list[Remedy]:
    if alone:
        return [each for each in remedies() if not each.built_in and (each.quick or not quick)]
    return [each for each in remedies() if kernel in (each.quick if quick else each.kernels)]
