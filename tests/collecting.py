"""The collector run as a person runs it, and what it gathered."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "collector/firstlight-collect.sh"
SHELLS = {"dash": ["dash"], "busybox": ["busybox", "sh"], "bash": ["bash", "--posix"]}
SHELL = next((words for words in SHELLS.values() if shutil.which(words[0])), ["sh"])


def collect(
    *options: str, cwd: Path, shell: Sequence[str] = SHELL, user: int | None = None, path: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the script as a person does, its own directory in `cwd`."""
    environment = {"PATH": path or os.environ["PATH"], "TMPDIR": str(cwd)}
    words = [shutil.which(shell[0]) or shell[0], *shell[1:], "-s", "--", *options]
    return subprocess.run(
        words, cwd=cwd, env=environment, input=SCRIPT.read_bytes(), capture_output=True, check=False, user=user,
        group=user, extra_groups=None if user is None else [],
    )  # fmt: skip


def members(tar: bytes) -> dict[str, bytes]:
    """The files of a collection, without their folder."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for member in archive:
            top, _, name = member.name.partition("/")
            assert top == "firstlight-collection"
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                found[name] = content.read()
    return found


def manifest(files: dict[str, bytes]) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The manifest's lines, and its items by name."""
    lines = [line.split("\t") for line in files["manifest.tsv"].decode().splitlines()]
    return lines, {line[1]: line[2:] for line in lines if line[0] == "item"}


def programs(folder: Path, **replaced: str) -> str:
    """A `PATH` on which some programs are scripts of ours, the rest as on this machine."""
    folder.mkdir()
    for name, text in replaced.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"
