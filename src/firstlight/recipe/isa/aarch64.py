"""Guests on aarch64, which distributions call arm64: QEMU's `virt` board with a device tree."""

from __future__ import annotations

from types import MappingProxyType

from firstlight.recipe.isa.architecture import Architecture, AuditedProcessors, NamedLoader

AARCH64 = Architecture(
    name="aarch64",
    distribution_name="arm64",
    qemu_binary="qemu-system-aarch64",
    qemu_package="qemu-system-arm",
    qemu_packages={
        **dict.fromkeys(("dnf", "pacman", "apk"), "qemu-system-aarch64"),
        "zypper": "qemu-arm",
        "nix-shell": "qemu",
    },
    machine="virt-7.2,gic-version=3",
    # `max` spends more than half of the time on emulated pointer authentication.
    cpu="cortex-a57",
    live_cpu="max",
    versioned_machine=r"virt-\d+\.\d+",
    narrow_cpus=frozenset("cortex-a7 cortex-a8 cortex-a9 cortex-a15".split()),
    console_device="ttyAMA0",
    report_device="ttyS0",
    # `virt` has one serial port.
    report_card="pci-serial",
    start_functions=frozenset({"primary_entry", "__primary_switched"}),
    longest_command_line=2047,
    kernel_package="linux-image-cloud-arm64",
    kernel_format="Image",
    # Documentation/arch/arm64/booting.rst of the kernel: the header's magic number.
    kernel_signs=((0x38, b"ARM\x64"),),
    elf_machine=0xB7,
    kernel_image="arch/arm64/boot/Image",
    raw_options=frozenset("nokaslr kpti earlycon mem hugepages hugepagesz default_hugepagesz debug quiet".split()),
    library_folder="aarch64-linux-gnu",
    loader="ld-linux-aarch64.so.1",
    # Of QEMU's virt: memory begins at 1 GiB and has no gap below 256 GiB.
    low_memory_end=256 << 30,
    helper_asset="firstlight-guest-aarch64",
    walk_assets=("firstlight-walk-aarch64", "firstlight-restat-aarch64.so"),
    # docs/reference/formats/guest-report.md; and the reading of the timer, because four bytes may stand in any file.
    ready_mark=bytes.fromhex("3f80e9d2 40e03bd5"),
    system_call_prefix="__arm64_",
    several_processors="repeats with several processors from QEMU 7.2 on",
    several_processors_since=(7, 2),
    audited=AuditedProcessors(full=("cortex-a57",), quick=("cortex-a57",)),
    # VIRT_MEM of QEMU's hw/arm/virt.c. Without firmware there is no ACPI, and QEMU refuses NVDIMMs.
    memory_start=1 << 30,
    # Flash in memory is set aside by words of x86 (`memmap=`).
    has_kernel_roots=False,
    loaders=MappingProxyType(
        {
            "u-boot": NamedLoader(
                "U-Boot",
                "u-boot-qemu",
                "/usr/lib/u-boot/qemu_arm64/u-boot.bin",
                source="u-boot",
                configuration="qemu_arm64_defconfig",
            )
        }
    ),
    # The first flash of `virt`.
    largest_loader=64 << 20,
    # `VIRT_UART` of QEMU's hw/arm/virt.c.
    console_registers=0x900_0000,
)

ARCHITECTURE = AARCH64
