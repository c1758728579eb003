"""What names a machine, a device or a person is in no file of a fleet; what names a model is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.fleet.files import read_boots, read_spans
from firstlight.fleet.layout import open_fleet
from firstlight.fleet.masking import masked, names_said

#: Lines that say what a machine, a device or a person is called, and that name.
SAID = {
    "systemd[1]: Hostname set to <kiosk-7f3.example.org>.": "kiosk-7f3",
    "systemd-hostnamed[9]: Hostname set to <lobby-12> (static)": "lobby-12",
    "cloud-init[9]: Setting the hostname to cloudnode-99 (cloudnode-99.example.org)": "cloudnode-99",
    "cloud-init[9]: instance-id: i-0f1e2d3c4b": "i-0f1e2d3c4b",
    "dhclient[9]: client-hostname: dhcpbox-12": "dhcpbox-12",
    "NetworkManager[9]: <info> policy: set-hostname: set hostname to 'nmhost-5' (from DHCPv4)": "nmhost-5",
    "NetworkManager[9]: <info> hostname: static hostname changed from (none) to \"nmbox-6\"": "nmbox-6",
    "avahi-daemon[9]: Server startup complete. Host name is avahibox.local. Local service cookie is 12.": "avahibox",
    "sshd[9]: Accepted publickey for bobjones from 203.0.113.77 port 51234 ssh2": "bobjones",
    "sshd[9]: pam_unix(sshd:session): session opened for user alicesmith(uid=1000) by (uid=0)": "alicesmith",
    "usb 1-1: SerialNumber: SN-90000001": "SN-90000001",
    "serial#=UB77XK21": "UB77XK21",
    "ethaddr=3c:52:82:1a:bc:de": "3c:52:82:1a:bc:de",
    "Serial\t\t: 10000000deadbeef": "10000000deadbeef",
    "Serial Number: PF1ABCDE": "PF1ABCDE",
    "Service Tag: 7QX1234": "7QX1234",
    "smartd[9]: Device: /dev/sda [SAT], WDC WD10, S/N:WD-WCC4J1234567, FW:01.01A01": "WD-WCC4J1234567",
}  # fmt: skip
#: Names that need no line that says so.
BY_SHAPE = (
    "5f1c9d2e-1111-4abc-9def-0123456789ab", "0123456789abcdef0123456789abcdef", "fe80::3e52:82ff:fe1a:bcde",
    "2001:db8:0:1:3e52:82ff:fe1a:bcde", "203.0.113.77", "BC:09:63:F0:AA:01", "0x5000c500a1b2c3d4", "bc_09_63_f0_aa_01",
)  # fmt: skip


def hostile_log() -> str:
    """A log whose parts are named by everything that names its machine."""
    lines = ["Linux version 6.12.1-test (a@b) #7 SMP", "DMI: Gizmo Works Co., Ltd. Gizmo 9/G9, BIOS 1.2.3 04/01/2024"]
    names = [*SAID.values(), *BY_SHAPE]
    early = [line for line in SAID if "]: " not in line]
    lines += early
    for name in names:
        lines += [
            f"calling  drv_{name}_init+0x0/0x10 @ 1", f"initcall drv_{name}_init+0x0/0x10 returned 0 after 9000 usecs",
            f"probe of dev-{name} returned 1 after 1000 usecs",
        ]  # fmt: skip
    lines += ["Freeing unused kernel memory: 100K", "Run /init as init process"]
    lines += [line for line in SAID if line not in early]
    for name in names:
        for unit in (
            f"Report for {name}",
            f"File System Check on /dev/disk/by-id/ata-{name}-part1",
            f"Login ({name}:22)",
        ):
            lines += [f"systemd[1]: Starting {unit}...", f"systemd[1]: Finished {unit}."]
        lines += [f"systemd[1]: Mounting /home/{name}...", f"systemd[1]: Mounted /home/{name}."]
    lines.append("systemd[1]: Startup finished in 1.100s (kernel) + 1.900s (userspace) = 3.000s.")
    return "".join(f"[{place / 100:12.6f}] {line}\n" for place, line in enumerate(lines))


@pytest.mark.parametrize("line", SAID)
def test_lines_that_name_a_machine_are_understood(line: str) -> None:
    assert SAID[line] in names_said(pl.DataFrame({"text": [line]}))["said"].to_list()


@pytest.mark.parametrize(
    "line",
    [
        "usb usb1: SerialNumber: 0000:00:14.0",
        "serial8250: ttyS0 at I/O 0x3f8 (irq = 4) is a 16550A",
        "Serial: 8250/16550 driver, 4 ports, IRQ sharing enabled",
        "systemd[1]: Hostname set to <localhost>.",
        "systemd[1]: Starting Hostname Service...",
        "sshd[9]: pam_unix(sshd:session): session opened for user root(uid=0)",
    ],
)
def test_other_lines_name_none(line: str) -> None:
    assert names_said(pl.DataFrame({"text": [line]}))["said"].to_list() == []


@pytest.mark.parametrize("name", BY_SHAPE)
def test_addresses_and_numbers_are_masked_by_their_shape(name: str) -> None:
    assert name not in masked(f"dev-{name}")
    assert name not in masked(f"Report for {name}")


@pytest.mark.parametrize(
    "name",
    [
        "pcieport 0000:00:1f.2", "hid-generic 0003:046D:C52B.0001", "core::fmt", "usb 1-1.2:1.0", "app-1.2.3.service",
        "Load/Save OS Random Seed", "User Manager for UID 1000", "ahci_pci_driver_init", "de_dead_beef_ca_fe_init",
    ],
)  # fmt: skip
def test_names_of_devices_and_versions_stay(name: str) -> None:
    assert masked(name) == name


@pytest.mark.parametrize("together", [False, True])
def test_a_hostile_log_leaves_no_name_in_any_file(tmp_path: Path, together: bool) -> None:
    given = tmp_path / "a.log"
    given.write_text(hostile_log())
    if together:
        given = firstlight.import_(given, output=tmp_path / "a.boot").directory
    fleet = open_fleet(firstlight.init_fleet(tmp_path / "fleet").directory)
    assert firstlight.add_to_fleet(fleet.directory, [given]).added == 1
    listing = fleet.listing()
    rows = [read_boots(fleet, listing.boots), read_spans(fleet, listing.spans)]
    stored = "".join(frame.write_json() for frame in rows).lower()
    stored += "".join(
        path.read_bytes().decode("latin-1") for path in fleet.directory.rglob("*") if path.is_file()
    ).lower()
    assert {"initcall", "probe", "unit"} <= {*rows[1]["kind"]}
    for name in (*SAID.values(), *BY_SHAPE):
        for form in {name, name.replace("-", "_"), name.replace("-", "\\x2d")}:
            assert form.lower() not in stored, form


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("DMI: Gizmo Works Co., Ltd. Gizmo 9/G9, BIOS 1.2.3 04/01/2024", ("Gizmo Works Co., Ltd.", "Gizmo 9", "1.2.3")),
        ("DMI: System manufacturer System Product Name/P8Z68, BIOS 3603 11/09/2012", (None, "P8Z68", "3603")),
        ("OF: fdt: Machine model: Gizmo 9 Board Rev 1.1", (None, "Gizmo 9 Board Rev 1.1", None)),
        ("Hardware name: Gizmo 9 Board (DT)", (None, "Gizmo 9 Board", None)),
    ],
)
def test_the_log_of_the_kernel_gives_vendor_model_and_firmware(
    tmp_path: Path, line: str, expected: tuple[str | None, ...], together: bool
) -> None:
    given = tmp_path / "a.log"
    lines = [
        "Linux version 6.12.1 (a@b) #7 SMP",
        line,
        "Freeing unused kernel memory: 100K",
        "Run /init as init process",
    ]
    given.write_text("".join(f"[{place:5}.000000] {line}\n" for place, line in enumerate(lines)))
    if together:
        given = firstlight.import_(given, output=tmp_path / "a.boot").directory
    fleet = open_fleet(firstlight.init_fleet(tmp_path / "fleet").directory)
    firstlight.add_to_fleet(fleet.directory, [given])
    boots = read_boots(fleet, fleet.listing().boots)
    assert boots.select("vendor", "model", "firmware").rows() == [expected]
