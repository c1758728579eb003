"""Kernel parameters that are not in the kernel's tables, by reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

from firstlight.recipe.isa import architectures

#: Read by the first code of some architecture, before or beside the tables.
READ_RAW = frozenset[str]().union(*(each.raw_options for each in architectures().values()))


@dataclass(frozen=True)
class Reader:
    """A program of the userspace that looks into `/proc/cmdline`, and the names that it knows."""

    name: str
    names: re.Pattern[str]


def _names(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


#: systemd: kernel-command-line(7), and the pages of the generators and services that it names.
SYSTEMD = Reader(
    "systemd",
    _names(
        r"(rd\.)?systemd\..+",
        r"(rd\.)?(udev|luks|locale|vconsole|veritytab|fsck|quota|mount|modules-load|modules_load|neednet|emergency)(\..+)?",
        r"(rd\.)?(root|rootfstype|rootflags|roothash|rootdelay|usrhash|resume|resumeflags|resume_offset|resumewait)",
        r"net\.(ifnames|naming-scheme|naming_scheme|ifname-policy|ifname_policy)|ifname|ip|ro|rw|quiet|debug|splash|noresume|init",
        r"single|s|S|rescue|emergency|[1-5]|-b|-s|-z|forcefsck|fastboot|forcequotacheck|nofail|plymouth(\..+)?",
        r"SYSTEMD_.+|SYSTEMD_LOG_LEVEL|loglevel|noauto|TERM|LANG|container|tmpfiles\..+",
    ),
)
#: initramfs-tools(7), and the scripts of Debian's packages.
INITRAMFS_TOOLS = Reader(
    "the initramfs (initramfs-tools)",
    _names(
        r"init|root|nfsroot|rootflags|ro|rw|rootfstype|rootdelay|roottimeout|resume|resume_offset|noresume|break|debug",
        r"boot|ip|BOOT_IF|BOOTIF|nfsopts|netconsole|fsck\.(mode|repair)|blacklist|recovery|panic|hwaddr|drivers|usercode|quiet|quickreboot",
        r"fsckfix|fastboot|cryptdevice|cryptopts|scsi_hostadapter|vlan|use_dns",
    ),
)
#: dracut.cmdline(7).
DRACUT = Reader(
    "the initramfs (dracut)",
    _names(
        r"rd\..+",
        r"root|rootfstype|rootflags|ro|rw|init|resume|ip|ifname|bond|team|bridge|vlan|nameserver|netroot|quiet",
    ),
)
#: modprobe(8): it hands `MODULE.PARAMETER=VALUE` to the modules that it loads.
KMOD = Reader("modprobe", _names(r"modprobe\.blacklist", r"module_blacklist"))
#: `docs/reference/formats/guest-report.md`.
HELPER = Reader("Firstlight's helper", _names(r"firstlight_mounts"))
#: What a boot loader writes for whoever wants to know; nobody has to read it.
LOADER = _names(r"BOOT_IMAGE|auto|initrd|kernel|boot_image")
#: What the kernel's own first steps read of it later, without a table: `do_sysctl_args` and the like.
LATE = _names(r"sysctl[./].+|.+[.]dyndbg|dyndbg|bootconfig|initrd")
