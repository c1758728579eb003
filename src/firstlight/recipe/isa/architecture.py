"""What has to be known about a processor architecture to boot guests on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from firstlight.recipe.machine_feature import MachineFeature
from firstlight.schema.marks import Mark

_LIBRARY_FOLDERS = ("usr/lib", "lib", "usr/lib64", "lib64")


@dataclass(frozen=True)
class FunctionMark:
    """A mark that is given by the first entry of a kernel function.

    A compiler may inline a function, and it is then no symbol of that kernel: the first of the candidates that
    is one counts.
    """

    mark: Mark
    functions: tuple[str, ...]

    def found_in(self, symbols: frozenset[str]) -> str | None:
        """The candidate that this kernel has, with the compiler's suffix if it has one (`smp_init.isra.0`).

        >>> FunctionMark(Mark.INITCALLS, ("do_basic_setup", "driver_init")).found_in(frozenset({"driver_init"}))
        'driver_init'
        """
        for function in self.functions:
            if function in symbols:
                return function
            suffixed = sorted(name for name in symbols if name.startswith(function + ".") and ".cold" not in name)
            if suffixed:
                return suffixed[0]
        return None


KERNEL_MARKS = (
    FunctionMark(Mark.KERNEL_START, ("start_kernel",)),
    FunctionMark(Mark.REST_INIT, ("rest_init",)),
    FunctionMark(Mark.KERNEL_INIT, ("kernel_init_freeable",)),
    FunctionMark(Mark.SMP_INIT, ("smp_init",)),
    # driver_init is the first thing of weight in do_basic_setup.
    FunctionMark(Mark.INITCALLS, ("do_basic_setup", "driver_init")),
    FunctionMark(Mark.FREE_INIT_MEMORY, ("free_initmem",)),
    FunctionMark(Mark.RUN_INIT, ("run_init_process", "kernel_execve")),
)
"""The marks in code that the kernel has for every architecture, in the order of the boot."""


@dataclass(frozen=True)
class AuditedProcessors:
    """The processor models of the support matrix, each in its first version (`-v1`), the same in every QEMU."""

    full: tuple[str, ...]
    quick: tuple[str, ...]
    stuffed: tuple[str, ...] = ()
    """Those on which the kernel can stuff the return stack against speculation (`retbleed_select_mitigation`)."""


@dataclass(frozen=True)
class NamedLoader:
    """A firmware or boot loader of the distribution that starts a kernel which QEMU holds ready for it."""

    title: str
    package: str
    """The distribution's package that has it."""
    file: str
    """Where that package puts it."""
    source: str | None = None
    """The distribution's source package that it is built from."""
    configuration: str | None = None
    """The configuration of U-Boot's source with which it is built; none where its program file cannot be built."""


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """What the lab has to know about one kind of guest.

    >>> from firstlight.recipe.isa.x86_64 import X86_64
    >>> X86_64.machine, X86_64.console_device
    ('pc-q35-7.2', 'ttyS0')
    """

    name: str
    """As manifests have it, and as the module of the architecture is called."""
    distribution_name: str
    """As the distribution calls it."""
    qemu_binary: str
    qemu_package: str
    """The distribution's package that has it: its name in Debian."""
    machine: str
    """Versioned type, present in every QEMU that is supported, so that the hardware is the same in all of them."""
    cpu: str
    """Versioned model that TCG emulates whole; what it leaves out of others is a fact of the boot.

    The measurements behind the choice are in `docs/design/exact-mode.md`."""
    live_cpu: str
    """Model for live mode: all that the accelerator can do."""
    versioned_machine: str
    """Regular expression of the machine types that may be chosen in exact mode."""
    unsteady_cpus: frozenset[str] = frozenset({"host", "max"})
    """CPU models whose features depend on the host or on QEMU's version."""
    narrow_cpus: frozenset[str] = frozenset()
    """CPU models, without their versions, that cannot run this architecture's kernels."""
    nvdimm_property: str = "nvdimm=on"
    """What has to be added to the machine type for persistent memory."""
    firmware_files: tuple[str, ...] = ()
    """What QEMU's data directory gives to the machine: they are executed, so they are inputs. By default none: QEMU
    enters the kernel by a few instructions of its own."""
    elf_firmware: tuple[str, ...] = ()
    """What it gives besides when the kernel is an ELF file."""
    small_machines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Machine types without versions that may be chosen all the same, with their firmware: QEMU's own version, an input
    of the recipe, decides their hardware. They have one serial port of their own, and no persistent memory."""
    console_device: str
    report_device: str
    start_functions: frozenset[str]
    """Functions between the first instruction of the kernel and `start_kernel`."""
    longest_command_line: int
    """Bytes, without the final zero (`COMMAND_LINE_SIZE` of the kernel)."""
    kernel_package: str
    """The distribution's kernel for virtual machines."""
    pmem_device: str = "/dev/pmem0"
    """Block device of the first persistent memory."""
    pmem_modules: tuple[str, ...] = ("nd_pmem", "of_pmem", "ext4")
    """Kernel modules for a root file system in persistent memory, without what they depend on: by default those of a
    machine that shows it by its device tree."""
    built_in_signs: Mapping[str, str] = field(
        default_factory=lambda: {
            "of_pmem": "of_pmem_region_probe",
            "nd_pmem": "nd_pmem_probe",
            "ext4": "ext4_fill_super",
        }
    )
    """Of each of these modules a function that the kernel's own symbols have when it is built in."""
    has_disk_models: bool = False
    """Whether a root file system can be on a disk with a model (`--storage`)."""
    disk_device: str = "/dev/vda"
    """Block device of a disk with a model."""
    disk_modules: tuple[str, ...] = ("virtio_pci", "virtio_blk", "ext4")
    """Kernel modules for a root file system on it, without what they depend on."""
    disk_signs: Mapping[str, str] = field(
        default_factory=lambda: {
            "virtio_pci": "virtio_pci_probe",
            "virtio_blk": "virtblk_probe",
            "ext4": "ext4_fill_super",
        }
    )
    """Of each of these modules a function that the kernel's own symbols have when it is built in."""
    marks: tuple[FunctionMark, ...] = KERNEL_MARKS
    """In the order of the boot. The plugin itself gives power on, decompression, kernel entry, the levels of
    initcalls, the first user instruction, `ready` and `panic`."""
    kernel_format: str
    """The form of the kernel's file that boots, as `firstlight.lab.kernel.kernel` calls its reader."""
    kernel_signs: tuple[tuple[int, bytes], ...] = ()
    """What such a file has at which offset."""
    elf_machine: int
    """`e_machine` of an ELF file."""
    kernel_image: str
    """Where the kernel's build leaves that file; its last part is the target of `make`."""
    raw_options: frozenset[str]
    """Words of the command line that the architecture's first code reads, before or beside the kernel's tables."""
    library_folder: str
    """The folder of libraries below `lib` and `usr/lib` of the distribution."""
    loader: str
    """The file name of the dynamic loader."""
    low_memory_end: int
    """Bytes: from here on a machine has no memory when it has more than it can put below 4 GiB."""
    loaded_below: int | None = None
    """Bytes of memory, from its start, that kernel and initramfs have to fit in, where that is not all of it."""
    helper_asset: str
    """The bundled file that is the guest's helper."""
    walk_assets: tuple[str, str] | None = None
    """The bundled files that the study of tree walks runs: the program, and the library that other programs preload."""
    ready_mark: bytes
    """What the guest's helper executes when it is up: the mark's instruction, and on some the one after it."""
    several_processors: str = "with several processors is not checked for equal repeats"
    """What several processors of a guest do where they are not exact: the end of a sentence."""
    several_processors_since: tuple[int, int] | None = None
    """The first QEMU in which they are exact, of those that were measured; none where there is none."""
    audited: AuditedProcessors | None = None
    """None where the second observer does not know the processor, so that no boot can be audited."""
    bits: int = 64
    """Bits of an address of its programs."""
    firmware_package: str | None = None
    """The distribution's package that has the firmware, where a machine without it does not start."""
    distribution_release: str | None = None
    """The distribution's first release that has the architecture, where the one of this machine may not have it."""
    delay_loop_instructions: int | None = None
    """Instructions of one turn of the kernel's loop for short waits; none where the kernel reads a timer instead."""
    system_call_prefix: str = ""
    """What the names of the functions that serve system calls have before `sys_` (`SYSCALL_DEFINE` of the kernel)."""
    report_card: str | None = None
    """The device of QEMU that is the report's serial port, on machines that have one port of their own."""
    has_profile: bool = True
    """Whether the plugin follows its functions. Otherwise a boot is exact, and has marks and phases by the guest."""
    has_processes: bool = True
    """Whether the plugin follows its processes, too, and reads arguments of functions."""
    has_device_tree: bool = True
    """Whether its machine describes itself by a device tree, which a file of the user can replace."""
    tree_gets_memory: bool = True
    """Whether QEMU writes the machine's memory into such a file."""
    largest_memory: int | None = None
    """Bytes that the machine can have at most; none where no guest comes near."""
    memory_start: int | None = None
    """Where memory begins, on a machine that shows persistent memory by its device tree alone.

    The image of a root file system is then loaded behind the guest's memory. None where the machine has devices for
    persistent memory."""
    has_root_images: bool = True
    """Whether its machine can have a root file system in persistent memory."""
    has_kernel_roots: bool = True
    """Whether the kernel can mount its root by itself from all kinds of images (`--root-as`), not an archive alone."""
    has_lab_kernel: bool = False
    """Whether the lab's kernel is made for it. Studies boot the distribution's kernel alone where it is not."""
    features: frozenset[MachineFeature] = frozenset()
    """What its guests have and those of other architectures may not: claims and arms of studies need some of them."""
    loaders: Mapping[str, NamedLoader] = field(default_factory=dict)
    """By the names that `--loader` takes."""
    loader_step: int = 1
    """Bytes: the size of such a file is a multiple of it."""
    largest_loader: int = 0
    """Bytes of the memory that the machine has for it."""
    console_registers: int | None = None
    """The physical address of the first serial port's registers, where they are memory."""
    default_memory: str = "512M"
    default_rootfs_memory: str = "1G"
    qemu_packages: Mapping[str, str] = field(default_factory=dict)
    """By the program of another distribution's package manager, its name there, where that is another one."""

    def is_small(self, machine: str) -> bool:
        """Whether a machine, with its properties, is one without what a PC has.

        >>> from firstlight.recipe.isa.x86_64 import X86_64
        >>> X86_64.is_small("microvm,pit=off"), X86_64.is_small("pc-q35-7.2")
        (True, False)
        """
        return machine.partition(",")[0].removeprefix("type=") in self.small_machines

    def firmware_of(self, machine: str, *, elf: bool = False) -> tuple[str, ...]:
        """The firmware files that a machine executes.

        :param elf: whether its kernel is an ELF file.

        >>> from firstlight.recipe.isa.x86_64 import X86_64
        >>> X86_64.firmware_of("microvm")
        ('bios-microvm.bin', 'linuxboot_dma.bin')
        """
        name = machine.partition(",")[0].removeprefix("type=")
        return self.small_machines.get(name, self.firmware_files) + (self.elf_firmware if elf else ())

    def is_versioned_machine(self, machine: str) -> bool:
        """Whether a machine type means the same hardware in every QEMU that has it.

        >>> from firstlight.recipe.isa.x86_64 import X86_64
        >>> X86_64.is_versioned_machine("pc-q35-7.2"), X86_64.is_versioned_machine("q35")
        (True, False)
        """
        return re.fullmatch(self.versioned_machine, machine) is not None

    def is_kernel(self, head: bytes) -> bool:
        """Whether a file of these first bytes is a kernel, or another program, for this architecture.

        >>> from firstlight.recipe.isa.x86_64 import X86_64
        >>> elf = bytes.fromhex("7f454c460201") + bytes(12) + bytes.fromhex("3e00")
        >>> X86_64.is_kernel(elf), X86_64.is_kernel(b"MZ")
        (True, False)
        """
        sign = b"\x7fELF\x02\x01" if self.bits == 64 else b"\x7fELF\x01\x01"
        is_elf = head[:6] == sign and int.from_bytes(head[18:20], "little") == self.elf_machine
        return is_elf or any(head[at : at + len(sign)] == sign for at, sign in self.kernel_signs)

    @property
    def library_folders(self) -> tuple[str, ...]:
        """The folders of libraries of a root file system, without the first slash."""
        return (f"usr/lib/{self.library_folder}", f"lib/{self.library_folder}", *_LIBRARY_FOLDERS)
