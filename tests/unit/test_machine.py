"""From a recipe to QEMU's command line and to the plugin's configuration."""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path

import pytest

from firstlight.errors import LabError, UsageError
from firstlight.lab.qemu.command_line import (
    RunFiles,
    check_memory,
    kernel_command_line,
    kernel_memory,
    persistent_memory,
    qemu_arguments,
    write_plugin_config,
)
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.choices import Choices
from firstlight.recipe.field_types import Accelerator
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Files, Recipe

MIB = 1 << 20


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A recipe whose kernel says, as the boot protocol has it, that it needs 16 + 48 MiB to start."""
    header = bytearray(0x264)
    header[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", header, 0x206, 0x20F)
    struct.pack_into("<QI", header, 0x258, 16 * MIB, 48 * MIB)
    kernel, initrd = tmp_path / "bzImage", tmp_path / "a.cpio"
    kernel.write_bytes(header)
    initrd.write_bytes(bytes(MIB))
    return Recipe(
        architecture=X86_64.name,
        machine=X86_64.machine,
        cpu=X86_64.cpu,
        memory=512 * MIB,
        command_line="console=ttyS0 nokaslr",
        chosen=Choices(),
        files=Files(kernel=kernel, initrd=initrd),
    )


def with_image(recipe: Recipe, image: Path, size: int) -> Recipe:
    """The recipe with a root file system in persistent memory."""
    return recipe.model_copy(update={"files": recipe.files.model_copy(update={"image": image}), "image_size": size})


def option(words: list[str], name: str) -> list[str]:
    """All values of an option."""
    return [value for word, value in itertools.pairwise(words) if word == name]


def test_a_command_line_longer_than_the_kernel_takes_is_refused() -> None:
    longest = X86_64.longest_command_line - len("console=ttyS0 nokaslr norandmaps ")
    assert len(kernel_command_line(X86_64, "x" * longest)) == X86_64.longest_command_line
    with pytest.raises(UsageError, match="2,048 bytes"):
        kernel_command_line(X86_64, "x" * (longest + 1))


def test_an_exact_boot_counts_instructions_on_one_thread_with_a_fixed_date_and_no_input(recipe: Recipe) -> None:
    words = qemu_arguments(recipe.choosing(shift=3), RunFiles(Path("/run/x")))
    assert option(words, "-accel") == ["tcg,thread=single"]
    assert option(words, "-icount") == ["shift=3,sleep=off,align=off"]
    assert option(words, "-rtc") == ["base=2024-01-01T00:00:00,clock=vm"]
    assert option(words, "-seed") == ["1"]
    assert option(words, "-smp") == ["1"]
    assert option(words, "-machine") == ["pc-q35-7.2"]
    assert option(words, "-monitor") == ["none"]
    assert {"-nodefaults", "-no-user-config", "-no-reboot"} < set(words)


def test_the_console_is_the_first_serial_port_and_the_report_the_second(recipe: Recipe) -> None:
    words = qemu_arguments(recipe, RunFiles(Path("/run/a,b")))
    assert option(words, "-serial") == ["chardev:console", "chardev:report"]
    assert option(words, "-chardev")[0] == "file,id=console,path=/run/a,,b/console.log"


def test_a_small_machine_takes_the_report_by_a_card(recipe: Recipe) -> None:
    small = recipe.model_copy(update={"machine": "microvm,pit=off"})
    words = qemu_arguments(small, RunFiles(Path("/run")))
    assert option(words, "-serial") == ["chardev:console"]
    assert option(words, "-device") == ["isa-serial,index=1,chardev=report"]


def test_a_small_machine_has_no_persistent_memory() -> None:
    options = RecordOptions(output=Path("a.boot"), machine="microvm", rootfs="debian")
    with pytest.raises(UsageError, match="has no persistent memory") as caught:
        check_choices(options, X86_64)
    assert "--initrd" in (caught.value.hint or "")


def test_each_machine_names_the_firmware_that_it_executes() -> None:
    assert "bios-microvm.bin" in X86_64.firmware_of("microvm,pit=off")
    assert X86_64.firmware_of("pc-q35-7.2") == X86_64.firmware_files
    assert X86_64.firmware_of("pc-q35-7.2", elf=True) == (*X86_64.firmware_files, "pvh.bin")


def test_an_image_is_persistent_memory_that_is_never_written_to(recipe: Recipe) -> None:
    with_root = with_image(recipe, Path("/images/root.ext4"), 256 * MIB)
    words = qemu_arguments(with_root, RunFiles(Path("/run/x")))
    assert option(words, "-machine") == ["pc-q35-7.2,nvdimm=on"]
    assert option(words, "-device") == ["nvdimm,id=nvdimm0,memdev=root"]
    (backend,) = option(words, "-object")
    assert "share=off" in backend
    assert "mem-path=/images/root.ext4" in backend
    (memory,) = option(words, "-m")
    assert memory.startswith("512M,slots=1,maxmem=")
    assert int(memory.rpartition("=")[2].rstrip("M")) >= 512 + 256


def test_persistent_memory_that_options_add_has_a_slot_of_its_own(recipe: Recipe) -> None:
    with_root = with_image(recipe, Path("/images/root.ext4"), 256 * MIB)
    more = ("-object", "memory-backend-file,id=d,size=64M,mem-path=/d", "-device", "nvdimm,memdev=d")
    words = qemu_arguments(with_root.choosing(qemu_options=more), RunFiles(Path("/run/x")))
    (memory,) = option(words, "-m")
    assert memory.startswith("512M,slots=2,maxmem=")
    assert int(memory.rpartition("=")[2].rstrip("M")) >= 512 + 256 + 64
    alone = qemu_arguments(recipe.choosing(qemu_options=more), RunFiles(Path("/run/x")))
    assert option(alone, "-machine") == ["pc-q35-7.2,nvdimm=on"]
    assert option(alone, "-m")[0].startswith("512M,slots=1,maxmem=")


def test_a_live_boot_counts_nothing(recipe: Recipe) -> None:
    live = recipe.choosing(live=True).model_copy(update={"accelerator": Accelerator.KVM})
    words = qemu_arguments(live, RunFiles(Path("/run/x")))
    assert option(words, "-accel") == ["kvm"]
    assert "-icount" not in words
    assert "-rtc" not in words


def test_the_persons_own_options_come_last(recipe: Recipe) -> None:
    words = qemu_arguments(recipe.choosing(qemu_options=("-name", "lab")), RunFiles(Path("/run/x")), Path("/p.so"))
    assert words[-2:] == ["-name", "lab"]
    assert option(words, "-plugin") == ["/p.so,config=/run/x/plugin.json"]


def test_the_plugin_is_told_what_this_kernel_has(recipe: Recipe, tmp_path: Path) -> None:
    symbols = tmp_path / "kallsyms"
    symbols.write_text(
        "ffffffff81000000 T start_kernel\n"
        "ffffffff81000100 t smp_init.isra.0\n"
        "ffffffff81000200 T driver_init\n"
        "ffffffff81000300 d rest_init\n"
    )
    files = RunFiles(tmp_path)
    write_plugin_config(recipe.choosing(ready="login: $", shift=2, timeout_virtual_s=1.5), files, symbols)
    config = json.loads(files.plugin_config.read_text())
    assert {each["mark"]: each["function"] for each in config["marks"]} == {
        "kernel_start": "start_kernel",
        "smp_init": "smp_init.isra.0",
        "initcalls": "driver_init",
    }
    assert config["ready"] == {"nop": False, "console": "login: $", "function": None}
    assert config["virtual_limit_ns"] == 1_500_000_000
    assert config["icount_shift"] == 2
    assert config["console"] == str(files.console)


def test_what_a_kernel_needs_is_read_from_its_header(recipe: Recipe, tmp_path: Path) -> None:
    assert kernel_memory(recipe.files.kernel) == 64 * MIB
    (tmp_path / "short").write_bytes(b"MZ")
    assert kernel_memory(tmp_path / "short") == 0


def test_too_little_memory_is_found_before_the_boot_and_the_hint_is_enough(recipe: Recipe) -> None:
    with pytest.raises(LabError, match="are not enough") as error:
        check_memory(recipe.model_copy(update={"memory": 64 * MIB}))
    assert error.value.hint == "give more, such as `--memory 128M`"
    check_memory(recipe.model_copy(update={"memory": 128 * MIB}))


def test_an_initramfs_or_image_that_is_too_large_is_named(recipe: Recipe, tmp_path: Path) -> None:
    large = tmp_path / "large.cpio"
    with large.open("wb") as file:
        file.truncate(400 * MIB)
    with pytest.raises(LabError) as error:
        check_memory(recipe.model_copy(update={"files": recipe.files.model_copy(update={"initrd": large})}))
    assert error.value.where == str(large)
    with pytest.raises(LabError) as error:
        check_memory(with_image(recipe, tmp_path / "root.ext4", 64 << 30))
    assert error.value.where == str(tmp_path / "root.ext4")


def test_a_machine_that_loads_into_a_part_of_its_memory_says_what_does_not_fit(recipe: Recipe, tmp_path: Path) -> None:
    large = tmp_path / "large.cpio"
    with large.open("wb") as file:
        file.truncate(260 * MIB)
    used = recipe.files.model_copy(update={"initrd": large})
    malta = recipe.model_copy(update={"files": used, "memory": 2048 * MIB, "architecture": "mips64el"})
    with pytest.raises(LabError, match="loads both into its first 256 MiB") as error:
        check_memory(malta)
    assert error.value.hint == "give a smaller initramfs"
    check_memory(malta.model_copy(update={"architecture": "aarch64"}))


def test_an_image_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot be opened"):
        persistent_memory(tmp_path / "none.ext4", MIB)
