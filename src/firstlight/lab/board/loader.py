"""The dialogue with a boot loader: stop it, change the command line, boot."""

from __future__ import annotations

import re
from typing import Protocol

from pydantic import Field

from firstlight.frozen import StrictModel

_WAIT_S = 30.0


class Typed(Protocol):
    """A console that can be read and typed on."""

    def expect(self, pattern: str, timeout_s: float) -> bytes:
        """Wait for a pattern."""

    def send(self, content: bytes) -> None:
        """Type."""


class Loader(StrictModel):
    """How the command line is changed at the prompt of a boot loader. Without words to add, it boots undisturbed."""

    stop: str = Field(default="Hit any key to stop autoboot", description="the line at which a key stops it")
    key: str = Field(default=" ", description="the key")
    prompt: str = Field(default="=> ", description="its prompt")
    commands: list[str] = Field(
        default=['setenv bootargs "${bootargs} {append}"', "boot"],
        description="commands to type, in order; {append} is replaced by the parameters",
    )

    def talk(self, console: Typed, append: str) -> None:
        """Add words to the command line and boot.

        :raises LabError: when a prompt does not come.
        """
        if not append:
            return
        console.expect(re.escape(self.stop), _WAIT_S)
        console.send(self.key.encode())
        for command in self.commands:
            console.expect(re.escape(self.prompt), _WAIT_S)
            console.send(command.replace("{append}", append).encode() + b"\n")
