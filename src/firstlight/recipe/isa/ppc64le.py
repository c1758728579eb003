"""Guests on 64-bit POWER with little-endian bytes, which distributions call ppc64el: QEMU's `pseries`."""

from __future__ import annotations

from firstlight.recipe.isa.architecture import Architecture

PPC64LE = Architecture(
    name="ppc64le",
    distribution_name="ppc64el",
    qemu_binary="qemu-system-ppc64",
    qemu_package="qemu-system-ppc",
    qemu_packages={"zypper": "qemu-ppc", "apk": "qemu-system-ppc64", "nix-shell": "qemu"},
    machine="pseries-7.2",
    versioned_machine=r"pseries-\d+\.\d+",
    cpu="power9_v2.0",
    live_cpu="power9_v2.0",
    # Names without a version mean the newest one that a QEMU knows.
    unsteady_cpus=frozenset("host max power8 power8e power8nvl power9 power10 power11".split()),
    # It boots the machine and serves it afterwards: SLOF.
    firmware_files=("slof.bin",),
    firmware_package="qemu-system-data",
    console_device="hvc0",
    # The second console of the hypervisor (`spapr-vty`).
    report_device="hvc1",
    start_functions=frozenset({"__start", "__boot_from_prom", "prom_init", "early_setup", "start_here_common"}),
    longest_command_line=2047,
    kernel_package="linux-image-powerpc64le",
    kernel_format="ppc64le vmlinux",
    elf_machine=0x15,
    kernel_image="vmlinux",
    # Read by `arch/powerpc/kernel/prom_init.c`, which runs on the firmware, of kernels 6.1 to 6.16.
    raw_options=frozenset("nokaslr mem iommu disable_radix xive svm debug quiet".split()),
    library_folder="powerpc64le-linux-gnu",
    loader="ld64.so.2",
    # Of QEMU's pseries: memory begins at 0 and has no gap.
    low_memory_end=256 << 30,
    helper_asset="firstlight-guest-ppc64le",
    # docs/reference/formats/guest-report.md; and the reading of the time base: four bytes may stand in any file.
    ready_mark=bytes.fromhex("0000313e a6426c7c"),
    has_processes=False,
    # The firmware writes its own.
    has_device_tree=False,
    has_root_images=False,
    has_kernel_roots=False,
)

ARCHITECTURE = PPC64LE
