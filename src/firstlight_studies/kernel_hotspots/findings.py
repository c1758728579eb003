"""What the historical study concluded, held against the figures measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from firstlight.study import BAUD, Finding, on_the_line_ns
from firstlight_studies.kernel_hotspots.breakage import sanity, subtle
from firstlight_studies.kernel_hotspots.evidence import HOT, WORTH, Evidence, finding, ms, percent, saves, span
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.remedies import KERNELS, PLAIN

_UNKNOWN = "not measured in this run"


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Every conclusion with its verdict."""
    judges: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
        _hot_spots, _console, _calibration, _clock_of_day, _caches, _memory, _devices, _root, _proc, subtle, sanity,
        _instrumentation, _totals,
    )  # fmt: skip
    return tuple(each for judge in judges for each in judge(evidence))


#: Hot spots that grow with the machine's memory are looked at with much of it, too.
_GROW = frozenset({"memory", "caches"})
_MUCH = "much-memory"


def _hot_spots(evidence: Evidence) -> Iterator[Finding]:
    for spot in (each for each in evidence.spots if each.then):
        shares: dict[str, float] = {}
        much = False
        for kernel in KERNELS:
            for name, how in ((PLAIN, ""), (_MUCH, " with 4 GiB")):
                if (name == PLAIN or spot.key in _GROW) and (found := evidence.get(kernel, name)) is not None:
                    shares[f"{kernel}{how}"] = found.parts.spots_ns[spot.key] / found.window.length_ns
                    much |= name == _MUCH
        said = ", ".join(f"{which} {percent(share)}" for which, share in shares.items())
        holds: bool | None = max(shares.values(), default=0.0) >= HOT
        why = f"a hot spot takes at least {percent(HOT)} of the window on one of the two kernels"
        if spot.key in _GROW:
            why += ", with 512 MiB or with 4 GiB of memory"
        # What was not looked at could still be one.
        if not holds and (not shares or (spot.key in _GROW and not much)):
            holds = None
        claim = f"{spot.title} is a hot spot between start_kernel and init"
        yield finding(claim, "one of the hot spots", said or _UNKNOWN, holds, why)


def _console(evidence: Evidence) -> Iterator[Finding]:
    then = "log level of panics only; fewer and shorter messages"
    plain = evidence.either(PLAIN)
    for name, claim in (("quiet", "fewer messages save time"), ("panic-only", "printing only panics saves time")):
        arm = evidence.get("lab", name) if evidence.get("lab", PLAIN) else evidence.get("stock", name)
        if plain is None or arm is None:
            yield finding(claim, then, _UNKNOWN, None)
            continue
        saved = plain.window.length_ns - arm.window.length_ns
        line = on_the_line_ns(plain.printed.size - arm.printed.size, BAUD)
        said = f"{ms(saved)} of {ms(plain.window.length_ns)}, and {ms(line)} of a line at {BAUD:,} baud"
        why = "the emulated port takes every byte at once: the time on the line is computed, the rest is measured"
        yield finding(claim, then, said, saved + line >= WORTH * plain.window.length_ns, why)


def _calibration(evidence: Evidence) -> Iterator[Finding]:
    then = "preset loops per jiffy and TSC quotient"
    claim = "preset loops per jiffy save the calibration, with a TSC"
    yield saves(evidence, "lpj", claim, then, _without("calibrate_delay"))
    claim = "preset loops per jiffy save the calibration, without a TSC"
    yield saves(evidence, "no-tsc-lpj", claim, then, _without("calibrate_delay"))
    claim = "a preset TSC rate saves its calibration"
    yield saves(evidence, "tsc-preset", claim, then, _without("determine_cpu_tsc_frequencies"))


def _without(function: str) -> Callable[[HotspotTimings, HotspotTimings], str]:
    def why(arm: HotspotTimings, beside: HotspotTimings) -> str:
        without, having = (each.parts.functions.get(function) for each in (beside, arm))
        if without is None:
            return f"the boot without it has no `{function}` in its profile"
        left = "is not in the profile" if having is None else f"takes {span(having.total_ns)}"
        return f"`{function}` takes {span(without.total_ns)} without it; with it, it {left}"

    return why


def _clock_of_day(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "not waiting for the clock chip's update saves time", "no wait for update-in-progress (x86)"
    if (plain := evidence.either(PLAIN)) is None:
        yield finding(claim, then, _UNKNOWN, None)
        return
    share = plain.parts.functions.get("mach_get_cmos_time")
    if share is None:
        yield finding(claim, then, "no reading of the clock chip in the profile", None)
        return
    said = f"reading the clock chip takes {span(share.total_ns)}"
    why = f"including the wait, in {share.calls} call{'s' if share.calls != 1 else ''}; the chip is emulated"
    yield finding(claim, then, said, share.total_ns >= WORTH * plain.window.length_ns, why)


def _caches(evidence: Evidence) -> Iterator[Finding]:
    claim = "caches that start small save time"
    yield saves(evidence, "small-hashes-much-memory", claim, "-8 ms of 84 ms on a K7", _entries)


def _entries(arm: HotspotTimings, beside: HotspotTimings) -> str:
    now, then = (each.health.hash_entries for each in (arm, beside))
    if now is None or then is None:
        return "of the caches only the hash tables are made small"
    return f"only the hash tables of the caches are made small: {now:,} entries instead of {then:,}, with 4 GiB"


def _memory(evidence: Evidence) -> Iterator[Finding]:
    claim, then = "hiding memory at the start shortens its initialisation", "57 ms to 8 ms, at the price of 12 ms later"
    much, limited = evidence.either("much-memory"), evidence.either("memory-limited")
    if much is None or limited is None:
        yield finding(claim, then, _UNKNOWN, None)
    else:
        before, after = much.parts.spots_ns["memory"], limited.parts.spots_ns["memory"]
        thread = much.parts.functions.get("deferred_init_memmap")
        later = 0 if thread is None else thread.total_ns
        why = f"of the former figure a thread of its own (`deferred_init_memmap`) takes {ms(later)}"
        yield finding(claim, then, f"{ms(before)} to {ms(after)}, of 4 GiB and of 512 MiB", after < 0.9 * before, why)
    claim, then = "physical memory cannot be added later", "a limit of hiding it"
    if isinstance(evidence.added, str):
        yield finding(claim, then, evidence.added, None)
        return
    added = evidence.added
    size = added.blocks * added.block_size / 2**20
    said = f"{added.blocks} blocks, {size:,.0f} MiB, added in {ms(added.adding_ns + added.online_ns)}"
    why = f"by memory hotplug, while the kernel runs; blocks refused: {added.refused}"
    yield finding(claim, then, said, added.blocks == 0, why)


def _devices(evidence: Evidence) -> Iterator[Finding]:
    claim = "fewer RAM disks, consoles and ports save time"
    yield saves(evidence, "few-devices", claim, "fewer configurable devices", _registered)


def _registered(arm: HotspotTimings, beside: HotspotTimings) -> str:
    shares = (each.parts.functions.get("device_add") for each in (arm, beside))
    now, then = (0 if share is None else share.calls for share in shares)
    return f"the kernel registers {now} devices instead of {then} (calls of `device_add`)"


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
    why = f"held against {percent(WORTH)} of the time until ready; the entries exist before any mount"
    yield finding(claim, then, said, plain.mounts_ns >= WORTH * whole, why)


def _instrumentation(evidence: Evidence) -> Iterator[Finding]:
    then = "4.324660 s with it, 3.638850 s without; computed: 18.8 % more"
    for way, claim, why in (
        ("graph-all", "timing every function from within slows the boot", "the tracer runs with every call"),
        ("no-profile", "timing every function from outside slows the boot", "virtual time until ready, of both boots"),
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
