"""Guests on 64-bit MIPS with little-endian bytes: QEMU's `malta`."""

from __future__ import annotations

from firstlight.recipe.isa.architecture import Architecture

MIPS64EL = Architecture(
    name="mips64el",
    distribution_name="mips64el",
    qemu_binary="qemu-system-mips64el",
    qemu_package="qemu-system-mips",
    qemu_packages={"apk": "qemu-system-mips64el", "zypper": "qemu-extra", "nix-shell": "qemu"},
    # It has no versioned types: QEMU's own version, an input of the recipe, decides its hardware.
    machine="malta",
    versioned_machine=r"malta",
    # All of the second release, which the distribution's programs need.
    cpu="MIPS64R2-generic",
    live_cpu="MIPS64R2-generic",
    narrow_cpus=frozenset(
        "4Kc 4Km 4KEcR1 4KEmR1 4KEc 4KEm 24Kc 24KEc 24Kf 34Kf 74Kf M14K M14Kc P5600 mips32r6-generic I7200".split()
    ),
    console_device="ttyS0",
    report_device="ttyS1",
    start_functions=frozenset({"kernel_entry", "__kernel_entry"}),
    # QEMU's firmware has 255 bytes for the place of the initramfs (46 bytes at most) and these words.
    longest_command_line=209,
    kernel_package="linux-image-5kc-malta",
    kernel_format="mips64el vmlinuz",
    elf_machine=0x08,
    kernel_image="vmlinuz",
    raw_options=frozenset("nokaslr earlycon mem memmap rd_start rd_size debug quiet".split()),
    library_folder="mips64el-linux-gnuabi64",
    loader="ld.so.1",
    # Of QEMU's malta: what is more lies from 0x90000000 on.
    low_memory_end=256 << 20,
    loaded_below=256 << 20,
    helper_asset="firstlight-guest-mips64el",
    # docs/reference/formats/guest-report.md; and the reading of the counter: four bytes may stand in any file.
    ready_mark=bytes.fromhex("014c003c 3b10027c"),
    # Of QEMU's hw/mips/malta.c.
    largest_memory=2 << 30,
    has_processes=False,
    # The kernel has the one of its board built in.
    has_device_tree=False,
    has_root_images=False,
    has_kernel_roots=False,
)

ARCHITECTURE = MIPS64EL
