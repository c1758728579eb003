"""Stand-ins for programs of the host, which write down how they were called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Mapping[str, str]) -> Path:
    """Put scripts before the host's programs, with an empty cache; returns the file that `$CALLS` names."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in scripts.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "calls"
