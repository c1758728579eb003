"""What decides a boot, as one digest: the same key, the same boot in exact mode."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType

from pydantic import BaseModel

from firstlight.cache import digest_of
from firstlight.recipe.recipe import Recipe

OBSERVERS: Mapping[str, str] = MappingProxyType(
    {
        "chosen.timeout_wall_s": "how long the host waits; a boot that it ends is not kept",
        "chosen.kernel": "a path: the digest `kernel` is of what it holds",
        "chosen.initrd": "a path: the digest `initrd` is of what it holds",
        "chosen.rootfs": "a path: the digest `image`, or `initrd`, is of what was made of it",
        "chosen.overlay": "a path: the digest `image`, or `initrd`, is of what was made with it",
        "chosen.initramfs_files": "a path: the digest `initrd` is of what was made with it",
        "chosen.qemu": "a path: the digest `qemu` is of what it holds",
        "chosen.symbols": "a path: the digest `debug files` is of what it holds",
        "chosen.loader": "a name or a path: the digest `loader` is of what it holds",
        "chosen.loader_symbols": "a path: the digest `loader symbols` is of what it holds",
        "chosen.dtb": "a path: the digest `device tree` is of what it holds",
        "chosen.storage": "a name or a path: the digest `storage` is of what it holds",
        "chosen.append": "`command_line` has it, as the kernel gets it",
        "chosen.arch": "`architecture` has it",
        "chosen.memory": "`memory` has it, in bytes",
        "chosen.cpu": "`cpu` has it, with its default",
        "chosen.machine": "`machine` has it, with its default",
        "image_size": "the digest `image` is of the file that is so long",
        "accelerator": "exact mode has one; in live mode the host decides it, and no two boots are equal",
        "files.kernel": "a path: the digest `kernel` is of what it holds",
        "files.initrd": "a path: the digest `initrd` is of what it holds",
        "files.image": "a path: the digest `image` is of what it holds",
        "files.loaded": "a path: the digest `image` is of what it holds",
        "files.device_tree": "a path: the digest `device tree` is of what it holds",
        "files.storage": "a path: the digest `storage` is of what it holds",
        "files.loader": "a path: the digest `loader` is of what it holds",
        "files.qemu": "a path: the digest `qemu` is of what it holds",
    }
)
"""The fields that are not part of the key, each with the reason. Every other field is, a new one too."""


def leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Every field of a model by its dotted name, those of models within it too, with its value.

    >>> from firstlight.recipe.choices import Choices
    >>> [name for name, _ in leaves(Choices())][:2]
    ['kernel', 'initrd']
    """
    if isinstance(value, BaseModel):
        names = list(type(value).model_fields)
    elif is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value)]
    else:
        yield place, value
        return
    for name in names:
        yield from leaves(getattr(value, name), f"{place}.{name}" if place else name)


def key_of(recipe: Recipe, digests: Mapping[str, str | None], schema: int) -> str:
    """The digest of all that decides a boot, and the tables that are made of it.

    :param digests: of every input.
    :param schema: the version of the tables.
    """
    decides = {name: value for name, value in leaves(recipe) if name not in OBSERVERS}
    known = {"schema": schema, "recipe": decides, "digests": dict(digests)}
    return digest_of(json.dumps(known, sort_keys=True))
