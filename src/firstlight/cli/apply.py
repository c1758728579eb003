"""`firstlight apply`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Json, TuningDirectory
from firstlight.errors import UsageError
from firstlight.escape import printable


def apply(
    directory: TuningDirectory,
    print_: Annotated[bool, typer.Option("--print", help="Print the files.")] = False,
    json: Json = False,
) -> None:
    """Print the result of a tuning as files: command line, kernel configuration, files of the system, machine.

    Nothing is changed: you decide where each file belongs.

    \b
    Examples:
      firstlight apply cloud/ --print
    """
    files = api.files_to_apply(api.read_tuning(directory))
    if json:
        print_json({"files": files})
        return
    if not print_:
        raise UsageError("`apply` does not change a system", hint="`firstlight apply DIR --print` prints the files")
    if not files:
        print("The tuning kept no remedy: there is nothing to apply.")
    for name, text in files.items():
        print(f"==> {printable(name, 300)} <==")
        for line in text.splitlines():
            print(printable(line, 4000))
        print()
