"""In which order the boots of an experiment are made."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.stats.randomization import draw_order


def blocks(cells: Sequence[str], repeats: int, seed: int) -> list[tuple[int, int]]:
    """Cell (from 0) and repeat (from 1) of every boot: randomised blocks, each with every cell once.

    More repeats do not change what was before. A drift over the session meets every cell alike.

    >>> order = blocks(["a", "b", "c"], 2, seed=7)
    >>> sorted(cell for cell, repeat in order[:3]), order == blocks(["a", "b", "c"], 9, seed=7)[:6]
    ([0, 1, 2], True)
    """
    places = {name: number for number, name in enumerate(cells)}
    return [(places[slot.arm], slot.block + 1) for slot in draw_order(cells, repeats, seed).slots()]
