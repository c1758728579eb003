"""What identifies a machine: left out of a fleet unless it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import polars as pl

#: systemd writes signs of a path that are not letters as `\x2d`; a name is masked in that form, too.
_HYPHEN = r"(?:-|\\x2d|_)"
_HEX = "[0-9a-fA-F]"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_MASKS = (
    # What follows names one disk, one file system or one user's directory: as systemd writes it in names of units.
    rf"(by{_HYPHEN}(?:id|uuid|partuuid|label|partlabel|diskseq)[-/])[^@]*?(\.(?:device|swap|mount|service)|$)",
    r"(\b(?:home|root|media|run-user|run-media)-)[^@]+?(\.(?:mount|automount|swap))",
)
#: The same in descriptions of units, and the users there.
_WORDS = (
    rf"(by{_HYPHEN}(?:id|uuid|partuuid|label|partlabel|diskseq)/)[^\s@]+",
    r"(/(?:home|media|run/user|run/media)/)[^\s@]+",
    r"(\b(?:of|for) [Uu]ser )[^\s@]+",
)
_NUMBERS = (
    rf"{_HEX}{{8}}{_HYPHEN}(?:{_HEX}{{4}}{_HYPHEN}){{3}}{_HEX}{{12}}",
    rf"{_HEX}{{2}}(?:(?::|-|_|\\x3a|\\x2d){_HEX}{{2}}){{5}}(?:(?::|-|_){_HEX}{{2}}){{0,2}}(?![0-9a-zA-Z])",
    # As an interface is named by its address: enx0011aabbccdd.
    rf"(?:(?<=enx)|(?<=wlx)|(?<=wwx)){_HEX}{{12}}",
    rf"(?<![0-9a-zA-Z])(?:0[xX])?(?=[0-9a-fA-F]*[0-9]){_HEX}{{12,}}(?![0-9a-zA-Z])",
    # Addresses of IPv6: all eight numbers, or a gap between some of them; an address of PCI has neither.
    rf"(?<![0-9a-zA-Z:])(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![0-9a-zA-Z])",
    rf"(?<![0-9a-zA-Z:])(?=[0-9a-fA-F:]*[0-9])(?:{_HEX}{{1,4}}:){{1,6}}(?::{_HEX}{{1,4}}){{1,6}}(?![0-9a-zA-Z:])",
    rf"(?<![0-9A-Za-z.])(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z]|\.[0-9])",
)
#: What a unit is an instance of, but for terminals.
_INSTANCE = re.compile(r"@(?!tty|console|hvc)[^@]+?(?=\.[a-z]+$)")
_MASK = re.compile("|".join(f"(?:{pattern})" for pattern in _NUMBERS))
_PARTS = tuple(re.compile(pattern) for pattern in _MASKS)
_PLACES = tuple(re.compile(pattern) for pattern in _WORDS)

#: Facts whose values name one machine.
IDENTIFYING_FACTS = ("system.hostname", "system.machine_id", "boot.id")

_QUOTED = r"""["'<\u201c]?([^\s"'<>(),;\u201c\u201d]+)"""
#: Lines that name one machine or one person: a text that they have, and where in them the name stands. Lines
#: are searched for the texts alone first, which costs a tenth of the time.
_SAID = (
    # The kernel announces the serial number of a device at a port; root hubs have addresses of controllers there.
    ("SerialNumber: ", r"\busb [0-9]+-[0-9.]+: SerialNumber: (\S.{2,}\S)\s*$"),
    # systemd, cloud-init, NetworkManager, hostnamed, avahi, DHCP clients.
    ("ostname", rf"(?i)\bhostname (?:set )?(?:to|is|from|changed to):? {_QUOTED}"),
    ("ostname", rf"\bto hostname {_QUOTED}"),
    ("ostname", rf"(?i)(?<![./_a-z])(?:local[-_]|client[-_])?hostname\s*[=:]\s*{_QUOTED}"),
    ("ostname", rf"\bhostname changed from \S+ to {_QUOTED}"),
    ("ostname", rf"^{_QUOTED[:-1]}) systemd-hostnamed\b"),
    ("ost name", rf"(?i)\bhost name (?:is|to|:) {_QUOTED}"),
    ("host-name", rf"\bhost-name\s*[=:]?\s*{_QUOTED}"),
    ("fqdn", rf"\bfqdn['\"]?\s*[=:]\s*{_QUOTED}"),
    # U-Boot's environment, /proc/cpuinfo, dmidecode, smartd, and what knows a device's number.
    ("serial#", r"\bserial#\s*=\s*(\S+)"),
    ("addr=", r"\b(?:eth[0-9]*|usbnet_(?:dev|host)|bt|wifi|wlan)(?:_?addr|mac)=\s*(\S+)"),
    ("erial", r"(?i)\bserial[ _-](?:number|no\.?)\s*[=:]\s*(\S{4,})"),
    ("erial", r"(?i)\bserial\s+:\s*(\S{4,})"),
    ("Tag: ", r"(?i)\b(?:asset|service) tag:\s*(\S+)"),
    ("S/N", r"\bS/N:?\s*([^\s,;]+)"),
    ("nstance", r"(?i)\binstance[-_]id['\"]?\s*[=:]\s*['\"]?([^\s,'\"]+)"),
    # Who logged in.
    ("Accepted ", r"\bAccepted \S+ for (\S+) from "),
    ("for user ", r"\bsession opened for user ([^\s(]+)"),
    ("of user ", r"\bSession \S+ of user ([^\s]+?)\.?$"),
)
# One expression with all texts takes a third of the time of `contains_any`, which builds its search for each file.
SAYS = pl.col("text").str.contains("|".join(re.escape(needle) for needle in sorted({needle for needle, _ in _SAID})))
"""Whether a line of a log may have one of them."""
_LEAST = 3
#: Names that many machines and users have: they tell none from another, and words of units are made of them.
_COMMON = frozenset({
    "localhost", "(none)", "none", "unknown", "linux", "debian", "ubuntu", "fedora", "buildroot", "openwrt",
    "raspberrypi", "root", "nobody", "default", "not", "static", "transient", "null", "the", "console",
})  # fmt: skip


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
    return _masked(without(name, known))


def without(name: str, known: Iterable[str]) -> str:
    """A name in which each of some texts, as a whole word, is replaced by `*`."""
    for text in known:
        # A short name would be found inside other words.
        pattern = _HYPHEN.join(map(re.escape, re.split("[-_]", text)))
        name = re.sub(rf"(?<![0-9A-Za-z]){pattern}(?![0-9A-Za-z])", "*", name, flags=re.IGNORECASE)
    return name


@lru_cache(maxsize=100_000)
def _masked(name: str) -> str:
    for part in _PARTS:
        name = part.sub(r"\1*\2", name)
    for place in _PLACES:
        name = place.sub(r"\1*", name)
    return _MASK.sub("*", _INSTANCE.sub("@*", name))


def names_said(log: pl.DataFrame) -> pl.DataFrame:
    """Log lines that name a machine, a device or a person, with that name in `said`; other columns stay.

    >>> log = pl.DataFrame({"text": ["usb 1-1: SerialNumber: SN90000001", "usb usb1: SerialNumber: 0000:00:14.0"]})
    >>> names_said(log)["said"].to_list()
    ['SN90000001']
    """
    lines = log.filter(SAYS).to_dicts()
    found = [line | {"said": name} for line in lines for name in _names_in(line["text"])]
    return pl.DataFrame(found, schema=log.schema | {"said": pl.String})


def _names_in(line: str) -> set[str]:
    found = set()
    for needle, pattern in _SAID:
        if needle in line:
            for name in re.findall(pattern, line):
                whole = name.strip(".:")
                found |= {each for each in (whole, whole.partition(".")[0]) if _is_name(each)}
    return found


def _is_name(text: str) -> bool:
    return len(text) >= _LEAST and text.lower() not in _COMMON and not text.isdigit() and any(map(str.isalnum, text))


def names_within(known: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Those names that some of these texts may have, in whatever case and with whatever signs of systemd's.

    The longest come first: a name may be a part of another.

    >>> names_within(["web-01", "db7"], ["report-WEB_01.service"])
    ['web-01']
    """
    whole = _folded("\n".join(texts))
    found = {name for name in known if name and _folded(name) in whole}
    return sorted(found, key=lambda name: (-len(name), name))


def _folded(text: str) -> str:
    return text.lower().replace("\\x2d", "-").replace("_", "-")


def mask_column(frame: pl.DataFrame, column: str, known: Iterable[str] = ()) -> pl.DataFrame:
    """A frame whose column of names is :func:`masked`."""
    names = frame[column].unique().drop_nulls().to_list()
    known = names_within(known, names)
    changed = {name: new for name in names if (new := masked(name, known)) != name}
    return frame.with_columns(pl.col(column).replace(changed)) if changed else frame
