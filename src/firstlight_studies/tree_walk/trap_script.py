"""What a guest does to find out about mount points and automounts."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from firstlight_studies.tree_walk.guest import POINTS, WAKES, kept
from firstlight_studies.tree_walk.workload import WALKER

FOLDER = "/t/d"
PLAIN, TRAP = f"{FOLDER}/plain", f"{FOLDER}/trap"
WOKEN_POINTS = "points-woken"

#: Single calls on the automount itself, on its directory, and below it.
CALLS = (
    "stat", "lstat", "fstatat", "statx", "statx-no-automount", "statx-nofollow", "statfs", "access", "readlink",
    "listxattr", "chown", "lchown", "chmod", "chdir", "inotify", "open-path", "open", "opendir", "readdir",
    "readdir-parent", "lstat-below",
)  # fmt: skip

#: Programs on the automount, and on the directory that holds it.
PROGRAMS = (
    f"ls {FOLDER}", f"ls -i {FOLDER}", f"ls -l {FOLDER}", f"ls -R {FOLDER}", f"ls -d {TRAP}", f"ls -ld {TRAP}",
    f"ls {TRAP}", f"stat {TRAP}", f"stat -f {TRAP}", f"stat --cached=never {TRAP}", f"find {FOLDER}",
    f"find {FOLDER} -xdev", f"find {FOLDER} -maxdepth 1", f"find {FOLDER} -maxdepth 1 -ls", f"du -s {FOLDER}",
    f"du -sx {FOLDER}", f"chgrp 1000 {TRAP}", f"chgrp -R 1000 {FOLDER}", f"chmod -R 755 {FOLDER}",
    f"cp -a {FOLDER} /t/copy", f"cp -ax {FOLDER} /t/copy", f"rm -r {FOLDER}", f"rm -r --one-file-system {FOLDER}",
)  # fmt: skip


def mount_everything(file_systems: tuple[str, ...]) -> list[str]:
    """Mount file systems of several kinds at directories of one: plain, bound, and on disks.

    What cannot be mounted is not there afterwards, and the others go on.
    """
    steps = [
        "attempt mount -t tmpfs none /t",
        f"mkdir -p {PLAIN} {TRAP} /t/sibling /t/bound /t/other /t/layers/upper /t/layers/work /t/overlay",
        "touch /t/file /t/bound-file",
        "mount --bind /t/sibling /t/bound",
        "mount --bind /t/file /t/bound-file",
        "mount -t tmpfs none /t/other",
        "layers=lowerdir=/t/sibling,upperdir=/t/layers/upper,workdir=/t/layers/work",
        "mount -t overlay -o $layers none /t/overlay || true",
    ]
    for number, kind in enumerate(each for each in file_systems if each != "tmpfs"):
        disk = f"/dev/ram{number}"
        steps.append(
            f"mkdir /t/{kind}; mkfs.{kind} -q {disk} >/dev/null 2>&1 && mount -t {kind} {disk} /t/{kind} || true"
        )
    return steps


def audit() -> list[str]:
    """Look at every mount point, with an automount that sleeps and then with the same one woken."""
    plain = " ".join((PLAIN, "/t/sibling", "/t/file"))
    points = f"{WALKER} mount-points {kept(POINTS)} {plain}"
    woken = f"ls {TRAP} >/dev/null; {WALKER} mount-points {kept(WOKEN_POINTS)}"
    return [
        f"{WALKER} automount {kept(WAKES)} 'the audit itself' {TRAP} {points} || true",
        f"{WALKER} automount {kept(WAKES)} 'ls, then the audit' {TRAP} sh -c {shlex.quote(woken)} || true",
    ]


def wakes(missing: Collection[str] = ()) -> list[str]:
    """Make an automount anew for each call and each program, and note who wakes it.

    :param missing: programs that the guest has not, and that are not tried.
    """
    tried = [(f"call {call}", f"{WALKER} call {call} {TRAP}") for call in CALLS]
    tried += [(line, line) for line in PROGRAMS if line.split()[0] not in missing]
    steps = []
    for name, line in tried:
        steps.append(f"mkdir -p {PLAIN} {TRAP}; rm -rf /t/copy")
        steps.append(f"{WALKER} automount {kept(WAKES)} {shlex.quote(name)} {TRAP} {line} || true")
    return steps
