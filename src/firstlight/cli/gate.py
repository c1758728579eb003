"""`firstlight gate`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import BASELINES, BaselineDirectory, Json, Strict, Trust, board_file
from firstlight.errors import UsageError

BootsOrBoard = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="BOOT...", readable=False, help="One exact boot, several noisy boots, or a directory of boots."
    ),
]


def _file(text: str) -> typer.models.OptionInfo:
    return typer.Option(metavar="FILE", help=text)  # type: ignore[no-any-return]


def gate(
    boots: BootsOrBoard = None,
    baseline: Annotated[str, typer.Option(metavar="NAME", help="The baseline's name or file.")] = "baseline",
    directory: BaselineDirectory = BASELINES,
    rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="The rules, in TOML (default: check only the total)."),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Confirm a regression with another boot before reporting it.")
    ] = False,
    pairs: Annotated[
        int, typer.Option(metavar="N", min=6, max=1000, help="With --confirm and noisy boots: number of new pairs.")
    ] = 12,
    band: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="A noise band from `firstlight calibrate` (default: the recipe's band, otherwise a shipped one).",
        ),
    ] = None,
    fail_within_band: Annotated[
        bool, typer.Option("--fail-within-band", help="Fail soft limits within the noise band, too.")
    ] = False,
    other_testbed: Annotated[
        bool,
        typer.Option("--other-testbed", help="Compare with a baseline of another testbed; every report states this."),
    ] = False,
    strict: Strict = False,
    board: Annotated[Path | None, board_file("Boot this board and check its boots")] = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="With --board: number of boots.")] = 12,
    append: Annotated[
        str, typer.Option(metavar="TEXT", help="With --board: parameters to add to the kernel's command line.")
    ] = "",
    kernel: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="With --board: kernel for its deploy hook.")
    ] = None,
    initrd: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="With --board: initramfs for its deploy hook.")
    ] = None,
    rootfs: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="With --board: root file system for its hook.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --board: keep the boots in this directory.")
    ] = None,
    trust: Trust = False,
    junit: Annotated[Path | None, _file("Write JUnit XML.")] = None,
    openmetrics: Annotated[Path | None, _file("Write OpenMetrics text.")] = None,
    hyperfine: Annotated[Path | None, _file("Write hyperfine's JSON.")] = None,
    markdown: Annotated[Path | None, _file("Write Markdown for a pull request.")] = None,
    custom_smaller: Annotated[Path | None, _file("Write `customSmallerIsBetter` JSON.")] = None,
    code_quality: Annotated[Path | None, _file("Write GitLab's code quality report.")] = None,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    json: Json = False,
) -> None:
    """Check boots against a baseline and rules, for CI.

    Exit codes: 0 pass, 3 regression, 4 a boot failed or is unhealthy, 5 inconclusive with --strict.

    \b
    Examples:
      firstlight gate b.boot
      firstlight gate b.boot --rules gate.toml --confirm --markdown comment.md --junit junit.xml
      firstlight gate board-*.boot --baseline board --strict --json
      firstlight gate --board lab.toml --baseline board --confirm --keep boots
    """
    from firstlight.render.ci.gate_data import gate_data
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.gate import gate_report

    files = {"junit": junit, "openmetrics": openmetrics, "hyperfine": hyperfine, "markdown": markdown,
             "custom_smaller": custom_smaller, "code_quality": code_quality}  # fmt: skip
    printed = _printed(files, data=json)
    if github and json:
        raise UsageError(
            "`--github` cannot be combined with `--json`: both write to standard output", hint="give one of them"
        )
    path = api.baseline_path(baseline, directory)
    if (board is None) == (not boots):
        raise UsageError("give boots, or `--board` with a board file")
    of_board = {"append": append, "kernel": kernel, "initrd": initrd, "rootfs": rootfs, "keep": keep}
    if board is None and (given := [name for name, value in of_board.items() if value]):
        raise UsageError(f"`--{given[0]}` needs `--board`", hint="`--board FILE` names it")
    result = api.run_gate(
        boots or [], baseline, directory=directory, rules=rules, band=band, fail_within_band=fail_within_band,
        other_testbed=other_testbed, confirm=confirm, pairs=pairs, trust=trust, board=board, board_boots=repeat,
        append=append, kernel=kernel, initrd=initrd, rootfs=rootfs, keep=keep, progress=True,
    )  # fmt: skip
    code = result.exit_code(strict=strict)
    _write(result, files, path)
    if json:
        print_json(gate_data(result, code))
    elif not printed:
        print_report(gate_report(result))
    if github:
        from firstlight.render.ci.github import github as annotations

        sys.stdout.write(annotations(result, path.as_posix()))
    if code:
        raise typer.Exit(code)


def _printed(files: dict[str, Path | None], *, data: bool) -> bool:
    """Whether a report takes the place of what the gate prints; checked before the gate runs.

    :raises UsageError: when two reports, or a report and the gate's own data, would go to one place.
    """
    places: dict[str, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        option = f"`--{name.replace('_', '-')}`"
        # Devices and pipes take whatever comes.
        if str(path) != "-" and path.exists() and not path.is_file():
            continue
        place = "-" if str(path) == "-" else str(path.resolve())
        if place in places:
            to = "standard output" if place == "-" else f"`{path}`"
            raise UsageError(f"{places[place]} and {option} both write to {to}", hint="name a file for each")
        places[place] = option
    if data and "-" in places:
        raise UsageError(
            f"{places['-']} to standard output cannot be combined with `--json`", hint="name a file for it"
        )
    return "-" in places


def _write(result: api.GateResult, files: dict[str, Path | None], baseline: Path) -> None:
    from importlib import import_module

    from firstlight.atomic import atomic_write

    for name, path in files.items():
        if path is None:
            continue
        write: Callable[..., str] = getattr(import_module(f"firstlight.render.ci.{name}"), name)
        text = write(result, baseline.as_posix()) if name == "code_quality" else write(result)
        if str(path) == "-":
            sys.stdout.write(text)
            continue
        with atomic_write(path, force=True) as written:
            written.write_text(text, encoding="utf-8")
