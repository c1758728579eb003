"""Guests on x86_64: 64-bit PCs."""

from __future__ import annotations

from types import MappingProxyType

from firstlight.recipe.isa.architecture import Architecture, AuditedProcessors, NamedLoader
from firstlight.recipe.machine_feature import MachineFeature

X86_64 = Architecture(
    name="x86_64",
    distribution_name="amd64",
    qemu_binary="qemu-system-x86_64",
    qemu_package="qemu-system-x86",
    qemu_packages={"zypper": "qemu-x86", "apk": "qemu-system-x86_64", "nix-shell": "qemu"},
    machine="pc-q35-7.2",
    cpu="qemu64-v1,+ssse3,+sse4.1,+sse4.2,+popcnt,+aes,+pclmulqdq,+rdrand",
    live_cpu="max",
    versioned_machine=r"pc-(q35|i440fx)-\d+\.\d+(\.\d+)?",
    unsteady_cpus=frozenset({"host", "max", "base"}),
    narrow_cpus=frozenset("486 pentium pentium2 pentium3 athlon coreduo n270 kvm32 qemu32".split()),
    firmware_files=("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin"),
    elf_firmware=("pvh.bin",),
    small_machines=MappingProxyType({"microvm": ("bios-microvm.bin", "linuxboot_dma.bin")}),
    console_device="ttyS0",
    report_device="ttyS1",
    start_functions=frozenset({"x86_64_start_kernel", "x86_64_start_reservations"}),
    longest_command_line=2047,
    kernel_package="linux-image-cloud-amd64",
    # What the kernel has built in is left out.
    pmem_modules=("nfit", "nd_pmem", "ext4"),
    built_in_signs=MappingProxyType({"nfit": "acpi_nfit_init", "nd_pmem": "nd_pmem_probe", "ext4": "ext4_fill_super"}),
    has_disk_models=True,
    kernel_format="bzImage",
    # Documentation/arch/x86/boot.rst of the kernel: the header's magic number.
    kernel_signs=((0x202, b"HdrS"),),
    elf_machine=0x3E,
    kernel_image="arch/x86/boot/bzImage",
    # Read by `cmdline_find_option` in `arch/x86`, of kernels 4.19 to 6.16. The kernel calls some of them unknown
    # all the same.
    raw_options=frozenset(
        "nokaslr nopti pti nospectre_v2 spectre_v2 spectre_v2_user spec_store_bypass_disable "
        "nospec_store_bypass_disable no5lvl clearcpuid setcpuid noxsave noxsaveopt noxsaves nofxsr nofpu eagerfpu "
        "no387 dis_ucode_ldr microcode.minrev mem_encrypt nopcid noinvpcid earlyprintk acpi_rsdp efi hugepages "
        "hugepagesz default_hugepagesz memmap mem nosmap nosmep edd vga video debug quiet".split()
    ),
    library_folder="x86_64-linux-gnu",
    loader="ld-linux-x86-64.so.2",
    # Of QEMU's q35.
    low_memory_end=2048 << 20,
    helper_asset="firstlight-guest",
    walk_assets=("firstlight-walk", "firstlight-restat.so"),
    # docs/reference/formats/guest-report.md.
    ready_mark=bytes.fromhex("0f1f84000100464c"),
    # `delay_loop` of arch/x86/lib/delay.c.
    delay_loop_instructions=2,
    system_call_prefix="__x64_",
    several_processors="with several processors hangs on QEMU 7.2, and repeats from 10.0 on",
    several_processors_since=(10, 0),
    audited=AuditedProcessors(
        full=("qemu64", "EPYC-Rome", "EPYC-Milan", "EPYC-Genoa", "Skylake-Client", "Icelake-Server"),
        quick=("qemu64", "EPYC-Milan", "Skylake-Client"),
        # Intel's processors only.
        stuffed=("Skylake-Client", "Icelake-Server"),
    ),
    has_device_tree=False,
    has_lab_kernel=True,
    features=frozenset(MachineFeature),
    loaders=MappingProxyType({"ovmf": NamedLoader("OVMF", "ovmf", "/usr/share/ovmf/OVMF.fd")}),
    # `x86_bios_rom_init` of QEMU: whole pages of 64 KiB, below the interrupt controllers.
    loader_step=64 << 10,
    largest_loader=16 << 20,
)

ARCHITECTURE = X86_64
