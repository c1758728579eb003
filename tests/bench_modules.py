"""The benchmarks as modules: tests run their quick forms."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

_BENCHES = str(Path(__file__).parents[1] / "benches")


def load_bench(name: str) -> ModuleType:
    """A benchmark as a module."""
    sys.path.insert(0, _BENCHES)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_BENCHES)
