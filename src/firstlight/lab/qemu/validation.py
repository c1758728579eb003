"""Rejects options that would break the recording, with the reason and a remedy."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence

from firstlight.errors import UsageError
from firstlight.lab.qemu.arguments import plain, properties, read_options
from firstlight.lab.qemu.exactness_rules import OWNED, REFUSALS, STEADY
from firstlight.recipe.isa import Architecture

# Properties that carry what has an option of its own, and so would reach the machine without its digest.
_OWNED_OF_MACHINE = frozenset(
    "accel type pflash0 pflash1 memory-backend firmware kernel initrd append dtb dumpdtb memory smp boot".split()
)


def validate_options(words: Sequence[str], *, live: bool) -> None:
    """Refuse what would break the recording.

    :param words: further arguments of QEMU.
    :param live: whether the recording is live, where only what the launcher itself needs is refused.
    :raises UsageError: naming the option, the reason and the remedy.

    >>> from firstlight.errors import UsageError
    >>> try:
    ...     validate_options(["-device", "virtio-rng-pci"], live=False)
    ... except UsageError as error:
    ...     print(error.report())
    error: `-device virtio-rng-pci` breaks exactness: random bytes complete when the host delivers them
    hint: leave virtio-rng out; `-seed 1` fixes the rest
    """
    for option, value in read_options(words):
        given = f"-{option} {value}".rstrip()
        for refusal in REFUSALS:
            if refusal.matches(option, plain(option, value), live=live):
                verdict = "cannot be given" if refusal.in_live else "breaks exactness"
                raise UsageError(f"`{given}` {verdict}: {refusal.why}", hint=refusal.remedy)
        if not live and option not in STEADY:
            raise UsageError(
                f"`{given}` may break exactness: Firstlight does not know what this option does to a boot",
                hint="leave it out, or record with `--live`",
            )


def validate_machine(machine: str, architecture: Architecture, known: Collection[str] = (), *, live: bool) -> None:
    """Refuse machine types that QEMU does not know, those that mean another machine in another QEMU, and properties
    that break exactness.

    :param known: the names that this QEMU has; empty: not asked.
    :raises UsageError: naming the machine type.

    >>> from firstlight.recipe.isa import DEFAULT
    >>> validate_machine("pc-q35-7.2,hpet=off", DEFAULT, live=False)
    """
    given = [text for name, text in properties("machine", f"type={machine}" if "type=" not in machine else machine)]
    name = given[0] if given else ""
    if known and name not in known:
        near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
        hint = "did you mean " + " or ".join(f"`{each}`" for each in near) + "? " if near else ""
        raise UsageError(
            f"this QEMU does not know the machine type `{name}`",
            where="--machine",
            hint=f"{hint}`{architecture.qemu_binary} -machine help` lists them",
        )
    if live:
        return
    if not architecture.is_versioned_machine(name) and not architecture.is_small(name):
        raise UsageError(
            f"`--machine {name}` breaks exactness: it has no version, so it differs between versions of QEMU",
            hint=f"use a versioned type such as `{architecture.machine}`",
        )
    for pair in machine.split(",")[1:]:
        if pair.split("=")[0] in _OWNED_OF_MACHINE:
            raise UsageError(f"`--machine ...,{pair}` breaks exactness: {OWNED}", hint="leave that property out")


def validate_cpu(cpu: str, architecture: Architecture, *, live: bool) -> None:
    """Refuse CPU models that cannot run the kernel, and those whose features depend on the host or on QEMU's version.

    :raises UsageError: naming the model.

    >>> from firstlight.recipe.isa import DEFAULT
    >>> validate_cpu("Nehalem-v1,+rdrand", DEFAULT, live=False)
    """
    name, *features = cpu.split(",")
    if not name.strip():
        raise UsageError(f"`--cpu {cpu}` names no CPU model", hint=f"use a named model such as `{architecture.cpu}`")
    if re.sub(r"-v\d+$", "", name) in architecture.narrow_cpus:
        raise UsageError(
            f"`--cpu {name}` cannot run this kernel: it is a 32-bit processor",
            hint=f"use a 64-bit model such as `{architecture.cpu}`",
        )
    if live:
        return
    if name in architecture.unsteady_cpus:
        raise UsageError(
            f"`--cpu {name}` breaks exactness: its features depend on the host or on QEMU's version",
            hint=f"use a named model such as `{architecture.cpu}`",
        )
    for feature in (each for each in features if re.match(r"(host-|migratable|kvm|hv[-_])", each.lstrip("+-"))):
        raise UsageError(f"`--cpu ...,{feature}` breaks exactness: it depends on the host", hint="leave it out")
