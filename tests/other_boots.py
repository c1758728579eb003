"""What the tests of boots by other means share: a second QEMU, and bundles of other inputs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

# `make test` puts one there where it can (make/other-qemu.sh).
BUILT_QEMU = Path(__file__).parents[1] / ".build/other-qemu/qemu-system-x86_64"
OTHER_QEMU = os.environ.get("FIRSTLIGHT_OTHER_QEMU") or (str(BUILT_QEMU) if BUILT_QEMU.exists() else None)
"""A second QEMU, such as one of version 10, if there is one."""


def other_qemu(program: str) -> Path | None:
    """The program of the second QEMU for another architecture, such as `qemu-system-aarch64`, if it is there."""
    found = None if OTHER_QEMU is None else Path(OTHER_QEMU).with_name(program)
    return found if found is not None and found.exists() else None


def with_other_input(bundle: Path, name: str, folder: Path) -> Path:
    """A copy of a bundle whose manifest has another digest for an input."""
    changed = folder / "changed.boot"
    shutil.copytree(bundle, changed)
    manifest = json.loads((changed / "manifest.json").read_text())
    manifest["digests"][name] = "0" * 64
    (changed / "manifest.json").write_text(json.dumps(manifest))
    return changed
