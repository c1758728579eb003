"""A factor: one thing that is varied, in named levels; the first level is the baseline."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from firstlight.experiment.change import FileChange, Kconfig, PlanSection, RecipeChange, Size

Kind = Literal["kernel", "command-line", "kconfig", "rootfs", "initramfs", "machine", "guest-command"]

LevelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+][A-Za-z0-9_+.-]{0,23}$")]
"""Of a factor or a level: a cell's directory is called after them."""

_SYNONYMS = {
    "kconfig-fragment": "kconfig",
    "rootfs-change": "rootfs",
    "initramfs-files": "initramfs",
    "append": "command-line",
}


class _Machine(PlanSection):
    memory: Size | None = None
    cpu: str | None = None
    machine: str | None = None
    qemu_options: list[str] = Field(default_factory=list)


class Factor(PlanSection):
    """One thing that is varied."""

    name: LevelName = Field(description="how it is called")
    kind: Kind = Field(description="kernel, command-line, kconfig, rootfs, initramfs, machine or guest-command")
    levels: dict[LevelName, RecipeChange] = Field(description="its levels, the first one is the baseline")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        raw = dict(raw)
        kind = raw.get("kind")
        if isinstance(kind, str):
            kind = kind.strip().lower().replace(" ", "-").replace("_", "-")
            raw["kind"] = kind = _SYNONYMS.get(kind, kind)
        if "on" in raw:
            if "levels" in raw:
                raise ValueError("give `on`, or `levels`")
            raw["levels"] = {"off": _nothing(raw["on"]), "on": raw.pop("on")}
        if isinstance(raw.get("levels"), dict) and kind in _READERS:
            raw["levels"] = {name: _level(kind, name, value) for name, value in raw["levels"].items()}
        return raw

    @field_validator("levels")
    @classmethod
    def _enough(cls, levels: dict[str, RecipeChange]) -> dict[str, RecipeChange]:
        if not 2 <= len(levels) <= 16:
            raise ValueError(f"{len(levels)} levels: a factor has 2 to 16")
        return levels

    def same_levels(self) -> list[tuple[str, str]]:
        """Pairs of levels that say the very same."""
        names = list(self.levels)
        return [
            (first, second)
            for place, first in enumerate(names)
            for second in names[place + 1 :]
            if self.levels[first] == self.levels[second]
        ]


def _nothing(value: Any) -> Any:
    return {} if isinstance(value, dict) else ""


def _level(kind: str, name: str, value: Any) -> Any:
    if isinstance(value, RecipeChange):
        return value
    try:
        return _READERS[kind](value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = f"{place}: {first['msg'].removeprefix('Value error, ')}".strip(": ")
        if first["type"] == "extra_forbidden":
            fields = _LEVELS[kind].model_fields if kind in _LEVELS else {}
            known = [field.alias or each for each, field in fields.items()]
            near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
            what = f"unknown key `{place}`" + (f", did you mean `{near[0]}`?" if near else "")
        raise ValueError(f"level `{name}`: {what}") from error


def _text(value: Any, name: str, what: str) -> RecipeChange:
    if not isinstance(value, str):
        raise ValueError(f"{what} is a text, not {value!r}")
    return RecipeChange.model_validate({name: value} if value else {})


def _kconfig(value: Any) -> RecipeChange:
    if isinstance(value, str):
        return RecipeChange(kconfig=Kconfig(text=value)) if value.strip() else RecipeChange()
    return RecipeChange(kconfig=Kconfig.model_validate(value)) if value else RecipeChange()


def _rootfs(value: Any) -> RecipeChange:
    return _text(value, "rootfs", "a root file system") if isinstance(value, str) else RecipeChange(files=_files(value))


def _initramfs(value: Any) -> RecipeChange:
    if isinstance(value, str):
        return _text(value, "initrd", "an initramfs")
    return RecipeChange(initramfs_files=_files(value))


def _files(value: Any) -> dict[str, FileChange]:
    return TypeAdapter(dict[str, FileChange]).validate_python(value)


def _machine(value: Any) -> RecipeChange:
    return RecipeChange.model_validate(_Machine.model_validate(value).model_dump(by_alias=True, exclude_unset=True))


_LEVELS: dict[str, type[PlanSection]] = {
    "machine": _Machine,
    "rootfs": FileChange,
    "initramfs": FileChange,
    "kconfig": Kconfig,
}
_READERS = {
    "kernel": lambda value: _text(value, "kernel", "a kernel"),
    "command-line": lambda value: _text(value, "append", "a command line"),
    "guest-command": lambda value: _text(value, "guest-command", "a command"),
    "kconfig": _kconfig,
    "rootfs": _rootfs,
    "initramfs": _initramfs,
    "machine": _machine,
}
