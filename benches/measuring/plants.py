"""Changes that are planted into a boot: each costs a known amount in one function, set by one figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firstlight.carried import carried
from firstlight.lab.initramfs import GuestConfig, static_busybox
from firstlight.lab.newc import Archive
from firstlight.lab.options import RecordOptions


@dataclass(frozen=True)
class Plant:
    """One figure on the kernel's command line, and the function that a larger one makes dearer."""

    name: str
    parameter: str
    """A parameter of the kernel's, or, with a command, a word that the guest reads."""
    less: str
    more: str
    """As long as *less*, so that reading the command line costs the same."""
    function: str
    """Who pays: the row that has to be the first."""
    command: str = ""
    """What the guest does with the figure, `$N`."""


PLANTS = (
    Plant("UDP's hash table", "uhash_entries", "00256", "16384", "udp_table_init"),
    Plant("random bytes", "plant", "000064", "056000", "chacha_permute", "head -c $N /dev/urandom >/dev/null"),
    Plant("zeroes", "plant", "0000064", "3000000", "rep_stos_alternative", "head -c $N /dev/zero >/dev/null"),
    Plant("copies", "plant", "001", "500", "copy_user_generic_unrolled",
          "dd if=/dev/zero of=/tmp/copies bs=4k count=$N 2>/dev/null"),
    Plant("a loop of the shell", "plant", "0001", "0900", "[user sh]",
          "i=0; while [ $i -lt ${N#${N%%[1-9]*}} ]; do i=$((i + 1)); done"),
    Plant("a checksum", "plant", "000064", "060000", "[user md5sum]", "head -c $N /dev/zero | md5sum >/dev/null"),
    Plant("a sleep", "plant", "000001", "000800", "[idle]", "usleep $N"),
    Plant("lines of the console", "plant", "001", "090", "wait_for_lsr",
          'for i in $(seq $N); do echo "a line of the console" >/dev/kmsg; done'),
    Plant("symbols", "plant", "0001", "1500", "kallsyms_expand_symbol.constprop.0",
          "head -n $N /proc/kallsyms >/dev/null"),
    Plant("TCP's hash table", "thash_entries", "01024", "32768", "tcp_init"),
)  # fmt: skip


def options(plant: Plant, value: str, output: Path, initrd: Path) -> RecordOptions:
    """The recipe of a boot with a plant; kernel parameters go into the default recipe.

    :param initrd: of :func:`write_initrd`, for plants with a command.
    """
    append = f"{plant.parameter}={value}"
    if not plant.command:
        return RecordOptions(output=output, append=append)
    return RecordOptions(output=output, append=append, initrd=initrd, ready="firstlight: ready")


def write_initrd(plant: Plant, path: Path) -> None:
    """An initramfs like the default one, whose user land ends with the plant's command."""
    script = Path(__file__).parents[2] / "src" / "firstlight" / "lab" / "userland.sh"
    lines = [line for line in script.read_text().splitlines() if line != "exit 0"]
    lines += ["read -r words </proc/cmdline", "N=${words##*plant=}", "N=${N%% *}", plant.command, "exit 0", ""]
    archive = Archive()
    for directory in ("dev", "proc", "sys", "run", "bin"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("init", carried("firstlight-guest").read_bytes(), 0o755)
    archive.file("firstlight.conf", GuestConfig().text([]).encode())
    archive.file("bin/busybox", static_busybox().read_bytes(), 0o755)
    archive.link("bin/sh", "busybox")
    archive.file(script.name, "\n".join(lines).encode())
    path.write_bytes(archive.bytes())


def sides(plant: Plant) -> Iterator[tuple[str, str]]:
    """Both sides of the comparison: name and value."""
    yield "less", plant.less
    yield "more", plant.more
