"""`firstlight baseline`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import BASELINES, BaselineDirectory, GatedBoots, Json, print_first_notes

app = command_group("Save boots as baselines of `firstlight gate`.")


@app.command("set")
def set_baseline(
    boots: GatedBoots,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="The baseline's name, or a `.json` file.")] = (
        "baseline"
    ),
    because: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason for accepting this level; it is stored in the baseline.")
    ] = "",
    directory: BaselineDirectory = BASELINES,
    json: Json = False,
) -> None:
    """Save boots as the baseline of `firstlight gate`, with the reason, in one file that you can commit.

    An existing baseline of that name is replaced. Its reason stays in the file.

    \b
    Examples:
      firstlight baseline set b.boot --as baseline --because "the first one"
      firstlight baseline set board-*.boot --as board --because "new flash chip"
    """
    made, path = api.set_baseline(boots, name, because=because, directory=directory), api.baseline_path(name, directory)
    incomplete = [f"{sample.boot}: incomplete: {reason}" for sample in made.samples for reason in sample.missing]
    if json:
        print_json(
            {"baseline": str(path), "name": made.name, "because": made.because, "regime": made.method,
             "virtual_ns": [sample.virtual_ns for sample in made.samples], "former": made.former,
             "incomplete": incomplete}
        )  # fmt: skip
    else:
        print(path)
        print_first_notes(incomplete)
