"""What the collector takes out of what it gathers: what tells a machine and its users from others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from collecting import SCRIPT, collect, manifest, members, programs

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


NAMED = """\
Linux gizmobox 6.1.0-example #1 SMP
Set hostname to <gizmobox>. nfs://gizmobox/export gizmobox.
Starting gizmobox-backup.service
Id=gizmobox.service gizmobox@1.service dev-mapper-gizmobox\\x2droot.device
/var/lib/gizmobox/state gizmoboxes
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may name a machine")
def test_a_unit_that_has_the_host_name_in_its_own_keeps_it(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", cbmem=f"cat <<'X'\n{NAMED}X")
    named = "echo gizmobox >/proc/sys/kernel/hostname && exec sh -s -- -o -"
    said = subprocess.run(
        ["unshare", "--uts", "sh", "-c", named], cwd=tmp_path, env={"PATH": path, "TMPDIR": str(tmp_path)},
        input=SCRIPT.read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    if said.returncode != 0 and not said.stdout:
        pytest.skip("a machine cannot be named here")
    first, second, *rest = members(said.stdout)["firmware/cbmem.txt"].decode().splitlines()
    assert first == "Linux HOSTNAME 6.1.0-example #1 SMP"
    assert second == "Set hostname to <HOSTNAME>. nfs://HOSTNAME/export HOSTNAME."
    assert rest == NAMED.splitlines()[2:]


@pytest.mark.skipif(not Path("/etc/machine-id").exists(), reason="this machine has no id")
def test_the_machines_id_is_nowhere(tmp_path: Path) -> None:
    number = Path("/etc/machine-id").read_bytes().strip()
    files = members(collect("-o", "-", cwd=tmp_path).stdout)
    assert not [name for name, content in files.items() if number and number in content]
