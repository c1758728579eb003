"""Refusing what would break the recording, by name, with the reason and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from firstlight.errors import UsageError
from firstlight.lab.architecture import Architecture
from firstlight.lab.refusals import OWNED, REFUSALS

# Options of QEMU that stand alone; every other one takes the next word as its value.
_WITHOUT_VALUE = frozenset(
    "h help version S s snapshot daemonize nographic enable-kvm no-acpi no-hpet no-reboot no-shutdown nodefaults "
    "no-user-config no-fd-bootchk full-screen usb preconfig only-migratable semihosting mem-prealloc "
    "qtest-log enable-fips enable-sync-profile win2k-hack portrait curses sdl singlestep xen-attach".split()
)


def read_options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair the options of a QEMU command line with their values (empty for options that take none).

    :raises UsageError: for a word that is no option, or an option without its value.

    >>> list(read_options(["-usb", "--name", "lab", "-smbios", "type=1"]))
    [('usb', ''), ('name', 'lab'), ('smbios', 'type=1')]
    """
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word.strip("-") == "":
            raise UsageError(
                f"`{word}` is no option of QEMU", where="--qemu-option", hint="disk images go in by `--rootfs`"
            )
        option = word[2:] if word.startswith("--") else word[1:]
        if option in _WITHOUT_VALUE:
            yield option, ""
            continue
        value = next(rest, None)
        if value is None:
            raise UsageError(f"`{word}` lacks its value", where="--qemu-option", hint="give both, as QEMU takes them")
        yield option, value


def refuse_options(words: Sequence[str], *, live: bool) -> None:
    """Refuse what would break the recording.

    :param words: further words of QEMU's command line.
    :param live: whether the recording is live, where only what the launcher itself needs is refused.
    :raises UsageError: naming the option, the reason and the remedy.

    >>> from firstlight.errors import UsageError
    >>> try:
    ...     refuse_options(["-device", "virtio-rng-pci"], live=False)
    ... except UsageError as error:
    ...     print(error.report())
    error: `-device virtio-rng-pci` breaks exactness: random bytes complete when the host delivers them
    hint: leave virtio-rng out; `-seed 1` fixes the rest
    """
    for option, value in read_options(words):
        for refusal in REFUSALS:
            if refusal.matches(option, value, live=live):
                given = f"-{option} {value}".rstrip()
                verdict = "cannot be given" if refusal.in_live else "breaks exactness"
                raise UsageError(f"`{given}` {verdict}: {refusal.why}", hint=refusal.remedy)


def refuse_machine(machine: str, architecture: Architecture, *, live: bool) -> None:
    """Refuse machine types that mean another machine in another QEMU, or properties that break exactness.

    :raises UsageError: naming the machine type.

    >>> from firstlight.lab.architecture import X86_64
    >>> refuse_machine("pc-q35-7.2,hpet=off", X86_64, live=False)
    """
    name, *properties = machine.split(",")
    if live:
        return
    if not architecture.is_versioned_machine(name):
        raise UsageError(
            f"`--machine {name}` breaks exactness: it has no version, and is another machine in another QEMU",
            hint=f"use a versioned type such as `{architecture.machine}`",
        )
    for given in properties:
        if given.split("=")[0] in {"accel", "pflash0", "pflash1", "memory-backend", "type"}:
            raise UsageError(f"`--machine ...,{given}` breaks exactness: {OWNED}", hint="leave that property out")


def refuse_cpu(cpu: str, architecture: Architecture, *, live: bool) -> None:
    """Refuse CPU models whose features depend on the host or on QEMU's version.

    :raises UsageError: naming the model.

    >>> from firstlight.lab.architecture import X86_64
    >>> refuse_cpu("Nehalem-v1,+rdrand", X86_64, live=False)
    """
    name, *features = cpu.split(",")
    if live:
        return
    if name in architecture.unsteady_cpus:
        raise UsageError(
            f"`--cpu {name}` breaks exactness: its features depend on the host or on QEMU's version",
            hint=f"use a named model such as `{architecture.cpu}`",
        )
    for feature in (each for each in features if re.match(r"(host-|migratable|kvm|hv[-_])", each.lstrip("+-"))):
        raise UsageError(f"`--cpu ...,{feature}` breaks exactness: it depends on the host", hint="leave it out")
