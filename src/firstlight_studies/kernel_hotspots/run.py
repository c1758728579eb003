"""The study: boots, tables, and what holds of what was concluded then."""

from __future__ import annotations

from dataclasses import replace

from firstlight import LabError
from firstlight.study import Boot, Lab, MissingValue, Outcome, Recipe, derived, noise_band
from firstlight_studies.catalogue import KERNEL_HOTSPOTS
from firstlight_studies.kernel_hotspots.arms import Booted, boot_arms
from firstlight_studies.kernel_hotspots.coverage_tables import coverage_chart, coverage_of, coverage_table, linked_of
from firstlight_studies.kernel_hotspots.figures import HotspotEvidence, figures_of
from firstlight_studies.kernel_hotspots.guest import added_memory
from firstlight_studies.kernel_hotspots.health_tables import health_table
from firstlight_studies.kernel_hotspots.hotspots import hot_spots
from firstlight_studies.kernel_hotspots.measured import HotspotTimings, measure
from firstlight_studies.kernel_hotspots.remedies import KERNELS, PLAIN, KernelName
from firstlight_studies.kernel_hotspots.remedy_tables import remedy_chart, remedy_table, serial_table
from firstlight_studies.kernel_hotspots.share_tables import function_table, share_chart, share_table
from firstlight_studies.kernel_hotspots.size_tables import device_table, memory_table
from firstlight_studies.kernel_hotspots.unmeasured import unmeasured
from firstlight_studies.kernel_hotspots.way_tables import (
    agreement_table,
    cost_table,
    costs,
    initcall_table,
    seen_by_ways,
    timed_boot,
    uneven_in,
)
from firstlight_studies.kernel_hotspots.window import FIRST, LAST

_PRINTING = {
    PLAIN: "as it is",
    "quiet": "quiet",
    "panic-only": "only panics printed",
    "port": "initcall_debug, printed",
}


def run(lab: Lab) -> Outcome:
    """Boot every arm, and return what they show.

    :raises LabError: when neither kernel could be booted at all.
    """
    booted = boot_arms(lab)
    if all(isinstance(boot, MissingValue) for boot in booted.boots.values()):
        reason = next(boot.reason for boot in booted.boots.values() if isinstance(boot, MissingValue))
        raise LabError(f"not one arm could be booted: {reason}", hint="`firstlight doctor` looks at what is needed")
    measured = _measured(booted)
    spots = hot_spots()
    nothing = MissingValue("not booted in this run")
    plain = {kernel: measured[kernel].get(PLAIN, nothing) for kernel in KERNELS if kernel not in booted.absent}
    linked = {kernel: linked_of(booted.boot(kernel, PLAIN)) for kernel in KERNELS}
    covered = {kernel: coverage_of(booted.boot(kernel, PLAIN), linked[kernel]) for kernel in KERNELS}
    ways = {name: boot for (kernel, name), boot in booted.boots.items() if kernel == booted.ways_kernel}
    timed = timed_boot(ways)
    seen = seen_by_ways(timed)
    titles = {each.name: each.title for each in booted.remedies[booted.main]} | {PLAIN: "512 MiB"}
    added = added_memory(booted.boot(booted.main, "memory-added"))
    # Savings are those of the lab's kernel where it was booted.
    kernel: KernelName = "lab" if isinstance(booted.boot("lab", PLAIN), Boot) else "stock"
    band = noise_band(lab, booted.plain_arm(kernel), booted.boot(kernel, PLAIN), _window_ns)
    lab.missing += unmeasured(booted, measured, covered, seen, added)
    evidence = HotspotEvidence(
        measured, booted.remedies, spots, added, costs(ways, booted.ways), band.relative, _loaded(lab, booted),
        booted.absent, booted.left_out,
    )  # fmt: skip
    return KERNEL_HOTSPOTS.outcome(
        lab,
        recipe=_recipe(booted),
        tables=(
            share_table(plain, spots),
            band.table(),
            replace(remedy_table(measured, booted.remedies, spots), band_ns=band.width_ns),
            health_table(measured, booted.remedies),
            serial_table(measured, _PRINTING),
            memory_table(measured[booted.main], titles, booted.boot(booted.main, "memory-added")),
            *(() if booted.main == "stock" else (device_table(measured["lab"], quick=lab.quick),)),
            agreement_table(seen, uneven_in(timed)),
            cost_table(ways, booted.ways),
            initcall_table(seen),
            *(coverage_table(kernel, covered[kernel]) for kernel in KERNELS if kernel not in booted.absent),
            function_table(plain, spots, linked),
        ),
        figures=figures_of(evidence),
        charts=(
            share_chart(plain, spots),
            remedy_chart(measured, booted.remedies),
            coverage_chart({str(kernel): each for kernel, each in covered.items()}),
        ),
        notes=(*_of_kernels(booted), *_NOTES, *((_ADDED,) if booted.adds_memory else ())),
    )


def _of_kernels(booted: Booted) -> tuple[str, ...]:
    """Which kernels were booted, and what was not tried on them."""
    if "lab" in booted.absent:
        kernels = f"Stock is the distribution's kernel, and savings are its own: {booted.absent['lab'].reason}."
    elif "stock" in booted.absent:
        kernels = "Lab stands for the kernel that was asked for: the remedies of the lab's kernel are tried on it."
    else:
        kernels = (
            "Stock is the distribution's kernel. The lab's kernel has more drivers and tracers built in; savings are "
            "those of the lab's kernel, as far as it was booted."
        )
    names: dict[str, list[str]] = {}
    for name, why in booted.left_out.items():
        names.setdefault(why, []).append(f"`{name}`")
    return kernels, *(f"Arms that are left out: {', '.join(each)} ({why})." for why, each in names.items())


_ADDED = (
    "Memory is added by its address, which needs least from the machine: QEMU's own memory devices need slots on "
    "its command line, and the kernel would find them in the middle of its start."
)


def _loaded(lab: Lab, booted: Booted) -> int | MissingValue:
    """Bytes of the kernel that was booted."""
    if booted.main == "lab":
        return derived(lambda path: path.stat().st_size, lab.image("kernel"))
    boot = booted.boot(booted.main, PLAIN)
    if isinstance(boot, MissingValue):
        return boot
    recipe = boot.manifest.recipe
    return recipe.files.kernel.stat().st_size if isinstance(recipe, Recipe) else MissingValue("no recipe")


_NOTES = (
    "Virtual time: one instruction takes one nanosecond, caches and buses take no time. Shares and orders of "
    "magnitude apply to real machines; milliseconds do not.",
    "Waiting is exact: a calibration that waits for ten ticks takes as long here as on any machine.",
    "The window ends with the first instruction of user mode. User mode mounts proc and sysfs after it; the changes "
    "until ready show the cost of that.",
)


def _measured(booted: Booted) -> dict[KernelName, dict[str, HotspotTimings | MissingValue]]:
    found: dict[KernelName, dict[str, HotspotTimings | MissingValue]] = {kernel: {} for kernel in KERNELS}
    timed_only = {way.arm for way in booted.ways} - set(_PRINTING)
    for (kernel, name), boot in booted.boots.items():
        if name not in timed_only:
            found[kernel][name] = measure(boot)
    return found


def _window_ns(boot: Boot) -> int | MissingValue:
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    if not {FIRST, LAST} <= marks.keys():
        return MissingValue("the boot did not come to user mode")
    return int(marks[LAST]) - int(marks[FIRST])


def _recipe(booted: Booted) -> tuple[str, ...]:
    lines = []
    for kernel in KERNELS:
        boot = booted.boot(kernel, PLAIN)
        if isinstance(boot, Boot):
            versions = boot.manifest.versions
            line = boot.manifest.recipe_text("command_line")
            lines.append(f"{kernel} kernel: {versions.get('kernel')}, {versions.get('qemu')}, command line `{line}`")
    lines.append("Memory of 512 MiB unless an arm states otherwise, and the minimal guest in an initramfs.")
    return tuple(lines)
