"""Root file systems that the kernel mounts by itself."""

from __future__ import annotations

import os
import struct
import time
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.qemu.command_line import RunFiles, qemu_arguments
from firstlight.lab.rootfs import build as root_maker
from firstlight.lab.rootfs.build import check_tools
from firstlight.lab.rootfs.cramfs import write_cramfs
from firstlight.lab.rootfs.filesystems import FORMATS, find_format
from firstlight.lab.rootfs.kernel_mounted import KernelRoot, image_root, tree_root
from firstlight.lab.rootfs.reproducible_tree import ordered_tree
from firstlight.lab.run.resolve import kernel_root
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Files, LoadedMemory, Recipe

MIB = 1 << 20


def _kernel(tmp_path: Path, config: str = "") -> Kernel:
    beside = tmp_path / "config"
    beside.write_text(config)
    return Kernel(tmp_path / "bzImage", "0" * 64, "6.1.0", None, beside)


def _root(name: str, size: int = 4 * MIB) -> KernelRoot:
    return KernelRoot(find_format(name), Path("/roots/root.image"), "0" * 64, size, size)


def _tree(folder: Path) -> Path:
    tree = folder / "tree"
    (tree / "bin").mkdir(parents=True)
    program = tree / "bin/program"
    program.write_bytes(bytes(range(256)) * 40)
    program.chmod(0o755)
    (tree / "bin/link").symlink_to("program")
    (tree / "text").write_text("a text\n" * 2000)
    return tree


def _has_tools(name: str) -> bool:
    try:
        check_tools(find_format(name))
    except LabError:
        return False
    return True


class TestWhatTheKernelIsTold:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("squashfs-zstd", "root=/dev/pmem0 rootfstype=squashfs init=/init"),
            ("ext2-ram", "root=/dev/ram0 ramdisk_size=4096 rootfstype=ext2 init=/init"),
            ("initramfs", ""),
        ],
    )
    def test_a_device_and_a_type_and_where_the_first_process_is(self, tmp_path: Path, name: str, words: str) -> None:
        assert _root(name).words(512 * MIB, _kernel(tmp_path), helper=True) == words

    def test_flash_in_memory_is_kept_from_the_kernel_and_named_to_its_driver(self, tmp_path: Path) -> None:
        root, kernel = _root("jffs2"), _kernel(tmp_path)
        words = root.words(512 * MIB, kernel, helper=False).split()
        assert words == [
            "memmap=4096K$0x1dc00000", "phram.phram=root,0x1dc00000,0x400000,0x10000", "root=mtd:root",
            "rootfstype=jffs2",
        ]  # fmt: skip
        assert root.loaded(512 * MIB, kernel) == LoadedMemory(root.path, 0x1DC00000)

    def test_flash_that_is_mapped_lies_where_the_kernel_was_built_to_look(self, tmp_path: Path) -> None:
        kernel = _kernel(tmp_path, "CONFIG_MTD_PHYSMAP_START=0x1c000000\nCONFIG_MTD_PHYSMAP_LEN=0x01000000\n")
        root = _root("cramfs-xip")
        assert root.words(512 * MIB, kernel, helper=False).split() == [
            "memmap=16384K$0x1c000000", "root=mtd:physmap-flash.0", "rootfstype=cramfs",
        ]  # fmt: skip
        assert root.loaded(512 * MIB, kernel) == LoadedMemory(root.path, 0x1C000000)

    def test_a_kernel_that_maps_no_flash_is_reported_by_the_options_that_it_lacks(self, tmp_path: Path) -> None:
        with pytest.raises(LabError, match="CONFIG_MTD_PHYSMAP_START"):
            _root("cramfs-xip").words(512 * MIB, _kernel(tmp_path, "CONFIG_MTD_PHYSMAP_START=0\n"), helper=True)
        with pytest.raises(LabError, match="not next to it"):
            _root("cramfs-xip").words(512 * MIB, replace(_kernel(tmp_path), config=None), helper=True)

    def test_an_image_that_leaves_no_memory_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(LabError, match="too little memory") as caught:
            _root("jffs2", 256 * MIB).words(384 * MIB, _kernel(tmp_path), helper=True)
        assert "--memory" in str(caught.value.hint)


class TestTheMachine:
    def test_without_an_initramfs_none_is_given(self, tmp_path: Path) -> None:
        loaded = LoadedMemory(tmp_path / "a,b.image", 0x1DC00000)
        recipe = Recipe(
            architecture=X86_64.name,
            machine="pc-q35-7.2",
            cpu="qemu64-v1",
            memory=512 * MIB,
            command_line="root=mtd:root",
            loaded_address=loaded.address,
            chosen=Choices(root_as="jffs2"),
            files=Files(kernel=Path("/k"), loaded=loaded.path),
        )
        words = qemu_arguments(recipe, RunFiles(tmp_path))
        assert "-initrd" not in words
        assert f"loader,file={tmp_path}/a,,b.image,addr=0x1dc00000,force-raw=on" in words


class TestWhatDoesNotFitIsRefused:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (RecordOptions(Path("a.boot"), root_as="ext5"), "no root file system is called `ext5`"),
            (RecordOptions(Path("a.boot"), root_as="ext4", initrd=Path("/i")), "`--initrd` and `--root-as`"),
            (RecordOptions(Path("a.boot"), root_as="ext4", initramfs_order=1), "`--initramfs-order` and `--root-as`"),
            (RecordOptions(Path("a.boot"), root_as="ext4", rootfs="debian"), "`--rootfs debian`"),
            (
                RecordOptions(Path("a.boot"), root_as="ext4", rootfs="/r", guest_commands=("true",)),
                "cannot be combined with `--guest-command`",
            ),
        ],
    )
    def test_by_name(self, options: RecordOptions, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            check_choices(options, X86_64)

    def test_a_directory_in_which_nothing_says_when_it_is_up(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="nothing in this directory") as caught:
            kernel_root(RecordOptions(Path("a.boot"), root_as="initramfs", rootfs=str(_tree(tmp_path))))
        assert "--ready" in str(caught.value.hint)

    def test_an_image_of_another_kind_by_what_it_is(self, tmp_path: Path) -> None:
        image = tmp_path / "root.image"
        image.write_bytes(b"hsqs" + bytes(8192))
        with pytest.raises(LabError, match="not an image of ext4: it is squashfs"):
            image_root(find_format("ext4"), image, helper=False)

    def test_an_image_without_the_helper_that_shall_say_when_it_is_up(self, tmp_path: Path) -> None:
        image = tmp_path / "root.image"
        image.write_bytes(b"hsqs" + bytes(4092))
        with pytest.raises(UsageError, match="does not contain Firstlight's helper"):
            image_root(find_format("squashfs-zstd"), image, helper=True)

    def test_a_program_that_is_missing_with_its_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(root_maker, "_which", lambda _name: None)
        with pytest.raises(LabError, match="`genromfs` of the package genromfs is missing"):
            root_maker.make_root(find_format("romfs"), _tree(tmp_path), tmp_path / "root.image")


class TestImages:
    @pytest.mark.parametrize("name", [each.name for each in FORMATS])
    def test_are_what_they_say_and_the_same_each_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        if not _has_tools(name):
            pytest.skip(f"what makes {name} is not installed")
        form, tree = find_format(name), _tree(tmp_path)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "first"))
        first = tree_root(form, tree)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
        second = tree_root(form, tree)
        assert first.path != second.path
        assert first.digest == second.digest
        form.check_image(first.path)
        assert first.size % 4096 == 0
        assert 0 < first.filled <= first.size

    @pytest.mark.parametrize("name", ["romfs", "btrfs"])
    def test_do_not_hold_the_order_or_the_numbers_of_the_hosts_files(self, tmp_path: Path, name: str) -> None:
        if not _has_tools(name):
            pytest.skip(f"what makes {name} is not installed")
        names = [f"d{number % 5}/f{number}" for number in range(40)]
        for folder, order in (("forth", names), ("back", names[::-1])):
            for each in order:
                file = tmp_path / folder / each
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(each)
            for path in (*(tmp_path / folder).rglob("*"), tmp_path / folder):
                os.utime(path, (1_700_000_000, 1_700_000_000))
            root_maker.make_root(find_format(name), tmp_path / folder, tmp_path / f"{folder}.image")
            # Nor when they came to lie there, which file systems tell to the second.
            time.sleep(1.1)
        with ordered_tree(tmp_path / "forth") as (_, words):
            if not words:
                pytest.skip("this host lets nobody mount a file system for himself")
        assert (tmp_path / "forth.image").read_bytes() == (tmp_path / "back.image").read_bytes()

    def test_one_that_does_not_end_on_a_page_is_filled_up_in_a_copy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        image = tmp_path / "root.image"
        image.write_bytes(b"hsqs" + bytes(5000))
        root = image_root(find_format("squashfs-gzip"), image, helper=False)
        assert (root.size, root.filled, image.stat().st_size) == (8192, 4096, 5004)


class TestCramfsInPlace:
    def _parts(self, tmp_path: Path) -> bytes:
        write_cramfs(_tree(tmp_path), tmp_path / "image")
        return (tmp_path / "image").read_bytes()

    def _entry(self, image: bytes, at: int) -> tuple[int, int, int, int, bytes]:
        mode, size, third = struct.unpack_from("<III", image, at)
        length = (third & 63) * 4
        name = image[at + 12 : at + 12 + length].rstrip(b"\0")
        return mode & 0xFFFF, size & 0xFFFFFF, (third >> 6) * 4, at + 12 + length, name

    def test_has_a_check_sum_and_its_root_behind_the_superblock(self, tmp_path: Path) -> None:
        image = self._parts(tmp_path)
        magic, size, flags, _ = struct.unpack_from("<IIII", image)
        assert (magic, size, flags) == (0x28CD3D45, len(image), 0x803)
        assert struct.unpack_from("<I", image, 32)[0] == zlib.crc32(image[:32] + bytes(4) + image[36:])
        assert self._entry(image, 64)[2] == 76

    def test_a_program_stands_on_whole_pages_as_it_is(self, tmp_path: Path) -> None:
        image = self._parts(tmp_path)
        below = self._entry(image, 76)
        link = self._entry(image, below[2])
        program = self._entry(image, link[3])
        assert (below[4], link[4], program[4]) == (b"bin", b"link", b"program")
        pointers = struct.unpack_from("<3I", image, program[2])
        assert all(pointer >> 30 == 3 for pointer in pointers)
        start = (pointers[0] & 0x3FFFFFFF) << 2
        assert start % 4096 == 0
        assert image[start : start + program[1]] == bytes(range(256)) * 40

    def test_a_text_is_compressed_block_by_block(self, tmp_path: Path) -> None:
        image = self._parts(tmp_path)
        text = self._entry(image, self._entry(image, 76)[3])
        assert text[4] == b"text"
        content = b""
        for pointer in struct.unpack_from(f"<{-(-text[1] // 4096)}I", image, text[2]):
            assert pointer >> 30 == 1
            at = (pointer & 0x3FFFFFFF) << 2
            length = struct.unpack_from("<H", image, at)[0]
            content += zlib.decompress(image[at + 2 : at + 2 + length])
        assert content == b"a text\n" * 2000

    def test_a_device_has_no_place_in_it(self, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        tree.mkdir()
        (tree / "loop").symlink_to("x" * 10)
        long = tree / ("n" * 253)
        long.write_text("")
        with pytest.raises(ValueError, match="too long"):
            write_cramfs(tree, tmp_path / "image")
