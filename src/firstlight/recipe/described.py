"""What is known of how a boot came about that Firstlight did not make."""

from __future__ import annotations

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from firstlight.frozen import StrictModel
from firstlight.recipe.field_types import Text, Whole, Words


class Described(StrictModel):
    """A boot described by a user; what is not described is none. It cannot be booted again.

    >>> Described(cpu="Nehalem").model_dump()
    {'cpu': 'Nehalem'}
    """

    architecture: Text | None = None
    machine: Text | None = None
    cpu: Text | None = None
    memory: Text | None = None
    """As the user writes it, such as `512M`."""
    kernel: Text | None = None
    initrd: Text | None = None
    rootfs: Text | None = None
    root_as: Text | None = None
    append: Text | None = None
    command_line: Text | None = None
    modules: Words | None = None
    accelerator: Text | None = None
    icount_shift: Whole | None = None
    rtc: Text | None = None
    seed: Whole | None = None
    ready: Text | None = None
    profile: bool | None = None

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        return {name: value for name, value in data.items() if name in self.model_fields_set}
