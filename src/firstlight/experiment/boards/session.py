"""Boots of one board, one after another. What goes wrong with one of them is an event, and the session goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, LabError
from firstlight.ingest.importing import ImportOptions, import_records
from firstlight.ingest.manifest import Known
from firstlight.lab.board.board import Arm, Board
from firstlight.lab.capture.file import set_aside
from firstlight.lab.capture.session import CaptureError, CaptureOutcome, Ended
from firstlight.quantities import counted, joined
from firstlight.recipe.described import Described

CONTINUES = "the boots are kept, and the same command continues"

#: After so many boots in a row without one the board is taken for broken.
_MOST_LOST = 6

EVENTS = "events.jsonl"


@dataclass(frozen=True)
class BoardBoot:
    """What came of one boot."""

    bundle: Path | None
    """None: nothing that could be read as a boot was printed."""
    came_up: bool
    power_cycles: int
    events: tuple[str, ...]
    """What was unusual, in words."""


def described(board: Board, arm: Arm) -> tuple[Described, dict[str, str | None]]:
    """What is known of the boots of an arm: what was chosen, and the digests of its inputs.

    :raises LabError: when an input cannot be read.
    """
    files = {"kernel": arm.kernel, "initrd": arm.initrd, "rootfs": arm.rootfs}
    given = {name: path for name, path in files.items() if path is not None}
    digests: dict[str, str | None] = {"board": board.digest}
    for name, path in given.items():
        digests[name] = file_digest(path) if path.is_file() else None
    chosen = {name: str(path) for name, path in given.items()}
    if arm.append:
        chosen["append"] = arm.append
    return Described.model_validate({"machine": Path(board.name).name, **chosen}), digests


class BoardSession:
    """Boots a board until it is closed, which switches the board off.

    :param folder: where the list of events is; none is written without it.
    :param afterwards: what to do once a board that did not boot is mended.
    """

    def __init__(self, board: Board, folder: Path | None = None, afterwards: str = "run the command again") -> None:
        self._board = board
        self._folder = folder
        self._afterwards = afterwards
        self._deployed: Arm | None = None
        self._lost = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.close()

    def boot(self, arm: Arm, output: Path, about: Mapping[str, object] | None = None) -> BoardBoot:
        """Boot an arm once into a bundle, which is replaced.

        :param about: further facts, such as the place in a block.
        :raises LabError: when the board did not boot for the sixth time in a row.
        :raises KeyboardInterrupt: when the user interrupts.
        """
        booted = self._boot(arm, output, {"arm": arm.name, "board": self._board.name, **(about or {})})
        self._write_down(output, booted)
        self._lost = 0 if booted.came_up else self._lost + 1
        if self._lost >= _MOST_LOST:
            message = f"the board did not boot {self._lost} times in a row: {'; '.join(booted.events)}"
            raise LabError(message, where=self._board.name, hint=f"check the board; {self._afterwards}")
        return booted

    def _boot(self, arm: Arm, output: Path, about: Mapping[str, object]) -> BoardBoot:
        record = output.with_name(f"{output.name.removesuffix('.boot')}.capture.bin")
        set_aside(record)
        try:
            recipe, digests = described(self._board, arm)
            if arm != self._deployed:
                self._deployed = None
                self._board.deploy(arm)
                self._deployed = arm
            outcome = self._board.capture(record, about)
        except FirstlightError as error:
            set_aside(record)
            outcome = error.outcome if isinstance(error, CaptureError) else CaptureOutcome()
            return BoardBoot(None, False, outcome.power_cycles, (*outcome.warnings, str(error)))
        if outcome.ended is Ended.INTERRUPTED:
            raise KeyboardInterrupt
        came_up = outcome.ended is Ended.READY
        reason = None if came_up else _why_not(outcome)
        events = (*outcome.warnings, *([] if reason is None else [reason]))
        try:
            known = Known(recipe, digests, reason)
            imported = import_records(
                ImportOptions(
                    [str(record)], output, boot=-1, at_line=outcome.ready_line, force=True, marks=self._board.marks,
                    known=known,
                )
            )[0]  # fmt: skip
        except FirstlightError as error:
            set_aside(record)
            return BoardBoot(None, False, outcome.power_cycles, (str(error), *events))
        record.unlink()
        failure = imported.manifest.failure
        if came_up and failure is not None:
            events = (*events, f"the boot failed: {failure.detail}")
        return BoardBoot(output, failure is None, outcome.power_cycles, events)

    def _write_down(self, output: Path, booted: BoardBoot) -> None:
        if self._folder is None or not booted.events:
            return
        event = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **asdict(booted)}
        event["bundle"] = str(output.relative_to(self._folder))
        # What cannot be written down is on the terminal.
        with suppress(OSError), (self._folder / EVENTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


def event_notes(folder: Path) -> list[str]:
    """What was unusual in a session, in a line each: boots that did not come up, and those that took power cycles.

    A line of the list that cannot be read is left out.
    """
    lost, cycled = [], []
    with suppress(OSError):
        for line in (folder / EVENTS).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError):
                event = json.loads(line)
                if not event["came_up"]:
                    lost.append(str(event["bundle"]))
                elif event["power_cycles"] > 1:
                    cycled.append(f"{event['bundle']} ({event['power_cycles']})")
    notes = []
    if lost:
        notes.append(
            f"{counted(len(lost), 'boot')} of the board did not come up: {joined(lost, 5)}; `{EVENTS}` has the reasons"
        )
    if cycled:
        notes.append(f"{counted(len(cycled), 'boot')} took more than one power cycle: {joined(cycled, 5)}")
    return notes


def _why_not(outcome: CaptureOutcome) -> str:
    cycles = f" ({outcome.power_cycles} power cycles)" if outcome.power_cycles > 1 else ""
    if outcome.ended is Ended.CLOSED:
        return f"the console was closed before a line matched `ready`{cycles}"
    return f"no line matched `ready` in time{cycles}"
