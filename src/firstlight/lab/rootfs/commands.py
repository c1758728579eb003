"""Commands that a guest runs before it is ready."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.lab.rootfs.overlay import apply_overlay, settle

_SCRIPT = "etc/firstlight/commands.sh"
COMMANDS_UNIT = "firstlight-commands.service"
"""What runs them where systemd does."""
_UNIT = f"etc/systemd/system/{COMMANDS_UNIT}"
_WANTS = f"etc/systemd/system/default.target.wants/{COMMANDS_UNIT}"
_UNIT_TEXT = f"""\
[Unit]
Description=Commands of an experiment
[Service]
Type=oneshot
ExecStart=/bin/sh /{_SCRIPT}
[Install]
WantedBy=default.target
"""


def command_script(commands: Sequence[str]) -> str:
    """A script that runs each command in a shell of its own, and fails when one of them failed.

    >>> print(command_script(["true", "cd /tmp && ls"]), end="")
    failed=0
    (
    true
    ) || failed=$?
    (
    cd /tmp && ls
    ) || failed=$?
    exit $failed
    """
    return "failed=0\n" + "".join(f"(\n{command}\n) || failed=$?\n" for command in commands) + "exit $failed\n"


def add_to_userspace(commands: Sequence[str], tree: Path, scratch: Path) -> None:
    """Put commands into a userspace with systemd: a unit that its default target waits for.

    :param tree: the userspace, which is changed.
    :param scratch: a directory for what is laid over it.
    :raises LabError: when something is in the way.
    """
    for name, text in ((_SCRIPT, command_script(commands)), (_UNIT, _UNIT_TEXT)):
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    link = scratch / _WANTS
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(f"/{_UNIT}")
    settle(scratch)
    apply_overlay(scratch, tree)
