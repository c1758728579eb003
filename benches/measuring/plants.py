"""Planted changes: recipes that differ by one change, and the names of what it causes."""

from __future__ import annotations

import gzip
import lzma
import random
import re
import shutil
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from firstlight import zstd
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.experiment.boot_cache import obtain
from firstlight.lab.host.progress import SilentProgress
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.rootfs.initramfs import GuestConfig, build_initramfs
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.options import RecordOptions

_READY = "firstlight: ready"
#: Fields of a recipe that are those of the options.
_PLAIN = ("append", "memory", "cpu", "machine", "seed", "rootfs", "root_as")


@dataclass(frozen=True)
class Plant:
    """One planted change."""

    name: str
    change: dict[str, Any]
    names: tuple[str, ...]
    """Regular expressions for what the change causes; none: it causes nothing."""
    base: dict[str, Any] = field(default_factory=dict)

    def is_named_by(self, names: list[str]) -> bool:
        """Whether a first line names what this change causes.

        :param names: the functions, tasks and processes that the line names.
        """
        if not self.names:
            return not names
        return any(re.search(pattern, name, re.IGNORECASE) for pattern in self.names for name in names)


def read_plants(*, held_out: bool = False) -> list[Plant]:
    """All planted changes, in the order of `plants.toml`.

    :param held_out: those of `held_out.toml` instead.
    """
    path = Path(__file__).with_name("held_out.toml" if held_out else "plants.toml")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Plant(**{**each, "names": tuple(each["names"])}) for each in data["plant"]]


def boot(recipe: dict[str, Any], folder: Path) -> Boot:
    """The boot of a recipe, from the cache where it was recorded before.

    :param folder: where files of an initramfs are made.
    """
    chosen = options(recipe, folder)
    return open_boot(obtain(chosen, resolve(chosen, SilentProgress()), SilentProgress())[0])


def options(recipe: dict[str, Any], folder: Path) -> RecordOptions:
    """A recipe of `plants.toml` as options of a recording."""
    given: dict[str, Any] = {name: recipe[name] for name in _PLAIN if name in recipe}
    given |= {name: tuple(recipe[name]) for name in ("guest_commands", "qemu_options") if name in recipe}
    chosen = RecordOptions(output=folder / "a.boot", **given)
    if "compression" in recipe:
        return replace(chosen, initrd=_packed(recipe["compression"], folder), ready=_READY)
    if "files" in recipe or "modules" in recipe:
        return replace(chosen, overlay=_overlay(recipe, folder))
    return chosen


def _overlay(recipe: dict[str, Any], folder: Path) -> Path:
    overlay = folder / "overlay"
    shutil.rmtree(overlay, ignore_errors=True)
    overlay.mkdir(parents=True)
    content = random.Random(1)
    wanted = recipe.get("files", {"number": 0, "size": 0})
    for number in range(wanted["number"]):
        (overlay / f"file{number:04}").write_bytes(content.randbytes(wanted["size"]))
    modules = default_kernel().modules
    assert modules is not None
    for name in recipe.get("modules", ()):
        shutil.copy(next(modules.rglob(f"{name}.ko")), overlay)
    return overlay


def _packed(compression: str, folder: Path) -> Path:
    content = build_initramfs(GuestConfig()).path.read_bytes()
    packed = {
        "none": lambda: content,
        "gzip": lambda: gzip.compress(content, mtime=0),
        "xz": lambda: lzma.compress(content, check=lzma.CHECK_CRC32),
        "zstd": lambda: zstd.compress(content),
    }[compression]()
    path = folder / f"initramfs.{compression}"
    path.write_bytes(packed)
    return path
