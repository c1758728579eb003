"""The arguments of a QEMU command line: options, their values, and the fields of a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from firstlight.errors import UsageError

# Options of QEMU that stand alone; every other one takes the next word as its value.
_WITHOUT_VALUE = frozenset(
    "h help version S s snapshot daemonize nographic enable-kvm no-acpi no-hpet no-reboot no-shutdown nodefaults "
    "no-user-config no-fd-bootchk full-screen usb preconfig only-migratable semihosting mem-prealloc portrait curses "
    "enable-fips enable-sync-profile win2k-hack sdl singlestep one-insn-per-tb xen-attach xen-domid-restrict "
    "async-teardown audio-help perfmap jitdump".split()
)

# The property that a first word without `=` stands for.
_IMPLIED = {
    "device": "driver",
    "object": "qom-type",
    "chardev": "backend",
    "netdev": "type",
    "nic": "type",
    "net": "type",
    "display": "type",
    "tpmdev": "type",
    "audio": "driver",
    "audiodev": "driver",
    "accel": "accel",
    "smp": "cpus",
    "option-rom": "romfile",
    "fw_cfg": "name",
    "boot": "order",
    "acpitable": "",
    "smbios": "",
}


def read_options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair the options of a QEMU command line with their values (empty for options that take none).

    No option has a blank in its name: a word such as `-smp 1` is an option with its value.

    :raises UsageError: for a word that is not an option, or an option without its value.

    >>> list(read_options(["-usb", "--name", "lab", "-smbios type=1"]))
    [('usb', ''), ('name', 'lab'), ('smbios', 'type=1')]
    """
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word.strip("- ") == "":
            raise UsageError(
                f"`{word}` is not an option of QEMU", where="--qemu-option", hint="pass disk images with `--rootfs`"
            )
        name, *inline = word.split(None, 1)
        option = name[2:] if name.startswith("--") else name[1:]
        if option in _WITHOUT_VALUE:
            if inline:
                raise UsageError(f"`{name}` takes no value", where="--qemu-option", hint=f"give `{name}` alone")
            yield option, ""
            continue
        value = inline[0] if inline else next(rest, None)
        if value is None:
            raise UsageError(
                f"`{word}` lacks its value",
                where="--qemu-option",
                hint=f"give both: `--qemu-option {name} --qemu-option VALUE`",
            )
        yield option, value


def written(options: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The words of options, as QEMU takes them.

    >>> written([("usb", ""), ("name", "lab")])
    ('-usb', '-name', 'lab')
    """
    return tuple(word for option, value in options for word in ([f"-{option}", value] if value else [f"-{option}"]))


def raw_parts(value: str) -> list[str]:
    """A value between its commas, as it is written; a doubled comma belongs to a part.

    >>> raw_parts("loader,file=/a,,b.bin")
    ['loader', 'file=/a,,b.bin']
    """
    return re.findall(r"(?:[^,]|,,)+", value)


def properties(option: str, value: str) -> list[tuple[str, str]]:
    """The properties in a value, in their order; a comma within one is doubled.

    >>> properties("device", "loader,file=/a,,b.bin,addr=0x100")
    [('driver', 'loader'), ('file', '/a,b.bin'), ('addr', '0x100')]
    """
    pairs = []
    for place, part in enumerate(raw_parts(value)):
        name, equals, text = part.replace(",,", ",").partition("=")
        if equals:
            pairs.append((name, text))
        else:
            pairs.append((_IMPLIED.get(option, ""), name) if place == 0 else (name, ""))
    return pairs


def plain(option: str, value: str) -> str:
    """A value with what it is about in front and without that property's name, as most people write it.

    >>> plain("device", "id=r,driver=virtio-rng-pci"), plain("object", "rng-random,id=r")
    ('virtio-rng-pci,id=r', 'rng-random,id=r')
    """
    implied = _IMPLIED.get(option)
    if not implied or not re.search(rf"(^|,){re.escape(implied)}=", value):
        return value
    pairs = properties(option, value)
    # Of a property that is given twice QEMU takes the last.
    first = [text for name, text in pairs if name == implied][-1]
    others = [f"{name}={text}".replace(",", ",,") for name, text in pairs if name != implied]
    return ",".join([first.replace(",", ",,"), *others])
