"""The default kernel: asked of the package client once, then found without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.recipe.isa import architecture_of
from invented_kernel import RELEASE, bzimage
from stand_ins import stand_in

#: Stand-ins for the package client, which write down how they were called.
CACHE = '#!/bin/sh\necho "apt-cache $*" >>"$CALLS"\necho "linux-image-cloud-amd64"\n'
DEPENDS = 'echo "  Depends: linux-image-6.1.0-test"\n'
GET = """#!/bin/sh
echo "apt-get $*" >>"$CALLS"
case " $* " in *" update "*) exit ${UPDATE:-0};; esac
case " $* " in *Dir::State::lists*) ;; *) if [ -n "$STALE" ]; then echo "E: 404 Not Found" >&2; exit 100; fi;; esac
echo package >linux-image-6.1.0-test_1_amd64.deb
"""
DEB = '#!/bin/sh\nmkdir -p "$3/boot" && cp "$KERNEL" "$3/boot/vmlinuz-6.1.0-test"\n'


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the stand-ins write down their calls."""
    (tmp_path / "kernel").write_bytes(bzimage())
    monkeypatch.setenv("KERNEL", str(tmp_path / "kernel"))
    return stand_in(tmp_path, monkeypatch, {"apt-cache": CACHE + DEPENDS, "apt-get": GET, "dpkg-deb": DEB})


def test_the_package_client_is_asked_once(calls: Path) -> None:
    kernel = default_kernel()
    assert kernel.release == RELEASE
    asked = calls.read_text().splitlines()
    assert asked[0] == "apt-cache depends linux-image-cloud-amd64"
    assert asked[1].endswith("download linux-image-6.1.0-test")
    assert default_kernel() == kernel
    assert calls.read_text().splitlines() == asked


def test_outdated_package_lists_are_fetched_into_a_private_place(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALE", "yes")
    assert default_kernel().release == RELEASE
    update = next(line for line in calls.read_text().splitlines() if line.endswith(" update"))
    assert "Dir::State::lists=" in update


def test_without_a_network_the_error_says_what_to_do(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STALE", "yes")
    monkeypatch.setenv("UPDATE", "100")
    with pytest.raises(LabError, match="cannot be downloaded") as caught:
        default_kernel()
    assert "--kernel" in str(caught.value.hint)


def test_an_entry_that_was_removed_is_made_again(calls: Path) -> None:
    kernel = default_kernel()
    kernel.path.unlink()
    kernel.path.parent.rmdir()
    kernel.path.parent.parent.rmdir()
    assert default_kernel() == kernel


def test_without_a_package_client_a_kernel_has_to_be_given(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(calls.parent))
    with pytest.raises(LabError, match="`apt-get` is missing") as caught:
        default_kernel()
    assert "--kernel" in str(caught.value.hint)


def test_a_full_cache_is_reported_as_that_and_nothing_of_the_package_stays(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = '#!/bin/sh\nfor i in 1 2; do echo "tar: $i.ko: Cannot write: No space left on device" >&2; done; exit 2\n'
    (calls.parent / "bin/dpkg-deb").write_text(full)
    with pytest.raises(LabError, match="no space left for the cache") as caught:
        default_kernel()
    assert "XDG_CACHE_HOME" in str(caught.value.hint)
    assert [path for path in (calls.parent / "cache/firstlight/kernels").iterdir() if path.suffix != ".lock"] == []


def test_a_package_that_cannot_be_unpacked_is_reported_in_one_line(calls: Path) -> None:
    damaged = '#!/bin/sh\necho "dpkg-deb: error: archive is damaged" >&2; echo "tar: nothing" >&2; exit 2\n'
    (calls.parent / "bin/dpkg-deb").write_text(damaged)
    with pytest.raises(LabError, match=r"cannot unpack the package: dpkg-deb: error: archive is damaged$"):
        default_kernel()


#: A client whose own release does not have the architecture, and which knows where it got its lists.
OTHER_RELEASE = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
for word in "$@"; do case $word in Dir::Etc::SourceList=*) cat "${word#*=}" >>"$CALLS"; later=yes;; esac; done
case " $* " in
  *" indextargets "*)
    echo "$ORIGIN bookworm http://mirror.test/debian/"
    echo "$ORIGIN bookworm-updates http://mirror.test/debian/"
    echo "$ORIGIN bookworm-security http://mirror.test/debian-security/" ;;
  *" depends "*) echo "linux-image-riscv64"; [ -z "$later" ] || echo "  Depends: linux-image-6.12-riscv64" ;;
  *" download "*) echo package >linux-image-6.12-riscv64_1_riscv64.deb ;;
esac
"""


@pytest.fixture
def earlier_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of calls of the client of a release that lacks riscv64."""
    (tmp_path / "kernel").write_bytes((0x0400_006F).to_bytes(4, "little") + bytes(0x34) + b"RSC\x05" + bytes(8))
    monkeypatch.setenv("KERNEL", str(tmp_path / "kernel"))
    monkeypatch.setenv("ORIGIN", "Debian")
    scripts = {"apt-cache": OTHER_RELEASE, "apt-get": OTHER_RELEASE, "dpkg-deb": DEB}
    return stand_in(tmp_path, monkeypatch, scripts)


def test_an_architecture_that_this_release_lacks_comes_from_a_later_one(earlier_release: Path) -> None:
    assert default_kernel(architecture_of("riscv64")).architecture.name == "riscv64"
    asked = earlier_release.read_text().splitlines()
    (source,) = {line for line in asked if line.startswith("deb ")}
    assert source.endswith("http://mirror.test/debian/ trixie main")
    assert any("APT::Architecture=riscv64" in line and "SourceList=" in line for line in asked if "download" in line)


def test_where_nothing_comes_from_debian_there_is_no_later_release_of_it(
    earlier_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORIGIN", "Other")
    with pytest.raises(LabError, match="no source of Debian's packages, so it has none for release trixie") as caught:
        default_kernel(architecture_of("riscv64"))
    assert "--kernel" in str(caught.value.hint)
