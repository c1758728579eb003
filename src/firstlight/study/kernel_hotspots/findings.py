"""What the historical study concluded, held against the figures measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from firstlight.study.kernel_hotspots.evidence import HOT, WORTH, Evidence, finding, ms, percent, saves
from firstlight.study.kernel_hotspots.health import broken
from firstlight.study.kernel_hotspots.measured import Measured
from firstlight.study.kernel_hotspots.remedies import KERNELS, PLAIN, Remedy
from firstlight.study.kernel_hotspots.serial import BAUD, on_the_line_ns
from firstlight.study.outcome import Finding

_UNKNOWN = "not measured in this run"


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Every conclusion with its verdict."""
    judges: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
        _hot_spots, _console, _calibration, _clock_of_day, _caches, _memory, _devices, _root, _proc, _subtle, _sanity,
        _instrumentation, _totals,
    )  # fmt: skip
    return tuple(each for judge in judges for each in judge(evidence))


def _hot_spots(evidence: Evidence) -> Iterator[Finding]:
    for spot in (each for each in evidence.spots if each.then):
        shares: dict[str, float] = {}
        for kernel in KERNELS:
            if (found := evidence.get(kernel, PLAIN)) is not None:
                shares[kernel] = found.parts.spots_ns[spot.key] / found.window.length_ns
        said = ", ".join(f"{kernel} {percent(share)}" for kernel, share in shares.items())
        holds = max(shares.values()) >= HOT if shares else None
        why = f"a hot spot takes at least {percent(HOT)} of the window on one of the two kernels"
        claim = f"{spot.title} is a hot spot between start_kernel and init"
        yield finding(claim, "one of the hot spots", said or _UNKNOWN, holds, why)


def _console(evidence: Evidence) -> Iterator[Finding]:
    then = "log level of panics only; fewer and shorter messages"
    plain = evidence.either(PLAIN)
    for name, claim in (("quiet", "fewer messages save time"), ("panic-only", "printing only panics saves time")):
        arm = evidence.get("laboratory", name) if evidence.get("laboratory", PLAIN) else evidence.get("stock", name)
        if plain is None or arm is None:
            yield finding(claim, then, _UNKNOWN, None)
            continue
        saved = plain.window.length_ns - arm.window.length_ns
        line = on_the_line_ns(plain.printed.size - arm.printed.size, BAUD)
        said = f"{ms(saved)} of {ms(plain.window.length_ns)}, and {ms(line)} of a line at {BAUD:,} baud"
        why = "what printing computes is little; the line is the cost, and the emulated port is free"
        yield finding(claim, then, said, saved + line >= WORTH * plain.window.length_ns, why)


def _calibration(evidence: Evidence) -> Iterator[Finding]:
    then = "preset loops per jiffy and TSC quotient"
    claim = "preset loops per jiffy save the calibration, with a TSC"
    yield saves(evidence, "lpj", claim, then, "the kernel takes the loops from the TSC's rate, and waits for nothing")
    claim = "preset loops per jiffy save the calibration, without a TSC"
    yield saves(evidence, "no-tsc-lpj", claim, then, "without a TSC the kernel still counts loops over several ticks")
    claim = "a preset TSC rate saves its calibration"
    yield saves(evidence, "tsc-preset", claim, then, "the fast calibration against the PIT is a short one")


def _clock_of_day(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "not waiting for the clock chip's update saves time", "no wait for update-in-progress (x86)"
    if (plain := evidence.either(PLAIN)) is None:
        yield finding(claim, then, _UNKNOWN, None)
        return
    share = plain.parts.functions.get("mach_get_cmos_time")
    took = share.total_ns if share is not None else 0
    why = (
        "the kernel no longer waits for the second's edge; an emulated chip is never caught in its update, a real one "
        "may be, for 2 ms"
    )
    said = f"reading the clock chip takes {ms(took)}"
    yield finding(claim, then, said, took >= WORTH * plain.window.length_ns, why)


def _caches(evidence: Evidence) -> Iterator[Finding]:
    why = "only the hash tables are sized at the start; they are cleared memory, and grow with the machine's"
    claim = "caches that start small save time"
    yield saves(evidence, "small-hashes-much-memory", claim, "-8 ms of 84 ms on a K7", why)


def _memory(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "hiding memory at the start shortens its initialisation", "57 ms to 8 ms, at the price of 12 ms later"
    much, limited = evidence.either("much-memory"), evidence.either("memory-limited")
    if much is None or limited is None:
        yield finding(claim, then, _UNKNOWN, None)
    else:
        before, after = much.parts.spots_ns["memory"], limited.parts.spots_ns["memory"]
        why = "one struct page for each page, as then; most of them are now made by a thread of their own"
        yield finding(claim, then, f"{ms(before)} to {ms(after)}, of 4 GiB and of 512 MiB", after < 0.9 * before, why)
    claim, then = "physical memory cannot be added later", "a limit of hiding it"
    if isinstance(evidence.added, str):
        yield finding(claim, then, evidence.added, None)
        return
    added = evidence.added
    size = added.blocks * added.block_size / 2**20
    said = f"{added.blocks} blocks, {size:,.0f} MiB, added in {ms(added.adding_ns + added.online_ns)}"
    yield finding(claim, then, said, added.blocks == 0, "the kernel takes memory while it runs (memory hotplug)")


def _devices(evidence: Evidence) -> Iterator[Finding]:
    claim = "fewer RAM disks, consoles and ports save time"
    why = "each costs its registration in the kernel; what user mode does for each comes on top"
    yield saves(evidence, "few-devices", claim, "fewer configurable devices", why)


def _root(evidence: Evidence) -> Iterator[Finding]:
    plain = evidence.either(PLAIN)
    took = _UNKNOWN if plain is None else f"{ms(plain.parts.spots_ns['root'])} for the archive that is the root here"
    why = "these arms have no other root: the study of root file systems mounts them"
    yield finding("a small cramfs core is mounted within 20 ms", "less than 20 ms", took, None, why)


def _proc(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "using less of proc early saves time", "use less of it early; interfaces as modules"
    plain = evidence.either(PLAIN)
    if plain is None or plain.after_ns is None:
        yield finding(claim, then, _UNKNOWN, None)
        return
    whole = plain.window.length_ns + plain.after_ns
    said = (
        f"mounting proc and sysfs takes {ms(plain.mounts_ns)} of {ms(whole)} until ready; "
        f"{ms(plain.parts.spots_ns['proc'])} for their entries, which stay"
    )
    why = "what a mount takes is little; the entries are made whether anybody mounts them or not"
    yield finding(claim, then, said, plain.mounts_ns >= WORTH * whole, why)


def _pairs(evidence: Evidence, wrong: bool) -> Iterator[tuple[Remedy, Measured, Measured]]:
    """Remedies with their arms and what they are held beside; *wrong* ones are preset with a wrong value."""
    for kernel in KERNELS:
        for remedy in evidence.remedies.get(kernel, ()):
            arm, beside = evidence.get(kernel, remedy.name), evidence.get(kernel, remedy.against)
            if remedy.remedy and remedy.wrong == wrong and arm is not None and beside is not None:
                yield remedy, arm, beside


def _subtle(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "most optimisations open subtle failure modes", "has to be assessed for each"
    pairs = list(_pairs(evidence, wrong=False))
    changed = [(arm, beside) for _, arm, beside in pairs if broken(arm.health, beside.health)]
    silent = sum(not arm.health.warnings - beside.health.warnings for arm, beside in changed)
    said = f"{len(changed)} of {len(pairs)} change a fact of the system, {silent} of these without a new warning"
    why = "most: more than half of them; the table of what each breaks names the facts"
    holds = len(changed) * 2 > len(pairs) and silent > 0 if pairs else None
    yield finding(claim, then, said if pairs else _UNKNOWN, holds, why)


def _sanity(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "a hard-coded calibration needs a sanity check", "a warning of the study"
    pairs = list(_pairs(evidence, wrong=True))
    silent = sum(not arm.health.warnings - beside.health.warnings for _, arm, beside in pairs)
    said = f"{silent} of {len(pairs)} wrong values boot without a new warning" if pairs else _UNKNOWN
    yield finding(claim, then, said, silent > 0 if pairs else None, "the kernel believes what it is told")


def _instrumentation(evidence: Evidence) -> Iterator[Finding]:
    then = "4.324660 s with it, 3.638850 s without: 18.8 % more"
    for way, claim, why in (
        ("graph-all", "timing every function from within slows the boot", "the tracer runs with every call"),
        ("no-profile", "timing every function from outside slows the boot", "the guest executes nothing more"),
    ):
        cost = evidence.way_costs.get(way)
        if cost is None:
            yield finding(claim, then, _UNKNOWN, None)
            continue
        said = f"{ms(cost[1])} on {ms(cost[0])} ({percent(cost[1] / cost[0])})"
        yield finding(claim, then, said, cost[1] >= WORTH * cost[0], why)


def _totals(evidence: Evidence) -> Iterator[Finding]:
    plain = [(kernel, found) for kernel in KERNELS if (found := evidence.get(kernel, PLAIN)) is not None]
    said = ", ".join(f"{kernel} {ms(found.window.length_ns)}" for kernel, found in plain)
    claim = "from start_kernel to prompt a K7 at 1 GHz takes 84 ms, a PPC405 at 133 MHz 188 ms"
    why = (
        "another machine: here an instruction takes one virtual nanosecond, and a prompt comes after user mode's start"
    )
    yield finding(claim, "84 ms and 188 ms", said or _UNKNOWN, None, why)
