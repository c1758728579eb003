"""The dialogue with a boot loader: stop it, change the command line, boot."""

from __future__ import annotations

import re
from typing import Protocol

from pydantic import Field

from firstlight.errors import LabError
from firstlight.frozen import StrictModel

_WAIT_S = 30.0
_PLAIN = re.compile(r"[\w .,:=@%/+-]*", re.ASCII)
#: Within double quotes only these have a meaning.
_PLAIN_IN_DOUBLE = re.compile(r"[^\"$`\\]*")


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

        :raises LabError: when a prompt does not come, or the words cannot be typed.
        """
        if not append:
            return
        commands = [typed_command(command, append) for command in self.commands]
        console.expect(re.escape(self.stop), _WAIT_S)
        console.send(self.key.encode())
        for command in commands:
            console.expect(re.escape(self.prompt), _WAIT_S)
            console.send(command.encode() + b"\n")


def typed_command(command: str, append: str) -> str:
    """A command with the words in the quotes of U-Boot's shell.

    The words stay as they are where that means the same. Else they are in single quotes, in which nothing has a
    meaning but the single quote and the backslash.

    :raises LabError: for words with a backslash or a control character.

    Source: U-Boot, common/cli_hush.c, `parse_stream` and `b_addqchr`.

    >>> print(typed_command('setenv bootargs "${bootargs} {append}"', "quiet splash"))
    setenv bootargs "${bootargs} quiet splash"
    >>> print(typed_command('setenv bootargs "${bootargs} {append}"', 'quiet foo="a b"'))
    setenv bootargs "${bootargs} "'quiet foo="a b"'""
    >>> print(typed_command("setenv extra {append}", "a;b"))
    setenv extra 'a;b'
    """
    if not append.isprintable() or "\\" in append:
        hint = "U-Boot's shell has no quotes for a backslash or a control character; use `deploy`"
        raise LabError(f"these words cannot be typed at the boot loader: {append!r}", hint=hint)
    text = ""
    rest = command
    while (at := rest.find("{append}")) >= 0:
        text += rest[:at]
        quote = _open_quote(text)
        text += _quoted(append, quote)
        rest = rest[at + len("{append}") :]
    return text + rest


def _quoted(words: str, quote: str) -> str:
    """Words in the quotes that are open there."""
    if quote == "'":
        return words.replace("'", "'\"'\"'")
    plain = _PLAIN_IN_DOUBLE if quote else _PLAIN
    return words if plain.fullmatch(words) else f"{quote}'" + words.replace("'", "'\"'\"'") + f"'{quote}"


def _open_quote(text: str) -> str:
    """The quote that is open at the end of a text; empty where none is."""
    quote, escaped = "", False
    for letter in text:
        if escaped:
            escaped = False
        elif letter == "\\" and quote != "'":
            escaped = True
        elif quote == letter:
            quote = ""
        elif not quote and letter in "'\"":
            quote = letter
    return quote
