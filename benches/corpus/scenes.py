"""What surrounds the kernel's messages on a console, and how many boots a record has: changes of the events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from corpus.lines import Event
from corpus.truth import Truth

Scene = Callable[[Sequence[Event], Random], list[Event]]

#: Seconds of the loader's own clock in front of some lines, as loaders print them.
_LOADER = (
    "U-Boot SPL 2024.01 (Jan 02 2024 - 03:04:05 +0000)",
    "[   0.114] DDR4 init ok, 2048 MiB",
    "[   0.226] Trying to boot from MMC1",
    "NOTICE:  BL31: v2.10.0(release):v2.10.0",
    "",
    "U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)",
    "[   0.010] DRAM:  2 GiB",
    "[   0.412] Core:  211 devices, 27 uclasses, devicetree: separate",
    "MMC:   mmc@30b40000: 1",
    "Loading Environment from MMC... OK",
    "In:    serial",
    "Net:   eth0: ethernet@30be0000",
    "Hit any key to stop autoboot:  0 ",
    "12345678 bytes read in 312 ms (37.7 MiB/s)",
    "## Flattened Device Tree blob at 43000000",
    "Starting kernel ...",
    "",
)
#: What the kernel prints last before userspace.
_LAST_STEPS = ("Freeing unused kernel", "Run /")
_SERVICES = ("syslogd", "klogd", "mdev", "network", "dropbear", "crond")


def events_of(truth: Truth) -> list[Event]:
    """Everything that the console showed, in order; what has no stamp is as late as the message before it.

    What programs print is no earlier than the first instruction of userspace.
    """
    stamps = [(number, one.stamp_us) for number, one in enumerate(truth.messages) if one.stamp_us is not None]
    user = max((number for number, stamp_us in stamps if stamp_us <= truth.user_us), default=-1) + 1
    events, last = [], 0
    for number, message in enumerate(truth.messages):
        if message.stamp_us is not None:
            last = message.stamp_us
        elif number >= user:
            last = max(last, truth.user_us)
        events.append(Event(message.text, message.stamp_us, last, number, is_kernel=message.stamp_us is not None))
    return events


def _plain(events: Sequence[Event], chance: Random) -> list[Event]:
    return list(events)


def _outsider(text: str, host_us: int, boot: int = 0, stamp_us: int | None = None) -> Event:
    return Event(text, stamp_us, host_us, boot=boot, is_kernel=False)


def _loader(events: Sequence[Event], chance: Random) -> list[Event]:
    start = events[0].host_us - 150_000 * len(_LOADER)
    boot = events[0].boot
    return [_outsider(text, start + 150_000 * place, boot) for place, text in enumerate(_LOADER)] + list(events)


def _in_userspace(events: Sequence[Event], lines: Sequence[Event]) -> list[Event]:
    """Lines in front of the first one of a program, or else after everything."""
    kernel = max((n for n, one in enumerate(events) if one.text.startswith(_LAST_STEPS)), default=-1)
    at = next((n for n, one in enumerate(events) if n > kernel and not one.is_kernel), len(events))
    host_us = events[at].host_us if at < len(events) else events[-1].host_us
    return [*events[:at], *(replace(line, host_us=host_us) for line in lines), *events[at:]]


def _userspace_lines(events: Sequence[Event], chance: Random) -> list[Event]:
    return _in_userspace(events, [_outsider(f"Starting {name}: OK", 0) for name in _SERVICES])


def _second_clock(events: Sequence[Event], chance: Random) -> list[Event]:
    """Another program stamps its lines by its own clock, which began 45 s earlier."""
    at = next((one.stamp_us for one in reversed(events) if one.stamp_us is not None), 0) + 45_000_000
    lines = [
        _outsider(
            f"cloud-init[{512 + number}]: Cloud-init v. 23.4 running stage {number}", 0, stamp_us=at + number * 250_000
        )
        for number in range(4)
    ]
    return _in_userspace(events, lines)


def _firmware_banner(events: Sequence[Event], chance: Random) -> list[Event]:
    """Firmware prints its banner while the kernel runs, as coreboot's handler of management interrupts does."""
    at = len(events) // 3
    banner = "coreboot-4.22-123-g0123456 Mon Jan 02 03:04:05 UTC 2024 x86_32 smm starting (log level: 7)..."
    return [*events[:at], _outsider(banner, events[at].host_us), *events[at:]]


def _no_run_line(events: Sequence[Event], chance: Random) -> list[Event]:
    words = ("Run /", "  with ", "    /init", "    HOME=", "    TERM=")
    return [one for one in events if not one.text.startswith(words)]


def _two_boots(events: Sequence[Event], chance: Random) -> list[Event]:
    return [*events, *(replace(event, boot=1) for event in events)]


def _reset(events: Sequence[Event], chance: Random) -> list[Event]:
    """The machine resets at three fifths of the boot, and the loader starts it again."""
    again = [replace(event, boot=1) for event in events]
    return [*events[: len(events) * 3 // 5], *_loader(again, chance)]


SCENES: Mapping[str, Scene] = {
    "loader in front": _loader,
    "userspace lines": _userspace_lines,
    "second clock": _second_clock,
    "firmware's banner": _firmware_banner,
    "no `Run`": _no_run_line,
    "two boots": _two_boots,
    "reset": _reset,
}
