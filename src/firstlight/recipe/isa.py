"""Everything that is particular to one kind of guest processor stands here, and nowhere else in the laboratory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firstlight.recipe.words import Isa


@dataclass(frozen=True)
class FunctionMark:
    """A mark that is given by the first entry of a kernel function.

    A compiler may inline a function, and it is then no symbol of that kernel: the first of the candidates that
    is one counts.
    """

    mark: str
    functions: tuple[str, ...]

    def found_in(self, symbols: frozenset[str]) -> str | None:
        """The candidate that this kernel has, with the compiler's suffix if it has one (`smp_init.isra.0`).

        >>> FunctionMark("initcalls", ("do_basic_setup", "driver_init")).found_in(frozenset({"driver_init"}))
        'driver_init'
        """
        for function in self.functions:
            if function in symbols:
                return function
            suffixed = sorted(name for name in symbols if name.startswith(function + ".") and ".cold" not in name)
            if suffixed:
                return suffixed[0]
        return None


@dataclass(frozen=True)
class Architecture:
    """What the laboratory has to know about one kind of guest.

    >>> X86_64.machine, X86_64.console_device
    ('pc-q35-7.2', 'ttyS0')
    """

    name: Isa
    qemu_binary: str
    machine: str
    """Versioned type, present in every QEMU that is supported, so that the hardware is the same in all of them."""
    cpu: str
    """Versioned model that TCG emulates whole; what it leaves out of others is a fact of the boot.

    The measurements behind the choice are in `docs/design/exact-mode.md`."""
    live_cpu: str
    """Model for live mode: all that the accelerator can do."""
    versioned_machine: str
    """Regular expression of the machine types that may be chosen in exact mode."""
    unsteady_cpus: frozenset[str]
    """CPU models whose features depend on the host or on QEMU's version."""
    narrow_cpus: frozenset[str]
    """CPU models, without their versions, that cannot run this architecture's kernels."""
    nvdimm_property: str
    """What has to be added to the machine type for persistent memory."""
    firmware_files: tuple[str, ...]
    """What QEMU's data directory gives to the machine: they are executed, so they are inputs."""
    elf_firmware: tuple[str, ...]
    """What it gives besides when the kernel is an ELF file."""
    small_machines: Mapping[str, tuple[str, ...]]
    """Machine types without versions that may be chosen all the same, with their firmware: QEMU's own version, an input
    of the recipe, decides their hardware. They have one serial port of their own, and no persistent memory."""
    console_device: str
    report_device: str
    longest_command_line: int
    """Bytes, without the final zero (`COMMAND_LINE_SIZE` of the kernel)."""
    kernel_package: str
    """The distribution's kernel for virtual machines."""
    pmem_device: str
    """Block device of the first persistent memory."""
    pmem_modules: tuple[str, ...]
    """Kernel modules for a root file system in persistent memory, without what they depend on."""
    built_in_signs: Mapping[str, str]
    """Of each of these modules a function that the kernel's own symbols have when it is built in."""
    marks: tuple[FunctionMark, ...]
    """In the order of the boot. The plugin itself gives power on, decompression, kernel entry, the levels of
    initcalls, the first user instruction, `ready` and `panic`."""
    default_memory: str = "512M"
    default_rootfs_memory: str = "1G"

    def is_small(self, machine: str) -> bool:
        """Whether a machine, with its properties, is one without what a PC has.

        >>> X86_64.is_small("microvm,pit=off"), X86_64.is_small("pc-q35-7.2")
        (True, False)
        """
        return machine.partition(",")[0].removeprefix("type=") in self.small_machines

    def firmware_of(self, machine: str, *, elf: bool = False) -> tuple[str, ...]:
        """The firmware files that a machine executes.

        :param elf: whether its kernel is an ELF file.

        >>> X86_64.firmware_of("microvm")
        ('bios-microvm.bin', 'linuxboot_dma.bin')
        """
        name = machine.partition(",")[0].removeprefix("type=")
        return self.small_machines.get(name, self.firmware_files) + (self.elf_firmware if elf else ())

    def is_versioned_machine(self, machine: str) -> bool:
        """Whether a machine type means the same hardware in every QEMU that has it.

        >>> X86_64.is_versioned_machine("pc-q35-7.2"), X86_64.is_versioned_machine("q35")
        (True, False)
        """
        return re.fullmatch(self.versioned_machine, machine) is not None


X86_64 = Architecture(
    name=Isa.X86_64,
    qemu_binary="qemu-system-x86_64",
    machine="pc-q35-7.2",
    cpu="qemu64-v1,+ssse3,+sse4.1,+sse4.2,+popcnt,+aes,+pclmulqdq,+rdrand",
    live_cpu="max",
    versioned_machine=r"pc-(q35|i440fx)-\d+\.\d+(\.\d+)?",
    unsteady_cpus=frozenset({"host", "max", "base"}),
    narrow_cpus=frozenset("486 pentium pentium2 pentium3 athlon coreduo n270 kvm32 qemu32".split()),
    nvdimm_property="nvdimm=on",
    firmware_files=("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin"),
    elf_firmware=("pvh.bin",),
    small_machines=MappingProxyType({"microvm": ("bios-microvm.bin", "linuxboot_dma.bin")}),
    console_device="ttyS0",
    report_device="ttyS1",
    longest_command_line=2047,
    kernel_package="linux-image-cloud-amd64",
    pmem_device="/dev/pmem0",
    # What the kernel has built in is left out.
    pmem_modules=("nfit", "nd_pmem", "ext4"),
    built_in_signs=MappingProxyType({"nfit": "acpi_nfit_init", "nd_pmem": "nd_pmem_probe", "ext4": "ext4_fill_super"}),
    marks=(
        FunctionMark("kernel_start", ("start_kernel",)),
        FunctionMark("rest_init", ("rest_init",)),
        FunctionMark("kernel_init", ("kernel_init_freeable",)),
        FunctionMark("smp_init", ("smp_init",)),
        # driver_init is the first thing of weight in do_basic_setup.
        FunctionMark("initcalls", ("do_basic_setup", "driver_init")),
        FunctionMark("free_init_memory", ("free_initmem",)),
        FunctionMark("run_init", ("run_init_process", "kernel_execve")),
    ),
)

_ALL = {each.name: each for each in (X86_64,)}


def architecture_of(isa: Isa) -> Architecture:
    """What the laboratory knows about a guest.

    >>> architecture_of(Isa.X86_64).console_device
    'ttyS0'
    """
    return _ALL[isa]
