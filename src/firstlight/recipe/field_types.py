"""The words and values that a recipe is made of."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, ValidationInfo

from firstlight.recipe.isa import architectures

_MIB = 1 << 20


class Accelerator(StrEnum):
    """What runs the guest's instructions."""

    TCG = "tcg"
    KVM = "kvm"


def _architecture(name: str) -> str:
    if name not in architectures():
        raise ValueError(f"no architecture of guests is called `{name}`")
    return name


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL byte cannot stand in a command line")
    return text


def _usable_path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a NUL byte cannot stand in a path")
    return path


def _bytes_of(value: object, info: ValidationInfo) -> object:
    if info.mode == "json" and not isinstance(value, str):
        raise ValueError("write mebibytes without a fraction as a text, such as `512M`")
    if isinstance(value, str):
        if not (value.endswith("M") and value[:-1].isascii() and value[:-1].isdigit() and len(value) < 12):
            raise ValueError("write mebibytes without a fraction, such as `512M`")
        return int(value[:-1]) * _MIB
    return value


#: A text that can be a word of a command line.
IsaName = Annotated[str, AfterValidator(_architecture)]
"""The guest's processor architecture."""
Text = Annotated[str, AfterValidator(_without_nul)]
#: Several of them, in their order.
Words = Annotated[tuple[Text, ...], Field(strict=False)]
#: A path that the operating system takes.
FilePath = Annotated[Path, AfterValidator(_usable_path)]
#: A whole number that fits into the columns of a table.
Whole = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
#: Seconds; a number that is one.
Seconds = Annotated[float, Field(allow_inf_nan=False)]
#: Bytes of memory, in JSON whole mebibytes as QEMU takes them: `512M`.
MemorySize = Annotated[
    int, Field(ge=0, lt=1 << 63), BeforeValidator(_bytes_of), PlainSerializer(lambda size: f"{size // _MIB}M")
]
