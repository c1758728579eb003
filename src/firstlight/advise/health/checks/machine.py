"""Memory, processors, clocks, entropy."""

from __future__ import annotations

import re

from firstlight.advise.health.check import Found, NoEvidenceError, both, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthDifference
from firstlight.quantities import size_text

_MEMORY_TOLERANCE = 0.005
_LEAST_AVAILABLE = 1 / 8
"""The part of the memory that a system needs for what it does after its start."""
_LPJ_TOLERANCE = 0.01
_TICKS = (100, 250, 300, 1000)
"""The values of CONFIG_HZ."""
_TSC = re.compile(r"^tsc: (?:Detected|Refined TSC clocksource calibration:) (\d+\.\d+) MHz")
_UNSTABLE = re.compile(r"clocksource: (?:Marking clocksource|timekeeping watchdog).*(?:unstable|skewed)")
_CRNG_DONE = re.compile(r"^random: (?:crng|fast) init done|^random: .*crng (?:init )?done")
_STARVED = re.compile(r"uninitialized urandom read|random: get_random_\w+ called from .* with crng_init=0")
_ENTROPY_FULL = 256
_PROCESSORS = re.compile(r"smp: Brought up (?:\d+ nodes?, )?(\d+) CPUs?|SMP: Total of (\d+) processors activated")


@check(CheckId.MEM, "memory")
def memory(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The kernel manages as much memory as in the baseline, within 0.5 %, and an eighth of it is available."""
    known = [name for name in ("memory.total_bytes", "memory.present_bytes") if boot.number(name) is not None]
    if not known:
        raise NoEvidenceError("the evidence has no size of the memory")
    name = next((name for name in known if baseline is not None and baseline.number(name) is not None), known[0])
    lacks, needed = "has no size of the memory", "with the same size of its memory"
    now, before = both(lambda each: each.number(name), boot, baseline, lacks, needed)
    assert baseline is not None
    off = abs(now - before) > before * _MEMORY_TOLERANCE
    found = [HealthDifference(name, str(before), str(now), unit_bytes=1)] if off else []
    left, total = boot.number("memory.available_bytes"), boot.number("memory.total_bytes")
    if left is not None and total is not None and left < total * _LEAST_AVAILABLE:
        then = baseline.number("memory.available_bytes")
        if then is None and not found:
            raise NoEvidenceError(f"{size_text(left)} are available; the baseline does not say what was there")
        if then is not None and then >= before * _LEAST_AVAILABLE:
            found.append(HealthDifference("memory.available_bytes", str(then), str(left), unit_bytes=1))
    return found, size_text(now)


@check(CheckId.CPU, "processors")
def processors(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No processor is missing."""
    lacks, needed = "has no number of processors", "with the number of its processors"
    now, before = both(_processors, boot, baseline, lacks, needed)
    found = [HealthDifference("cpu.count", str(before), str(now))] if now < before else []
    return found, f"{now}"


def _processors(evidence: HealthEvidence) -> int | None:
    """The number of processors, from the guest's report or else from the kernel's log."""
    if (counted := evidence.number("cpu.count")) is not None:
        return counted
    said = [match[1] or match[2] for text in evidence.messages if (match := _PROCESSORS.search(text))]
    return int(said[-1]) if said else None


@check(CheckId.LPJ, "loops per jiffy")
def loops_per_jiffy(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Short delays are as long as they should be: lpj as in the baseline, else as the TSC's rate gives it."""
    if (lpj := boot.number("kernel.lpj")) is None:
        raise NoEvidenceError("the log has no line with `lpj=`")
    before = None if baseline is None else baseline.number("kernel.lpj")
    if before is None and (before := _true_lpj(boot, lpj)) is None:
        raise NoEvidenceError(f"lpj={lpj}; needs a baseline, or a log with the TSC's rate")
    off = abs(lpj - before) > before * _LPJ_TOLERANCE
    return [HealthDifference("kernel.lpj", str(before), str(lpj))] if off else [], f"{lpj}"


def _true_lpj(boot: HealthEvidence, lpj: int) -> int | None:
    """What lpj must be: the TSC's rate over the ticks of a second; of all if the configuration is not known."""
    rates = [float(match[1]) for match in map(_TSC.match, boot.messages) if match]
    if not rates:
        return None
    configured = re.search(r"^CONFIG_HZ=(\d+)$", boot.facts.get("kernel.config", ""), re.MULTILINE)
    ticks = [int(configured[1])] if configured else list(_TICKS)
    return min((round(rates[0] * 1e6 / each) for each in ticks if each), key=lambda true: abs(true - lpj), default=None)


@check(CheckId.CLOCK, "clock source")
def clocks(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The clock source and the clock event device are those of the baseline, and none was found unstable."""
    source = _counter(boot.facts.get("clocksource.current"))
    found = [HealthDifference(text, None, "") for text in boot.messages if _UNSTABLE.search(text)]
    if source is None and not found:
        raise NoEvidenceError("the evidence does not name the clock source")
    if baseline is None or (before := _counter(baseline.facts.get("clocksource.current"))) is None:
        if found:
            return found, source or ""
        raise NoEvidenceError(f"{source}; needs a baseline with a clock source")
    if source is not None and before != source:
        found.append(HealthDifference("clocksource.current", before, source))
    device, then = boot.facts.get("clockevent.current"), baseline.facts.get("clockevent.current")
    if device and then and device != then:
        found.append(HealthDifference("clockevent.current", then, device))
    return found, f"{source or 'an unknown source'}, events by {device or 'an unknown device'}"


def _counter(name: str | None) -> str | None:
    """The same counter has two names before and after its rate was refined."""
    return "tsc" if name == "tsc-early" else name or None


@check(CheckId.ENTROPY, "entropy")
def entropy(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The random number generator is ready, and nothing read from it before."""
    starved = [HealthDifference(text, None, "") for text in boot.messages if _STARVED.search(text)]
    if baseline is not None:
        known = {text for text in baseline.messages if _STARVED.search(text)}
        starved = [each for each in starved if each.subject not in known]
    bits = boot.number("entropy.available")
    done = any(_CRNG_DONE.search(text) for text in boot.messages)
    ready = done if bits is None else bits >= _ENTROPY_FULL
    if ready or bits is None:
        if not ready and not starved:
            raise NoEvidenceError("the log does not say that the generator is ready")
        return starved, "ready" if ready else ""
    before = None if baseline is None else baseline.number("entropy.available")
    if before is None or before >= _ENTROPY_FULL:
        return [*starved, HealthDifference("entropy.available", str(_ENTROPY_FULL), str(bits))], "not ready"
    return starved, "not ready, as in the baseline"
