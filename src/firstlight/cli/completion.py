"""`firstlight completion`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

COMPLETE = "_FIRSTLIGHT_COMPLETE"
"""The environment variable by which a completion script asks for completions."""


class Shell(StrEnum):
    """A shell that can complete commands and options."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="The shell.", metavar="bash|zsh|fish")]) -> None:
    """Print a script that completes commands, options and their values in a shell.

    \b
    Examples:
      firstlight completion bash > ~/.local/share/bash-completion/completions/firstlight
      firstlight completion zsh > "${fpath[1]}/_firstlight"
      firstlight completion fish > ~/.config/fish/completions/firstlight.fish
    """
    from typer._completion_shared import get_completion_script

    print(get_completion_script(prog_name="firstlight", complete_var=COMPLETE, shell=shell.value))
