"""What the collector takes out of what it gathers: what tells a machine and its users from others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from collecting import SCRIPT, SHELL, SHELLS, collect, manifest, members, programs

SECRETS = """\
E: ID_SERIAL_SHORT=60A44C-3FAC
E: ID_SERIAL_SHORT=7
E: ID_SERIAL_SHORT=123456
E: ID_SERIAL_SHORT=X1Y2Z3W4V5
"""
TOLD = """\
[    1.000000] usb 1-1: SerialNumber: 0815ABC
[    1.123456] eth0: 52:54:00:12:34:56, enx525400123456, by 00-11-22-33-44-55
[    1.200000] ata1: disk 60A44C-3FAC X1Y2Z3W4V5 X1Y2Z3W4V5, not X1Y2Z3W4V55
dev-disk-by\\x2did-usb_60A44C\\x2d3FAC.device
/home/alice/mail home-alice.mount cifs rw,username=alice,uid=0 c:d:e 0000:00:1f.2
"""


def test_identifiers_are_replaced_one_by_one_and_nothing_else_is(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", udevadm=f"cat <<'X'\n{SECRETS}X", cbmem=f"cat <<'X'\n{TOLD}X")
    for options, redacted in (((), True), (("--no-redact",), False)):
        files = members(collect("-o", "-", *options, cwd=tmp_path, path=path).stdout)
        assert ["redacted", "yes" if redacted else "no"] in manifest(files)[0]
        told = files["firmware/cbmem.txt"].decode()
        if not redacted:
            assert told == TOLD
            continue
        first, second, third, unit, rest = told.splitlines()
        assert first == "[    1.000000] usb 1-1: SerialNumber: SERIAL"
        assert second == "[    1.123456] eth0: 00:00:00:00:00:00, enx000000000000, by 00-00-00-00-00-00"
        words = third.split()
        assert words[4].startswith("SERIAL")
        assert words[5].startswith("SERIAL")
        assert words[4] != words[5]
        assert words[6] == f"{words[5]},"
        assert third.startswith("[    1.200000] ata1: disk SERIAL")
        assert third.endswith(", not X1Y2Z3W4V55")
        assert unit == f"dev-disk-by\\x2did-usb_{words[4]}.device"
        assert rest == "/home/USER/mail home-USER.mount cifs rw,username=USER,uid=0 c:d:e 0000:00:1f.2"
        assert not any(b"60A44C" in content for content in files.values())


# The kernel says `memory` before a program can tell it the host's name, and `gizmo` only then.
RING = """\
[    0.100000] Memory: 1024K available
[    0.200000] Command line: resume=/dev/gizmo hostname=gizmo
[    1.000000] Run /init as init process
[    2.000000] audit: node gizmo is up
"""


def named(name: str, told: str, folder: Path, *shell: str) -> str:
    """What is left of `told` on a machine of this name."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root may name a machine")
    own = {"cbmem": f"cat <<'X'\n{told}X", "dmesg": f"cat <<'X'\n{RING}X", "own-tool": "true"}
    path = programs(folder / "bin", **own)
    naming = f"echo {name} >/proc/sys/kernel/hostname && exec {' '.join(shell or SHELL)} -s -- -o -"
    said = subprocess.run(
        ["unshare", "--uts", "sh", "-c", naming], cwd=folder, env={"PATH": path, "TMPDIR": str(folder)},
        input=SCRIPT.read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    if said.returncode != 0 and not said.stdout:
        pytest.skip("a machine cannot be named here")
    return members(said.stdout)["firmware/cbmem.txt"].decode()


# Where a log says whose name it is.
SAID = """\
Linux NAME 6.1.0-example #1 SMP
Set hostname to <NAME>. nfs://NAME/export
[    2.000000] systemd[1]: Hostname set to <NAME>.
{"MESSAGE":"hostname=\\"NAME\\" set","_HOSTNAME":"NAME"}
Host name is NAME.local. changed host name to 'NAME'
current hostname was changed outside NetworkManager: 'NAME'
hostname: NAME
     device=eth0, host=NAME, domain=, nis-domain=(none)
ip=10.0.0.2::10.0.0.1:255.0.0.0:NAME:eth0:off quiet
Jan  2 03:04:05 NAME kernel: usb usb1: found
2024-01-02T03:04:05.678901+00:00 NAME systemd[1]: Started it.
Debian GNU/Linux 12 (bookworm) NAME (Linux 6.1.0 #1 SMP) x86-64
NAME login: root@NAME:/root
NAME:/export /mnt nfs4 rw
//NAME/share /mnt cifs rw
"""
# Where it may be any word.
KERNEL = """\
[    0.100000] NAME 0000:00:00.0: [8086:1237] type 00 class 0x060000
[    0.200000] initcall NAME_init+0x0/0x10 returned 0 after 12 usecs
[    0.300000] NAME: version 1 (NAME), a NAME
{"SYSLOG_IDENTIFIER":"NAME","MESSAGE":"NAME NAME1: hostname was set"}
Linux NAME 6.1 is new
"""
UNITS = """\
Starting NAME-backup.service
Id=NAME.service NAME@1.service it@NAME.service dev-mapper-NAME\\x2droot.device
/var/lib/NAME/state NAMEes
"""


@pytest.mark.parametrize(
    ("shell", "name"),
    [
        *((shell, "pci") for shell in SHELLS),
        *(("dash", name) for name in ("kernel", "gizmobox", "vm", "e1000-x", "42")),
    ],
)
def test_a_host_name_is_replaced_where_a_log_says_that_it_is_one(shell: str, name: str, tmp_path: Path) -> None:
    if shutil.which(SHELLS[shell][0]) is None:
        pytest.skip(f"there is no {shell}")
    told = SAID.replace("NAME", name).replace("_HOST" + name, "_HOSTNAME")
    left = named(name, told, tmp_path, *SHELLS[shell])
    assert left == SAID.replace("NAME", "HOSTNAME").replace("_HOSTHOSTNAME", "_HOSTNAME")


@pytest.mark.parametrize(
    "name", ["pci", "kernel", "usb", "systemd", "server", "lo", "100", "cpu0", "own-tool", "memory"]
)
def test_a_host_name_that_is_also_another_word_damages_no_log(name: str, tmp_path: Path) -> None:
    told = (KERNEL + UNITS).replace("NAME", name)
    assert named(name, told, tmp_path) == told


@pytest.mark.parametrize("name", ["gizmo-box", "node77", "gizmobox.example.org", "gizmo"])
def test_a_host_name_that_no_other_word_is_like_is_replaced_wherever_it_stands_by_itself(
    name: str, tmp_path: Path
) -> None:
    told = "dhclient: bound as NAME, (NAME) NAME NAME.\n[    1.000000] NAME's disk\n"
    assert named(name, told.replace("NAME", name), tmp_path) == told.replace("NAME", "HOSTNAME")


@pytest.mark.parametrize("name", ["gizmo-box", "gizmobox"])
def test_a_unit_that_has_the_host_name_in_its_own_keeps_it(name: str, tmp_path: Path) -> None:
    told = UNITS.replace("NAME", name)
    assert named(name, told, tmp_path) == told


@pytest.mark.parametrize(
    ("name", "told", "left"),
    [
        (
            "debian.smith.example",
            "Set hostname to <debian.smith.example>. debian.smith.example: Debian, debian\n",
            "Set hostname to <HOSTNAME>. HOSTNAME: Debian, debian\n",
        ),
        (
            "pci.smith.example",
            "root@pci.smith.example, root@pci pci 0000:00:00.0: pci.smith.example\n",
            "root@HOSTNAME, root@HOSTNAME pci 0000:00:00.0: HOSTNAME\n",
        ),
    ],
)
def test_of_a_host_in_a_domain_the_whole_name_and_the_first_part_are_replaced(
    name: str, told: str, left: str, tmp_path: Path
) -> None:
    assert named(name, told, tmp_path) == left


@pytest.mark.skipif(not Path("/etc/machine-id").exists(), reason="this machine has no id")
def test_the_machines_id_is_nowhere(tmp_path: Path) -> None:
    number = Path("/etc/machine-id").read_bytes().strip()
    files = members(collect("-o", "-", cwd=tmp_path).stdout)
    assert not [name for name, content in files.items() if number and number in content]
