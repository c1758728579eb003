"""Booting the cells of an experiment on one board, in randomised blocks."""

from __future__ import annotations

import time

from firstlight.experiment.boards.record import WARM_UP
from firstlight.experiment.boards.session import CONTINUES, BoardSession
from firstlight.experiment.runner import RunProgress, sweep
from firstlight.experiment.schedule import Prepared
from firstlight.experiment.store import State
from firstlight.lab.host.process import interruptible


def run_on_board(prepared: Prepared, progress: RunProgress) -> State:
    """Boot what is lacking, after the warm-up boots, which do not count.

    Each block has a boot of every cell in a random order. A boot that does not come up is an event: it does not count,
    and the next one follows.

    :returns: the state.
    :raises LabError: when the board did not boot six times in a row; what was booted stays.
    :raises FirstlightError: when somebody else runs it, or nothing can be written.
    :raises KeyboardInterrupt: when a person interrupts; what was booted stays.
    """
    store, state, board = prepared.store, prepared.state, prepared.board
    assert board is not None
    store.path.mkdir(parents=True, exist_ok=True)
    with interruptible(), store.locked():
        sweep(store.path)
        store.write(state, prepared.text)
        lacking = [boot for boot in state.order if not store.has(state.cells[boot[0]], boot[1])]
        with progress, BoardSession(board, store.path, CONTINUES) as session:
            progress.start(len(state.order), len(state.order) - len(lacking), 1)
            # After each pause the board is cold again.
            for number in range(1, prepared.plan.warm_up_boots + 1) if lacking else ():
                bundle = store.path / WARM_UP / f"{number}.boot"
                bundle.parent.mkdir(exist_ok=True)
                session.boot(prepared.arms[lacking[0][0]], bundle, {"warm_up": number})
            for position, (cell, repeat) in enumerate(state.order):
                if (cell, repeat) not in lacking:
                    continue
                bundle = store.bundle(state.cells[cell], repeat)
                bundle.parent.mkdir(exist_ok=True)
                began = time.monotonic()
                booted = session.boot(prepared.arms[cell], bundle, {"block": repeat, "position": position + 1})
                how = "booted" if booted.came_up else f"failed: {booted.events[-1]}"
                progress.done(state.cells[cell].name, repeat, how, time.monotonic() - began, counts=True)
                for event in booted.events:
                    progress.note(f"{state.cells[cell].name}, boot {repeat}: {event}")
    return state
