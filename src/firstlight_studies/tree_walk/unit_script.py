"""An automount of systemd, in a whole Debian: who wakes it?"""

from __future__ import annotations

import shlex
from pathlib import Path

from firstlight import RecordOptions
from firstlight.study import MissingValue, StudyArm
from firstlight_studies.tree_walk.guest import FAILED, kept

FOLDER = "/srv"
TRAP = f"{FOLDER}/trap"
UNIT_WAKES = "unit-wakes"
#: On the directory that holds the automount, and on the automount itself.
TRIED = (
    "true", f"ls -l {FOLDER}", f"stat {TRAP}", f"find {FOLDER} -xdev", f"du -sx {FOLDER}",
    f"stat --cached=never {TRAP}", f"find {FOLDER}", f"du -s {FOLDER}", f"ls -R {FOLDER}",
    f"chgrp -R 1000 {FOLDER}", f"chmod -R 755 {FOLDER}",
)  # fmt: skip


def arm(name: str, kernel: Path | MissingValue | None, debian: Path | MissingValue) -> StudyArm:
    """A boot of Debian whose table of file systems asks for an automount (`x-systemd.automount`)."""
    if isinstance(kernel, MissingValue):
        return StudyArm(name, kernel)
    if isinstance(debian, MissingValue):
        return StudyArm(name, debian)
    return StudyArm(
        name,
        RecordOptions(
            output=Path(f"{name}.boot"),
            kernel=kernel,
            rootfs=str(debian),
            guest_commands=(_script(),),
            timeout_wall_s=3600.0,
        ),
    )


def _script() -> str:
    """The unit is what systemd's generator makes of a line of the table of file systems."""
    steps = [
        "export LC_ALL=C",
        "mkdir -p /run/firstlight/export",
        f"mkdir -p {TRAP} && echo 'none {TRAP} tmpfs noauto,x-systemd.automount 0 0' >>/etc/fstab || "
        f"{{ echo 'the root cannot be written to' >{kept(FAILED)}; exit 0; }}",
        "systemctl daemon-reload",
    ]
    count = f"$(grep -c ' {TRAP} KIND ' /proc/mounts)"
    for line in TRIED:
        # A unit that is started often is refused after a while, unless systemd's counter is reset.
        steps.append("systemctl reset-failed; systemctl start srv-trap.automount")
        steps.append(f"armed={count.replace('KIND', 'autofs')}")
        steps.append(f"{line} >/dev/null 2>&1")
        steps.append(f"woken={count.replace('KIND', 'tmpfs')}")
        steps.append(f"printf '%s\\t%s\\t%s\\n' {shlex.quote(line)} $armed $woken >>{kept(UNIT_WAKES)}")
        # Asleep again, by systemd itself, before the next one.
        steps.append("[ $woken = 0 ] || systemctl stop srv-trap.mount")
    return "\n".join([*steps, "true"])
