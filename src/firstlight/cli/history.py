"""`firstlight history`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Json, Trust, print_first_notes

if TYPE_CHECKING:
    from firstlight.api.automate import Regressions

app = command_group("Store boot times per commit and find the commits that changed them.")

HistoryPath = Annotated[
    Path,
    typer.Argument(metavar="HISTORY", readable=False, help="A DuckDB file, or for reading a directory of bundles."),
]
TestbedName = Annotated[
    str | None,
    typer.Option("--testbed", metavar="NAME", help="The testbed to read (default: the testbed of the newest boot)."),
]
Kind = Literal["total", "phase", "function", "process", "service", "system_call", "package", "user_function"]

#: The exit code where `--fail` has nothing to compare with.
_UNDECIDED = 5


@app.command("add")
def add(
    history: HistoryPath,
    boots: Annotated[
        list[Path],
        typer.Argument(metavar="BOOT...", readable=False, help="Boot bundles, or directories of boot bundles."),
    ],
    at: Annotated[str, typer.Option(metavar="LABEL", help="The commit or another name for the booted version.")],
    json: Json = False,
) -> None:
    """Add totals, phases, functions and userspace of boots. Several boots with one label are samples of it.

    \b
    Examples:
      firstlight history add boots.duckdb a.boot --at "$(git rev-parse --short HEAD)"
      firstlight history add board.duckdb board-*.boot --at v6.12
    """
    added = api.add_to_history(history, boots, at=at)
    if json:
        print_json({"history": str(history), "at": at, "added": added.boots, "known": list(added.known),
                    "incomplete": list(added.incomplete)})  # fmt: skip
    else:
        was = "was" if len(added.known) == 1 else "were"
        known = f", {len(added.known)} {was} already in it" if added.known else ""
        print(f"{history}: {added.boots} added{known}")
        print_first_notes([f"incomplete: {text}" for text in added.incomplete])


@app.command("show")
def show(
    history: HistoryPath,
    kind: Annotated[Kind, typer.Option(help="The series to show.")] = "total",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name of the phase, function, program, unit, call or package."),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=1, help="Maximum number of points; the newest are shown.")
    ] = 40,
    testbed: TestbedName = None,
    json: Json = False,
) -> None:
    """Show a series with its changes. The series of the total includes the phases that changed.

    \b
    Examples:
      firstlight history show boots.duckdb
      firstlight history show boots.duckdb --kind function --name inet_init
      firstlight history show boots.duckdb --kind process --name systemd-udevd
      firstlight history show nightly/ --json
      firstlight history show boots.duckdb --testbed 1
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.history import series_data, series_report

    found = api.read_history(history, kind, name, testbed=testbed)
    if json:
        phases = [series_data(each) for each in found.phases]
        print_json({"history": str(history), **series_data(found.series), "phases": phases})
    else:
        print_report(series_report(found.series, found.phases, limit))


@app.command("regressions")
def regressions(
    history: HistoryPath,
    strict: Annotated[
        bool,
        typer.Option(
            "--fail", help="Exit with code 3 if a regression of the total persists, 5 if the result is inconclusive."
        ),
    ] = False,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="With --fail: one point is enough; the regression need not persist.")
    ] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Maximum number of rows.")] = 40,
    testbed: TestbedName = None,
    json: Json = False,
) -> None:
    """List increases of the total, phases, functions and userspace that were never reverted.

    A part counts if it changed by at least a thousandth of the boot. A step beyond the fence is an alert from its
    second point on; a creep and a growing share of slow boots are alerts, too.

    \b
    Examples:
      firstlight history regressions boots.duckdb
      firstlight history regressions boots.duckdb --fail --json
    """
    from firstlight.errors import FirstlightError, UsageError
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.history import change_data, regressions_report, series_notes

    if at_once and not strict:
        raise UsageError("`--at-once` is for `--fail`", hint="give both")
    found = api.find_regressions(history, testbed=testbed)
    total, alerts = found.total, found.alerts(at_once=at_once)
    if json:
        rows = [
            {"kind": series.kind, "name": series.name, **change_data(series, change)} for series, change in found.found
        ]
        head = {"history": str(history), "testbed": total.testbed.name, "points": len(total.points)}
        notes = {"left_out": total.left_out, "contradictions": list(total.contradictions),
                 "unequal": list(total.unequal), "incomplete": list(total.incomplete),
                 "unordered": total.unordered, "failed": list(total.failed)}  # fmt: skip
        print_json({**head, **notes, "alerts": len(alerts), "regressions": rows})
    else:
        how = "exact" if total.exact else "noisy"
        number = f"{len(total.points)} point{'' if len(total.points) == 1 else 's'}"
        looked_at = f"{number}, {how}; total and parts that changed by 0.1 % of the boot"
        print_report(regressions_report(found.found[:limit], looked_at))
        print_report(series_notes(total))
    if strict and alerts:
        raise typer.Exit(3)
    if strict and found.undecided:
        raise FirstlightError(found.undecided, where=str(history), hint=_hint(found), exit_code=_UNDECIDED)


def _hint(found: Regressions) -> str:
    """What settles what is undecided."""
    total = found.total
    if found.contradictions:
        names = [total.testbed, *total.others]
        return "look at each: " + ", ".join(f"`--testbed {each.name[8:]}`" for each in names)
    if total.newest_failed:
        return "record it again, or remove it; `firstlight show` has its last lines"
    if len(total.points) < 2:
        return "add more boots of this testbed, or chain the testbeds with `firstlight history anchor`"
    return "add more boots of the newest labels; `firstlight history show` has the points"


@app.command("anchor")
def anchor(
    history: HistoryPath,
    boot: Annotated[
        Path, typer.Argument(metavar="BOOT", readable=False, help="An earlier exact boot that the history has.")
    ],
    at: Annotated[str, typer.Option(metavar="LABEL", help="The label of that boot in the history.")],
    qemu: Annotated[
        Path | None,
        typer.Option(metavar="PROGRAM", readable=False, help="QEMU to boot with (default: the present one)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="NAME.boot", help="Store the bundle of the new boot here.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Boot the recipe of an earlier boot with the present QEMU and chain the two testbeds by the ratio.

    \b
    Examples:
      firstlight history anchor boots.duckdb v4.boot --at v4
    """
    added = api.anchor_history(history, boot, at=at, qemu=qemu, output=output, trust=trust, progress=True)
    if json:
        print_json({"history": str(history), "at": at, "added": added.boots, "known": list(added.known),
                    "incomplete": list(added.incomplete)})  # fmt: skip
    else:
        print(f"{history}: {'the anchor was already in it' if added.known else f'an anchor at {at}'}")


@app.command("bisect")
def bisect(
    against: Annotated[
        Path,
        typer.Option("--against", metavar="BOOT", readable=False, help="An exact boot; all versions use its recipe."),
    ],
    git: Annotated[str | None, typer.Option(metavar="GOOD..BAD", help="A range of commits.")] = None,
    repository: Annotated[
        Path, typer.Option(metavar="DIR", readable=False, help="The repository of the commits.")
    ] = Path(),
    version: Annotated[
        list[str] | None,
        typer.Option(metavar="VERSION", help="A version, instead of commits (repeatable); the good one first."),
    ] = None,
    package: Annotated[
        str | None, typer.Option(metavar="NAME", help="The Debian package of the versions, by `apt-get download`.")
    ] = None,
    build: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Command that builds a version in its directory.")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(metavar="PATH", help="The kernel in the directory of a version; may contain `*`.")
    ] = None,
    initrd: Annotated[
        str | None, typer.Option(metavar="PATH", help="The initramfs in the directory of a version.")
    ] = None,
    overlay: Annotated[
        str | None, typer.Option(metavar="PATH", help="The files to lay over those of the guest; `.`: the directory.")
    ] = None,
    append_file: Annotated[
        str | None, typer.Option(metavar="PATH", help="A file with parameters for the kernel's command line.")
    ] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="MARK", help="Measure from this mark.")] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="MARK", help="Measure to this mark.")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The directory of the boots and of the work tree.")
    ] = Path("bisection"),
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Find the version that changed a boot, by exact boots between a good and a bad version.

    Versions that cannot be built or do not come up are skipped. An interrupted bisection continues.

    \b
    Examples:
      firstlight history bisect --against a.boot --git v1..v2 --repository rootfs --overlay files
      firstlight history bisect --against a.boot --git v1..v2 --build "make bzImage" --kernel arch/x86/boot/bzImage
      firstlight history bisect --against a.boot --package busybox --version 1.35-4 --version 1.36-1 --overlay .
    """
    found = api.bisect(
        against, git=git, repository=repository, versions=version or (), package=package, build=build, kernel=kernel,
        initrd=initrd, overlay=overlay, append_file=append_file, first=first, last=last, output=output, trust=trust,
        progress=True,
    )  # fmt: skip
    from firstlight.render.views.bisection import bisection_data, bisection_report

    if json:
        print_json(bisection_data(found.bisection, found.difference, found.path))
    else:
        from firstlight.render.terminal.report import print_report

        print_report(bisection_report(found.bisection, found.difference, found.path))
