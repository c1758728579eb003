"""The command line: one file per verb; each parses, calls and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command of the process's arguments, and end the process with its exit code."""
    if sys.argv[1:] == ["--version"]:
        # The parser of arguments takes ten times as long to load as this answer takes.
        from firstlight.version import VERSION

        print(f"firstlight {VERSION}")
        return
    from firstlight.cli.main import main as run_command

    run_command()
