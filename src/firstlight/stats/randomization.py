"""The recording order of a noisy session: blocks of one boot per arm, each in random order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel


class Slot(NamedTuple):
    """One boot of a session."""

    position: int
    """From 0, in order of time."""
    block: int
    """From 0; the boots of one block are compared with each other."""
    arm: str


class Order(FrozenModel):
    """A session's order and the seed that it was drawn with; kept beside the boots.

    >>> order = draw_order(["a", "b"], blocks=3, seed=7)
    >>> order == draw_order(["a", "b"], blocks=3, seed=7)
    True
    >>> [slot.block for slot in order.slots()]
    [0, 0, 1, 1, 2, 2]
    """

    seed: int = Field(description="seed of the random order")
    blocks: tuple[tuple[str, ...], ...] = Field(description="of every block, the arms in the order of their boots")

    def slots(self) -> list[Slot]:
        """Every boot of the session, in order of time."""
        arms = [(block, arm) for block, members in enumerate(self.blocks) for arm in members]
        return [Slot(position, block, arm) for position, (block, arm) in enumerate(arms)]


def draw_order(arms: Sequence[str], blocks: int, seed: int) -> Order:
    """Draw randomised blocks: each holds every arm once, in an order of its own.

    A drift of the machine then adds to all arms alike, and what is left of it within a block has no sign.

    :param arms: names of the arms, at least two, each once.
    :param blocks: how many boots every arm gets.
    :param seed: the same seed gives the same order, with every version of Python.
    :raises UsageError: when there are fewer than two arms, two of one name, or no block.

    Source: randomised complete block design (Fisher 1935).

    >>> draw_order(["a", "b", "c"], blocks=2, seed=2).blocks
    (('c', 'b', 'a'), ('a', 'c', 'b'))
    """
    if len(arms) < 2:
        raise UsageError("a session needs at least two arms")
    if len(set(arms)) != len(arms):
        raise UsageError("two arms have the same name", hint="give each a name of its own")
    if blocks < 1:
        raise UsageError("a session needs at least one block")
    # Of the random numbers of Python only `random()` is promised to stay the same from version to version.
    source = random.Random(seed)
    drawn = (sorted((source.random(), arm) for arm in arms) for _ in range(blocks))
    return Order(seed=seed, blocks=tuple(tuple(arm for _, arm in block) for block in drawn))
