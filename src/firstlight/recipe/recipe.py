"""Everything that decides one boot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from firstlight.frozen import StrictModel
from firstlight.recipe.choices import Choices
from firstlight.recipe.field_types import Accelerator, FilePath, IsaName, MemorySize, Text, Whole, Words

RTC = "2024-01-01T00:00:00"
"""The date at power on."""


@dataclass(frozen=True)
class PersistentMemory:
    """A root file system that the guest sees as persistent memory; the file itself never changes."""

    path: Path
    size: int
    """Bytes."""


@dataclass(frozen=True)
class LoadedMemory:
    """A file in the guest's memory at power on, in a range that the kernel's command line reserves."""

    path: Path
    address: int


class Files(StrictModel):
    """The files that were used, by absolute paths. They decide nothing: the digests of their contents do."""

    kernel: FilePath
    initrd: FilePath | None = None
    """Nothing where the kernel mounts its root by itself."""
    image: FilePath | None = None
    """The root file system in persistent memory."""
    loaded: FilePath | None = None
    """What lies in memory at power on."""
    device_tree: FilePath | None = None
    """The device tree that QEMU uses instead of its own."""
    storage: FilePath | None = None
    """The model of the disk that holds `image`; nothing where that is persistent memory."""
    loader: FilePath | None = None
    """The firmware or boot loader that starts the kernel, where it is not QEMU's own."""
    qemu: FilePath | None = None


class Recipe(StrictModel):
    """One boot, decided: same recipe and same digests of the inputs, same boot.

    The manifest's recipe, QEMU's command line, the command that repeats a boot and the key of a boot are made of this
    and of nothing else.
    """

    architecture: IsaName
    machine: Text
    cpu: Text
    memory: MemorySize
    command_line: Text
    modules: Words = ()
    """Kernel modules that the guest loads before its root is mounted."""
    image_size: Whole | None = Field(default=None, ge=0)
    """Bytes of `files.image`."""
    loaded_address: Whole | None = Field(default=None, ge=0)
    """Where `files.loaded` lies."""
    accelerator: Accelerator = Accelerator.TCG
    chosen: Choices
    files: Files

    @property
    def image(self) -> PersistentMemory | None:
        """The root file system that the guest sees as persistent memory."""
        if self.files.image is None or self.image_size is None:
            return None
        return PersistentMemory(self.files.image, self.image_size)

    @property
    def loaded(self) -> LoadedMemory | None:
        """What lies in the guest's memory at power on."""
        if self.files.loaded is None or self.loaded_address is None:
            return None
        return LoadedMemory(self.files.loaded, self.loaded_address)

    @property
    def profile(self) -> bool:
        """Whether the plugin follows the boot."""
        return self.chosen.profile and not self.chosen.live

    def choosing(self, **changes: Any) -> Recipe:
        """The same with other choices; what was made of the former ones stays.

        :raises ValidationError: for a value that cannot be.
        """
        return self.model_copy(update={"chosen": replace(self.chosen, **changes)})

    def _copies(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest says a second time, at a place where readers look for it.

        :param chosen: the choices as JSON.
        """
        often = {name: chosen[name] for name in ("kernel", "initrd", "rootfs", "append", "seed")}
        seldom = {name: chosen[name] for name in ("root_as", "overlay", "initramfs_files", "guest_commands")}
        live = self.chosen.live
        return {
            **often,
            **{name: value for name, value in seldom.items() if value},
            "icount_shift": None if live else self.chosen.shift,
            "rtc": None if live else RTC,
            "ready": self.chosen.ready_rule,
            "profile": self.profile,
        }

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        last = {name: data.pop(name) for name in ("chosen", "files")}
        return {**data, **self._copies(last["chosen"]), **last}

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, data: Any, handler: ModelWrapValidatorHandler[Recipe]) -> Recipe:
        if not isinstance(data, dict):
            return handler(data)
        own = {name: value for name, value in data.items() if name in cls.model_fields or name not in _COPIES}
        recipe = handler(own)
        said = recipe.model_dump(mode="json")
        for name in _COPIES & data.keys():
            # As JSON, in which `true` and 1 are two things.
            if json.dumps(data[name]) != json.dumps(said.get(name)):
                raise ValueError(f"`{name}` does not repeat what `chosen` says")
        return recipe


_COPIES = frozenset(
    "kernel initrd rootfs append seed root_as overlay initramfs_files guest_commands icount_shift rtc ready "
    "profile".split()
)
