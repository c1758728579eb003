"""The default kernel: asked of the package client once, then found without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import default_kernel
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


def test_a_full_cache_is_told_as_that_and_nothing_of_the_package_stays(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = '#!/bin/sh\nfor i in 1 2; do echo "tar: $i.ko: Cannot write: No space left on device" >&2; done; exit 2\n'
    (calls.parent / "bin/dpkg-deb").write_text(full)
    with pytest.raises(LabError, match="no space left for the cache") as caught:
        default_kernel()
    assert "XDG_CACHE_HOME" in str(caught.value.hint)
    assert [path for path in (calls.parent / "cache/firstlight/kernels").iterdir() if path.suffix != ".lock"] == []


def test_a_package_that_cannot_be_unpacked_is_told_in_one_line(calls: Path) -> None:
    damaged = '#!/bin/sh\necho "dpkg-deb: error: archive is damaged" >&2; echo "tar: nothing" >&2; exit 2\n'
    (calls.parent / "bin/dpkg-deb").write_text(damaged)
    with pytest.raises(LabError, match=r"cannot unpack the package: dpkg-deb: error: archive is damaged$"):
        default_kernel()
