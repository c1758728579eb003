"""The words of a boot's command line, each with who read it, as a boot keeps them among its facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

FACT = "kernel.command_line.words"
"""The fact that holds them: a line for each word, `WORD<TAB>READER<TAB>DETAIL`."""
UNREAD = "kernel.command_line.unread"
"""The fact that holds the words without a reader, separated by blanks; it is missing if every word has one."""
PADDING = "firstlight.padding="
"""How a word of Firstlight's begins that only makes the line longer. The kernel takes it for the option of a module."""


class WordReader(StrEnum):
    """Who read a word of the kernel's command line."""

    KERNEL = "kernel"
    MODULE = "module"
    USERSPACE = "userspace"
    FIRSTLIGHT = "firstlight"
    LOADER = "boot loader"
    NOBODY = "nobody"
    UNKNOWN = "unknown"


_READERS = frozenset(each.value for each in WordReader)


@dataclass(frozen=True)
class CommandLineWord:
    """One word of the kernel's command line."""

    text: str
    """As it stands there, with its value."""
    reader: WordReader
    detail: str
    """The parameter, the module or the program that read it; or why nobody did."""


def word_facts(words: Sequence[CommandLineWord]) -> list[tuple[str, str]]:
    """The facts of a boot about its parameters.

    >>> word_facts([CommandLineWord("tpyo", WordReader.NOBODY, "no such parameter")])[1]
    ('kernel.command_line.unread', 'tpyo')
    """
    lost = " ".join(word.text for word in unread(words))
    return [(FACT, words_text(words)), *([(UNREAD, lost)] if lost else [])]


def words_text(words: Iterable[CommandLineWord]) -> str:
    """Words as the fact :data:`FACT` has them.

    >>> words_text([CommandLineWord("quiet", WordReader.KERNEL, "quiet")])
    'quiet\\tkernel\\tquiet'
    """
    return "\n".join("\t".join(_line(each) for each in (word.text, word.reader, word.detail)) for word in words)


def read_words(text: str) -> list[CommandLineWord]:
    """The words out of that fact; a line that is none is left out.

    >>> read_words("quiet\\tkernel\\tquiet\\nhalf a line")
    [CommandLineWord(text='quiet', reader=<WordReader.KERNEL: 'kernel'>, detail='quiet')]
    """
    words = []
    for line in text.split("\n"):
        parts = line.split("\t")
        if len(parts) == 3 and parts[1] in _READERS:
            words.append(CommandLineWord(parts[0], WordReader(parts[1]), parts[2]))
    return words


def unread(words: Iterable[CommandLineWord]) -> list[CommandLineWord]:
    """The words without a reader."""
    return [word for word in words if word.reader is WordReader.NOBODY]


def _line(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ")
