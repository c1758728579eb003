"""Programs of this host laid over a guest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def add_program(root: Path, name: str) -> None:
    """Copy a program of this host with its libraries into an overlay; without it the test is skipped.

    :param root: the folder of the overlay.
    """
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} on this host")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split()
    for file in (program, *(word for word in linked if word.startswith("/"))):
        to = root / (f"bin/{name}" if file == program else file.lstrip("/"))
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
