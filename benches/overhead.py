"""CPU time of QEMU with the plugin over the same boot without it, in pairs; and whether the guest noticed."""

from __future__ import annotations

import sys

from measuring.boots import boot, inputs
from measuring.figures import arguments, line, spread, title

from firstlight.errors import FirstlightError


def compare(rootfs: str | None, pairs: int, wanted: str) -> None:
    """Boot in pairs, plain and recorded in turn, so that a slow spell of the host falls on both."""
    plain, profiled = inputs(profile=False, rootfs=rootfs), inputs(profile=True, rootfs=rootfs)
    ratios, plain_s, profiled_s, same = [], [], [], True
    for number in range(pairs):
        order = (plain, profiled) if number % 2 == 0 else (profiled, plain)
        costs = {recipe is profiled: boot(recipe) for recipe in order}
        plain_s.append(costs[False].cpu_s)
        profiled_s.append(costs[True].cpu_s)
        ratios.append(costs[True].cpu_s / costs[False].cpu_s)
        same &= costs[True].console == costs[False].console
    line("CPU time of the plain boot", spread(plain_s))
    line("CPU time of the recording", spread(profiled_s))
    line("ratio within each pair", spread(ratios, ""), wanted)
    line("console with against without profile", "identical bytes" if same else "DIFFERS", "identical bytes")


def main() -> None:
    """Both user lands."""
    quick = arguments(__doc__ or "").quick
    title("What the profile costs: default recipe")
    compare(None, 2 if quick else 7, "at most 1.10")
    title("What the profile costs: Debian user land with systemd")
    try:
        compare("debian", 1 if quick else 5, "at most 1.15")
    except FirstlightError as error:
        print(error.report(), file=sys.stderr)


if __name__ == "__main__":
    main()
