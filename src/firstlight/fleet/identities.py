"""What identifies a machine: left out of a fleet unless it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import polars as pl

#: systemd writes signs of a path that are no letters as `\x2d`; a name is masked in that form, too.
_HYPHEN = r"(?:-|\\x2d|_)"
_HEX = "[0-9a-fA-F]"
_MASKS = (
    # What follows names one disk, one file system or one user's directory.
    rf"(by{_HYPHEN}(?:id|uuid|partuuid|label|partlabel|diskseq)[-/])[^@]*?(\.(?:device|swap|mount|service)|$)",
    r"(\b(?:home|root|media|run-user|run-media)-)[^@]+?(\.(?:mount|automount|swap))",
)
_NUMBERS = (
    rf"{_HEX}{{8}}{_HYPHEN}(?:{_HEX}{{4}}{_HYPHEN}){{3}}{_HEX}{{12}}",
    rf"{_HEX}{{2}}(?:(?::|-|\\x3a|\\x2d){_HEX}{{2}}){{5}}",
    # As an interface is named by its address: enx0011aabbccdd.
    rf"(?:(?<=enx)|(?<=wlx)|(?<=wwx)){_HEX}{{12}}",
    rf"(?<![0-9a-zA-Z])(?=[0-9a-fA-F]*[0-9]){_HEX}{{12,}}(?![0-9a-zA-Z])",
)
#: What a unit is an instance of, but for terminals.
_INSTANCE = re.compile(r"@(?!tty|console|hvc)[^@]+?(?=\.[a-z]+$)")
_MASK = re.compile("|".join(f"(?:{pattern})" for pattern in _NUMBERS))
_PARTS = tuple(re.compile(pattern) for pattern in _MASKS)

#: Facts whose values name one machine.
IDENTIFYING_FACTS = ("system.hostname", "system.machine_id", "boot.id")

#: How the kernel announces the serial number of a device at a port; root hubs have addresses of controllers there.
SERIAL_LINE = r"\busb [0-9]+-[0-9.]+: SerialNumber: (\S.{2,}\S)\s*$"


def masked(name: str, known: Iterable[str] = ()) -> str:
    r"""A name without what identifies a machine, each such part replaced by `*`.

    Replaced are addresses of network cards, UUIDs, long hexadecimal numbers, disks and file systems by their
    identities, directories of users, and what systemd units are instances of.

    :param known: further texts to replace: the machine's host name, for instance.

    >>> masked("dev-disk-by\\x2duuid-0a1b2c3d.device"), masked("enx0011aabbccdd"), masked("getty@tty1.service")
    ('dev-disk-by\\x2duuid-*.device', 'enx*', 'getty@tty1.service')
    >>> masked("backup-web01.service", ["web01"]), masked("user@1000.service"), masked("home-alice.mount")
    ('backup-*.service', 'user@*.service', 'home-*.mount')
    """
    return _masked(_without(name, known))


def _without(name: str, known: Iterable[str]) -> str:
    for text in known:
        # A short name would be found inside other words.
        pattern = _HYPHEN.join(map(re.escape, text.split("-")))
        name = re.sub(rf"(?<![0-9A-Za-z]){pattern}(?![0-9A-Za-z])", "*", name, flags=re.IGNORECASE)
    return name


@lru_cache(maxsize=100_000)
def _masked(name: str) -> str:
    for part in _PARTS:
        name = part.sub(r"\1*\2", name)
    return _MASK.sub("*", _INSTANCE.sub("@*", name))


def serials_in(log: pl.DataFrame) -> pl.DataFrame:
    """Log lines that name a serial number, with that number in `serial`; other columns stay.

    >>> log = pl.DataFrame({"text": ["usb 1-1: SerialNumber: SN90000001", "usb usb1: SerialNumber: 0000:00:14.0"]})
    >>> serials_in(log)["serial"].to_list()
    ['SN90000001']
    """
    return log.with_columns(pl.col("text").str.extract(SERIAL_LINE).alias("serial")).drop_nulls("serial")


def mask_column(frame: pl.DataFrame, column: str, known: Iterable[str] = ()) -> pl.DataFrame:
    """A frame whose column of names is :func:`masked`."""
    known = [text for text in known if text]
    names = frame[column].unique().drop_nulls().to_list()
    changed = {name: new for name in names if (new := masked(name, known)) != name}
    return frame.with_columns(pl.col(column).replace(changed)) if changed else frame
