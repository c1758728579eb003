"""The program file of the distribution's boot loader: built once, and only taken when it is the installed one's."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from firstlight.cli.main import run
from firstlight.errors import LabError, UsageError
from firstlight.lab.host.progress import SilentProgress
from firstlight.lab.images import IMAGES, find_image
from firstlight.lab.qemu.loader_program import build_program, program_place
from firstlight.lab.qemu.loaders import Loader, check_symbols
from firstlight.recipe.isa import NamedLoader, architecture_of
from stand_ins import stand_in

ARM = architecture_of("aarch64")

APT_GET = """#!/bin/sh
echo "apt-get $*" >>"$CALLS"
case " $* " in
*" indextargets "*) printf 'Debian\\thttp://mirror/debian/\\tbookworm\\tmain\\nOther\\thttp://other/\\tx\\tmain\\n';;
*" source "*)
  if [ -n "$NO_SUCH" ]; then echo "E: Unable to find a source package" >&2; exit 100; fi
  for word; do case $word in Dir::Etc::SourceList=*) cp "${word#*=}" "$SOURCES";; esac; done
  echo dsc >u-boot_1.dsc;;
esac
"""
DPKG_SOURCE = '#!/bin/sh\nmkdir "$4"\n'
DPKG_QUERY = '#!/bin/sh\nprintf "2023.01+dfsg-2+deb12u3"\n'
CHANGELOG = "#!/bin/sh\necho 1782117487\n"
MAKE = """#!/bin/sh
echo "make $* epoch=$SOURCE_DATE_EPOCH cross=$CROSS_COMPILE" >>"$CALLS"
for word; do case $word in O=*) out=${word#O=};; esac; done
case " $* " in
*defconfig*) printf 'CONFIG_A=y\\nCONFIG_LOCALVERSION=""\\n' >"$out/.config";;
*) if [ -n "$BROKEN" ]; then echo "error: $BROKEN"; exit 2; fi
   printf 'binary %s' "$(sed -n 's/^CONFIG_LOCALVERSION=//p' "$out/.config")" >"$out/u-boot.bin"
   echo program >"$out/u-boot";;
esac
"""
STRIP = '#!/bin/sh\ncp "$4" "$3"\n'
QUIET = "#!/bin/sh\necho stand-in 1.0\n"


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NamedLoader:
    """A loader that is installed, and the stand-ins that build it."""
    scripts = dict.fromkeys(("gcc", "flex", "bison", "bc", "aarch64-linux-gnu-gcc"), QUIET)
    scripts |= {"apt-get": APT_GET, "dpkg-source": DPKG_SOURCE, "dpkg-query": DPKG_QUERY, "make": MAKE}
    scripts |= {"dpkg-parsechangelog": CHANGELOG, "aarch64-linux-gnu-strip": STRIP}
    stand_in(tmp_path, monkeypatch, scripts)
    monkeypatch.setenv("SOURCES", str(tmp_path / "sources"))
    monkeypatch.setattr("firstlight.lab.qemu.loader_program._OPENSSL", tmp_path / "bin/gcc")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    binary = tmp_path / "u-boot.bin"
    binary.write_text('binary "+dfsg-2+deb12u3"')
    return replace(ARM.loaders["u-boot"], file=str(binary))


def test_the_program_is_built_once_as_the_package_is(loader: NamedLoader, tmp_path: Path) -> None:
    place = program_place(ARM, loader)
    assert place is not None
    assert not place.exists()
    assert build_program(ARM, loader, SilentProgress(), 3) == place
    assert place.read_text() == "program\n"
    assert [each.name for each in place.parent.iterdir()] == ["u-boot"]
    calls = (tmp_path / "calls").read_text()
    assert "source u-boot=2023.01+dfsg-2+deb12u3\n" in calls
    assert "-j3 u-boot.bin epoch=1782117487 cross=aarch64-linux-gnu-\n" in calls
    sources = (tmp_path / "sources").read_text()
    assert sources.startswith("deb-src ")
    assert sources.endswith("http://mirror/debian/ bookworm main\n")
    assert "other" not in sources
    build_program(ARM, loader, SilentProgress())
    assert (tmp_path / "calls").read_text() == calls


def test_a_program_of_another_loader_than_the_installed_one_is_not_taken(loader: NamedLoader) -> None:
    Path(loader.file).write_text("made by another compiler")
    with pytest.raises(LabError, match="differs from U-Boot of the package `u-boot-qemu`") as caught:
        build_program(ARM, loader, SilentProgress())
    assert "--loader-symbols u-boot" in str(caught.value.hint)
    place = program_place(ARM, loader)
    assert place is not None
    assert not place.exists()


def test_each_way_to_fail_is_named(loader: NamedLoader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("BROKEN", "no such header")
        with pytest.raises(LabError, match="error: no such header"):
            build_program(ARM, loader, SilentProgress())
    with monkeypatch.context() as patch:
        patch.setenv("NO_SUCH", "1")
        with pytest.raises(LabError, match="cannot be downloaded: Unable to find a source package"):
            build_program(ARM, loader, SilentProgress())
    with monkeypatch.context() as patch:
        patch.setattr("firstlight.lab.qemu.loader_program._OPENSSL", tmp_path / "no.h")
        patch.setattr("firstlight.lab.qemu.loader_program._TOOLS", {"no-such-flex": "flex"})
        with pytest.raises(LabError, match="packages are missing: flex libssl-dev"):
            build_program(ARM, loader, SilentProgress())
    Path(loader.file).unlink()
    assert program_place(ARM, loader) is None
    with pytest.raises(LabError, match="U-Boot is not installed") as caught:
        build_program(ARM, loader, SilentProgress())
    assert caught.value.hint == "install it with `apt-get install u-boot-qemu`"


def test_images_are_known_by_name_and_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({(image.name, image.architecture) for image in IMAGES}) == len(IMAGES)
    assert find_image("u-boot-symbols", "aarch64").option == "--loader-symbols"
    assert run(["image", "path", "u-boot-symbols"]) == 2
    assert "there is no image `u-boot-symbols` for amd64\nhint: there is one for arm64" in capsys.readouterr().err
    assert run(["image", "path", "debian", "--arch", "armhf"]) == 2
    assert "there is no image `debian` for armhf" in capsys.readouterr().err
    assert run(["image", "path", "debian", "--arch", "m68k"]) == 2
    assert "no architecture of guests is called `m68k`" in capsys.readouterr().err


def test_the_kernel_of_another_architecture_is_the_distributions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "cache/firstlight/kernels/0/boot/vmlinuz-6"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"kernel")
    (tmp_path / "cache/firstlight/kernels/current.json").write_text('{"linux-image-cloud-arm64": "0/boot/vmlinuz-6"}')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(["image", "path", "kernel", "--arch", "arm64"]) == 0
    assert capsys.readouterr().out == f"{kernel}\n"
    assert run(["image", "path", "kernel", "--arch", "armhf"]) == 2
    assert "`firstlight image build kernel --arch armhf`" in capsys.readouterr().err
    assert run(["image", "remove", "kernel", "--arch", "arm64"]) == 0
    assert not (tmp_path / "cache/firstlight/kernels/0").exists()
    assert run(["image", "path", "kernel", "--arch", "arm64"]) == 2


@pytest.mark.parametrize("length", [4, 20, 60])
def test_a_program_that_is_cut_short_names_no_functions(tmp_path: Path, length: int) -> None:
    # An object file for 64-bit Arm with one section, cut off before it ends.
    whole = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
    )
    program = tmp_path / "u-boot"
    program.write_bytes(whole[:length])
    loader = Loader(tmp_path / "u-boot.bin", "", "U-Boot 2023.01", is_firmware=False)
    with pytest.raises(UsageError, match="not a program in the ELF format, or a truncated one") as caught:
        check_symbols(ARM, program, loader)
    assert "u-boot" in str(caught.value.hint)


def test_a_program_of_32_bits_names_no_functions(tmp_path: Path) -> None:
    program = tmp_path / "u-boot"
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    program.write_bytes(head + struct.pack("<HHIIIIIHHHHHH", 2, ARM.elf_machine, 1, 0, 0, 0, 0, 52, 0, 0, 40, 0, 0))
    loader = Loader(tmp_path / "u-boot.bin", "", "U-Boot 2023.01", is_firmware=False)
    with pytest.raises(UsageError, match="this program has 32 bits"):
        check_symbols(ARM, program, loader)
