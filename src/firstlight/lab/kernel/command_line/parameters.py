"""The names of a kernel's parameters: those of its own code and those of its modules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from firstlight.cache import digest_of, entry, file_digest
from firstlight.errors import LabError
from firstlight.lab.kernel.command_line.image import Image, open_image
from firstlight.lab.kernel.command_line.vocabulary import READ_RAW
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.kernel.modules import module_files, module_information, read_module

_NAME = "parameters.json"
_VERSION = "1"
#: What the kernel's macros call the texts of parameters: `include/linux/init.h`, `include/linux/moduleparam.h`.
_SETUP, _PARAMETER = "__setup_str_", "__param_str_"


@dataclass(frozen=True)
class Parameters:
    """What a kernel can read from its command line, by the names that its own tables have."""

    setup: frozenset[str]
    """Of `__setup` and `early_param`, as they stand there; one that ends in `=` takes what begins with it."""
    built_in: frozenset[str]
    """Of `module_param` and `core_param` in the kernel itself, such as `printk.time` and `nomodule`."""
    raw: frozenset[str] = frozenset()
    """Names that early code looks for in the line itself, without a table."""
    known: bool = True
    """Whether the tables could be read: else only the kernel itself can say what it did not know."""


def kernel_parameters(kernel: Kernel, symbols: Path | None) -> Parameters:
    """The parameters of a kernel, from its tables: the texts that its symbols `__setup_str_*` and `__param_str_*`
    mark in its image; where those are not known, the list of built-in modules beside it. Kept by the kernel's digest.

    :param symbols: its symbols, in the form of `/proc/kallsyms`, at the addresses of `nokaslr`; without them only what
        stands beside the kernel is known.
    """
    found = _read(kernel, symbols)
    if found.known or kernel.modules is None:
        return found
    return Parameters(found.setup, found.built_in | _beside(kernel.modules), found.raw, known=False)


def module_parameters(folder: Path, module: str) -> frozenset[str] | None:
    """The parameters of a loadable module, by what it says of itself; `None` when there is no such module.

    :param folder: the kernel's `lib/modules/RELEASE`.
    :param module: its name with underscores.
    """
    path = module_files(folder).get(module)
    if path is None:
        return None
    try:
        information = module_information(read_module(path), path)
    except LabError:
        return None
    fields = (*information.get("parm", ()), *information.get("parmtype", ()))
    return frozenset(plain(each.partition(":")[0]) for each in fields)


def plain(name: str) -> str:
    """A name as the kernel compares it: dashes are underscores.

    >>> plain("log-buf-len")
    'log_buf_len'
    """
    return name.replace("-", "_")


def _read(kernel: Kernel, symbols: Path | None) -> Parameters:
    if symbols is None:
        return Parameters(frozenset(), frozenset(), known=False)

    def make(folder: Path) -> None:
        content = kernel.path.read_bytes()
        image = open_image(content)
        texts = dict(_texts(image, symbols)) if image is not None else {}
        data = {
            "setup": sorted(text for name, text in texts.items() if name.startswith(_SETUP)),
            "built_in": sorted(text for name, text in texts.items() if name.startswith(_PARAMETER)),
            "raw": sorted(name for name in READ_RAW if _holds(content, image, name)),
        }
        (folder / _NAME).write_text(json.dumps(data), encoding="utf-8")

    key = digest_of(_VERSION, kernel.digest, file_digest(symbols), *sorted(READ_RAW))
    data = json.loads((entry("parameters", key, make) / _NAME).read_text(encoding="utf-8"))
    setup, built_in, raw = (frozenset(data[key]) for key in ("setup", "built_in", "raw"))
    return Parameters(setup, built_in, raw, known=bool(setup and built_in))


def _holds(content: bytes, image: Image | None, name: str) -> bool:
    # The code that unpacks the kernel stands in its file as it is.
    return name.encode() + b"\0" in content or (image is not None and image.holds(name))


def _texts(image: Image, symbols: Path) -> Iterator[tuple[str, str]]:
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            address, _, name = line.rstrip("\n").partition(" ")
            name = name[2:]
            if name.startswith((_SETUP, _PARAMETER)) and (text := image.text_at(int(address, 16))):
                # Two parameters of one name in two files have one symbol name.
                yield f"{name} {address}", text


@cache
def _beside(modules: Path) -> frozenset[str]:
    """`MODULE.parm=NAME:…` of `modules.builtin.modinfo`, as `MODULE.NAME`."""
    try:
        fields = (modules / "modules.builtin.modinfo").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return frozenset()
    found = set()
    for each in fields:
        place, _, value = each.partition("=")
        module, _, key = place.partition(".")
        if key in ("parm", "parmtype"):
            found.add(f"{plain(module)}.{value.partition(':')[0]}")
    return frozenset(found)
