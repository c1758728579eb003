"""The collector inside of real guests: one with nothing but busybox, one with a whole Debian and systemd."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import tarfile
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import firstlight
from firstlight.assets import asset_path
from firstlight.cli.app import app
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.debian import debian_tar
from firstlight.lab.rootfs.newc import Archive
from firstlight.lab.run.record import record
from short_boots import SHORT, short

pytestmark = pytest.mark.boot

SENT = "collection sent"
BUSYBOX_INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
dmesg -n 1
cd /
sh /firstlight-collect.sh -q -o /run/boot.tar && echo BEGIN && gzip -c /run/boot.tar | base64 && echo END
echo {SENT}
sleep 1000000
"""
SEND_UNIT = """[Unit]
Description=Send the collection over the console
[Service]
StandardOutput=file:/dev/console
ExecStart=/bin/sh /usr/local/sbin/send
[Install]
WantedBy=multi-user.target
"""
SEND = f"""
until [ -e /var/lib/firstlight/boot.tar ]; do sleep 1; done
dmesg -n 1
echo BEGIN && gzip -c /var/lib/firstlight/boot.tar | base64 && echo END
systemctl show -p Result,ExecMainStatus firstlight-collect.service
echo {SENT}
"""


def sent(bundle: Path, to: Path) -> Path:
    """The tar that a guest sent over its console."""
    console = (bundle / "raw/console.log").read_bytes()
    found = re.search(rb"BEGIN\r?\n([A-Za-z0-9+/=\r\n]+?)\r?\nEND\r?\n", console)
    assert found is not None, console[-2000:]
    to.write_bytes(gzip.decompress(base64.b64decode(found[1])))
    return to


@pytest.fixture(scope="session")
def busybox_collection(boots: Path) -> Path:
    """Collected in a guest whose user land is busybox, before anything else runs there."""
    archive = Archive()
    for directory in ("dev", "bin", "proc", "sys", "run", "tmp"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("bin/busybox", static_busybox().read_bytes(), 0o755)
    archive.file("firstlight-collect.sh", asset_path("firstlight-collect.sh").read_bytes())
    archive.file("init", BUSYBOX_INIT.encode(), 0o755)
    initrd = boots / "collector.cpio"
    initrd.write_bytes(archive.bytes())
    append = "initcall_debug log_buf_len=4M quiet trace_event=initcall:*"
    options = short(output=boots / "collector-busybox.boot", initrd=initrd, ready=SENT, append=append, profile=False)
    return sent(record(options), boots / "busybox.tar")


@pytest.fixture(scope="session")
def systemd_collection(boots: Path) -> Path:
    """Collected in a Debian by the unit, as it is documented to be installed."""
    root = boots / "collector-debian.tar"
    root.write_bytes(debian_tar().read_bytes())
    wants = "etc/systemd/system/multi-user.target.wants"
    with tarfile.open(root, "a") as archive:
        for name, content in (
            ("usr/local/sbin/firstlight-collect", asset_path("firstlight-collect.sh").read_bytes()),
            ("etc/systemd/system/firstlight-collect.service", asset_path("firstlight-collect.service").read_bytes()),
            ("usr/local/sbin/send", SEND.encode()),
            ("etc/systemd/system/send.service", SEND_UNIT.encode()),
        ):
            member = tarfile.TarInfo(f"./{name}")
            member.size, member.mode = len(content), 0o755 if "sbin" in name else 0o644
            archive.addfile(member, io.BytesIO(content))
        for unit in ("firstlight-collect.service", "send.service"):
            link = tarfile.TarInfo(f"./{wants}/{unit}")
            link.type, link.linkname = tarfile.SYMTYPE, f"/etc/systemd/system/{unit}"
            archive.addfile(link)
    options = short(output=boots / "collector-debian.boot", rootfs=str(root), ready=SENT, append="quiet", profile=False)
    return sent(record(options), boots / "debian.tar")


def contents(tar: Path) -> dict[str, str]:
    """The files of a collection, without their folder."""
    with tarfile.open(tar) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        return {name.partition("/")[2]: file.read().decode(errors="replace") for name, file in files.items() if file}


def states(files: dict[str, str]) -> dict[str, str]:
    """What came of each item."""
    lines = [line.split("\t") for line in files["manifest.tsv"].splitlines()]
    return {line[1]: line[2] for line in lines if line[0] == "item"}


def test_a_guest_with_nothing_but_busybox_gives_its_kernels_records_and_its_trace(busybox_collection: Path) -> None:
    files = contents(busybox_collection)
    state = states(files)
    assert [name for name in state if state[name] in ("failed", "timeout", "denied", "partial")] == []
    assert re.match(r"5,0,0,-;Linux version ", files["kernel/kmsg"])
    assert files["kernel/kmsg"].count("initcall ") > 200
    assert re.match(r"<5>\[    0\.000000\] Linux version ", files["kernel/dmesg"])
    assert "initcall_start: func=" in files["sys/kernel/tracing/trace"]
    assert "initcall_finish: func=" in files["sys/kernel/tracing/trace"]
    assert "[local]" in files["sys/kernel/tracing/trace_clock"]
    assert "platform\tserial8250\tserial8250\n" in files["kernel/devices.tsv"]
    assert state["systemd"] == "skipped"
    assert state["kernel/dmesg.json"] == "missing"
    clocks = {line.split("\t")[3] for line in files["manifest.tsv"].splitlines() if line.startswith("clock\t")}
    assert {"realtime", "monotonic", "trace.local"} <= clocks


def test_the_unit_gathers_what_systemd_says_after_the_start_has_finished(systemd_collection: Path) -> None:
    files = contents(systemd_collection)
    state = states(files)
    assert [name for name in state if state[name] in ("failed", "timeout", "denied", "partial")] == []
    assert files["systemd/time.txt"].startswith("Startup finished in ")
    assert re.search(r"^FinishTimestampMonotonic=[1-9]", files["systemd/manager.txt"], re.MULTILINE)
    assert "systemd-udevd.service" in files["systemd/blame.txt"]
    assert files["systemd/units.txt"].count("\nId=") > 50
    assert "Environment=" not in files["systemd/units.txt"]
    assert "<svg" in files["systemd/plot.svg"]
    lines = [json.loads(line) for line in files["systemd/journal.json"].splitlines()]
    assert {"kernel", "journal", "syslog"} <= {line["_TRANSPORT"] for line in lines}
    assert any("Startup finished in" in str(line["MESSAGE"]) for line in lines)
    assert re.search(r"^E: USEC_INITIALIZED=\d+$", files["udev/database.txt"], re.MULTILINE)
    assert "kernel/kmsg" in files, "a hardened unit may read the kernel's log"


@pytest.fixture(scope="session")
def busybox_import(boots: Path, busybox_collection: Path) -> Path:
    """The collection of the small guest, imported."""
    return imported(busybox_collection, boots / "busybox-import.boot")


@pytest.fixture(scope="session")
def systemd_import(boots: Path, systemd_collection: Path) -> Path:
    """The collection of the Debian, imported."""
    return imported(systemd_collection, boots / "debian-import.boot")


def imported(tar: Path, bundle: Path) -> Path:
    """Import a collection as a person does."""
    said = CliRunner().invoke(app, ["import", str(tar), "-o", str(bundle)])
    assert said.exit_code == 0, said.output
    return bundle


def formats(bundle: Path) -> dict[str, str]:
    """By which reader each file of the collection was read."""
    sources = json.loads((bundle / "manifest.json").read_text())["sources"]
    return {source["file"].partition("firstlight-collection/")[2]: source["format"] for source in sources}


def test_the_small_guests_collection_imports_with_its_initcalls_and_facts(busybox_import: Path) -> None:
    boot = firstlight.open(busybox_import)
    read = formats(busybox_import)
    assert read["kernel/kmsg"] == "kmsg"
    assert read["kernel/dmesg"] == "printk"
    assert read["manifest.tsv"] == "collector-manifest"
    spans = pl.read_parquet(busybox_import / "spans.parquet")
    initcalls = spans.filter(pl.col("kind") == "initcall")
    assert {"acpi_init", "pci_subsys_init", "serial8250_init"} <= set(initcalls["name"])
    assert initcalls.height > 300
    # Two copies of the kernel's log are one log.
    log = boot.log()
    assert log.filter(pl.col("text").str.starts_with("Linux version ")).height == 1
    facts = dict(boot.facts().iter_rows())
    assert facts["kernel.command_line"].startswith(f"console=ttyS0 nokaslr norandmaps {SHORT} initcall_debug")
    assert facts["device.platform/serial8250"] == "serial8250"
    assert facts["cpu.count"] == "1"
    assert facts["collector.root"] == "yes"
    assert facts["trace.clock"] == "local"
    # The guest's real time clock began with 2024.
    since = int(facts["clock.realtime_at_boot_ns"]) - 1_704_067_200_000_000_000
    assert 0 <= since + int(facts["clock.realtime_at_boot_ns.uncertainty"]) < 5_000_000_000


def test_the_debians_collection_imports_with_its_kernel_log_and_facts(systemd_import: Path) -> None:
    boot = firstlight.open(systemd_import)
    assert boot.manifest.completeness.complete, boot.manifest.completeness.missing
    facts = dict(boot.facts().iter_rows())
    assert facts["mount./"].startswith("/dev/pmem0 ext4 ")
    assert "module.nd_pmem" in facts
    assert facts["kernel.release"] in boot.log()["text"][0]


def test_the_names_and_numbers_of_the_machine_are_nowhere(systemd_collection: Path) -> None:
    files = contents(systemd_collection)
    told = {name: text for name, text in files.items() if not name.endswith((".gz", ".tgz"))}
    # The host name and the machine's id of the Debian recipe; in a path (`/var/lib/firstlight`) it is not a host's.
    assert "Hostname set to <HOSTNAME>" in files["systemd/journal.json"]
    words = r"(?<![A-Za-z0-9/-])firstlight(?![A-Za-z0-9-])|4c4600000000400080000000000000fe"
    assert {name for name, text in told.items() if re.search(words, text)} <= {"manifest.tsv"}
