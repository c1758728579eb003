"""The edges that no record states: by time alone, and by where userspace begins."""

from __future__ import annotations

from firstlight.analysis.path.steps import INFERRED, Step
from firstlight.schema.spans import SpanKind


def infer(steps: list[Step]) -> None:
    """Give every step that nothing recorded came before the one that ended last before it began."""
    everyone = sorted((step.end, step.start, number) for number, step in enumerate(steps))
    asked = sorted((step.start, number) for number, step in enumerate(steps) if not step.before)
    place, ended, of_userspace, of_kernel = 0, None, None, None
    for start, number in asked:
        # Both are in order of time: what ended before this step began had ended before the next one begins.
        while place < len(everyone) and everyone[place] < (start, start, number):
            ended = everyone[place][2]
            of_userspace = ended if steps[ended].of_userspace else of_userspace
            of_kernel = ended if steps[ended].of_kernel else of_kernel
            place += 1
        step = steps[number]
        own = ended if step.kind == SpanKind.UEVENT else of_userspace if step.of_userspace else of_kernel
        before = ended if own is None else own
        if before is not None:
            step.before.append((before, INFERRED))


def divide(steps: list[Step], userspace: int | None, switches: list[int]) -> None:
    """Nothing of userspace begins before the kernel has started it, nor of a stage before the one before it was over.

    :param switches: when a stage of userspace gave way to the next one; what it waited for no record states.
    """
    if userspace is not None:
        kernel = _ended_by(steps, userspace)
        first = [entry for entry in kernel if steps[entry[2]].track == "task 1"]
        _border(steps, "[userspace begins]", userspace, first or kernel, "serial")
    for at in switches:
        own = [entry for entry in _ended_by(steps, at) if steps[entry[2]].of_userspace]
        if at != userspace and own:
            _border(steps, "[the next stage begins]", at, own, INFERRED)


def _ended_by(steps: list[Step], at: int) -> list[tuple[int, int, int]]:
    return [(step.end, step.start, number) for number, step in enumerate(steps) if step.end <= at and step.start < at]


def _border(steps: list[Step], name: str, at: int, before: list[tuple[int, int, int]], edge: str) -> None:
    """A step without length between what ended before an instant and what began after it."""
    border = Step("border", name, "", at, at, "good", -1)
    if before:
        border.before.append((max(before)[2], edge))
    number = len(steps)
    for step in steps:
        if step.start >= at and all(steps[other].end <= at for other, _ in step.before):
            step.before.append((number, edge))
    steps.append(border)
