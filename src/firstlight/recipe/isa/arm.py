"""Guests on 32-bit Arm, which distributions call armhf: QEMU's `virt` board with a device tree."""

from __future__ import annotations

from firstlight.recipe.isa.architecture import Architecture

ARM = Architecture(
    name="arm",
    distribution_name="armhf",
    bits=32,
    qemu_binary="qemu-system-arm",
    qemu_package="qemu-system-arm",
    qemu_packages={"zypper": "qemu-arm", "nix-shell": "qemu"},
    # A kernel without large physical addresses cannot reach what lies above 4 GiB: the cards, by default.
    machine="virt-7.2,highmem=off",
    versioned_machine=r"virt-\d+\.\d+",
    cpu="cortex-a15",
    live_cpu="cortex-a15",
    console_device="ttyAMA0",
    report_device="ttyS0",
    # `virt` has one serial port.
    report_card="pci-serial",
    start_functions=frozenset({"stext", "__mmap_switched"}),
    longest_command_line=1023,
    kernel_package="linux-image-armmp",
    kernel_format="zImage",
    # `arch/arm/boot/compressed/head.S` of the kernel: the magic number behind the first instructions.
    kernel_signs=((0x24, b"\x18\x28\x6f\x01"),),
    elf_machine=0x28,
    kernel_image="arch/arm/boot/zImage",
    raw_options=frozenset("earlycon earlyprintk mem vmalloc hugepages debug quiet".split()),
    library_folder="arm-linux-gnueabihf",
    loader="ld-linux-armhf.so.3",
    # Of QEMU's virt: memory begins at 1 GiB and ends below 4 GiB.
    low_memory_end=3 << 30,
    helper_asset="firstlight-guest-arm",
    # docs/reference/formats/guest-report.md; and the reading of the timer, because four bytes may stand in any file.
    ready_mark=bytes.fromhex("41f020e3 1e0f51ec"),
    # QEMU's virt maps its devices into the first GiB of the 4 GiB that 32 bits address.
    largest_memory=3 << 30,
    has_processes=False,
    has_root_images=False,
    has_kernel_roots=False,
)

ARCHITECTURE = ARM
