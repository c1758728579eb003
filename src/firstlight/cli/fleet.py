"""`firstlight fleet`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Csv, Json, Limit, check_form, print_first_notes, print_notes, shown_limit

app = command_group("Analyse the boots of many machines: quantiles, regressions, outliers, causes.")

FleetPath = Annotated[
    Path, typer.Argument(metavar="FLEET", readable=False, help="The directory of a fleet, as `fleet init` makes it.")
]
Where = Annotated[
    str,
    typer.Option(metavar="CONDITIONS", help='Only boots that match, such as `model = "A" and kernel ~ "6.*"`.'),
]
By = Annotated[str | None, typer.Option(metavar="ATTRIBUTES", help="Attributes to group by, separated by commas.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="ENGINE", help="`duckdb`, `spark`, or the URL of a Spark cluster.")
]
Asked = Literal["phases", "initcalls", "units", "processes", "regressed", "outliers", "cohorts", "tail"]

#: The exit code where `--fail` finds a part that became slower.
_SLOWER = 3


@app.command("init")
def init(
    fleet: Annotated[Path, typer.Argument(metavar="FLEET", readable=False, help="A new or an empty directory.")],
    keep_identities: Annotated[
        bool,
        typer.Option(
            "--keep-identities", help="Store host names, network addresses, serial numbers and UUIDs as they are."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Make an empty fleet.

    What identifies a machine is replaced by `*` in all names that a fleet stores, unless it is asked for.

    \b
    Examples:
      firstlight fleet init boards/
      firstlight fleet init lab/ --keep-identities
    """
    made = api.init_fleet(fleet, keep_identities=keep_identities)
    if json:
        print_json({"fleet": str(fleet), "keeps_identities": made.keeps_identities})
    else:
        print(fleet)


@app.command("add")
def add(
    fleet: FleetPath,
    boots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOOT|TAR|DIR|STORE...",
            help="Bundles, directories or archives of bundles, stores of farms, records to import.",
        ),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Attribute of these boots, such as model=A (repeatable)."),
    ] = None,
    causes: Annotated[
        bool, typer.Option("--causes", help="Look for the known causes in each boot, for `fleet explain`.")
    ] = False,
    json: Json = False,
) -> None:
    """Add boots to a fleet. A boot that it has is not added again; what cannot be read is noted and left out.

    Model, vendor, firmware, kernel, architecture and system come from the facts of a boot; `--set` counts before them.

    \b
    Examples:
      firstlight fleet add boards/ boots/ --set model=A --set firmware=1.1
      firstlight fleet add boards/ nightly.tar.zst dmesg.txt
      firstlight fleet add lab/ store:///mnt/farm
    """
    from firstlight.errors import UsageError

    attributes = {}
    for given in set_ or ():
        name, sign, value = given.partition("=")
        if not sign:
            raise UsageError(f"`{given}` sets nothing", where="--set", hint="use NAME=VALUE: `--set model=A`")
        attributes[name] = value
    done = api.add_to_fleet(fleet, boots, attributes, causes=causes, progress=True)
    if json:
        left_out = [{"boot": where, "reason": why} for where, why in done.quarantined]
        print_json({"fleet": str(fleet), "added": done.added, "known": done.known, "quarantined": left_out})
    else:
        known = f", {done.known} {'was' if done.known == 1 else 'were'} already in it" if done.known else ""
        print(f"{fleet}: {done.added} added{known}")
        print_first_notes([f"left out: {where}: {why}" for where, why in done.quarantined])
    if done.quarantined and not done.added and not done.known:
        raise typer.Exit(1)


@app.command("compact")
def compact(fleet: FleetPath, json: Json = False) -> None:
    """Merge the files of each day into one, and remove what an interrupted writer left.

    Commands that are reading go on with the former files, which the next compaction removes.

    \b
    Examples:
      firstlight fleet compact boards/
    """
    done = api.compact_fleet(fleet)
    if json:
        files = {"files_before": done.files_before, "files_after": done.files_after, "removed": done.removed,
                 "former": done.former}  # fmt: skip
        print_json({"fleet": str(fleet), **files})
    else:
        became = f"{done.files_before} file{'' if done.files_before == 1 else 's'} became {done.files_after}"
        plural = "" if done.former == 1 else "s"
        former = f"; the next compaction removes {done.former} former file{plural}" if done.former else ""
        print(f"{fleet}: {became}{former}")


@app.command("forget")
def forget(
    fleet: FleetPath,
    where: Annotated[str, typer.Option(metavar="CONDITIONS", help='The boots to delete, such as `serial = "1234"`.')],
    json: Json = False,
) -> None:
    """Delete boots: afterwards no file of the fleet has a row of them.

    \b
    Examples:
      firstlight fleet forget boards/ --where 'serial = "1234"'
    """
    number = api.forget_boots(fleet, where)
    if json:
        print_json({"fleet": str(fleet), "forgotten": number})
    else:
        print(f"{fleet}: {number} boot{'' if number == 1 else 's'} deleted")


@app.command("show")
def show(
    fleet: FleetPath,
    question: Annotated[
        Asked,
        typer.Argument(
            metavar="QUESTION", help="phases, initcalls, units, processes, regressed, outliers, cohorts or tail."
        ),
    ],
    where: Where = "",
    by: By = None,
    between: Annotated[
        str | None, typer.Option(metavar="OLD,NEW", help="With `regressed`: the two values that are compared.")
    ] = None,
    engine: EngineName = "duckdb",
    strict: Annotated[
        bool, typer.Option("--fail", help="With `regressed`: exit with code 3 if a part became slower.")
    ] = False,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Answer a question about a fleet.

    `phases`, `initcalls`, `units` and `processes` show quantiles by model and kernel. `regressed` tests each part of
    each model for a change between two kernels. `outliers` lists boots far above the median of their like, `cohorts`
    sets groups beside one another, `tail` shows what the slowest hundredth spends more.

    \b
    Examples:
      firstlight fleet show boards/ phases
      firstlight fleet show boards/ initcalls --by kernel --where 'model = "A"' -n 20
      firstlight fleet show boards/ regressed --between 6.1.0,6.12.1 --fail
      firstlight fleet show boards/ regressed --by firmware
      firstlight fleet show boards/ tail --csv
    """  # fmt: skip
    from firstlight.errors import UsageError

    check_form(csv, json)
    if strict and question != "regressed":
        raise UsageError("`--fail` is for `regressed`", where="--fail", hint="leave it out")
    found = api.ask_fleet(fleet, question, where=where, by=_names(by), between=_pair(between), engine=engine)
    from firstlight.render.views.fleet import answer_data, answer_notes, answer_report, answer_table

    if json:
        print_json({"fleet": str(fleet), **answer_data(found)})
    elif csv:
        from firstlight.render.table_csv import table_csv

        print(table_csv(answer_table(found, limit)), end="")
        print_notes(answer_notes(found))
    else:
        from firstlight.render.terminal.report import print_report

        print_report(answer_report(found, shown_limit(limit)))
    if strict and found.became_slower:
        raise typer.Exit(_SLOWER)


def _names(by: str | None) -> list[str]:
    return [name.strip() for name in by.split(",") if name.strip()] if by else []


def _pair(between: str | None) -> tuple[str, str] | None:
    from firstlight.errors import UsageError

    if between is None:
        return None
    old, sign, new = between.partition(",")
    if not sign or not old or not new:
        raise UsageError(f"`{between}` is not two values", where="--between", hint="use OLD,NEW")
    return old, new


@app.command("boot")
def boot(
    fleet: FleetPath,
    digest: Annotated[str, typer.Argument(metavar="DIGEST", help="The digest of a boot, or its first characters.")],
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show one boot of a fleet with its parts, the longest first.

    \b
    Examples:
      firstlight fleet show boards/ outliers
      firstlight fleet boot boards/ 3fa92c51
    """
    check_form(csv, json)
    found = api.boot_of_fleet(fleet, digest)
    from firstlight.render.views.fleet_boot import boot_data, boot_report, boot_table

    if json:
        print_json({"fleet": str(fleet), **boot_data(found)})
    elif csv:
        from firstlight.render.table_csv import table_csv

        print(table_csv(boot_table(found, limit)), end="")
    else:
        from firstlight.render.terminal.report import print_report

        print_report(boot_report(found, shown_limit(limit)))


@app.command("sql")
def sql(
    fleet: FleetPath,
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT over `boots` and `spans`.")],
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Run a SQL statement over the tables of a fleet. It can read nothing else and change nothing.

    \b
    Examples:
      firstlight fleet sql boards/ 'SELECT model, count(*) FROM boots GROUP BY model'
      firstlight fleet sql boards/ "SELECT name, median(duration_ns) FROM spans WHERE kind = 'unit' GROUP BY name" --csv
    """
    check_form(csv, json)
    found = api.query_fleet(fleet, statement)
    from firstlight.render.views.fleet_sql import sql_data, sql_table

    if json:
        print_json({"fleet": str(fleet), **sql_data(found)})
        return
    made = sql_table(found)
    if csv:
        from firstlight.render.table_csv import table_csv

        print(table_csv(made), end="")
    else:
        from firstlight.render.terminal.report import print_report

        print_report([made])


@app.command("page")
def page(
    fleet: FleetPath,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", readable=False, help="The HTML file.")
    ] = Path("fleet.html"),
    where: Where = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write the page of a fleet: one HTML file that loads nothing.

    \b
    Examples:
      firstlight fleet page boards/ -o fleet.html
      firstlight fleet page boards/ -o a.html --where 'model = "A"'
    """
    written = api.fleet_page(fleet, output, where=where, force=force)
    if json:
        print_json({"fleet": str(fleet), "page": str(written), "bytes": written.stat().st_size})
    else:
        print(written)


@app.command("export")
def export(
    fleet: FleetPath,
    to: Annotated[Literal["openmetrics", "grafana"], typer.Option("--to", help="The output format.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            readable=False,
            help="The file, - is stdout (default: FLEET.prom, FLEET.grafana.json).",
        ),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            "--parts", metavar="initcalls|units|processes", help="Also the quantiles of these parts (repeatable)."
        ),
    ] = None,
    where: Where = "",
    by: By = None,
    between: Annotated[
        str | None, typer.Option(metavar="OLD,NEW", help="Also the parts that changed between two kernels.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write the figures of a fleet for Prometheus, or the dashboard of Grafana that shows them.

    `openmetrics` has quantiles of the boot time and of each phase, with the attributes as labels, for the text files of
    node_exporter. `grafana` is the dashboard for them: import it in Grafana.

    \b
    Examples:
      firstlight fleet export boards/ --to openmetrics -o /var/lib/node_exporter/boards.prom --force
      firstlight fleet export boards/ --to openmetrics --parts initcalls --between 6.1.0,6.12.1
      firstlight fleet export boards/ --to grafana -o boards.grafana.json
    """
    options: Any = {"parts": parts or [], "where": where, "by": _names(by), "between": _pair(between)}
    if output == Path("-"):
        from firstlight.errors import UsageError

        if json:
            raise UsageError(
                "`-o -` cannot be combined with `--json`: both write to standard output",
                where="--output",
                hint="leave one out",
            )
        with TemporaryDirectory(prefix="firstlight-fleet-") as folder:
            print(api.export_fleet(fleet, to, Path(folder) / "export", **options).read_text(encoding="utf-8"), end="")
        return
    written = api.export_fleet(fleet, to, output, **options, force=force)
    if json:
        print_json({"fleet": str(fleet), "to": to, "file": str(written), "bytes": written.stat().st_size})
    else:
        print(written)


@app.command("explain")
def explain(fleet: FleetPath, where: Where = "", json: Json = False) -> None:
    """Show the known causes over a fleet: how many boots have each, what it costs them, what removes it.

    Boots count that were added with `--causes`.

    \b
    Examples:
      firstlight fleet add boards/ boots/ --causes
      firstlight fleet explain boards/ --where 'model = "A"'
    """
    found = api.explain_fleet(fleet, where=where)
    from firstlight.render.views.fleet import causes_data, causes_report

    if json:
        print_json({"fleet": str(fleet), **causes_data(found)})
    else:
        from firstlight.render.terminal.report import print_report

        print_report(causes_report(found))


@app.command("reproduce")
def reproduce(
    fleet: FleetPath,
    initcall: Annotated[str, typer.Option(metavar="NAME", help="The initcall, such as acpi_init.")],
    where: Where = "",
    kernel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="The kernel (default: the distribution's of that release)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="NAME.boot", help="The bundle (default: INITCALL.boot).")
    ] = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Boot the kernel in which an initcall of the fleet is slowest, and name the functions that take its time.

    The kernel is that in which the initcall's 99th percentile is largest.

    \b
    Examples:
      firstlight fleet reproduce boards/ --initcall acpi_init
      firstlight fleet reproduce boards/ --initcall pci_init --where 'model = "A"' --kernel vmlinuz -o a.boot
    """
    found = api.reproduce_initcall(fleet, initcall, where=where, kernel=kernel, output=output, progress=True)
    from firstlight.render.views.fleet import reproduced_data, reproduced_report

    if json:
        print_json({"fleet": str(fleet), **reproduced_data(found.slow, found.boot, found.duration_ns, found.functions)})
    else:
        from firstlight.render.terminal.report import print_report

        number = 20 if limit is None else limit
        print_report(reproduced_report(found.slow, found.boot, found.duration_ns, found.functions, number))
