"""The edges that no record tells: by time alone, and by where user land begins."""

from __future__ import annotations

from bisect import bisect_left

from firstlight.analysis.path.steps import INFERRED, Step


def infer(steps: list[Step]) -> None:
    """Give every step that nothing recorded came before the one that ended last before it began."""
    everyone = sorted((step.end, step.start, number) for number, step in enumerate(steps))
    users = [entry for entry in everyone if steps[entry[2]].of_user_land]
    kernels = [entry for entry in everyone if steps[entry[2]].of_kernel]
    for number, step in enumerate(steps):
        if step.before:
            continue
        own = everyone if step.kind == "uevent" else users if step.of_user_land else kernels
        for among in (own, everyone):
            place = bisect_left(among, (step.start, step.start, number))
            if place:
                step.before.append((among[place - 1][2], INFERRED))
                break


def divide(steps: list[Step], user_land: int | None) -> None:
    """Nothing of user land begins before the kernel has started it, whatever else it waited for."""
    if user_land is None:
        return
    border = Step("border", "[user land begins]", "", user_land, user_land, "good", -1)
    kernel = [(step.end, step.start, number) for number, step in enumerate(steps)
              if step.end <= user_land and step.start < user_land]  # fmt: skip
    first = [entry for entry in kernel if steps[entry[2]].track == "task 1"]
    if kernel:
        border.before.append((max(first or kernel)[2], "serial"))
    number = len(steps)
    for step in steps:
        if step.start >= user_land and all(steps[before].end <= user_land for before, _ in step.before):
            step.before.append((number, "serial"))
    steps.append(border)
