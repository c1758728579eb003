"""Imports a record and compares what comes out with what a person found in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import firstlight
from firstlight.api import Boot, import_all
from firstlight.errors import FirstlightError
from wild.records import WildRecord

#: Any of these begins userspace in a log of the kernel, in this order.
_USER_MARKS = ("user_start", "initramfs_start", "userspace_start")
_SHARE = 0.01


def faults(record: WildRecord, file: Path, directory: Path) -> list[str]:
    """What is wrong with the import, in words; nothing when all is right.

    :param directory: where the bundles are written.
    """
    try:
        written = import_all([file], output=directory / "record.boot", split=True, force=True)
    except FirstlightError as error:
        return [f"rejected: {error.message.splitlines()[0]}"]
    if len(written) != record.boots:
        return [f"split into {len(written)} boots, not {record.boots}"]
    boots = [firstlight.open(bundle.path) for bundle in written]
    return [*_releases(record, boots), *_userspace(record, boots[0])]


def _releases(record: WildRecord, boots: list[Boot]) -> Iterator[str]:
    read = []
    for boot in boots:
        facts = dict(boot.facts().select("fact", "value").iter_rows())
        read.append(facts.get("kernel.release", ""))
    if record.releases and [each for each in read if each] != list(record.releases):
        yield f"kernels {read}, not {list(record.releases)}"


def _userspace(record: WildRecord, boot: Boot) -> Iterator[str]:
    """A figure is wrong where it lies outside and no doubt is shown; a phase of the kernel must not hide userspace."""
    marks = {
        mark: (time_ns, detail)
        for mark, time_ns, detail in boot.marks().select("mark", "time_ns", "detail").iter_rows()
    }
    said = next((marks[mark] for mark in _USER_MARKS if mark in marks), None)
    if record.userspace_s is None or said is None:
        return
    first_ns = marks["kernel_start"][0] if "kernel_start" in marks else 0
    low, high = record.userspace_s
    at_s = (said[0] - first_ns) / 1e9
    inside = low * (1 - _SHARE) <= at_s <= high * (1 + _SHARE)
    if not inside and not str(said[1]).startswith("inferred"):
        yield f"userspace from {at_s:.6f} s, not {low} to {high} s"
