"""What one arm, or one level of a factor, changes in the recipe that all share."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator


class PlanSection(BaseModel):
    """A part of a plan: unknown keys are refused; a key is written with hyphens, as the options of `record` are."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        alias_generator=lambda name: name.replace("_", "-"),
    )


def _size(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Size = Annotated[str, BeforeValidator(_size)]
"""A size of memory, as `record` takes it; a bare number is MiB."""


class FileChange(PlanSection):
    """What happens to one file of the guest; exactly one of its first four keys."""

    text: str | None = Field(default=None, description="the file holds this text")
    source: str | None = Field(default=None, alias="from", description="the file or directory is a copy of this one")
    link: str | None = Field(default=None, description="the file is a symbolic link to this")
    remove: bool | None = Field(default=None, description="the file or directory is not there")
    mode: str | None = Field(default=None, pattern=r"^0?[0-7]{3,4}$", description="its rights, octal")

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [self.text is not None, self.source is not None, self.link is not None, bool(self.remove)]
        if sum(given) != 1:
            raise ValueError("give one of `text`, `from`, `link`, `remove = true`")
        if self.mode is not None and (self.remove or self.link is not None):
            raise ValueError("`mode` goes with `text` or `from`")
        return self


class Kconfig(PlanSection):
    """Lines of a kernel configuration; the kernel is built by the plan's `[build]`."""

    text: str | None = Field(default=None, description="the lines themselves")
    file: str | None = Field(default=None, description="or the file that holds them")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("give `text` or `file`")
        return self


class RecipeChange(PlanSection):
    """What differs from the shared recipe; what is not given stays."""

    append: str = Field(default="", description="parameters added to the kernel's command line")
    kernel: str | None = Field(default=None, description="another kernel")
    kconfig: Kconfig | None = Field(default=None, description="a kernel built with these lines of configuration")
    initrd: str | None = Field(default=None, description="another initramfs")
    rootfs: str | None = Field(default=None, description="another root file system")
    files: dict[str, FileChange] = Field(default_factory=dict, description="files of the guest, by absolute path")
    initramfs_files: dict[str, FileChange] = Field(
        default_factory=dict, description="files of the initramfs that mounts the root, by absolute path"
    )
    memory: Size | None = Field(default=None, description="memory of the guest")
    cpu: str | None = Field(default=None, description="a named CPU model")
    machine: str | None = Field(default=None, description="a versioned machine type")
    qemu_options: list[str] = Field(default_factory=list, description="further arguments of QEMU")
    guest_command: str = Field(default="", description="run by a shell in the guest before it is ready")

    @field_validator("files", "initramfs_files")
    @classmethod
    def _paths(cls, files: dict[str, FileChange]) -> dict[str, FileChange]:
        for path in files:
            parts = path.split("/")
            if parts[0] != "" or len(parts) < 2 or any(part in ("", ".", "..") for part in parts[1:]):
                raise ValueError(f"`{path}` is not an absolute path of a file in the guest")
            if any(part.startswith(".wh.") for part in parts):
                raise ValueError(f"`{path}`: a name that begins with `.wh.` stands for a removed file")
        return files

    def given(self) -> set[str]:
        """The names of what this changes."""
        return {name for name, value in self if value not in (None, "", [], {})}


#: What only one of several changes may say: two that do contradict one another.
SINGLE = ("kernel", "kconfig", "initrd", "rootfs", "memory", "cpu", "machine")


def combine(first: RecipeChange, second: RecipeChange) -> RecipeChange:
    """Both changes, one after the other: words add up, of anything else the second counts.

    >>> combine(RecipeChange(append="quiet"), RecipeChange(append="nosmp", memory="1G")).append
    'quiet nosmp'
    """
    later = {name: getattr(second, name) for name in second.given()}
    if second.kernel is not None and "kconfig" not in later:
        later["kconfig"] = None
    if second.kconfig is not None and "kernel" not in later:
        later["kernel"] = None
    later["append"] = " ".join(filter(None, (first.append.strip(), second.append.strip())))
    later["files"] = {**first.files, **second.files}
    later["initramfs_files"] = {**first.initramfs_files, **second.initramfs_files}
    later["qemu_options"] = [*first.qemu_options, *second.qemu_options]
    later["guest_command"] = "\n".join(filter(None, (first.guest_command, second.guest_command)))
    return first.model_copy(update=later)
