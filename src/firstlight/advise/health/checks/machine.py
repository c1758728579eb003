"""Memory, processors, clocks, entropy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.advise.health.evidence import Evidence
from firstlight.advise.health.result import Difference, HealthCheck, check_of, unknown
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


def memory(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """The kernel manages as much memory as in the baseline, within 0.5 %, and an eighth of it is available."""
    id, title = "HC-MEM", "memory"
    name = next((name for name in ("memory.total_bytes", "memory.present_bytes") if name in boot.facts), "")
    if (now := boot.number(name)) is None:
        return unknown(id, title, "the evidence has no size of the memory")
    if baseline is None or (before := baseline.number(name)) is None:
        return unknown(id, title, "needs a baseline with the size of its memory")
    off = abs(now - before) > before * _MEMORY_TOLERANCE
    found = [Difference(name, str(before), str(now), unit_bytes=1)] if off else []
    left, total = boot.number("memory.available_bytes"), boot.number("memory.total_bytes")
    if left is not None and total is not None and left < total * _LEAST_AVAILABLE:
        then = baseline.number("memory.available_bytes")
        if then is None or then >= before * _LEAST_AVAILABLE:
            was = None if then is None else str(then)
            found.append(Difference("memory.available_bytes", was, str(left), unit_bytes=1))
    return check_of(id, title, found, size_text(now), expected)


def processors(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """No processor is missing."""
    id, title = "HC-CPU", "processors"
    if (now := boot.number("cpu.count")) is None:
        return unknown(id, title, "the evidence has no number of processors")
    if baseline is None or (before := baseline.number("cpu.count")) is None:
        return unknown(id, title, "needs a baseline with the number of its processors")
    found = [Difference("cpu.count", str(before), str(now))] if now < before else []
    return check_of(id, title, found, f"{now}", expected)


def loops_per_jiffy(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """Short delays are as long as they should be: lpj as in the baseline, else as the TSC's rate gives it."""
    id, title = "HC-LPJ", "loops per jiffy"
    if (lpj := boot.number("kernel.lpj")) is None:
        return unknown(id, title, "the log has no line with `lpj=`")
    before = None if baseline is None else baseline.number("kernel.lpj")
    if before is None and (before := _true_lpj(boot, lpj)) is None:
        return unknown(id, title, f"lpj={lpj}; needs a baseline, or a log with the TSC's rate")
    off = abs(lpj - before) > before * _LPJ_TOLERANCE
    return check_of(id, title, [Difference("kernel.lpj", str(before), str(lpj))] if off else [], f"{lpj}", expected)


def _true_lpj(boot: Evidence, lpj: int) -> int | None:
    """What lpj must be: the TSC's rate over the ticks of a second; of all if the configuration is not known."""
    rates = [float(match[1]) for match in map(_TSC.match, boot.messages) if match]
    if not rates:
        return None
    configured = re.search(r"^CONFIG_HZ=(\d+)$", boot.facts.get("kernel.config", ""), re.MULTILINE)
    ticks = [int(configured[1])] if configured else list(_TICKS)
    return min((round(rates[0] * 1e6 / each) for each in ticks if each), key=lambda true: abs(true - lpj), default=None)


def clocks(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """The clock source and the clock event device are those of the baseline, and none was found unstable."""
    id, title = "HC-CLOCK", "clock source"
    source = _counter(boot.facts.get("clocksource.current"))
    found = [Difference(text, None, "") for text in boot.messages if _UNSTABLE.search(text)]
    if source is None and not found:
        return unknown(id, title, "the evidence does not name the clock source")
    if baseline is None or (before := _counter(baseline.facts.get("clocksource.current"))) is None:
        if found:
            return check_of(id, title, found, str(source), expected)
        return unknown(id, title, f"{source}; needs a baseline with a clock source")
    if before != source:
        found.append(Difference("clocksource.current", before, str(source)))
    device, then = boot.facts.get("clockevent.current"), baseline.facts.get("clockevent.current")
    if device and then and device != then:
        found.append(Difference("clockevent.current", then, device))
    return check_of(id, title, found, f"{source}, events by {device or 'an unknown device'}", expected)


def _counter(name: str | None) -> str | None:
    """The same counter has two names before and after its rate was refined."""
    return "tsc" if name == "tsc-early" else name or None


def entropy(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """The random number generator is ready, and nothing read from it before."""
    id, title = "HC-ENTROPY", "entropy"
    starved = [Difference(text, None, "") for text in boot.messages if _STARVED.search(text)]
    if baseline is not None:
        known = {text for text in baseline.messages if _STARVED.search(text)}
        starved = [each for each in starved if each.subject not in known]
    bits = boot.number("entropy.available")
    done = any(_CRNG_DONE.search(text) for text in boot.messages)
    ready = done if bits is None else bits >= _ENTROPY_FULL
    if not ready and bits is None and not starved:
        return unknown(id, title, "the log does not say that the generator is ready")
    found = starved
    if not ready:
        before = None if baseline is None else baseline.number("entropy.available")
        if before is None or before >= _ENTROPY_FULL:
            found = [*starved, Difference("entropy.available", str(_ENTROPY_FULL), str(bits))]
    return check_of(id, title, found, "ready" if ready else "not ready, as in the baseline", expected)
