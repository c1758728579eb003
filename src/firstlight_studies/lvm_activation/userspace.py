"""What the study lays over its Debian: files that stand in `guest/`, put where they belong."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from firstlight.study import settle

_RUN = "/run/lvm-study"
#: Of `guest/`, where it goes, and whether it is executed.
_FILES = (
    ("generator.sh", "etc/systemd/system-generators/lvm-study", True),
    ("lvm-study.target", "etc/systemd/system/lvm-study.target", False),
    ("trigger.conf", "etc/systemd/system/systemd-udev-trigger.service.d/lvm-study.conf", False),
    ("system.conf", "etc/systemd/system.conf.d/lvm-study.conf", False),
    ("prepare.sh", "usr/lib/lvm-study/prepare.sh", False),
    ("settled.sh", "usr/lib/lvm-study/settled.sh", False),
    ("trace.sh", "usr/lib/lvm-study/trace.sh", False),
)
#: What systemd would generate for disks, terminals and swap that are not here.
_GENERATORS = (
    "cryptsetup", "debug", "fstab", "getty", "gpt-auto", "hibernate-resume", "integritysetup", "rc-local", "run",
    "system-update", "sysv", "veritysetup",
)  # fmt: skip
#: What our own generator writes anew in each boot, and what is not to run.
_LINKS = (
    ("etc/lvm/lvmlocal.conf", f"{_RUN}/lvmlocal.conf"),
    ("etc/lvm/devices/system.devices", f"{_RUN}/system.devices"),
    *((f"etc/systemd/system-generators/systemd-{name}-generator", "/dev/null") for name in _GENERATORS),
)


def write_overlay(folder: Path) -> Path:
    """Write the overlay into a folder; the same bytes and dates whenever it is done.

    :returns: the folder.
    """
    source = resources.files(__package__).joinpath("guest")
    for name, place, executed in _FILES:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.joinpath(name).read_bytes())
        path.chmod(0o755 if executed else 0o644)
    for place, target in _LINKS:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    settle(folder)
    return folder
