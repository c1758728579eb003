"""The options that are safe to use from a recipe of another machine: they name no file, no program and no back end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args, get_type_hints

from firstlight.errors import UsageError
from firstlight.lab.qemu.arguments import properties, read_options
from firstlight.lab.storage.model import models
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import architectures

_ALONE = frozenset("usb no-acpi no-hpet no-fd-bootchk nodefaults no-user-config no-reboot".split())
_NONE = frozenset("net nic display vga parallel audio".split())
"""Options that may say that there is none of what they would add."""
_TEXTS = frozenset({"name", "uuid"})
_PROPERTIES: Mapping[str, frozenset[str]] = {
    "smbios": frozenset(
        "type vendor version date release uefi manufacturer product serial uuid sku family asset location sock_pfx "
        "part max-speed current-speed processor-id loc_pfx bank speed value".split()
    ),
    "fw_cfg": frozenset({"name", "string"}),
    "boot": frozenset({"order", "once", "menu", "strict", "reboot-timeout"}),
    "watchdog-action": frozenset({""}),
}
"""Options of which only these properties are taken."""
_DEVICES = frozenset(
    "pcie-root-port pci-bridge pcie-pci-bridge ioh3420 x3130-upstream xio3130-downstream i82801b11-bridge pxb pxb-pcie "
    "edu pci-testdev isa-debug-exit pvpanic pvpanic-pci i6300esb ib700 vmcoreinfo vmgenid qemu-xhci nec-usb-xhci "
    "usb-ehci ich9-usb-ehci1 piix3-usb-uhci usb-hub virtio-balloon-pci virtio-scsi-pci ich9-ahci".split()
)
"""Devices that take nothing from the host."""
_DEVICE_PROPERTY = r"driver|id|bus|addr|chassis|slot|port|multifunction|iobase|iosize|guid|ports|p2|p3"
_PATHS = tuple(
    name
    for name, kind in get_type_hints(Choices).items()
    if Path in get_args(kind) and name not in ("kernel", "initrd", "qemu")
)
"""Choices that are paths, except those that the caller finds by their digests or takes from this machine."""
_WORD = r"[A-Za-z0-9._+-]+"
_MACHINE = re.compile(rf"{_WORD}(,[a-z0-9-]+=(on|off))*")
_CPU = re.compile(rf"{_WORD}(,[+-]?[A-Za-z0-9_.-]+(=[A-Za-z0-9_.-]+)?)*")
#: What names a program or a library: never taken from a bundle that was not recorded here, not even a trusted one.
_PROGRAMS = frozenset({"plugin"})


def questionable(chosen: Choices) -> list[str]:
    """What of a stranger's choices names files, runs commands, or may reach beyond the guest, in words.

    Kernel, initramfs and QEMU are not among it: the caller does not open these paths.

    >>> questionable(Choices(append="quiet", cpu="EPYC-v1,+rdrand", qemu_options=("-smbios", "type=1,serial=7")))
    []
    >>> questionable(Choices(rootfs="/home/a", qemu_options=("-debugcon", "file:/home/a/x")))
    ['`--rootfs /home/a`', 'QEMU option `-debugcon file:/home/a/x`']
    """
    found = []
    if chosen.rootfs not in (None, "debian"):
        found.append(f"`--rootfs {chosen.rootfs}`")
    if chosen.loader is not None and all(chosen.loader not in each.loaders for each in architectures().values()):
        found.append(f"`--loader {chosen.loader}`")
    if chosen.storage is not None and chosen.storage not in models():
        found.append(f"`--storage {chosen.storage}`")
    paths = ((name, getattr(chosen, name)) for name in _PATHS)
    found += [f"`--{name.replace('_', '-')} {path}`" for name, path in paths if path is not None]
    found += [f"guest command `{command}`" for command in chosen.guest_commands]
    if chosen.machine is not None and not _MACHINE.fullmatch(chosen.machine):
        found.append(f"`--machine {chosen.machine}`")
    if chosen.cpu is not None and not _CPU.fullmatch(chosen.cpu):
        found.append(f"`--cpu {chosen.cpu}`")
    return found + _questionable_options(chosen.qemu_options)


def programs(chosen: Choices) -> list[str]:
    """What of choices would load a program into QEMU, in words; nobody may be trusted with it.

    >>> programs(Choices(qemu_options=("-plugin", "/tmp/x.so", "-usb")))
    ['QEMU option `-plugin /tmp/x.so`']
    """
    try:
        options = list(read_options(chosen.qemu_options))
    except UsageError:
        return []
    return [f"QEMU option `-{option} {value}`" for option, value in options if option in _PROGRAMS]


def _questionable_options(words: tuple[str, ...]) -> list[str]:
    try:
        options = list(read_options(words))
    except UsageError as error:
        return [error.message]
    strange = [f"-{option} {value}".rstrip() for option, value in options if not is_harmless(option, value)]
    return [f"QEMU option `{each}`" for each in strange]


def is_harmless(option: str, value: str) -> bool:
    """Whether an option of QEMU names no file, no program and no back end.

    >>> is_harmless("device", "pvpanic"), is_harmless("device", "loader,file=/etc/passwd")
    (True, False)
    """
    if option in _ALONE:
        return True
    if option in _NONE:
        return value == "none"
    if option in _TEXTS:
        return re.fullmatch(_WORD, value) is not None
    given = properties(option, value)
    if option == "device":
        drivers = [text for name, text in given if name == "driver"]
        named = all(re.fullmatch(_DEVICE_PROPERTY, name) and "/" not in text for name, text in given)
        return bool(drivers) and set(drivers) <= _DEVICES and named
    known = _PROPERTIES.get(option)
    return known is not None and all(name in known for name, _ in given)
