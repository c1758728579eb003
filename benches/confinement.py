"""CPU time of QEMU confined over the same boot without, in pairs; and whether the guest noticed."""

from __future__ import annotations

import os
from dataclasses import replace

from measuring.boots import Cost, boot, inputs
from measuring.figures import arguments, line, spread, title

from firstlight.lab.qemu.confinement import SWITCH
from firstlight.lab.run.resolve import Inputs


def once(recipe: Inputs, *, confined: bool) -> Cost:
    """Boot once, with both walls or with none."""
    if confined:
        return boot(recipe)
    os.environ[SWITCH] = "no"
    try:
        return boot(replace(recipe, qemu=replace(recipe.qemu, has_sandbox=False)))
    finally:
        del os.environ[SWITCH]


def main() -> None:
    """Recordings of the default recipe, confined and free in turn."""
    pairs = 3 if arguments(__doc__ or "").quick else 9
    recipe = inputs(profile=True)
    title("What the confinement of QEMU costs: default recipe, recorded")
    ratios, same = [], True
    for number in range(pairs):
        order = (True, False) if number % 2 else (False, True)
        costs = {confined: once(recipe, confined=confined) for confined in order}
        ratios.append(costs[True].cpu_s / costs[False].cpu_s)
        same &= costs[True].console == costs[False].console and costs[True].guest_s == costs[False].guest_s
    line("CPU time confined over free, within each pair", spread(ratios, ""), "at most 1.01")
    line("console and virtual time", "identical" if same else "DIFFERS", "identical")


if __name__ == "__main__":
    main()
