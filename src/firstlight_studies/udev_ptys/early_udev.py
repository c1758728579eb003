"""An initramfs stage with the real udev: the files of a userspace, and what runs them before the root is mounted.

What is taken and what is run is what Debian's own initramfs takes and runs (`hooks/udev`, `init-top/udev` and
`init-bottom/udev` of initramfs-tools, in the package `udev`).
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

from firstlight import LabError
from firstlight.study import BEFORE_ROOT, UserspaceTar, needed_libraries
from firstlight_studies.udev_ptys.system_files import (
    CLOCK_NOTED,
    CLOCKS,
    LOG_ASKED,
    LOG_WORDS,
    LOGS,
    MONITOR_UNIT,
    MONITORS,
)

_UDEVD = "/usr/lib/systemd/systemd-udevd"
#: The last one is for a program that only watches: it shall not wait for its turn.
_PROGRAMS = (
    _UDEVD, "/usr/bin/udevadm", "/usr/lib/udev/ata_id", "/usr/lib/udev/scsi_id", "/usr/sbin/blkid", "/usr/bin/chrt",
)  # fmt: skip
_RULES = (
    "50-firmware.rules", "50-udev-default.rules", "60-block.rules", "60-persistent-storage.rules", "71-seat.rules",
    "73-special-net-names.rules", "75-net-description.rules", "80-net-setup-link.rules", "80-drivers.rules",
)  # fmt: skip
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
_LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "sbin": "usr/sbin"}

_SCRIPT = f"""\
mkdir -p /run/firstlight/export /run/udev /tmp
read -r words </proc/cmdline
# The readers of udev's log run before anybody else once there is a line: its time is that of its reading.
case " $words " in *" {LOG_ASKED} "*)
    {CLOCK_NOTED} >/run/firstlight/export/{CLOCKS["initramfs"]}
    for name in {" ".join(LOGS.values())}; do
        mkfifo /run/firstlight/$name
        # What is written is opened first: who reads the system's log waits for it when this root is gone.
        chrt -f 50 sh -c "exec /bin/busybox ts %.s >/run/firstlight/export/$name </run/firstlight/$name" &
    done
esac
/init stamp udev-start
SYSTEMD_LOG_LEVEL=notice {LOG_WORDS} {_UDEVD} --daemon --resolve-names=never \\
    2>/run/firstlight/{LOGS["initramfs"]} || exit 1
/init stamp udev-started
# The last subscriber is notified first: after udevd, the observer gets each event before udevd works on it.
case " $words " in *" systemd.wants={MONITOR_UNIT} "*)
    chrt -f 50 udevadm monitor --kernel --udev --property >/run/firstlight/export/{MONITORS["initramfs"]} &
    monitor=$!
    until grep -q " $monitor " /proc/net/netlink; do :; done
esac
/init stamp trigger
udevadm trigger --type=subsystems --action=add
udevadm trigger --type=devices --action=add
/init stamp triggered
udevadm settle || true
/init stamp settled
udevadm control --exit
[ -z "$monitor" ] || {{ kill "$monitor"; wait "$monitor"; }}
/init stamp udev-exited
exit 0
"""


def write_early_udev(userspace: Path, folder: Path) -> Path:
    """Write the files of the stage.

    :param userspace: a tar of a Debian userspace.
    :param folder: where to; made.
    :returns: the folder.
    :raises LabError: naming the file that the userspace lacks.
    """
    with tarfile.open(userspace) as tar:
        source = _Userspace(tar, userspace)
        for path in (*_PROGRAMS, *_libraries(source, _PROGRAMS)):
            _write(folder / path.lstrip("/"), source.content(path), 0o755)
        for path in (*(f"/usr/lib/udev/rules.d/{name}" for name in _RULES), "/etc/udev/udev.conf", *source.links()):
            _write(folder / path.lstrip("/"), source.content(path), 0o644)
    for name, target in _LINKS.items():
        (folder / name).symlink_to(target)
    _write(folder / BEFORE_ROOT, _SCRIPT.encode(), 0o755)
    return folder


def _libraries(source: _Userspace, programs: tuple[str, ...]) -> list[str]:
    """Every shared library that programs need, themselves or for one another, and their loader."""
    found: dict[str, None] = {}
    waiting = list(reversed(programs))
    while waiting:
        path = waiting.pop()
        for name in needed_libraries(source.content(path), path):
            place = name if name.startswith("/") else source.find(name)
            place = _merged(place)
            if place not in found:
                found[place] = None
                waiting.append(place)
    return sorted(found)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def _merged(path: str) -> str:
    """Where a file is in a userspace whose `/lib`, `/lib64`, `/bin` and `/sbin` lead below `/usr`.

    >>> _merged("/lib64/ld-linux-x86-64.so.2"), _merged("/usr/bin/udevadm")
    ('/usr/lib64/ld-linux-x86-64.so.2', '/usr/bin/udevadm')
    """
    return f"/usr{path}" if path.startswith(("/lib/", "/lib64/", "/bin/", "/sbin/")) else path


class _Userspace:
    """The files of a tar by their absolute paths, each read once; one that is missing is an error."""

    def __init__(self, tar: tarfile.TarFile, path: Path) -> None:
        self._files = UserspaceTar(tar)
        self._path = path
        self._read: dict[str, bytes] = {}

    def content(self, path: str) -> bytes:
        if path not in self._read:
            content = self._files.read(path)
            if content is None:
                raise LabError(f"the root file system has no `{path}`", where=str(self._path))
            self._read[path] = content
        return self._read[path]

    def find(self, library: str) -> str:
        for folder in _LIBRARIES:
            if f"{folder}/{library}".lstrip("/") in self._files:
                return f"{folder}/{library}"
        raise LabError(f"the root file system has no library `{library}`", where=str(self._path))

    def links(self) -> Iterator[str]:
        """How network interfaces are named."""
        folder = "usr/lib/systemd/network/"
        return (f"/{path}" for path in sorted(self._files) if path.startswith(folder) and path.endswith(".link"))
