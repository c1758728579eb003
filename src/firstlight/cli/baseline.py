"""`firstlight baseline`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Json

#: So many boots that lack something are told.
_MOST_NOTES = 5


app = command_group("Save boots as baselines of `firstlight gate`.")


@app.command("set")
def set_baseline(
    boots: Annotated[
        list[Path],
        typer.Argument(
            metavar="BOOT...", readable=False, help="One exact boot, several noisy boots, or a directory of boots."
        ),
    ],
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="The baseline's name, or a `.json` file.")] = (
        "baseline"
    ),
    because: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason for accepting this level; it is stored in the baseline.")
    ] = "",
    directory: Annotated[Path, typer.Option("--in", metavar="DIR", help="The directory of the baselines.")] = Path(
        "baselines"
    ),
    json: Json = False,
) -> None:
    """Save boots as the baseline of `firstlight gate`, with the reason, in one file that you can commit.

    An existing baseline of that name is replaced. Its reason stays in the file.

    \b
    Examples:
      firstlight baseline set b.boot --as baseline --because "the first one"
      firstlight baseline set board-*.boot --as board --because "new flash chip"
    """
    from firstlight.atomic import atomic_write
    from firstlight.comparison.open_many import open_all
    from firstlight.errors import FirstlightError
    from firstlight.escape import printable
    from firstlight.gate.baseline import baseline_path, baseline_text, make_baseline, read_baseline

    path = baseline_path(name, directory)
    former = read_baseline(path) if path.exists() else None
    made = make_baseline(open_all(boots), path.stem, because, former)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"cannot be made: {error.strerror or error}", where=str(path.parent)) from error
    with atomic_write(path, force=True) as written:
        written.write_text(baseline_text(made), encoding="utf-8")
    incomplete = [f"{sample.boot}: incomplete: {reason}" for sample in made.samples for reason in sample.missing]
    if json:
        print_json(
            {"baseline": str(path), "name": made.name, "because": made.because, "regime": made.method,
             "virtual_ns": [sample.virtual_ns for sample in made.samples], "former": made.former,
             "incomplete": incomplete}
        )  # fmt: skip
    else:
        print(path)
        for text in incomplete[:_MOST_NOTES]:
            print(f"note: {printable(text, 300)}", file=sys.stderr)
        if len(incomplete) > _MOST_NOTES:
            print(f"note: and {len(incomplete) - _MOST_NOTES} more of the kind", file=sys.stderr)
