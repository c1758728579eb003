"""What a guest does for a walk, as commands of its shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.study import LOAD_MODULES, Programs, settle
from firstlight_studies.tree_walk.workload import TREE, WALKER, Command, Shape

_HOME = "/walk"
_KEEP = "/run/firstlight/export"
_PRELOAD = "restat.so"
#: Names of files that the guest leaves.
RUNS, FAILED, COUNTS, POINTS, WAKES = "runs", "failed", "counts", "points", "wakes"

_DISK = "/dev/ram0"
# Else the kernel looks every five seconds for inodes that are to be written.
_NO_WRITING_BACK = "sh -c 'echo 0 >/proc/sys/vm/dirty_writeback_centisecs'"
_MAKING = {
    "tmpfs": "mount -t tmpfs -o nr_inodes=0,size=90% none /t",
    # All that is deferred at other times is done at once, so that no later measurement pays for it; and the journal is
    # written when it is asked for, not every five seconds in the middle of some run. A quarter of it, which is the
    # largest transaction, holds the inodes of all directories, 16 to a block.
    "ext4": f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=1 -J size={{journal_mib}} -N {{inodes}} {_DISK} && "
    f"mount -t ext4 -o commit=3600 {_DISK} /t && {_NO_WRITING_BACK}",
    "xfs": f"mkfs.xfs -q -f {_DISK} && mount -t xfs {_DISK} /t && {_NO_WRITING_BACK}",
}


@dataclass(frozen=True)
class Run:
    """One run of a command in a guest."""

    name: str
    """The process's own, by which it is known again: at most 14 characters."""
    command: Command
    preload: str | None = None
    """`0` or `1`: with the library that may stat again, and whether it does."""
    kept: bool = True
    """Reported; otherwise the run only warms up for the next ones."""


def lay_out(folder: Path, walker: bytes, library: bytes, programs: Programs | None) -> None:
    """Put into *folder* what a guest needs besides its own files.

    :param walker: the study's own program.
    :param library: what the distribution's programs preload.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{_HOME.lstrip('/')}/bin/{WALKER}": walker}
    if programs is not None:
        files[f"{_HOME.lstrip('/')}/{_PRELOAD}"] = library
        for name, content in programs.files.items():
            files[name if "/" in name else f"{_HOME.lstrip('/')}/bin/{name}"] = content
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
    settle(folder)


def script(steps: Iterable[str]) -> str:
    """One command of the guest: what fails before the first run is reported in a file, and ends it."""
    head = [
        f"export PATH={_HOME}/bin:/bin",
        f"mkdir -p {_KEEP} /t",
        f'attempt() {{ "$@" 2>/tmp/said && return; echo "$*: $(head -n 1 /tmp/said)" >{_KEEP}/{FAILED}; exit 0; }}',
    ]
    return "\n".join([*head, *steps, "true"])


def drivers(disk_kib: int) -> list[str]:
    """Load what was written as modules.

    :param disk_kib: of a disk in memory.
    """
    sized = f'for each in /modules/*-brd.par; do [ ! -e "$each" ] || echo rd_size={disk_kib} >"$each"; done'
    return [sized, f"attempt sh -c {shlex.quote(LOAD_MODULES)}"]


def file_system(kind: str, directories: int) -> list[str]:
    """Make a file system at `/t`, with room for so many directories."""
    making = _MAKING[kind].format(inodes=directories + directories // 4 + 1024, journal_mib=64 + directories // 512)
    return ["\n".join(f"attempt {step}" for step in making.split(" && "))]


def tree(shape: Shape) -> list[str]:
    """Make the tree, put it onto the disk, and walk it once, so that everything is in the cache."""
    return [
        f"fresh() {{ attempt {WALKER} build {TREE} {shape}; sync; attempt {WALKER} walk {TREE} >/dev/null; }}",
        "fresh",
    ]


def runs(wanted: Sequence[Run]) -> list[str]:
    """Run commands one after another; how each went is reported, and the next one goes on."""
    lines = []
    for run in wanted:
        # What removes the tree finds one that nothing else was done to, every time.
        lines.append(f"[ -d {TREE} ] || fresh")
        environment = ""
        if run.preload is not None:
            environment = f"LD_PRELOAD={_HOME}/{_PRELOAD} FIRSTLIGHT_RESTAT={run.preload} "
        results = f"{_KEEP}/{RUNS}" if run.kept else "/tmp/runs"
        lines.append(f"{environment}{WALKER} run {results} {shlex.quote(run.name)} {run.command.line(TREE)} || true")
    return lines


def kept(name: str) -> str:
    """The path of a file that the guest leaves."""
    return f"{_KEEP}/{name}"
