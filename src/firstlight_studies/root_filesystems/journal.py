"""A journal that was left dirty by a crash: replayed, left alone, or deferred, and what became of the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import copyfile

from firstlight import RecordOptions
from firstlight.study import (
    DEFAULT,
    Boot,
    Disk,
    Field,
    KernelRoot,
    Lab,
    MissingValue,
    Progress,
    StudyArm,
    Table,
    Value,
    attach,
    first_missing,
    kept_text,
    prepare,
    stamps_of,
)
from firstlight_studies.root_filesystems.arms import TIMEOUT_WALL_S, Roots
from firstlight_studies.root_filesystems.content import KEEP, LATE, SYNCED, count_whole, script
from firstlight_studies.root_filesystems.measures import FilesystemTimings


@dataclass(frozen=True)
class Journal:
    """A file system with a journal."""

    kind: str
    no_replay: str
    """The option of a mount that leaves the journal alone."""
    said: str
    """Lines of the kernel's that are about it."""


JOURNALS = (
    Journal("ext3", "noload", r"EXT4-fs|JBD2"),
    Journal("ext4", "noload", r"EXT4-fs|JBD2"),
    Journal("xfs", "norecovery", r"XFS"),
)

_MARK = "study step"


def _write(folder: str, count: int) -> str:
    return f"mkdir {folder}; i=1; while [ $i -le {count} ]; do seq $i 7 $((i*40)) >{folder}/$i; i=$((i+1)); done"


def crash_commands(journal: Journal) -> tuple[str, ...]:
    """What the preparing guest does: it writes, syncs some of it, and resets the machine.

    `sync FILE`, an fsync, commits the journal, and does not write in place what is in it: that is left to the replay.
    """
    lines = (
        "mkdir -p /mnt",
        f"mount -t {journal.kind} /dev/pmem0 /mnt",
        _write("/mnt/srv/synced", SYNCED),
        "sync /mnt/srv/synced/* /mnt/srv/synced /mnt/srv",
        _write("/mnt/srv/late", LATE),
        "echo prepared >/dev/console",
        "sleep 0.01",
        "echo b >/proc/sysrq-trigger",
    )
    return (script(lines),)


def dirty_image(
    kernel: Path | None, clean: KernelRoot, journal: Journal, progress: Progress, *, fresh: bool = False
) -> Path:
    """The root of a kind as a crash left it, made once.

    :param clean: as it was before.
    :param fresh: make it again.
    :raises FirstlightError: when the guest does not come as far as the crash.
    """
    disk = Disk(f"dirty.{journal.kind}", clean.size, lambda path: _fill(clean.path, path), clean.digest)
    return prepare(crash_options(kernel, journal), [disk], progress, crash=True, fresh=fresh)[0]


def crash_options(kernel: Path | None, journal: Journal) -> RecordOptions:
    """What the preparing guest boots."""
    return RecordOptions(
        output=Path("a.boot"), kernel=kernel, guest_commands=crash_commands(journal), timeout_wall_s=TIMEOUT_WALL_S
    )


def dirty_images(roots: Roots, lab: Lab, journals: Sequence[Journal]) -> dict[str, Path | MissingValue]:
    """By kind, every root as a crash left it, or why there is none."""
    if isinstance(roots.kernel, MissingValue):
        return {journal.kind: roots.kernel for journal in journals}
    found: dict[str, Path | MissingValue] = {}
    makers: dict[str, Callable[[Progress], Path]] = {}
    names = {journal.kind: f"dirty-{journal.kind}" for journal in journals}
    for journal in journals:
        if isinstance(clean := roots.image(journal.kind), MissingValue):
            found[journal.kind] = clean
        else:
            makers[names[journal.kind]] = partial(dirty_image, roots.kernel, clean, journal, fresh=lab.fresh)
    made = lab.prepare_all(makers, crash_options(roots.kernel, journals[0]))
    return found | {kind: made[name] for kind, name in names.items() if name in made}


def _fill(source: Path, destination: Path) -> None:
    copyfile(source, destination)


def root_arms(roots: Roots, journal: Journal, dirty: Path | MissingValue) -> list[StudyArm]:
    """Boots with the dirty image as the root: replayed, and not."""
    names = {"": "dirty", f"rootflags={journal.no_replay}": f"dirty-{journal.no_replay}"}
    arms = []
    for words, name in names.items():
        options: RecordOptions | MissingValue = dirty if isinstance(dirty, MissingValue) else replace(
            roots.options(journal.kind, words), rootfs=str(dirty), overlay=None, guest_commands=(),
            memory=DEFAULT.default_memory,  # of a given root it would be another
        )  # fmt: skip
        arms.append(StudyArm(f"{journal.kind}-{name}", options))
    return arms


def _step(name: str, commands: str) -> str:
    """A step: its line in the kernel's log, its instants, its exit code and the files that are whole after it."""
    counts = f"$({count_whole('/usr/share/synced.md5', '/mnt')}) $({count_whole('/usr/share/late.md5', '/mnt')})"
    return (
        f"echo '{_MARK} {name}' >/dev/kmsg; /init stamp '{name} begin'; {commands}; code=$?; /init stamp '{name} end'; "
        f'echo "{name} $code {counts}" >>{KEEP}/steps; true'
    )


def replay_commands(journal: Journal) -> tuple[str, ...]:
    """What is tried, each on an image of its own as the crash left it."""
    mount = f"mount -t {journal.kind}"
    plain, late, frozen = "/dev/pmem0", "/dev/pmem1", "/dev/pmem2"
    return (
        f"mkdir -p {KEEP} /mnt",
        _step("replay", f"{mount} -o ro {plain} /mnt"),
        "umount /mnt",
        _step("again", f"{mount} -o ro {plain} /mnt"),
        "umount /mnt",
        _step("postponed", f"{mount} -o ro,{journal.no_replay} {late} /mnt"),
        _step("remount", "mount -o remount,rw /mnt"),
        "umount /mnt",
        _step("next", f"{mount} -o ro {late} /mnt"),
        "umount /mnt || true",
        _step("drive", f"blockdev --setro {frozen}; {mount} -o ro {frozen} /mnt"),
        "umount /mnt 2>/dev/null || true",
        _step("drive-frozen", f"{mount} -o ro,{journal.no_replay} {frozen} /mnt"),
        "umount /mnt || true",
    )


STEPS = {
    "replay": "mounted read-only: the journal is replayed",
    "again": "unmounted, and mounted again",
    "postponed": "mounted read-only, without replay",
    "remount": "then remounted for writing, as was done then",
    "next": "unmounted, and mounted again",
    "drive": "mounted from a drive that cannot be written to",
    "drive-frozen": "the same, without replay",
}


def replay_arm(roots: Roots, journal: Journal, dirty: Path | MissingValue) -> StudyArm:
    """One boot that tries every way to deal with the journal."""
    name = f"{journal.kind}-replay"
    if isinstance(dirty, MissingValue) or isinstance(roots.kernel, MissingValue):
        return StudyArm(name, first_missing(dirty, roots.kernel))
    options = RecordOptions(
        output=Path("a.boot"),
        kernel=roots.kernel,
        overlay=roots.content,
        guest_commands=replay_commands(journal),
        qemu_options=attach([dirty, dirty, dirty]),
        timeout_wall_s=TIMEOUT_WALL_S,
    )
    return StudyArm(name, options)


@dataclass(frozen=True)
class Tried:
    """How one step went."""

    code: int
    synced: int
    late: int
    took: int | MissingValue
    """From before the command to after it, in nanoseconds."""
    said: tuple[str, ...]
    """What the kernel said of it."""


def tried(boot: Boot, journal: Journal) -> dict[str, Tried]:
    """What the steps of a boot gave, by their names."""
    stamps = stamps_of(boot)
    said = _said(boot.log()["text"].to_list(), journal.said)
    found = {}
    for line in kept_text(boot, "steps").splitlines():
        fields = line.split()
        if len(fields) != 4 or not all(field.isdigit() for field in fields[1:]):
            continue
        name, code, synced, late = fields[0], *map(int, fields[1:])
        begin, end = stamps.get(f"{name} begin"), stamps.get(f"{name} end")
        took = end - begin if begin is not None and end is not None else MissingValue("the guest left no stamps")
        found[name] = Tried(code, synced, late, took, tuple(said.get(name, ())))
    return found


def _said(lines: list[str], pattern: str) -> dict[str, list[str]]:
    """What the kernel said from each step's line to the next."""
    step, found = "", dict[str, list[str]]()
    for line in lines:
        text = re.sub(r"^\[ *\d+\.\d+\] ", "", line).strip()
        if text.startswith(_MARK):
            step = text.removeprefix(_MARK).strip()
        elif step and re.search(pattern, text):
            found.setdefault(step, []).append(text)
    return found


def root_table(arms: Mapping[str, FilesystemTimings | MissingValue]) -> Table:
    """Boots by what was left in the journal of the root."""
    rows: list[tuple[Value, ...]] = []
    cases = [("ext2", "none", "ext2")]
    # A quick run leaves some out.
    for journal in (each for each in JOURNALS if f"{each.kind}-dirty" in arms):
        cases += [
            (journal.kind, "clean", journal.kind),
            (f"{journal.kind}-dirty", "dirty, replayed", journal.kind),
            (f"{journal.kind}-dirty-{journal.no_replay}", f"dirty, {journal.no_replay}", journal.kind),
        ]
    for name, state, kind in cases:
        measured = arms[name]
        if isinstance(measured, MissingValue):
            rows.append((name, kind, state, *[measured] * 6))
            continue
        dirty = state.startswith("dirty")
        lines = measured.log_lines(r"EXT4-fs \(pmem|JBD2|XFS \(pmem") if dirty else []
        rows.append((
            name, kind, state, measured.from_power_on, measured.from_start_kernel, measured.mount,
            _kept(measured, "synced") if dirty else None, _kept(measured, "late") if dirty else None,
            "; ".join(lines) or None,
        ))  # fmt: skip
    return Table(
        "journal",
        "Boot by what was left in the root's journal",
        (
            Field("Arm"), Field("File system"), Field("Journal"), Field("Power on to program", "time"),
            Field("start_kernel to program", "time"), Field("Mount", "time"), Field("Synced files complete", "count"),
            Field("Late files complete", "count"), Field("Kernel says"),
        ),
        tuple(rows),
        (
            f"The crash: {SYNCED} files written and synced by fsync, {LATE} more written and not synced, then a reset. "
            "The root is mounted read-only by the kernel.",
        ),
    )  # fmt: skip


def _kept(measured: FilesystemTimings, name: str) -> int:
    """How many files are whole; where not even their directory is there, none."""
    number = measured.kept_number(name)
    return 0 if isinstance(number, MissingValue) else number


def replay_table(boots: Mapping[str, dict[str, Tried] | MissingValue]) -> Table:
    """Every way to deal with a dirty journal, and what became of the files."""
    rows: list[tuple[Value, ...]] = []
    for journal in (each for each in JOURNALS if each.kind in boots):
        found = boots[journal.kind]
        for step, what in STEPS.items():
            if isinstance(found, MissingValue) or step not in found:
                gap = found if isinstance(found, MissingValue) else MissingValue("the guest left nothing of this step")
                rows.append((journal.kind, what, *[gap] * 5))
                continue
            each = found[step]
            done = "yes" if each.code == 0 else "refused"
            rows.append((journal.kind, what, done, each.took, each.synced, each.late, "; ".join(each.said) or None))
    return Table(
        "replay",
        "What becomes of the files, by what is done with the journal",
        (
            Field("File system"), Field("What is done"), Field("Done"), Field("Time", "time"),
            Field("Synced files complete", "count"), Field("Late files complete", "count"), Field("Kernel says"),
        ),
        tuple(rows),
        (f"Of {SYNCED} files that were synced before the crash, and {LATE} that were not. In a running guest.",),
    )  # fmt: skip
