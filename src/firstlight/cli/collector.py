"""`firstlight collector`."""

from __future__ import annotations

import hashlib
from typing import Annotated

import typer

from firstlight.assets import asset_path
from firstlight.cli.output import Json, print_json

_SCRIPT = "firstlight-collect.sh"
_UNIT = "firstlight-collect.service"


def collector(
    unit: Annotated[bool, typer.Option("--unit", help="Print the unit for systemd instead of the script.")] = False,
    json: Json = False,
) -> None:
    """Print the collector: a script for any system, which gathers its boot records into one tar.

    The script is POSIX sh, needs what busybox has, and only reads. Its tar is what `firstlight import` takes.

    \b
    Examples:
      firstlight collector >firstlight-collect.sh
      firstlight collector | ssh board 'sh -s -- -o -' >board.tar
      firstlight collector --unit >firstlight-collect.service
    """
    name = _UNIT if unit else _SCRIPT
    text = asset_path(name).read_text(encoding="utf-8")
    if json:
        print_json({"name": name, "sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text})
    else:
        print(text, end="")
