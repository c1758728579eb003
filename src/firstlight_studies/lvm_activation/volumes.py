"""Physical volumes that are there before the boot: how many, in which groups, and the boot that makes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from firstlight import RecordOptions
from firstlight.study import Disk, Progress, prepare
from firstlight_studies.lvm_activation.gpt import disk_size, write_table

Layout = Literal["groups", "group"]
"""`groups`: N groups of one physical volume each; `group`: one group of N. Either has one logical volume on each."""

#: A physical volume: 2 MiB of labels and metadata (those of one group of a thousand need 1.3), and sixteen extents.
MIB_EACH = 3
#: Less than the 255 that a disk can have.
PER_DISK = 250

#: Of the preparing guest, whatever those have that are measured.
_MEMORY = "1G"


@dataclass(frozen=True)
class Volumes:
    """So many physical volumes, in groups."""

    count: int
    layout: Layout

    def disks(self) -> tuple[int, ...]:
        """How many of them each disk has.

        >>> Volumes(300, "groups").disks()
        (250, 50)
        """
        full, rest = divmod(self.count, PER_DISK)
        return (PER_DISK,) * full + ((rest,) if rest else ())

    def words(self, setting: str, *, trace: bool = False) -> str:
        """Words of the kernel's command line that say what the guest is to do with them.

        >>> Volumes(300, "group").words("event")
        'systemd.unit=lvm-study.target lvm.study=event,group,300 lvm.disks=250,50'
        """
        disks = ",".join(map(str, self.disks()))
        traced = ",trace" if trace else ""
        return f"systemd.unit=lvm-study.target lvm.study={setting},{self.layout},{self.count}{traced} lvm.disks={disks}"


def prepared_disks(
    volumes: Volumes, guest: RecordOptions, progress: Progress | None = None, *, fresh: bool = False
) -> tuple[Path, ...]:
    """The disks with these volumes, made by lvm2 itself in a guest when they are not there already.

    :param guest: what is booted, without its words.
    :param fresh: make them again.
    :raises LabError: when the guest cannot be booted, or lvm2 fails in it.
    """
    options = replace(
        guest,
        memory=_MEMORY,
        append=f"{guest.append} {volumes.words('prepare')}",
        timeout_wall_s=3600.0,
        timeout_virtual_s=None,
    )
    disks = [
        Disk(f"pv{number}.img", disk_size(parts, MIB_EACH), _table(parts, number), f"gpt {parts} {MIB_EACH} {number}")
        for number, parts in enumerate(volumes.disks(), 1)
    ]
    return prepare(options, disks, progress, fresh=fresh)


def _table(parts: int, number: int) -> Callable[[Path], None]:
    return partial(write_table, partitions=parts, mib_each=MIB_EACH, disk=number)
