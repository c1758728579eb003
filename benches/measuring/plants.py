"""Changes that are planted into a boot: each costs a known amount in one function, set by one figure."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.lab.rootfs.initramfs import GuestConfig, static_busybox
from firstlight.lab.rootfs.newc import Archive
from firstlight.recipe.options import RecordOptions


@dataclass(frozen=True)
class Plant:
    """A parameter of the kernel's or a command of the guest's with a figure `@`, and who pays for a larger one."""

    name: str
    less: str
    more: str
    """As long as *less*, so that reading it costs the same."""
    function: str
    """The row that has to be told."""
    parameter: str = ""
    command: str = ""


PLANTS = (
    Plant("random bytes", "01", "16", "chacha_permute", command="dd if=/dev/urandom of=/dev/null bs=4k count=@"),
    Plant("UDP's hash table", "00256", "16384", "udp_table_init", parameter="uhash_entries=@"),
    Plant("zeroes", "001", "100", "clear_user_rep_good", command="dd if=/dev/zero of=/dev/null bs=64k count=@"),
    Plant("copies", "001", "097", "copy_user_generic_string",
          command="dd if=/dev/zero of=/tmp/copy bs=64k count=100; dd if=/tmp/copy of=/dev/null bs=64k count=@"),
    Plant("a loop of the shell", "001", "056", "[user sh]",
          command="i=1; while [ $i -le $((@ - 0)) ]; do i=$((i+1)); done"),
    Plant("a checksum by MD5", "001", "015", "[user md5sum]", command="dd if=/dev/zero bs=4k count=@ | md5sum"),
    Plant("a checksum by SHA-256", "001", "004", "[user sha256sum]",
          command="dd if=/dev/zero bs=4k count=@ | sha256sum"),
    Plant("a loop of awk", "0001", "0373", "[user awk]", command="awk 'BEGIN { while (i < @ + 0) i++ }'"),
    Plant("a sleep", "000001", "000800", "[idle]", command="usleep @"),
    Plant("TCP's hash table", "01024", "32768", "tcp_init", parameter="thash_entries=@"),
)  # fmt: skip


def options(plant: Plant, value: str, output: Path) -> RecordOptions:
    """The recipe of a boot with a plant; what the guest does goes into an initramfs beside *output*."""
    if plant.parameter:
        return RecordOptions(output=output, append=plant.parameter.replace("@", value))
    initrd = output.with_suffix(".cpio")
    initrd.write_bytes(_initramfs(plant.command.replace("@", value)))
    return RecordOptions(output=output, initrd=initrd, ready="firstlight: ready")


def _initramfs(command: str) -> bytes:
    """An initramfs like the default one, whose user land ends with a command."""
    script = files("firstlight.lab") / "userland.sh"
    lines = [line for line in script.read_text(encoding="utf-8").splitlines() if line != "exit 0"]
    lines += [f"{{ {command}; }} >/dev/null 2>&1", "exit 0", ""]
    archive = Archive()
    for directory in ("dev", "proc", "sys", "run", "bin"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("init", asset_path("firstlight-guest").read_bytes(), 0o755)
    archive.file("firstlight.conf", GuestConfig().text([]).encode())
    archive.file("bin/busybox", static_busybox().read_bytes(), 0o755)
    archive.link("bin/sh", "busybox")
    archive.file(script.name, "\n".join(lines).encode())
    return archive.bytes()
