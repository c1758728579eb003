"""The kernel's own function graph tracer on the same boot, beside ours: CPU time of QEMU and time of the guest."""

from __future__ import annotations

from measuring.boots import Cost, boot, inputs
from measuring.figures import arguments, line, spread, title

_TRACER = "ftrace=function_graph"


def main() -> None:
    """Boot plain, recorded and traced in turn."""
    repeats = 1 if arguments(__doc__ or "").quick else 5
    title(f"Firstlight beside the kernel's tracer (`{_TRACER}`), same boot")
    recipes = {
        "plain": inputs(profile=False),
        "recorded by Firstlight": inputs(profile=True),
        "traced by function_graph": inputs(profile=False, append=_TRACER),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in recipes}
    for _ in range(repeats):
        for name, recipe in recipes.items():
            costs[name].append(boot(recipe))
    for name, each in costs.items():
        line(f"CPU time, {name}", spread([cost.cpu_s for cost in each]))
        line(f"guest's clock at ready, {name}", f"{each[0].guest_s:.6f} s virtual")
    plain = costs["plain"]
    for name in list(recipes)[1:]:
        ratios = [cost.cpu_s / base.cpu_s for cost, base in zip(costs[name], plain, strict=True)]
        line(f"CPU time over plain, {name}", spread(ratios, ""))
        line(f"guest's time over plain, {name}", f"{costs[name][0].guest_s / plain[0].guest_s:.3f}")


if __name__ == "__main__":
    main()
