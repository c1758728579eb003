"""Figures with their spread, and what they are compared with."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence


def parser(description: str) -> argparse.ArgumentParser:
    """Every benchmark has a short form."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--quick", action="store_true", help="fewer repeats: a first impression")
    return made


def arguments(description: str) -> argparse.Namespace:
    """What a benchmark without choices of its own was given."""
    return parser(description).parse_args()


def title(text: str) -> None:
    """The headline of a benchmark."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def spread(values: Sequence[float], unit: str = "s") -> str:
    """Median, lowest and highest of some values, and how many they are.

    >>> spread([1.0, 3.0, 2.0])
    '2.00 s (1.00 to 3.00, 3 runs)'
    """
    runs = "run" if len(values) == 1 else "runs"
    unit = f" {unit}" if unit else ""
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f} to {max(values):.2f}, {len(values)} {runs})"


def line(what: str, figure: str, wanted: str = "") -> None:
    """One figure; *wanted* is what it is compared with."""
    print(f"  {what:<52} {figure}{f'   wanted: {wanted}' if wanted else ''}", flush=True)
