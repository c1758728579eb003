"""What is laid over the userspace of every arm: who waits for udev, who watches it, and what is reported afterwards.

Every arm has the same files; the words of its command line say which of them count.
"""

from __future__ import annotations

from pathlib import Path

from firstlight.study import settle

MONITOR_UNIT = "firstlight-udev-monitor.service"
SETTLE_UNIT = "systemd-udev-settle.service"
#: The files that a guest leaves.
UNITS, NUMBERS = "units", "numbers"
MONITORS = {"initramfs": "monitor-initramfs", "system": "monitor-system"}
LOGS = {"initramfs": "udev-log-initramfs", "system": "udev-log-system"}

_MONITOR = f"""\
[Unit]
Description=Every uevent, as the kernel sends it and as udev passes it on
DefaultDependencies=no
After=systemd-udevd-kernel.socket
Before=systemd-udev-trigger.service
[Service]
Type=exec
CPUSchedulingPolicy=fifo
CPUSchedulingPriority=50
ExecStart=/usr/bin/udevadm monitor --kernel --udev --property
StandardOutput=file:/run/firstlight/export/{MONITORS["system"]}
"""
#: Messages of daemon and workers, with who said them: there is no journal in an initramfs, and the kernel's ring gets
#: no more than 200 of them in 5 seconds. Where somebody reads them they go into a pipe, and else into a file.
LOG_WORDS = "SYSTEMD_LOG_TARGET=console SYSTEMD_LOG_TID=1"
LOG_ASKED = "udev.log_level=debug"
_LOG_TARGET = f"""\
[Service]
Environment={LOG_WORDS}
StandardError=file:/run/firstlight/{LOGS["system"]}
"""
_TIMES = "Id,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,ExecMainStartTimestampMonotonic"
#: What the realtime clock of the kernel is ahead of its monotonic one, to the nanosecond: udev's log has stamps of the
#: one, its monitor of the other.
CLOCKS = {"initramfs": "clock-initramfs", "system": "clock-system"}
CLOCK_NOTED = "grep -A 1 ktime_get_real /proc/timer_list"
_AFTER_READY = f"""\
[ -e /run/udev/queue ] && settled=0 || settled=1
cd /run/firstlight/export || exit 1
systemctl show systemd-udevd.service systemd-udev-trigger.service {SETTLE_UNIT} --property={_TIMES} >{UNITS}
{CLOCK_NOTED} >{CLOCKS["system"]}
{{
    read -r number </sys/kernel/uevent_seqnum && echo "uevents $number"
    for folder in /sys/class/tty /sys/class/block /run/udev/data /run/udev/tags/systemd; do
        set -- "$folder"/*
        echo "$folder $#"
    done
    echo "settled $settled"
}} >{NUMBERS}
# The reader of the log writes its last lines when nobody has more to say.
if [ -p /run/firstlight/{LOGS["system"]} ]; then
    systemctl stop systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udevd.service
    sleep 1
fi
exit 0
"""


def write_system_files(folder: Path) -> Path:
    """Write them.

    :param folder: where to; made.
    :returns: the folder, with fixed dates: they come into the guest.
    """
    units = "etc/systemd/system"
    for name, text in (
        ("etc/firstlight/after-ready", _AFTER_READY),
        (f"{units}/{MONITOR_UNIT}", _MONITOR),
        (f"{units}/systemd-udevd.service.d/log-target.conf", _LOG_TARGET),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    link = folder / units / "sysinit.target.wants" / SETTLE_UNIT
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(f"/usr/lib/systemd/system/{SETTLE_UNIT}")
    settle(folder)
    return folder
