"""The command line: one file per verb; each parses, calls and prints."""

from firstlight.cli.main import main

__all__ = ["main"]
