"""Packages in the cache: the client is asked once, and again when what it brought is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firstlight.cache import NotCachedError, only_cached
from firstlight.errors import LabError
from firstlight.lab.host import package_cache
from firstlight.lab.host.package_cache import Package, known_file, unpacked_file
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.recipe.isa import architecture_of

PACKAGE = Package("tool", content="usr/bin/tool-*", what="the tool", instead="build it")
ELF = b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00" + bytes(12) + (64).to_bytes(8, "little") + bytes(14)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the package client was asked for; it gives a package of one byte, which unpacks into two files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names: list[str] = []

    @contextmanager
    def downloaded(
        name: str, *arguments: str, architecture: str | None = None, **options: str | None
    ) -> Iterator[Path]:
        words = (name, architecture, options.get("release"))
        names.append(":".join(word for word in words if word is not None))
        deb = tmp_path / "package.deb"
        deb.write_bytes(b"x")
        yield deb

    def unpack(deb: Path, folder: Path) -> None:
        for name in ("tool-1", "tool-2", "busybox"):
            path = folder / "usr/bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(ELF + b"\x38\x00\x01\x00" + bytes(6) + b"\x01" + bytes(55))

    monkeypatch.setattr(package_cache, "downloaded", downloaded)
    monkeypatch.setattr(package_cache, "unpack", unpack)
    return names


def test_the_last_file_counts_and_the_client_is_asked_once(asked: list[str]) -> None:
    first = unpacked_file("tools", PACKAGE)
    assert first.name == "tool-2"
    assert unpacked_file("tools", PACKAGE) == first
    assert asked == ["tool"]


def test_a_damaged_file_is_downloaded_again(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    first = unpacked_file("tools", PACKAGE)
    first.write_bytes(b"damaged")
    assert unpacked_file("tools", PACKAGE).read_bytes() != b"damaged"
    assert asked == ["tool", "tool"]
    assert "the tool is downloaded again, because in the cache" in capsys.readouterr().err


def test_a_package_without_the_file_is_named(asked: list[str]) -> None:
    with pytest.raises(LabError, match="does not contain the tool") as caught:
        unpacked_file("tools", Package("tool", content="etc/*", what="the tool", instead="build it"))
    assert caught.value.hint == "build it"


def test_nothing_is_downloaded_where_only_the_cache_counts(asked: list[str]) -> None:
    with only_cached(), pytest.raises(NotCachedError):
        unpacked_file("tools", PACKAGE)
    assert asked == []


def test_a_guest_of_another_architecture_has_its_own_busybox(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path=None: "/bin/sh")
    assert static_busybox(architecture_of("aarch64")).name == "busybox"
    assert asked == ["busybox-static:arm64"]


def test_an_architecture_that_a_release_lacks_is_taken_from_a_later_one(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path=None: "/bin/sh")
    riscv64 = architecture_of("riscv64")
    assert known_file("busybox", "busybox-static:riscv64") is None
    found = static_busybox(riscv64)
    assert asked == ["busybox-static:riscv64:trixie"]
    assert known_file("busybox", "busybox-static:riscv64") == found


def test_a_machine_of_that_architecture_uses_its_own(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "busybox"
    own.write_bytes(ELF + b"\x38\x00\x01\x00" + bytes(6) + b"\x01" + bytes(55))
    monkeypatch.setattr("shutil.which", lambda name, path=None: str(own))
    assert static_busybox(architecture_of("aarch64")) == own
    assert asked == []
