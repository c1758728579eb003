"""Running a program of the host to its end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_tool(
    command: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program without input, with messages in English, and collect its output.

    :param environment: variables in addition to those of this process.
    :param folder: the working directory.
    :raises OSError: when there is no such program.

    >>> run_tool(["sh", "-c", "echo $LC_ALL"]).stdout
    'C\\n'
    """
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "LC_ALL": "C", **(environment or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace",
    )  # fmt: skip


def failure_text(run: subprocess.CompletedProcess[str]) -> str:
    """The last line of a failed program's errors.

    >>> failure_text(run_tool(["sh", "-c", "echo no >&2; exit 3"])), failure_text(run_tool(["false"]))
    ('no', 'it ended with 1')
    """
    return (run.stderr.strip().splitlines() or [f"it ended with {run.returncode}"])[-1]
