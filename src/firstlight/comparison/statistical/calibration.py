"""What a testbed can detect: the same arm compared with itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from firstlight.comparison.statistical.testbed_noise import Calibration, Detectable
from firstlight.errors import UsageError
from firstlight.stats.drift import drift_percent
from firstlight.stats.estimate import Floats, interval_rank
from firstlight.stats.modality import modes
from firstlight.stats.sample_size import robust_sigma, smallest_effect
from firstlight.stats.significance import paired_p

#: With fewer pairs the noise itself is not known well enough.
FEWEST_PAIRS = 12
_RELABELLINGS = 1_000
_LEVEL = 0.05
_TABLE = (8, 12, 16, 24, 32, 48, 64, 96)


def calibrate(
    a_ns: Sequence[int], b_ns: Sequence[int], *, testbed: dict[str, str], seed: int, made_at: str | None = None
) -> Calibration:
    """Judge a testbed by pairs of boots of one arm.

    :param a_ns: one boot of each pair, in order of time; above 0.
    :param b_ns: the other; which of the two comes first was drawn by lot.
    :param seed: of the relabellings.
    :param made_at: when, in ISO 8601; now by default.
    :raises UsageError: for fewer than 12 pairs, or a time that is none.

    Source: A/A test; drift by Theil 1950 and Sen 1968; least detectable change from the power of Student's test.

    >>> source = np.random.default_rng(1)
    >>> a, b = (np.exp(source.normal(0, 0.005, 16)) * 1e9 for _ in "ab")
    >>> found = calibrate([int(ns) for ns in a], [int(ns) for ns in b], testbed={}, seed=1)
    >>> found.is_stable, found.pairs, 0.4 < found.sigma_percent < 1.2
    (True, 16, True)
    """
    pairs = len(a_ns)
    if pairs != len(b_ns) or pairs < FEWEST_PAIRS:
        message = f"a calibration of a testbed needs at least {FEWEST_PAIRS} pairs, there are {min(pairs, len(b_ns))}"
        raise UsageError(message, hint=f"record {2 * FEWEST_PAIRS} boots of one recipe")
    if min(*a_ns, *b_ns) <= 0:
        raise UsageError("a boot without a length cannot calibrate anything")
    one, other = (np.log(np.asarray(times, dtype=np.float64)) for times in (a_ns, b_ns))
    ratios = other - one
    sigma = robust_sigma(ratios)
    return Calibration(
        made_at=made_at or datetime.now(UTC).isoformat(timespec="seconds"),
        testbed=testbed, seed=seed, pairs=pairs, sigma_percent=math.expm1(sigma) * 100.0,
        drift_percent=drift_percent((one + other) / 2.0), modes=len(modes([*a_ns, *b_ns])),
        p=paired_p(ratios, seed).p, false_alarms=_false_alarms(ratios, seed),
        detectable=[Detectable(pairs=number, percent=math.expm1(smallest_effect(number, sigma)) * 100.0)
                    for number in _TABLE],
        a_ns=list(a_ns), b_ns=list(b_ns),
    )  # fmt: skip


def random_pairs(times_ns: Sequence[int], seed: int) -> tuple[list[int], list[int]]:
    """Make two arms of boots of one recipe in order of time: neighbours are pairs, a lot says which is which.

    >>> a, b = random_pairs([1, 2, 3, 4, 5], seed=3)
    >>> [sorted(pair) for pair in zip(a, b)]
    [[1, 2], [3, 4]]
    """
    turned = np.random.default_rng(seed).integers(0, 2, len(times_ns) // 2)
    pairs = [(times_ns[2 * place + turn], times_ns[2 * place + 1 - turn]) for place, turn in enumerate(turned.tolist())]
    return [one for one, _ in pairs], [other for _, other in pairs]


def _false_alarms(ratios: Floats, seed: int) -> float:
    """How often the interval leaves out 0 when a lot says anew which boot of each pair is which."""
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(_RELABELLINGS, ratios.size))
    relabelled: npt.NDArray[np.float64] = signs * ratios
    rows, columns = np.triu_indices(ratios.size)
    walsh = np.sort((relabelled[:, rows] + relabelled[:, columns]) / 2.0, axis=1)
    rank = interval_rank(ratios.size, 1.0 - _LEVEL)
    alarms = (walsh[:, rank - 1] > 0.0) | (walsh[:, -rank] < 0.0)
    return float(alarms.mean())
