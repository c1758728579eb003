"""What is walked, by what, and where."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass

from firstlight import UsageError

FILE_SYSTEMS = ("tmpfs", "ext4", "xfs")

#: Where the tree stands in a command.
PLACE = "{}"
TREE = "/t/z"
#: What carries the tree.
_DIRECTORIES_AT_MOST = 2_000_000
_LEVELS_AT_MOST = 100


@dataclass(frozen=True)
class Shape:
    """How many directories each directory of a level holds.

    >>> Shape.parse("70x70").directories, Shape.parse("10x10x10").directories, Shape.parse("1000").directories
    (4971, 1111, 1001)
    """

    levels: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Read numbers joined by `x`.

        :raises UsageError: for anything else, or a tree too large for a guest.
        """
        if not re.fullmatch(r"[1-9][0-9]{0,6}(x[1-9][0-9]{0,6})*", text):
            raise UsageError(f"`{text}` is not a shape", hint="numbers joined by `x`: 70x70, 10x10x10, 1000")
        shape = cls(tuple(map(int, text.split("x"))))
        if len(shape.levels) > _LEVELS_AT_MOST or shape.directories > _DIRECTORIES_AT_MOST:
            hint = f"{_DIRECTORIES_AT_MOST:,} directories on {_LEVELS_AT_MOST} levels are the most"
            raise UsageError(f"`{text}` is too large a tree", hint=hint)
        return shape

    @property
    def directories(self) -> int:
        """All of them, the top one included."""
        return 1 + sum(math.prod(self.levels[: depth + 1]) for depth in range(len(self.levels)))

    def __str__(self) -> str:
        return "x".join(map(str, self.levels))


@dataclass(frozen=True)
class Command:
    """A program with its arguments, of which one is the tree."""

    name: str
    """Its own, in tables."""
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Command:
        """Read a line as a shell would; without a place for the tree it is added at the end.

        :raises UsageError: when it is not a command.

        >>> Command.parse("chgrp -R 1000").words
        ('chgrp', '-R', '1000', '{}')
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"`{text}` is not a command: {error}", where="--command") from error
        if not words or not all(word.isprintable() for word in words):
            raise UsageError(f"`{text!r}` is not a command", where="--command")
        if not any(PLACE in word for word in words):
            words.append(PLACE)
        return cls(" ".join(word for word in words if word != PLACE), tuple(words))

    @property
    def program(self) -> str:
        """What has to be in the guest."""
        return self.words[0]

    def line(self, tree: str) -> str:
        """The words of a shell."""
        return shlex.join(word.replace(PLACE, tree) for word in self.words)


#: Ours, which walks as chgrp does; the further stat is its own.
WALKER = "firstlight-walk"
WALK = Command("our walk", (WALKER, "walk", PLACE, "group=1000"))
WALK_AGAIN = Command("our walk", (*WALK.words, "stat-again"))

#: Against which system calls are counted: whatever it makes, any program makes.
NOTHING = Command("nothing", (WALKER, "call", "nothing", PLACE))

#: The distribution's. What they do to the tree is the same every time.
TOOLS = tuple(
    Command.parse(text) for text in ("chgrp -R 1000", "chmod -R 755", "rm -r", "du -s", "find", "ls -R", "ls -iR")
)


def file_systems(text: str) -> tuple[str, ...]:
    """Read names joined by commas.

    :raises UsageError: for one that no tree is made on here.

    >>> file_systems("xfs,tmpfs")
    ('xfs', 'tmpfs')
    """
    kinds = tuple(dict.fromkeys(text.split(",")))
    for kind in kinds:
        if kind not in FILE_SYSTEMS:
            hint = "there are: " + ", ".join(f"`{each}`" for each in FILE_SYSTEMS)
            raise UsageError(f"no tree is made on `{kind}`", where="--fs", hint=hint)
    return kinds


@dataclass(frozen=True)
class Workload:
    """One walk's questions."""

    shape: Shape
    file_systems: tuple[str, ...] = FILE_SYSTEMS
    commands: tuple[Command, ...] = TOOLS
    alternations: int = 3
    """Of a program without and with the further stat, in one boot."""
    few: bool = False
    """So many for our walk and the first command only, and one for the others."""
    sizes: tuple[Shape, ...] = ()
    """Trees by which the law is found."""
    law_on: tuple[str, ...] = ()
    """File systems on which it is."""
    counts_on: tuple[str, ...] = ()
    """File systems on which system calls are counted."""
    audit: bool = True
    """Look at mount points and automounts."""
    automount_unit: bool = False
    """And at an automount of systemd, in a whole Debian."""

    def alternations_of(self, command: Command) -> int:
        """How often a command alternates."""
        return self.alternations if not self.few or command in (WALK, *self.commands[:1]) else 1

    @property
    def programs(self) -> tuple[str, ...]:
        """What the guest has to have of the distribution."""
        making = [f"mkfs.{kind}" for kind in self.file_systems if kind != "tmpfs"]
        audit = ("stat", "cp", *(command.program for command in TOOLS)) if self.audit else ()
        return tuple(dict.fromkeys((*(command.program for command in self.commands), *making, *audit)))
