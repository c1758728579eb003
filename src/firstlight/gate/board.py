"""The boots of a gate on a board: those to check, and fresh pairs that confirm an alarm."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.comparison.boot_figures import take_sample
from firstlight.errors import UnhealthyBootError
from firstlight.experiment.boards.record import WARM_UP
from firstlight.experiment.boards.session import BoardBoot, BoardSession
from firstlight.gate.checks import Check
from firstlight.gate.confirm import settle
from firstlight.gate.verdict import Confirmation, GateResult, verdict_of
from firstlight.lab.board.board import Arm, Board
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress

_WARM_UP = 1


def boot_for_gate(board: Board, arm: Arm, boots: int, folder: Path, progress: Progress) -> list[tuple[str, BoardBoot]]:
    """Make the boots to check, after a warm-up boot that does not count.

    :returns: the boots with their names; one that did not come up may have no bundle.
    :raises LabError: when the board did not boot six times in a row.
    :raises UnhealthyBootError: when none of them can be read.
    """
    with interruptible(), progress, BoardSession(board, folder) as session:
        _warm_up(session, arm, folder, progress)
        made = []
        for number in range(1, boots + 1):
            progress.step(f"boot {number} of {boots}")
            made.append((f"{number}.boot", session.boot(arm, folder / f"{number}.boot", {"block": number})))
    if all(boot.bundle is None for _, boot in made):
        raise UnhealthyBootError(f"no boot came up: {'; '.join(made[-1][1].events)}", where=board.name)
    return made


def with_events(result: GateResult, made: list[tuple[str, BoardBoot]]) -> GateResult:
    """The result with what happened on the board: a boot without a bundle is unhealthy, too."""
    lost = [
        Check("health", name, "unhealthy", f"the boot did not come up: {'; '.join(boot.events)}")
        for name, boot in made
        if boot.bundle is None
    ]
    events = [f"{name}: {event}" for name, boot in made if boot.bundle is not None for event in boot.events]
    checks = (*lost, *result.checks)
    verdict = verdict_of(checks) if lost else result.verdict
    return replace(result, verdict=verdict, checks=checks, flags=(*result.flags, *events))


def confirm_on_board(
    result: GateResult, board: Board, arm: Arm, pairs: int, folder: Path, progress: Progress
) -> Confirmation:
    """Boot the baseline and the checked arm in fresh pairs, in random order.

    The board's hooks make the arms: `baseline` changes nothing, `measured` is the checked arm.

    :raises LabError: when the board did not boot six times in a row.
    """
    if not (board.can_deploy or arm.changes_something):
        hint = "the board has no `deploy` hook, so Firstlight cannot boot the baseline"
        return Confirmation(None, f"it cannot be tried: {hint}")
    seed = random.SystemRandom().randrange(2**32)
    order = random.Random(seed)
    arms = {"baseline": Arm("baseline"), "measured": arm}
    counted: dict[str, list[Boot]] = {"baseline": [], "measured": []}
    with interruptible(), progress, BoardSession(board, folder) as session:
        _warm_up(session, arms["baseline"], folder, progress)
        for number in range(1, pairs + 1):
            progress.step(f"confirming: pair {number} of {pairs}")
            names = list(arms)
            order.shuffle(names)
            pair = {
                name: session.boot(arms[name], folder / f"{name}-{number}.boot", {"block": number}) for name in names
            }
            if all(boot.came_up for boot in pair.values()):
                for name, boot in pair.items():
                    assert boot.bundle is not None
                    counted[name].append(open(boot.bundle))
    number = len(counted["baseline"])
    if number == 0:
        return Confirmation(None, "it cannot be tried: no pair of boots came up")
    head = f"{number} new pairs on the board in random order (seed {seed})"
    if number < pairs:
        head += f", {pairs - number} more did not come up"
    before, after = ([take_sample(boot) for boot in counted[name]] for name in ("baseline", "measured"))
    return settle(result, before, after, head)


def _warm_up(session: BoardSession, arm: Arm, folder: Path, progress: Progress) -> None:
    (folder / WARM_UP).mkdir(exist_ok=True)
    for number in range(1, _WARM_UP + 1):
        progress.step("warm-up boot")
        session.boot(arm, folder / WARM_UP / f"{number}.boot", {"warm_up": number})
