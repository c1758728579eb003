"""Mounts, file systems, files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from firstlight.advise.health.check import Found, NoEvidenceError, both, both_listed, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.differences import lost
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthDifference
from firstlight.quantities import counted

#: Options of a mount that follow the size of the memory or the number of processes, not the system's design.
_SIZES = re.compile(r"(?:^|(?<=[ ,]))(?:size|nr_inodes|nr_blocks|fd|pgrp|minproto|maxproto|timeout|pipe_ino)=[^,]*,?")
#: A journal that was not replayed: what it holds is lost with the first write.
_NO_REPLAY = re.compile(r"(?:^|[ ,])(?:noload|norecovery|rescue=nologreplay|nologreplay)(?:,|$)")
_TROUBLE = re.compile(
    r"EXT[234]-fs error|EXT4-fs \([^)]*\): (?:warning|error|.*recovery required|.*write access unavailable)"
    r"|XFS \([^)]*\): (?:Corruption|Metadata|log mount/recovery failed)|BTRFS (?:error|critical)"
    r"|I/O error|Remounting filesystem read-only|re-mounted.* ro|JBD2: .*(?:error|failed)"
)


@check(CheckId.MOUNT, "mounts")
def mounts(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every mount of the baseline is there, of the same device and type, with the same options."""
    now, before = both_listed(boot, baseline, "mount.", "mounts")
    found = lost(before, now, "mount.")
    for point in sorted(before.keys() & now.keys()):
        if _settled(before[point]) != _settled(now[point]):
            found.append(HealthDifference(f"mount.{point}", before[point], now[point]))
    return found, counted(len(now), "mount")


def _settled(mount: str) -> str:
    return ",".join(sorted(filter(None, _SIZES.sub("", mount).strip(",").split(","))))


@check(CheckId.FS, "file systems")
def file_systems(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No file system counted or logged an error, and none was mounted without the replay of its journal."""
    mounted = boot.group("mount.")
    if not mounted and not boot.messages:
        raise NoEvidenceError("the evidence has neither mounts nor a log")
    found = [
        HealthDifference(f"mount.{point}", None, value) for point, value in mounted.items() if _NO_REPLAY.search(value)
    ]
    counts = boot.group("filesystem.errors.")
    found += [
        HealthDifference(f"filesystem.errors.{name}", "0", value) for name, value in counts.items() if value != "0"
    ]
    known = set() if baseline is None else set(baseline.messages)
    found += [
        HealthDifference(text, None, "")
        for text in dict.fromkeys(boot.messages)
        if _TROUBLE.search(text) and text not in known
    ]
    if not found and not mounted:
        raise NoEvidenceError("no error in the log; the evidence lists no mounts")
    sound = sum(value == "0" for value in counts.values())
    return found, f"{counted(sound, 'ext4 file system')} counted no error" if counts else "no error in the log"


@check(CheckId.CONTENT, "files")
def files(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No file of a mounted device is lost or empty: what a journal held and no check of a file system sees."""
    now, before = both(_files, boot, baseline, "lists no files", "that lists files")
    found = [
        HealthDifference(f"file {name}", f"{before[name]} bytes", None) for name in sorted(before.keys() - now.keys())
    ]
    for name in sorted(before.keys() & now.keys()):
        if now[name] == "0" and before[name] != "0":
            found.append(HealthDifference(f"file {name}", f"{before[name]} bytes", "empty"))
    return found, counted(len(now), "file")


def _files(evidence: HealthEvidence) -> Mapping[str, str] | None:
    if (text := evidence.facts.get("files")) is None:
        return None
    pairs = (line.rpartition("\t") for line in text.split("\n") if "\t" in line)
    return {path: size for path, _, size in pairs}
