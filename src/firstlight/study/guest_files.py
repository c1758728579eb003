"""What the guest of an arm left in its bundle."""

from __future__ import annotations

from firstlight.bundle.boot import Boot
from firstlight.study.table import MissingValue


def kept_text(boot: Boot, name: str) -> str:
    """A file that the guest left, as text; empty where it left none.

    >>> import firstlight
    >>> kept_text(firstlight.open(bundle), "no-such-file")
    ''
    """
    return (boot.kept(name) or b"").decode("utf-8", "replace")


def kept_number(boot: Boot, name: str) -> int | MissingValue:
    """A number that the guest left alone in a file."""
    text = kept_text(boot, name).strip()
    return int(text) if text.isdecimal() else MissingValue(f"the guest left no `{name}`")


def stamps_of(boot: Boot) -> dict[str, int]:
    """The instants that the guest noted, in nanoseconds of virtual time from power on."""
    return read_stamps(kept_text(boot, "stamps"))


def read_stamps(text: str) -> dict[str, int]:
    """Instants by name; of several of one name the last.

    >>> read_stamps("1200 up\\n5000 read\\nnonsense\\n")
    {'up': 1200, 'read': 5000}
    """
    pairs = (line.partition(" ") for line in text.splitlines())
    return {name: int(counter) for counter, _, name in pairs if counter.isdigit() and name}
