"""Kernel modules: everything that is needed, in the order of loading, and nothing else."""

from __future__ import annotations

import gzip
import lzma
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from firstlight import zstd
from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.kernel.modules import Module, module_information, modules_for, read_module, require_built_in


def module(**information: str) -> bytes:
    """A module as far as it is read: an ELF file with a section of names and `.modinfo`."""
    modinfo = b"".join(f"{key}={value}".encode() + b"\0" for key, value in information.items())
    names = b"\0.shstrtab\0.modinfo\0"
    start = 64
    header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 1, 0x3E, 1, 0, 0, 1024, 0, 64, 0, 0, 64, 3, 1)
    content = (header + names + modinfo).ljust(1024, b"\0")
    sections = [(0, 0, 0, 0, 0, 0), (1, 3, 0, 0, start, len(names)), (11, 1, 0, 0, start + len(names), len(modinfo))]
    return content + b"".join(struct.pack("<IIQQQQ", *section).ljust(64, b"\0") for section in sections)


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    files = {
        "kernel/drivers/acpi/nfit/nfit.ko": module(depends="libnvdimm", name="nfit"),
        "kernel/drivers/nvdimm/libnvdimm.ko.xz": lzma.compress(module(depends="")),
        "kernel/drivers/nvdimm/nd_pmem.ko.zst": zstd.compress(module(depends="nd-btt,libnvdimm")),
        "kernel/drivers/nvdimm/nd-btt.ko.gz": gzip.compress(module(depends="libnvdimm")),
        "kernel/fs/ext4/ext4.ko": module(depends="jbd2,mbcache", softdep="pre: crypto-crc32c post: late"),
        "kernel/fs/jbd2/jbd2.ko": module(depends=""),
        "kernel/crypto/crc32c_generic.ko": module(depends=""),
        "kernel/lib/late.ko": module(depends=""),
        "kernel/lib/unused.ko": b"never read",
        "kernel/lib/broken.ko": module(depends="")[:1100],
        "kernel/lib/orphan.ko": module(depends="nowhere"),
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "modules.builtin").write_text("kernel/fs/mbcache.ko\nkernel/drivers/virtio/virtio-blk.ko\n")
    return Kernel(tmp_path / "vmlinuz", "digest", "6.1.0-test", tmp_path, None)


def names(modules: list[Module]) -> list[str]:
    return [module.name for module in modules]


def test_what_a_module_needs_comes_before_it_and_once(kernel: Kernel) -> None:
    assert names(modules_for(kernel, ["nfit", "nd_pmem"])) == ["libnvdimm", "nfit", "nd_btt", "nd_pmem"]


def test_every_compression_gives_the_module_itself(kernel: Kernel) -> None:
    assert all(module.content[:4] == b"\x7fELF" for module in modules_for(kernel, ["nd_pmem"]))


def test_built_in_ones_are_left_out(kernel: Kernel) -> None:
    assert modules_for(kernel, ["virtio_blk"]) == []


def test_soft_dependencies_are_loaded_before_and_after(kernel: Kernel) -> None:
    assert names(modules_for(kernel, ["ext4"])) == ["crc32c_generic", "jbd2", "ext4", "late"]


def test_hyphen_and_underscore_are_one(kernel: Kernel) -> None:
    assert names(modules_for(kernel, ["nd-pmem"])) == names(modules_for(kernel, ["nd_pmem"]))


def test_a_kernel_without_module_directory_has_everything_built_in() -> None:
    assert modules_for(Kernel(Path("k"), "d", None, None, None), ["nfit"]) == []


def test_a_module_that_is_nowhere_is_named_with_who_needs_it(kernel: Kernel) -> None:
    with pytest.raises(LabError, match="the kernel has no module `zfs`"):
        modules_for(kernel, ["zfs"])
    with pytest.raises(LabError, match="no module `nowhere`, which `orphan` needs"):
        modules_for(kernel, ["orphan"])


def test_a_damaged_module_is_an_error(kernel: Kernel, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="not a kernel module"):
        modules_for(kernel, ["broken"])
    for name in ("a.ko.gz", "a.ko.xz", "a.ko.zst"):
        (tmp_path / name).write_bytes(b"damaged")
        with pytest.raises(LabError, match="cannot read the module"):
            read_module(tmp_path / name)


def test_information_of_any_bytes_is_an_error_and_no_crash() -> None:
    whole = module(depends="a")
    assert module_information(whole, Path("m"))["depends"] == ["a"]
    for cut in range(0, len(whole) - 64, 7):
        with pytest.raises(LabError):
            module_information(whole[:cut], Path("m"))


def test_a_kernel_whose_modules_were_not_found_has_to_have_all_built_in(tmp_path: Path, kernel: Kernel) -> None:
    symbols = tmp_path / "kallsyms"
    symbols.write_text("ffffffff81000000 T _text\nffffffff81000100 t ext4_fill_super\n")
    signs = {"nd_pmem": "nd_pmem_probe", "ext4": "ext4_fill_super"}
    bare = replace(kernel, modules=None)
    with pytest.raises(
        LabError, match=r"lacks built-in drivers .*\(`nd_pmem`\), and its modules were not found"
    ) as error:
        require_built_in(bare, symbols, signs)
    assert f"lib/modules/{kernel.release}" in (error.value.hint or "")
    require_built_in(bare, symbols, {"ext4": "ext4_fill_super"})
    require_built_in(kernel, symbols, signs)
