"""`firstlight collector`."""

from __future__ import annotations

import hashlib
from typing import Annotated

import typer

from firstlight.assets import asset_path
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Json

_SCRIPT = "firstlight-collect.sh"
_UNIT = "firstlight-collect.service"


def collector(
    unit: Annotated[bool, typer.Option("--unit", help="Print the systemd unit instead of the script.")] = False,
    json: Json = False,
) -> None:
    """Print a script that collects the boot records of any Linux system into one tar.

    The script is POSIX sh, needs only busybox, and changes nothing. `firstlight import` reads its tar.

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
