"""A stage of one's own in the initramfs runs before the root is mounted, and what it leaves is there afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot

_STAGE = """\
mkdir -p /run/firstlight/export
/init stamp stage
echo "roots mounted in the stage: $(grep -c /newroot /proc/mounts)" >/run/firstlight/export/told
"""
_INIT = """\
#!/bin/busybox sh
/bin/busybox cat /run/firstlight/export/told /run/firstlight/export/stamps >/dev/console
echo "up" >/dev/console
exec /bin/busybox sleep 1000
"""


def test_a_stage_runs_before_the_root_is_mounted(boots: Path, tmp_path: Path) -> None:
    root, files = tmp_path / "root", tmp_path / "files"
    (root / "bin").mkdir(parents=True)
    (root / "sbin").mkdir()
    files.mkdir()
    shutil.copy(static_busybox(), root / "bin/busybox")
    (root / "sbin/init").write_text(_INIT)
    (root / "sbin/init").chmod(0o755)
    (files / "before-root").write_text(_STAGE)
    made = record(
        short(output=boots / "staged.boot", rootfs=str(root), initramfs_files=files, append="quiet", ready="^up")
    )
    boot = firstlight.open(made)
    lines = boot.log()["text"].to_list()
    assert "roots mounted in the stage: 0" in lines
    stamp = int(next(line for line in lines if line.endswith(" stage")).split()[0])
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    assert marks["guest_start"] < stamp < marks["switch_root"]
    assert "--initramfs-files" in boot.manifest.reproduce
