"""In which order the boots of an experiment are made: in blocks, each with every cell once, shuffled."""

from __future__ import annotations

import random


def blocks(cells: int, repeats: int, seed: int) -> list[tuple[int, int]]:
    """Cell (from 0) and repeat (from 1) of every boot. A block's order depends on seed and block alone, so that more
    repeats do not change what was before.

    Source: experiments.md 0.1; a drift over the session then meets every cell alike.

    >>> order = blocks(3, 2, seed=7)
    >>> sorted(cell for cell, repeat in order[:3]), order[:3] == blocks(3, 9, seed=7)[:3]
    ([0, 1, 2], True)
    """
    order = []
    for repeat in range(1, repeats + 1):
        block = list(range(cells))
        random.Random(f"{seed}/{repeat}").shuffle(block)
        order += [(cell, repeat) for cell in block]
    return order
