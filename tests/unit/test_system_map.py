"""A kernel that does not tell its symbols: its System.map does, when it is this kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.kernel.system_map import has_addresses, system_map
from invented_image import elf

BANNER = 0xFFFFFFFF81000100
MAP = "".join(f"{0xFFFFFFFF81000000 + 16 * each:016x} T function_{each}\n" for each in range(200))
OWN = f"{MAP}{BANNER:016x} R linux_banner\n".encode()


def kernel(folder: Path, release: str = "6.1.0-test") -> Kernel:
    """A kernel whose image has its banner where the map says."""
    path = folder / "vmlinux"
    path.write_bytes(elf({BANNER: b"Linux version 6.1.0-test (somebody) #1\0"}))
    return Kernel(path, "digest", release, None, None, is_elf=True)


@pytest.mark.parametrize("name", ["System.map", "System.map-6.1.0-test"])
def test_the_map_beside_a_kernel_is_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(OWN)
    assert system_map(kernel(tmp_path)) == OWN


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ffffffffffffffff B The real System.map is in the linux-image-dbg package\n",
        MAP.encode(),
        OWN.replace(f"{BANNER:016x}".encode(), f"{BANNER + 1:016x}".encode()),
        OWN.replace(f"{BANNER:016x}".encode(), b"no number here!!"),
    ],
)
def test_a_map_that_is_not_this_kernels_is_not_taken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "System.map").write_bytes(content)
    assert system_map(kernel(tmp_path)) is None


def test_a_map_of_another_release_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "System.map").write_bytes(OWN)
    assert system_map(kernel(tmp_path, release="6.1.0-other")) is None


def test_symbols_without_addresses_are_none() -> None:
    assert has_addresses(OWN)
    assert not has_addresses(b"".join(b"0" * 16 + line[16:] for line in OWN.splitlines(keepends=True)))
