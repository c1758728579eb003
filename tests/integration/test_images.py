"""The lab's images: made once, kept, and every way in which making one fails is told."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from invented_kernel import bzimage
from stand_ins import stand_in

#: Stand-ins for the package client, the compiler and make. The package is a folder with a packed tree.
APT_GET = """#!/bin/sh
if [ -n "$NO_SUCH" ]; then echo "E: Unable to locate package" >&2; exit 100; fi
case " $* " in *" download "*) echo package >linux-source-6.1_1_all.deb;; esac
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/src" tree/linux-source-6.1 && echo mainmenu >tree/linux-source-6.1/Kconfig
tar -cJf "$3/usr/src/linux-source-6.1.tar.xz" -C tree linux-source-6.1 && rm -r tree
"""
MAKE = """#!/bin/sh
echo "$*" >>"$CALLS"
for word; do case $word in O=*) out=${word#O=};; INSTALL_MOD_PATH=*) to=${word#*=};; esac; done
case " $* " in
*" allnoconfig "*)
  grep -v "${OVERRULED:-no such line}" "$KCONFIG_ALLCONFIG" >"$out/.config";;
*" modules_install "*) mkdir -p "$to/lib/modules/6.1.0-test" && ln -s /nowhere "$to/lib/modules/6.1.0-test/build";;
*" bzImage "*)
  echo "  CC      init/main.o"
  if [ -n "$SLOW" ]; then echo $$ >"$SLOW"; exec sleep 600; fi
  if [ -n "$BROKEN" ]; then echo "init/main.c:1:1: error: $BROKEN"; echo "make: *** [Makefile:1] Error 2"; exit 2; fi
  mkdir -p "$out/arch/x86/boot" "$out/include/config"
  cp "$KERNEL" "$out/arch/x86/boot/bzImage"
  echo "ffffffff81000000 T _text" >"$out/System.map"
  echo 6.1.0-test >"$out/include/config/kernel.release";;
esac
"""
QUIET = "#!/bin/sh\necho stand-in 1.0\n"


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which `make` writes down how it was called."""
    scripts = {"apt-get": APT_GET, "apt-cache": QUIET, "dpkg-deb": DPKG_DEB, "make": MAKE, "gcc": QUIET}
    scripts |= dict.fromkeys(("ld", "flex", "bison", "bc", "perl", "zstd", "depmod"), QUIET)
    (tmp_path / "kernel").write_bytes(bzimage())
    monkeypatch.setenv("KERNEL", str(tmp_path / "kernel"))
    monkeypatch.setattr("firstlight.lab.kernel.build._HEADERS", {})
    return stand_in(tmp_path, monkeypatch, scripts)


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, str | None]:
    assert run(["image", "list", "--arch", "amd64", "--json"]) == 0
    return {each["name"]: each["path"] for each in data_of_answer(capsys.readouterr().out)}


def test_a_kernel_is_built_once_with_what_belongs_to_it(calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys)["kernel"] is None
    assert run(["image", "build", "kernel", "-j", "3"]) == 0
    kernel = Path(capsys.readouterr().out.strip())
    assert kernel.name == "vmlinuz-6.1.0-test"
    assert kernel.read_bytes() == bzimage()
    assert "CONFIG_LEGACY_PTYS=y" in (kernel.parent / "config-6.1.0-test").read_text()
    modules = kernel.parent.parent / "lib/modules/6.1.0-test"
    assert modules.is_dir()
    assert not (modules / "build").is_symlink()
    assert not (kernel.parent.parent / "work").exists()

    made = calls.read_text()
    assert re.search(r"-j3 (CC=ccache gcc )?bzImage modules$", made, re.MULTILINE)
    assert run(["image", "build", "kernel"]) == 0
    assert run(["image", "path", "kernel"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(kernel)] * 2
    assert calls.read_text() == made
    assert listed(capsys)["kernel"] == str(kernel)

    assert run(["image", "remove", "kernel"]) == 0
    assert not kernel.parent.parent.exists()
    capsys.readouterr()
    assert run(["image", "remove", "kernel"]) == 0
    assert capsys.readouterr().out == "kernel: did not exist\n"


def test_a_build_that_fails_shows_its_errors_and_where_the_log_is(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROKEN", "expected something else")
    assert run(["image", "build", "kernel"]) == 1
    said = capsys.readouterr().err
    log = tmp_path / "cache/firstlight/images/kernel.build.log"
    assert "init/main.c:1:1: error: expected something else" in said
    assert str(log) in said
    assert "CC      init/main.o" in log.read_text()
    assert listed(capsys)["kernel"] is None
    # Nothing half made is in the way of the next one.
    monkeypatch.delenv("BROKEN")
    assert run(["image", "build", "kernel"]) == 0


BUILD = """
from firstlight.cli.main import run
from firstlight.lab.kernel import build as kernel_build
kernel_build._HEADERS = {}
run(["image", "build", "kernel"])
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["told to end", "killed"])
def test_a_build_that_is_ended_leaves_no_compiler(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    running = tmp_path / "running"
    monkeypatch.setenv("SLOW", str(running))
    with subprocess.Popen([sys.executable, "-c", BUILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as building:
        deadline = time.monotonic() + 60
        while not (running.exists() and running.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.05)
        make = int(running.read_text())
        building.send_signal(how)
        building.wait(timeout=60)
        while Path(f"/proc/{make}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not Path(f"/proc/{make}").exists()


def test_a_setting_that_the_source_does_not_take_is_named(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OVERRULED", "CONFIG_ROMFS_FS=")
    assert run(["image", "build", "kernel"]) == 1
    assert "`CONFIG_ROMFS_FS=n`, the fragment says `y`" in capsys.readouterr().err


def test_missing_tools_are_named_by_their_packages(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("firstlight.lab.kernel.build._TOOLS", {"no-such-flex": "flex", "make": "make"})
    monkeypatch.setattr("firstlight.lab.kernel.build._HEADERS", {"/usr/include/no-such.h": "libelf-dev"})
    assert run(["image", "build", "kernel"]) == 1
    said = capsys.readouterr().err
    assert "these packages are missing: flex libelf-dev" in said
    assert "flex libelf-dev`" in said


def test_no_source_package_says_where_a_source_may_be_put(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_SUCH", "yes")
    assert run(["image", "build", "kernel"]) == 1
    said = capsys.readouterr().err
    assert "the kernel's source, package `linux-source-6.1`, cannot be downloaded: Unable to locate package" in said
    assert "linux-source.tar.xz" in said


def test_a_damaged_source_is_downloaded_again(calls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["image", "build", "kernel"]) == 0
    archive = next((tmp_path / "cache/firstlight/kernel-sources").glob("*/linux-source.tar.xz"))
    archive.write_bytes(archive.read_bytes()[:50])
    shutil.rmtree(tmp_path / "cache/firstlight/images")
    capsys.readouterr()
    assert run(["image", "build", "kernel"]) == 0
    assert "made again, because linux-source.tar.xz has 50 bytes instead of" in capsys.readouterr().err


def test_a_damaged_source_that_somebody_put_there_is_reported(
    calls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["image", "build", "kernel"]) == 0
    archive = next((tmp_path / "cache/firstlight/kernel-sources").glob("*/linux-source.tar.xz"))
    shutil.rmtree(tmp_path / "cache/firstlight/images")
    for seal in archive.parent.parent.glob(".*.seal"):
        seal.unlink()
    archive.write_bytes(archive.read_bytes()[:50])
    capsys.readouterr()
    assert run(["image", "build", "kernel"]) == 1
    said = capsys.readouterr().err
    assert "the kernel's source cannot be unpacked" in said
    assert f"rm {archive}" in said


def test_a_damaged_image_has_no_path(calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["image", "build", "kernel"]) == 0
    kernel = Path(capsys.readouterr().out.strip())
    assert run(["image", "path", "kernel"]) == 0
    kernel.write_bytes(kernel.read_bytes()[:-1] + b"x")
    assert run(["image", "path", "kernel"]) == 1
    assert "a damaged part of the cache: boot/" in capsys.readouterr().err
    assert run(["image", "build", "kernel"]) == 0
    assert run(["image", "path", "kernel"]) == 0


def test_an_image_that_was_not_made_says_how(calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["image", "path", "kernel"]) != 0
    assert "`firstlight image build kernel`" in capsys.readouterr().err
    assert run(["image", "build", "kernal"]) == 2
    assert "did you mean `kernel`?" in capsys.readouterr().err
