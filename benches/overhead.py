"""CPU time of QEMU with the plugin over the same boot without it, and what processes and user functions add to it.

    python benches/overhead.py [--quick] [--arch NAME ...] [--qemu PROGRAM] [--rounds N] [--shift N]

With `--arch` each architecture named is measured with its default recipe alone.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from measuring.boots import Cost, boot, inputs
from measuring.figures import line, parser, spread, title

from firstlight.errors import FirstlightError
from firstlight.lab.run.resolve import Inputs

#: Without it in the symbols the plugin follows no processes; all else stays.
NEEDED_FOR_PROCESSES = "wake_up_new_task"


def without_processes(recipe: Inputs, folder: Path) -> Inputs:
    """The same recording without processes, system calls and wake-ups."""
    assert recipe.symbols is not None
    lines = recipe.symbols.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [each for each in lines if NEEDED_FOR_PROCESSES not in each.split()]
    assert len(kept) < len(lines)
    symbols = folder / "kallsyms"
    symbols.write_text("".join(kept), encoding="utf-8")
    return replace(recipe, symbols=symbols)


def compare(rootfs: str | None, rounds: int, wanted: str, folder: Path) -> None:
    """Boot every arm in each round, each time in another order, so that a slow spell of the host falls on all."""
    profiled = inputs(profile=True, rootfs=rootfs)
    arms = {
        "plain boot": inputs(profile=False, rootfs=rootfs),
        "functions and threads": without_processes(profiled, folder),
        "with processes and system calls": profiled,
        "with user functions, too": inputs(profile=True, rootfs=rootfs, user_functions=True),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in arms}
    for number in range(rounds):
        names = list(arms)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            costs[name].append(boot(arms[name]))

    def ratio(name: str, base: str, limit: str) -> None:
        pairs = zip(costs[name], costs[base], strict=True)
        line(f"{name} / {base}", spread([one.cpu_s / other.cpu_s for one, other in pairs], ""), limit)

    for name, each in costs.items():
        line(f"CPU time: {name}", spread([cost.cpu_s for cost in each]))
    plain, functions, processes, user = arms
    ratio(processes, plain, wanted)
    ratio(processes, functions, "at most 1.03")
    ratio(user, functions, "at most 1.08")
    same = len({cost.console for each in costs.values() for cost in each}) == 1
    line("consoles of all", "identical bytes" if same else "DIFFER", "identical bytes")


def compare_profile(arch: str, rounds: int, wanted: str, qemu: Path | None, shift: int) -> None:
    """Boot with and without the profile in turn, the one first in every other round."""
    arms = {
        name: inputs(profile=name == "profile", arch=arch, qemu=qemu, shift=shift) for name in ("plain boot", "profile")
    }
    costs: dict[str, list[Cost]] = {name: [] for name in arms}
    for number in range(rounds):
        for name in list(arms)[:: -1 if number % 2 else 1]:
            costs[name].append(boot(arms[name]))
    for name, each in costs.items():
        line(f"CPU time: {name}", spread([cost.cpu_s for cost in each]))
    pairs = zip(costs["profile"], costs["plain boot"], strict=True)
    line("profile / plain boot, of pairs", spread([one.cpu_s / other.cpu_s for one, other in pairs], ""), wanted)
    totals = {name: sum(cost.cpu_s for cost in each) for name, each in costs.items()}
    line("profile / plain boot, of the sums", f"{totals['profile'] / totals['plain boot']:.3f}", wanted)
    same = len({cost.console for each in costs.values() for cost in each}) == 1
    line("consoles of all", "identical bytes" if same else "DIFFER", "identical bytes")


def main() -> None:
    """Both user lands of x86_64, or the architectures that were named."""
    choices = parser(__doc__ or "")
    choices.add_argument("--arch", nargs="+", default=[], metavar="NAME", help="architectures, instead of x86_64")
    choices.add_argument("--qemu", type=Path, help="the emulator, for one architecture")
    choices.add_argument("--shift", type=int, default=0, help="an instruction takes 2^N ns (default: 0)")
    choices.add_argument("--rounds", type=int, default=9, help="pairs of boots of each architecture (default: 9)")
    given = choices.parse_args()
    quick = given.quick
    for arch in given.arch:
        title(f"What the profile costs: default recipe, {arch}")
        compare_profile(arch, 2 if quick else given.rounds, "at most 1.15", given.qemu, given.shift)
    if given.arch:
        return
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        title("What the profile costs: default recipe")
        compare(None, 2 if quick else 7, "at most 1.10", Path(folder))
        title("What the profile costs: Debian with systemd")
        try:
            compare("debian", 1 if quick else 5, "at most 1.15", Path(folder))
        except FirstlightError as error:
            print(error.report(), file=sys.stderr)


if __name__ == "__main__":
    main()
