"""Options that break exactness, and their substitutes.

The table has QEMU's options that are rejected, each with the reason and the remedy. Measured reasons are those of
`docs/design/exact-mode.md`. The others follow from the source of the input: whatever waits for the host (its disks, its
network, its entropy, its clock, a user at a keyboard) arrives at another instruction each time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DISK = "a disk answers when the host has read it, and virtual time jumps in the meantime"
_ROOTFS = "give the file system with `--rootfs` or in the initramfs: both are in the guest's memory"
_NETWORK = "packets arrive when the host delivers them"
_NO_NETWORK = "leave the network out, or record with `--live`"
_INPUT = "what the host sends arrives at another instruction each time"
_LIVE = "leave it out, or record with `--live`"
_DISPLAY = "a display refreshes and reads input by the host's clock"
OWNED = "Firstlight sets it itself"

# What stands in these is a text for the guest or for people.
_TEXTS = frozenset({"name", "append", "fw_cfg", "smbios"})

#: Every option whose value QEMU takes apart.
_ANY = ("*",)

#: Options that change nothing, or the machine in the same way each time, files that they name included: those are
#: inputs of the recipe. Exact mode rejects an option that is not listed: its effect is unknown.
STEADY = frozenset(
    "device object fw_cfg acpitable smbios bios option-rom dtb L boot numa global name uuid usb chardev parallel "
    "debugcon netdev net nic display vga smp audio audiodev tpmdev no-acpi no-hpet no-fd-bootchk nodefaults "
    "no-user-config no-reboot watchdog-action compat overcommit only-migratable mem-prealloc async-teardown k echr "
    "portrait rotate win2k-hack virtioconsole".split()
)


@dataclass(frozen=True)
class Refusal:
    """One thing that cannot be: an option of QEMU, and which of its values."""

    options: tuple[str, ...]
    why: str
    remedy: str
    value: str = ""
    """Regular expression, searched in the value; empty: any."""
    in_live: bool = False
    """Refused in live mode too."""

    def matches(self, option: str, value: str, *, live: bool) -> bool:
        """Whether this refusal is about that option with that value."""
        if live and not self.in_live:
            return False
        concerned = option in self.options or (self.options == _ANY and option not in _TEXTS and value != "")
        return concerned and re.search(self.value, value) is not None


_DISK_DEVICES = (
    r"^(virtio-blk|virtio-scsi|vhost-(user-)?(blk|scsi)|ide-(hd|cd|cf|drive)|scsi-|nvme|usb-(storage|bot|uas|mtp)|sd-card|floppy"
    r"|pvscsi|megasas|mptsas|lsi|isa-fdc|emmc|virtio-pmem)"
)
_NETWORK_DEVICES = r"^(virtio-net|e1000|igb|rtl8139|vmxnet3|ne2k|pcnet|i8255|tulip|usb-net|rocker|sunhme|can-|xen-net)"

REFUSALS: tuple[Refusal, ...] = (
    # Recipe: one place decides these.
    Refusal(("kernel",), OWNED, "use `--kernel`", in_live=True),
    Refusal(("initrd",), OWNED, "use `--initrd`", in_live=True),
    Refusal(("append",), OWNED, "use `--append`", in_live=True),
    Refusal(("m",), OWNED, "use `--memory`", in_live=True),
    Refusal(("M", "machine"), OWNED, "use `--machine`", in_live=True),
    Refusal(("cpu",), OWNED, "use `--cpu`", in_live=True),
    Refusal(("smp",), OWNED, "use `--cpus`", r"^(?!(cpus=)?1$)"),
    Refusal(("serial", "nographic"), "the serial ports carry the console and the report", "leave it out", in_live=True),
    Refusal(
        ("daemonize", "pidfile", "S", "preconfig", "qtest", "qtest-log"),
        "the launcher watches QEMU itself",
        "leave it out",
        in_live=True,
    ),
    Refusal(
        ("no-shutdown", "action"),
        "QEMU would keep running after the guest is off, and the recording would never end",
        "leave it out: a reboot, a power-off and a panic each end the recording",
        in_live=True,
    ),
    Refusal(
        ("watchdog-action",), "a QEMU that pauses never ends", "use `none` or `poweroff`", r"pause|debug", in_live=True
    ),
    Refusal(
        ("sandbox",),
        OWNED,
        "leave it out: QEMU is already confined (see `firstlight doctor`)",
        in_live=True,
    ),
    Refusal(
        ("chroot", "runas", "run-with"),
        "QEMU writes the evidence, and could no longer access its files",
        "leave it out, or run Firstlight as that user",
        in_live=True,
    ),
    Refusal(
        ("d", "D", "dfilter", "trace", "msg"),
        "QEMU's log is evidence: it shows why QEMU failed",
        "leave it out; trace with QEMU itself, on the command line that `--dry-run` prints",
        in_live=True,
    ),
    Refusal(("add-fd",), "Firstlight passes no open files to QEMU", "name the file by its path", in_live=True),
    Refusal(
        ("help", "h", "version", "dump-vmstate", "audio-help"), "it boots nothing", "run QEMU itself", in_live=True
    ),
    Refusal(_ANY, "it boots nothing", "run QEMU itself", r"(^|,)(help|\?)(,|$)", in_live=True),
    Refusal(
        _ANY, "Firstlight does not check options inside JSON", "write `NAME,property=value`", r"^\s*\{", in_live=True
    ),
    Refusal(
        ("writeconfig", "readconfig"), "it may contain any other option, unchecked", "give its options", in_live=True
    ),
    Refusal(
        ("set",),
        "it changes another option, unchecked",
        "give the property with the option that it belongs to",
        in_live=True,
    ),
    Refusal(
        ("global",),
        "a property for all devices may contain a file, a backend or an accelerator, unchecked",
        "give it with the `-device` that it belongs to",
        r"(-accel\b|^memory-backend|^nvdimm|(^|[.,=])(drive|netdev|chardev|file|romfile|share|mem-path|memdev)=)"
        r"|property=(drive|netdev|chardev|file|romfile|share|mem-path|memdev)\b",
        in_live=True,
    ),
    Refusal(
        ("mem-path",), "the guest's memory would start with the content of that file", "leave it out", in_live=True
    ),
    # Time.
    Refusal(("icount",), "the recipe sets virtual time; `sleep=on` ties it to the host", "use `--shift`"),
    Refusal(("rtc",), "a clock that is not fixed shows the host's time", "leave it out: it starts 2024-01-01"),
    Refusal(("clock", "realtime"), "it ties the guest to the host's clock", "leave it out"),
    Refusal(("accel",), "only single-threaded TCG counts instructions", "leave it out, or record with `--live`"),
    Refusal(("enable-kvm",), "KVM does not count instructions", "leave it out, or record with `--live`"),
    Refusal(("seed",), OWNED, "leave it out"),
    Refusal(("semihosting", "semihosting-config"), "the guest may ask for the host's time and files", _LIVE),
    # Disks.
    Refusal(
        ("drive", "blockdev", "hda", "hdb", "hdc", "hdd", "cdrom", "sd", "fda", "fdb", "mtdblock", "pflash"),
        _DISK,
        _ROOTFS,
    ),
    Refusal(("device",), _DISK, _ROOTFS, _DISK_DEVICES),
    Refusal(("device",), _DISK, _ROOTFS, r",drive="),
    Refusal(("iscsi",), _DISK, _ROOTFS),
    Refusal(
        ("snapshot", "loadvm", "incoming"), "the state of an earlier run is not part of the recipe", "leave it out"
    ),
    # File systems of the host.
    Refusal(("virtfs", "fsdev"), "the host's file system answers in its own time (9p)", _ROOTFS),
    Refusal(
        ("device",),
        "the host's file system answers in its own time (9p, virtiofs)",
        _ROOTFS,
        r"^(virtio-9p|vhost-user-fs)",
    ),
    Refusal(
        ("object",),
        "a shared image changes during the boot, and the next boot starts from a different image",
        _ROOTFS,
        r"^memory-backend-(file|memfd|shm).*(share|discard-data)=(on|yes|true)",
    ),
    # Entropy, network, devices of the host.
    Refusal(
        ("device",),
        "random bytes complete when the host delivers them",
        "leave virtio-rng out; `-seed 1` fixes the rest",
        r"^virtio-rng",
    ),
    Refusal(
        ("object",),
        "random bytes complete when the host delivers them",
        "leave it out; `-seed 1` fixes the rest",
        r"^rng-",
    ),
    Refusal(("netdev", "net", "nic"), _NETWORK, _NO_NETWORK, r"^(?!none$)"),
    Refusal(("object",), _NETWORK, _NO_NETWORK, r"^(filter-|colo-)"),
    Refusal(("device",), _NETWORK, _NO_NETWORK, _NETWORK_DEVICES),
    Refusal(("device",), _NETWORK, _NO_NETWORK, r",netdev="),
    Refusal(
        ("device",),
        "a device of the host answers in its own time",
        _LIVE,
        r"^(vfio|usb-host|usb-redir|ivshmem|u2f|ccid|vhost)",
    ),
    Refusal(
        ("tpmdev", "device"),
        "a TPM is another process that answers in its own time",
        _LIVE,
        r"^(emulator|passthrough|tpm-)",
    ),
    Refusal(
        ("object",),
        "another thread or process works in its own time",
        _LIVE,
        r"^(iothread|throttle-group|x-remote|vfio|cryptodev|can-)",
    ),
    # People and programs outside.
    Refusal(
        ("monitor", "mon", "qmp", "qmp-pretty"), "commands from outside arrive at another instruction each time", _LIVE
    ),
    Refusal(("gdb", "s"), "a debugger stops and changes the guest", _LIVE),
    Refusal(("chardev",), _INPUT, "use `-chardev file`, which only writes", r"^(?!(file|null|ringbuf|memory)\b)"),
    Refusal(("chardev",), _INPUT, "leave `input-path` out", r",input-path="),
    Refusal(("usbdevice",), _INPUT, "use `-device` for devices of the machine"),
    Refusal(("parallel", "debugcon", "virtioconsole"), _INPUT, "use `file:PATH`", r"^(?!(file:|null$|none$))"),
    Refusal(("display", "vnc", "spice", "sdl", "curses", "vga", "full-screen"), _DISPLAY, _LIVE, r"^(?!none$)"),
    Refusal(
        ("device",),
        _DISPLAY,
        _LIVE,
        r"^(virtio-(gpu|vga|keyboard|mouse|tablet|input|multitouch)|qxl|usb-(kbd|mouse|tablet)|.*vga\b)",
    ),
    Refusal(("audio", "audiodev", "soundhw"), "sound plays by the host's clock", _LIVE, r"^(?!none\b)"),
    Refusal(
        ("device",),
        "sound plays by the host's clock",
        _LIVE,
        r"^(intel-hda|ich9-intel-hda|hda-|AC97|ES1370|sb16|adlib|cs4231a|gus|usb-audio|virtio-(snd|sound))",
    ),
    Refusal(
        ("plugin",),
        "another plugin may change what is executed, and when",
        "leave it out, or use `--no-profile --live`",
    ),
)
