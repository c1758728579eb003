"""Guests on riscv64: QEMU's `virt` board with a device tree, entered through OpenSBI."""

from __future__ import annotations

from firstlight.recipe.isa.architecture import Architecture, AuditedProcessors

RISCV64 = Architecture(
    name="riscv64",
    distribution_name="riscv64",
    qemu_binary="qemu-system-riscv64",
    qemu_package="qemu-system-misc",
    qemu_packages={
        **dict.fromkeys(("dnf", "pacman"), "qemu-system-riscv"),
        "zypper": "qemu-extra",
        "apk": "qemu-system-riscv64",
        "nix-shell": "qemu",
    },
    # It has no versioned types: QEMU's own version, an input of the recipe, decides its hardware.
    machine="virt",
    versioned_machine=r"virt",
    cpu="rv64",
    live_cpu="rv64",
    unsteady_cpus=frozenset({"host", "max", "any"}),
    narrow_cpus=frozenset("rv32 lowrisc-ibex sifive-e31 sifive-e34 sifive-u34".split()),
    # OpenSBI, which runs before the kernel and below it.
    firmware_files=("opensbi-riscv64-generic-fw_dynamic.bin",),
    console_device="ttyS0",
    report_device="ttyS1",
    # `virt` has one serial port.
    report_card="pci-serial",
    start_functions=frozenset({"_start", "_start_kernel", "setup_vm", "relocate_enable_mmu", "soc_early_init"}),
    # Since Linux 6.4; 511 before.
    longest_command_line=1023,
    kernel_package="linux-image-riscv64",
    kernel_format="riscv64 Image",
    # Documentation/arch/riscv/boot-image-header.rst of the kernel: the second of the header's magic numbers.
    kernel_signs=((0x38, b"RSC\x05"),),
    elf_machine=0xF3,
    kernel_image="arch/riscv/boot/Image",
    # Read by `arch/riscv/kernel/pi` and `arch/riscv/mm`, of kernels 6.1 to 6.16.
    raw_options=frozenset(
        "nokaslr no4lvl no5lvl earlycon mem hugepages hugepagesz default_hugepagesz debug quiet".split()
    ),
    library_folder="riscv64-linux-gnu",
    loader="ld-linux-riscv64-lp64d.so.1",
    # Of QEMU's virt: memory begins at 2 GiB and has no gap.
    low_memory_end=256 << 30,
    helper_asset="firstlight-guest-riscv64",
    # docs/reference/formats/guest-report.md; and the reading of the counter, because four bytes may stand in any file.
    ready_mark=bytes.fromhex("3710004c 732510c0"),
    system_call_prefix="__riscv_",
    several_processors="with several processors hangs in the firmware on QEMU 7.2, and repeats from 10.0 on",
    several_processors_since=(10, 0),
    audited=AuditedProcessors(full=("rv64",), quick=("rv64",)),
    firmware_package="qemu-system-data",
    distribution_release="trixie",
    # `create_fdt` of QEMU's hw/riscv/virt.c takes a tree as it is.
    tree_gets_memory=False,
    # `VIRT_DRAM` of QEMU's hw/riscv/virt.c, which has no ACPI without firmware that makes it.
    memory_start=2 << 30,
    # Flash in memory is set aside by words of x86 (`memmap=`).
    has_kernel_roots=False,
)

ARCHITECTURE = RISCV64
