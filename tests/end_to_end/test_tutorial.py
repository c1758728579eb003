"""The commands of the tutorials, run as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.boot

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize(
    "tutorial", [path for path in TUTORIALS if path.name != "index.md"], ids=lambda path: path.stem
)
def test_a_tutorial_does_what_it_shows(tutorial: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```console\n(.*?)^```$", tutorial.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for step in re.split(r"^\$ ", "".join(blocks), flags=re.MULTILINE)[1:]:
        command, *shown = step.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "firstlight"
        done = subprocess.run(
            [sys.executable, "-m", "firstlight", *arguments],
            cwd=tmp_path, env={**os.environ, "COLUMNS": "160"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        # Another kernel or QEMU has other figures; headings and names stay.
        said = [" ".join(line.split()) for line in done.stdout.splitlines()]
        for line in shown:
            if line != "..." and not re.search(r"[\d─]", line):
                assert " ".join(line.split()) in said, (command, line)
