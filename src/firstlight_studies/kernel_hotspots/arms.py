"""Booting the arms: plain ones first, then each remedy, those that need a measured value last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from firstlight import RecordOptions
from firstlight.study import Boot, Lab, MissingValue, StudyArm, write_modules
from firstlight_studies.kernel_hotspots.devices import POPULATIONS
from firstlight_studies.kernel_hotspots.guest import ADD_MEMORY, LAYERS, LOAD, PROBES
from firstlight_studies.kernel_hotspots.remedies import KERNELS, PLAIN, KernelName, Remedy, chosen, left_out
from firstlight_studies.kernel_hotspots.timing_methods import Way, ways_on

Found = Mapping[tuple[KernelName, str], Boot | MissingValue]
"""The boots by kernel and arm."""

_NOWHERE = Path()
"""The lab decides where a bundle goes."""
#: A loaded machine is no reason to give an arm up.
_TIMEOUT_WALL_S = 3600.0


@dataclass(frozen=True)
class Booted:
    """Everything that was booted."""

    boots: Found
    remedies: Mapping[KernelName, list[Remedy]]
    ways: tuple[Way, ...]
    ways_kernel: KernelName
    kernels: Mapping[KernelName, Path | MissingValue | None]
    absent: Mapping[KernelName, MissingValue] = field(default_factory=dict)
    """Kernels that are not booted at all, and why."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Remedies that are not tried on this architecture, by name, each with the reason."""

    @property
    def main(self) -> KernelName:
        """The kernel whose savings count: the lab's, or the only one."""
        return "stock" if "lab" in self.absent else "lab"

    @property
    def adds_memory(self) -> bool:
        """Memory was added to a running guest."""
        return any(each.add_memory for each in self.remedies.get(self.main, ()))

    def plain_arm(self, kernel: KernelName) -> StudyArm:
        """The arm without any remedy."""
        return StudyArm(f"{kernel}-{PLAIN}", options_of(self.kernels[kernel]))

    def boot(self, kernel: KernelName, name: str) -> Boot | MissingValue:
        """One boot, or why there is none."""
        nothing = self.absent.get(kernel, MissingValue("not booted in this run"))
        return self.boots.get((kernel, name), nothing)


def boot_arms(lab: Lab) -> Booted:
    """Boot what the study needs.

    :raises KeyboardInterrupt: when the user interrupts.
    """
    kernel = lab.image("kernel")
    kernels: dict[KernelName, Path | MissingValue | None] = {"stock": None, "lab": kernel}
    absent: dict[KernelName, MissingValue] = {}
    if not lab.stock:
        # Another kernel stands in for both: the remedies of the lab's are tried on it.
        kernels["stock"] = absent["stock"] = MissingValue("another kernel was asked for")
    elif isinstance(kernel, MissingValue) and not lab.has_own_kernel:
        absent["lab"] = kernel
    alone = "lab" in absent
    remedies = {
        name: chosen(name, quick=lab.quick, alone=alone, architecture=lab.architecture) if name not in absent else []
        for name in KERNELS
    }
    # The ways of timing need a kernel that can be traced: the lab's, and where that is missing the stock one.
    ways_kernel: KernelName = "stock" if isinstance(kernel, MissingValue) else "lab"
    ways = ways_on(quick=lab.quick)
    first: dict[tuple[KernelName, str], RecordOptions | MissingValue] = {}
    for name in (each for each in KERNELS if each not in absent):
        first[name, PLAIN] = options_of(kernels[name])
        for each in remedies[name]:
            if not each.needs_measured:
                first[name, each.name] = _remedy_options(lab, each, kernels[name], None)
    for way in ways:
        first[ways_kernel, way.arm] = options_of(
            kernels[ways_kernel], way.words, commands=way.commands, profile=way.profile
        )
    for population in () if alone else POPULATIONS:
        for count in population.chosen(quick=lab.quick):
            first["lab", population.arm(count)] = options_of(kernel, f"{population.word}={count}")
    boots = _boot(lab, first)
    then: dict[tuple[KernelName, str], RecordOptions | MissingValue] = {}
    for name in KERNELS:
        for each in remedies[name]:
            if each.needs_measured:
                measured = boots.get((name, each.against), MissingValue(f"the arm `{each.against}` was not booted"))
                then[name, each.name] = _remedy_options(lab, each, kernels[name], measured)
    lacking = left_out("lab", quick=lab.quick, alone=alone, architecture=lab.architecture)
    return Booted(boots | _boot(lab, then), remedies, ways, ways_kernel, kernels, absent, lacking)


def _boot(
    lab: Lab, wanted: Mapping[tuple[KernelName, str], RecordOptions | MissingValue]
) -> dict[tuple[KernelName, str], Boot | MissingValue]:
    names = {f"{kernel}-{arm}": (kernel, arm) for kernel, arm in wanted}
    found = lab.boot_all(StudyArm(name, wanted[key]) for name, key in names.items())
    return {key: found[name] for name, key in names.items()}


def _remedy_options(
    lab: Lab, remedy: Remedy, kernel: Path | MissingValue | None, measured: Boot | MissingValue | None
) -> RecordOptions | MissingValue:
    if isinstance(measured, MissingValue):
        return MissingValue(f"its baseline was not booted: {measured.reason}")
    words = remedy.command_line(measured)
    if isinstance(words, MissingValue):
        return words
    overlay = _module(lab, remedy.module, kernel) if remedy.module else None
    if isinstance(overlay, MissingValue):
        return overlay
    options = options_of(kernel, words, commands=_commands(remedy))
    if isinstance(options, MissingValue):
        return options
    return replace(options, cpu=remedy.cpu, memory=remedy.memory, root_as=remedy.root_as, overlay=overlay)


def _module(lab: Lab, module: str, kernel: Path | MissingValue | None) -> Path | MissingValue:
    return write_modules(kernel, module, lab.scratch / f"modules-{module}", architecture=lab.architecture)


def _commands(remedy: Remedy) -> tuple[str, ...]:
    wanted = ((remedy.add_memory, ADD_MEMORY), (remedy.layered, LAYERS), (bool(remedy.module), LOAD))
    return tuple(command for asked, command in wanted if asked)


def options_of(
    kernel: Path | MissingValue | None, words: str = "", *, commands: tuple[str, ...] = (), profile: bool = True
) -> RecordOptions | MissingValue:
    """The choices of one boot.

    :param kernel: none for the distribution's.
    """
    if isinstance(kernel, MissingValue):
        return kernel
    return RecordOptions(
        output=_NOWHERE,
        kernel=kernel,
        append=words,
        guest_commands=(*PROBES, *commands),
        timeout_wall_s=_TIMEOUT_WALL_S,
        profile=profile,
    )
