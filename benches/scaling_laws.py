"""Whether scaling models are named and extrapolated honestly: a zoo of 50 laws, with 0 to 3 % of noise.

The models were developed with the first 25 laws and seeds below 1,000; the other 25, with later seeds, were held out.
Random sums of three terms, which no model is, follow: the band has to hold them, and nothing may be clear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from measuring.figures import arguments, line, title
from scipy.stats import binomtest

from firstlight.stats.estimate import Floats
from firstlight.stats.scaling.analysis import study
from firstlight.stats.scaling.models import LAWS
from firstlight.stats.scaling.prediction import predict

SIZES = np.array([1.0, 2, 4, 8, 16, 32, 64, 128, 256])
#: So few that the criterion leaves out most models of two terms.
FEW = np.array([4.0, 10, 25, 64, 160])
NOISES = (0.0, 0.003, 0.01, 0.03)


@dataclass(frozen=True)
class Law:
    """A cost by size, and what may be called clear: names that are another way to write it."""

    name: str
    cost: Callable[[Floats], Floats]


def _log(n: Floats) -> Floats:
    return np.log2(np.maximum(n, 1.0))


TUNED = [
    Law("1", lambda n: 1000 + 0 * n),
    Law("log n", lambda n: 1000 + 200 * _log(n)),
    Law("sqrt n", lambda n: 500 + 100 * np.sqrt(n)),
    Law("n", lambda n: 1000 + 30 * n),
    Law("n log n", lambda n: 1000 + 10 * n * _log(n)),
    Law("n^2", lambda n: 1000 + 0.3 * n**2),
    Law("n^2 log n", lambda n: 1000 + 0.1 * n**2 * _log(n)),
    Law("n^3", lambda n: 1000 + 0.01 * n**3),
    Law("n + n^2", lambda n: 1000 + 30 * n + 0.3 * n**2),
    Law("n + n^2", lambda n: 100 + 50 * n + 0.1 * n**2),
    Law("log n + n", lambda n: 500 + 300 * _log(n) + 8 * n),
    Law("sqrt n + n", lambda n: 500 + 300 * np.sqrt(n) + 8 * n),
    Law("n^1.50", lambda n: 1000 + 5 * n**1.5),
    Law("n^1.20", lambda n: 1000 + 5 * n**1.2),
    Law("n^0.70", lambda n: 1000 + 50 * n**0.7),
    Law("n^2.50", lambda n: 1000 + 0.1 * n**2.5),
    Law("2^", lambda n: 1000 + 50 * np.exp2(n / 40)),
    Law("2^", lambda n: 1000 + 300 * np.exp2(n / 100)),
    Law("n/", lambda n: 1000 + 3000 * n / (n + 20)),
    Law("1 - e", lambda n: 1000 + 3000 * (1 - np.exp(-n / 30))),
    Law("hinge", lambda n: 1000 + 5 * n + 40 * np.maximum(n - 32, 0)),
    Law("hinge", lambda n: 1000 + 40 * np.minimum(n, 48) + 5 * np.maximum(n - 48, 0)),
    Law("hinge", lambda n: 2000 + 30 * np.maximum(n - 64, 0)),
    Law("step", lambda n: 1000 + 10 * n + 4000 * (n > 16)),
    Law("step", lambda n: np.where(n > 64, 3500.0, 2000.0)),
]
HELD_OUT = [
    Law("1", lambda n: 77 + 0 * n),
    Law("log n", lambda n: 300 + 20 * _log(n)),
    Law("sqrt n", lambda n: 2000 + 900 * np.sqrt(n)),
    Law("n", lambda n: 5000 + 8 * n),
    Law("n log n", lambda n: 3000 + 40 * n * _log(n)),
    Law("n^2", lambda n: 20 + 1.7 * n**2),
    Law("n^2 log n", lambda n: 9000 + 0.05 * n**2 * _log(n)),
    Law("n^3", lambda n: 100 + 0.004 * n**3),
    Law("n + n^2", lambda n: 1500 + 12 * n + 0.9 * n**2),
    Law("n + n^3", lambda n: 800 + 60 * n + 0.002 * n**3),
    Law("log n + n^2", lambda n: 400 + 250 * _log(n) + 0.2 * n**2),
    Law("none", lambda n: 600 + 40 * _log(n) ** 2),
    Law("none", lambda n: 500 + 20 * n + 3 * n**1.5 + 0.02 * n**2.2),
    Law("n^1.35", lambda n: 700 + 9 * n**1.35),
    Law("n^0.40", lambda n: 900 + 300 * n**0.4),
    Law("n^1.80", lambda n: 2500 + 2 * n**1.8),
    Law("n + n^1.60", lambda n: 100 + 50 * n + 6 * n**1.6),
    Law("2^", lambda n: 400 + 20 * np.exp2(n / 55)),
    Law("n/", lambda n: 200 + 9000 * n / (n + 90)),
    Law("1 - e", lambda n: 3000 + 2000 * (1 - np.exp(-n / 60))),
    Law("hinge", lambda n: 3000 + 12 * n + 25 * np.maximum(n - 100, 0)),
    Law("hinge", lambda n: 500 + 60 * np.minimum(n, 20) + 2 * np.maximum(n - 20, 0)),
    Law("none", lambda n: 1000 + 6 * n + 700 * np.ceil(n / 64)),
    Law("step", lambda n: 4000 + 6 * n + 900 * (n > 8)),
    Law("none", lambda n: 1000 + 20 * n * (1 + 0.5 * (n > 32))),
]


@dataclass(frozen=True)
class Tally:
    """What came of some fits."""

    fits: int
    held: int
    """The band at twice the largest size held the true cost."""
    clear: int
    wrong: tuple[str, ...]
    """What was called clear and is another law, as `found for true`."""
    widths: tuple[float, ...]
    """Of the bands, relative to the true cost."""


def run(laws: list[Law], seeds: range, sizes: Floats = SIZES) -> Tally:
    """Fit every law with every noise and seed."""
    fits = held = clear = 0
    wrong, widths = [], []
    for law in laws:
        for noise in NOISES:
            for seed in seeds if noise else seeds[:1]:
                source = np.random.default_rng(seed)
                costs = law.cost(sizes) * np.exp(source.normal(0.0, noise, sizes.size))
                found = study(sizes.tolist(), costs.tolist(), exact=noise == 0)
                band = predict(found, 2 * sizes[-1])
                true = float(law.cost(2 * sizes[-1:])[0])
                fits += 1
                held += band.low <= true <= band.high
                widths.append((band.high - band.low) / true)
                if found.certainty == "clear":
                    clear += 1
                    if not same(found.law, law.name):
                        wrong.append(f"{found.law} for {law.name} at {noise:.1%}")
    return Tally(fits, held, clear, tuple(wrong), tuple(widths))


def sum_of_three(source: np.random.Generator) -> tuple[Floats, Law]:
    """Sizes and a law of three terms: each has 5 % of the growth or more; the constant is a tenth to ten times that.

    Half of the 9 to 16 sizes double, the others are even or grow by any factor.
    """
    number = int(source.integers(9, 17))
    grid = source.choice(["doubling", "doubling", "geometric", "even"])
    if grid == "doubling":
        sizes = 2.0 ** np.arange(number)
    elif grid == "geometric":
        sizes = np.unique(np.round(np.geomspace(1, 10 ** source.uniform(1.7, 3.5), number)))
    else:
        sizes = np.round(np.linspace(float(source.integers(1, 10)), 10 ** source.uniform(1.7, 3), number))
    terms = [LAWS[place] for place in sorted(source.choice(np.arange(1, len(LAWS)), 3, replace=False))]
    grown = 10 ** source.uniform(5, 8)
    each = [
        grown * share / float(term.growths[0](sizes[-1:])[0])
        for share, term in zip(0.05 + 0.85 * source.dirichlet(np.ones(3)), terms, strict=True)
    ]
    constant = grown * 10 ** source.uniform(-1, 1)

    def cost(n: Floats) -> Floats:
        total = np.full_like(n, constant)
        for coefficient, term in zip(each, terms, strict=True):
            total = total + coefficient * term.growths[0](n)
        return total

    return np.asarray(sizes, dtype=np.float64), Law(" + ".join(term.name for term in terms), cost)


def run_sums(seeds: range, noise: float) -> Tally:
    """Fit random sums of three terms; half of the costs are whole numbers."""
    held, wrong, widths = 0, [], []
    for seed in seeds:
        source = np.random.default_rng(seed)
        sizes, law = sum_of_three(source)
        costs = law.cost(sizes) * np.exp(source.normal(0.0, noise, sizes.size))
        found = study(sizes.tolist(), (np.round(costs) if seed % 2 else costs).tolist(), exact=noise == 0)
        band = predict(found, 2 * sizes[-1])
        true = float(law.cost(2 * sizes[-1:])[0])
        held += band.low <= true <= band.high
        widths.append((band.high - band.low) / true)
        if found.certainty == "clear":
            wrong.append(f"{found.law} for {law.name} at {noise:.1%}")
    return Tally(len(seeds), held, len(wrong), tuple(wrong), tuple(widths))


def same(found: str, true: str) -> bool:
    """Whether a name is that of the law.

    A power within 0.02 of the true exponent is, and a model with a parameter by its kind.
    """
    numbers = [float(each) for each in re.findall(r"\^(\d\.\d\d)", found)]
    exact = [float(each) for each in re.findall(r"\^(\d\.\d\d)", true)]
    if numbers and exact:
        return found[: found.index("^")] == true[: true.index("^")] and abs(numbers[0] - exact[0]) <= 0.02
    return found == true or (true in ("hinge", "step", "2^", "n/", "1 - e") and true in found)


def main() -> None:
    """Fit, print."""
    seeds = 5 if arguments(__doc__ or "").quick else 40
    halves = (("developed with", TUNED, 0), ("held out", HELD_OUT, 1_000))
    for (what, laws, first), sizes in product(halves, (SIZES, FEW)):
        found = run(laws, range(first, first + seeds), sizes)
        title(f"{len(laws)} laws, {what}: {found.fits:,} fits of {sizes.size} sizes")
        print_tally(found)
    for noise in NOISES:
        found = run_sums(range(2_000, 2_000 + 20 * seeds), noise)
        title(f"sums of three terms, noise of {noise:.1%}: {found.fits:,} fits of 9 to 16 sizes")
        print_tally(found)


def print_tally(found: Tally) -> None:
    """What came of some fits."""
    spread = binomtest(found.held, found.fits).proportion_ci(method="wilson")
    line("band at twice the largest size holds the truth",
         f"{found.held / found.fits:.1%} ({spread.low:.1%} to {spread.high:.1%})", "at least 95 %")  # fmt: skip
    line("median and 90th percentile of its width",
         f"{np.median(found.widths):.1%}, {np.quantile(found.widths, 0.9):.1%} of the cost")  # fmt: skip
    line("called clear", f"{found.clear / found.fits:.1%}")
    line("called clear, and another law", f"{len(found.wrong)}", "0")
    for each in sorted(set(found.wrong)):
        line(f"  {each}", str(found.wrong.count(each)))


if __name__ == "__main__":
    main()
