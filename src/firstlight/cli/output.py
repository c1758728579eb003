"""Data for other programs, on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from firstlight.errors import UsageError

#: The bundle that a verb works on.
Bundle = Annotated[Path, typer.Argument(metavar="BOOT", readable=False, help="A boot bundle, a directory `NAME.boot`.")]

#: Every verb that shows data has this option.
Json = Annotated[bool, typer.Option("--json", help="Print the data as JSON.")]

#: Every verb that shows one table has these two.
Csv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV with unrounded figures.")]
Limit = Annotated[
    int | None,
    typer.Option("-n", "--limit", min=0, help="Maximum number of rows (default: 40, all with --csv or --json)."),
]
#: The help of `--sort`, whose keys differ between verbs.
SORT = typer.Option(help="Sort key, largest first; `start` sorts by time.")

#: Verbs that write a bundle, a page or another file.
NewBundle = Annotated[Path, typer.Option("-o", "--output", metavar="NAME.boot", help="The bundle to write.")]
ForceBundle = Annotated[bool, typer.Option("--force", help="Replace an existing bundle.")]
ForcePage = Annotated[bool, typer.Option("--force", help="Replace an existing page.")]
ForceFile = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
HtmlTables = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write everything as one HTML page; `-` prints it.")
]
MarkdownTables = Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")]

#: Verbs that boot several guests.
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", min=1, help="Maximum number of parallel boots (default: one per processor)."),
]
#: Studies, which boot guests of one architecture.
Arch = Annotated[
    str | None,
    typer.Option(
        metavar="ARCH",
        help="Guests' processor architecture, as `image list` shows it (default: that of the first image there).",
    ),
]
Workers = Annotated[
    str | None,
    typer.Option(
        metavar="STORE",
        help="Make the boots on the workers of this store, or on N workers on this machine (`local:N`).",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Boot everything again instead of using the cache.")]

#: Verbs that boot a bundle's recipe.
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Use the paths, guest commands and QEMU options of a bundle that this machine did not record."
    ),
]
#: Verbs that decide what is booted.
GuestCommand = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="Command to run in the guest before it is ready (repeatable)."),
]
Append = Annotated[str, typer.Option(metavar="TEXT", help="Parameters to add to the kernel's command line.")]

#: Verbs that boot or read a board.
Ready = Annotated[
    str | None,
    typer.Option("--ready", metavar="REGEX", help="End the boot at the first line that this pattern matches."),
]
OwnMarks = Annotated[
    list[str] | None,
    typer.Option("--mark", metavar="NAME=REGEX", help="Set a mark at the first line that this pattern matches."),
]

#: Verbs that check boots against a baseline, or make one.
GatedBoots = Annotated[
    list[Path],
    typer.Argument(
        metavar="BOOT...", readable=False, help="One exact boot, several noisy boots, or a directory of boots."
    ),
]
BaselineDirectory = Annotated[Path, typer.Option("--in", metavar="DIR", help="The directory of the baselines.")]
BASELINES = Path("baselines")
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 5 if the result is inconclusive.")]

#: Verbs that read an experiment or a tuning.
Quantiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Boots that vary: compare p50, p90, p95, or the share of slow boots (slow-share); repeatable.",
    ),
]
TuningDirectory = Annotated[Path, typer.Argument(metavar="DIR", readable=False, help="The directory of a tuning.")]


def board_file(purpose: str) -> typer.models.OptionInfo:
    """The option `--board`, of the verbs that boot a board.

    :param purpose: what the verb does with the board.
    """
    help_text = f"{purpose}: a board file (.toml), or a labgrid environment (.yaml)."
    return typer.Option(metavar="FILE", readable=False, help=help_text)  # type: ignore[no-any-return]


def shown_limit(limit: int | None) -> int:
    """How many rows a terminal gets."""
    return 40 if limit is None else limit


def print_notes(texts: Iterable[str]) -> None:
    """Print notes to standard error."""
    from firstlight.escape import printable

    for text in texts:
        print(f"note: {printable(text, 300)}", file=sys.stderr)


def print_first_notes(texts: Sequence[str], most: int = 5) -> None:
    """Print the first of several notes of one kind, and how many more there are."""
    print_notes(texts[:most])
    if len(texts) > most:
        print(f"note: and {len(texts) - most} more like this", file=sys.stderr)


def check_form(csv: bool, json: bool) -> None:
    """Check that at most one form of data is wanted.

    :raises UsageError: when both are.
    """
    if csv and json:
        raise UsageError("`--csv` cannot be combined with `--json`", hint="give one of them")
