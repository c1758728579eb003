"""Fetches the records of the list with git: each from its repository, at its commit, checked by its digest."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from wild.records import WildRecord

_HOST = "https://github.com"


def fetched(record: WildRecord, directory: Path) -> Path | None:
    """The file of a record, fetched once; none where it is not to be had."""
    file = directory / f"{record.sha256}.txt"
    if not file.exists():
        content = _content(record)
        if content is None or hashlib.sha256(content).hexdigest() != record.sha256:
            return None
        file.write_bytes(content)
    return file


def _content(record: WildRecord) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="firstlight-wild-") as place:
        git = ["git", "-C", place]
        steps = (
            [*git, "init", "--quiet"],
            [
                *git,
                "fetch",
                "--quiet",
                "--depth=1",
                "--filter=blob:none",
                f"{_HOST}/{record.repository}",
                record.commit,
            ],
        )
        for step in steps:
            if subprocess.run(step, capture_output=True, check=False).returncode:
                return None
        show = subprocess.run([*git, "show", f"{record.commit}:{record.path}"], capture_output=True, check=False)
        return None if show.returncode else show.stdout
