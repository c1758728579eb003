"""Fleets: boots of many machines in one directory, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, progress_of
from firstlight.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from firstlight.api.boot import Boot
    from firstlight.fleet.causes import FleetCauses
    from firstlight.fleet.changes import Compacted
    from firstlight.fleet.ingest import Ingested
    from firstlight.fleet.layout import Fleet
    from firstlight.fleet.metrics import FleetFormat
    from firstlight.fleet.one_boot import FleetBoot
    from firstlight.fleet.questions import Answer
    from firstlight.fleet.reproduction import SlowInitcall


def init_fleet(directory: PathLike, *, keep_identities: bool = False) -> Fleet:
    """Make an empty fleet.

    :param directory: a new or an empty directory.
    :param keep_identities: store host names, addresses of network cards, serial numbers and UUIDs as they are.
    :raises UsageError: when there is something else in the directory.
    :raises FirstlightError: when it cannot be written.

    >>> import firstlight
    >>> firstlight.init_fleet(bundle.parent / "fleet").keeps_identities
    False
    """
    from firstlight.fleet.layout import init_fleet as init

    return init(Path(directory), keeps_identities=keep_identities)


def add_to_fleet(
    fleet: PathLike,
    boots: Sequence[PathLike],
    attributes: Mapping[str, str] | None = None,
    *,
    causes: bool = False,
    progress: bool = False,
) -> Ingested:
    """Add boots to a fleet; one that it has is not added again.

    :param fleet: as :func:`init_fleet` made it.
    :param boots: bundles, directories with bundles at any depth, tar archives of these, stores of farms, and records to
        import.
    :param attributes: what is said of these boots, such as ``{"model": "A"}``; it counts before their facts.
    :param causes: look for the causes of the catalogue in each boot, for :func:`explain_fleet`.
    :param progress: show the progress on a terminal.
    :returns: how many were added and known, and which cannot be read.
    :raises UsageError: for attributes that cannot be, or when something given is not there.
    :raises FirstlightError: when the fleet cannot be written; what was committed before stays.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "boards").directory
    >>> firstlight.add_to_fleet(fleet, [bundle], {"model": "A"}).added
    1
    >>> firstlight.add_to_fleet(fleet, [bundle]).known
    1
    """
    from firstlight.farm.store import is_store
    from firstlight.fleet.ingest import ingest
    from firstlight.fleet.layout import open_fleet

    opened = open_fleet(Path(fleet))
    stores = [boot for boot in boots if is_store(boot)]
    paths = [Path(boot) for boot in boots if boot not in stores]
    with progress_of(progress) as shown:
        done = ingest(opened, paths, attributes or {}, finds_causes=causes, note=shown.note)
        for store in stores:
            _add_store(opened, store, attributes or {}, done, causes=causes, note=shown.note)
    return done


def _add_store(
    fleet: Fleet, location: PathLike, attributes: Mapping[str, str], done: Ingested, *, causes: bool,
    note: Callable[[str], None],
) -> None:  # fmt: skip
    """Add the results of a farm's store."""
    from firstlight.farm.bundles import bundles_of
    from firstlight.farm.store import open_store
    from firstlight.fleet.files import read_boots
    from firstlight.fleet.ingest import ingest, quarantine

    def skip() -> None:
        done.known += 1

    known = set(read_boots(fleet, fleet.listing().boots)["digest"])
    failed: Callable[[str, str], None] = lambda where, why: quarantine(fleet, done, where, why, attributes)  # noqa: E731
    for folder in bundles_of(open_store(location), known, failed, skip):
        more = ingest(fleet, [folder], attributes, finds_causes=causes, note=note)
        done.added += more.added
        done.known += more.known
        done.quarantined += more.quarantined


def compact_fleet(fleet: PathLike) -> Compacted:
    """Merge the files of each day of a fleet into one, and remove what an interrupted writer left.

    :raises FirstlightError: when a file is damaged or cannot be written; the fleet is then as it was.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "small").directory
    >>> firstlight.compact_fleet(fleet).files_after
    0
    """
    from firstlight.fleet.changes import compact
    from firstlight.fleet.layout import open_fleet

    return compact(open_fleet(Path(fleet)))


def forget_boots(fleet: PathLike, where: str) -> int:
    """Delete boots from a fleet: no file that is left has a row of them, and no note names them.

    :param where: conditions on attributes, as `serial = "1234"`.
    :returns: how many boots were deleted.
    :raises UsageError: for conditions that cannot be.
    :raises FirstlightError: when a file is damaged or cannot be written; the fleet is then as it was.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "forgetful").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle], {"serial": "1234"})
    >>> firstlight.forget_boots(fleet, 'serial = "1234"')
    1
    """
    from firstlight.fleet.changes import forget, forget_notes
    from firstlight.fleet.conditions import matching
    from firstlight.fleet.files import read_boots
    from firstlight.fleet.layout import open_fleet

    opened = open_fleet(Path(fleet))
    number = forget(opened, matching(read_boots(opened, opened.listing().boots), where))
    forget_notes(opened, where)
    return number


def ask_fleet(
    fleet: PathLike,
    question: str,
    *,
    where: str = "",
    by: Sequence[str] = (),
    between: tuple[str, str] | None = None,
    engine: str = "duckdb",
) -> Answer:
    """Ask a fleet a question.

    :param question: `phases`, `initcalls`, `units` or `processes` (quantiles), `regressed`, `outliers`, `cohorts` or
        `tail`.
    :param where: conditions on attributes, as `model = "A" and kernel ~ "6.*"`.
    :param by: the attributes that make groups; of `regressed` the first is the one whose values are compared.
    :param between: of `regressed`: the old and the new value.
    :param engine: `duckdb`, `spark`, or the URL of a Spark cluster.
    :raises UsageError: for a question, an attribute or a value that is not there, and for an empty fleet.
    :raises FirstlightError: when a file is missing or damaged, or the engine fails.

    Source: docs/design/fleets.md.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "asked").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle], {"model": "A"})
    >>> firstlight.ask_fleet(fleet, "phases", by=["model"]).rows["name"][0]
    'total'
    """
    from firstlight.fleet.layout import open_fleet
    from firstlight.fleet.questions import Asked, Question, answer
    from firstlight.suggest import one_of

    if question not in list(Question):
        raise UsageError(f"there is no question `{question}`", hint=one_of(question, list(Question)))
    return answer(open_fleet(Path(fleet)), Asked(Question(question), where, tuple(by), between, engine))


def query_fleet(fleet: PathLike, statement: str) -> pl.DataFrame:
    """Run a SQL statement over the tables `boots` and `spans` of a fleet; nothing of it can be changed.

    :param statement: one SELECT in the dialect of DuckDB.
    :raises UsageError: for a statement that is none.
    :raises FirstlightError: when DuckDB refuses it.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "queried").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle])
    >>> firstlight.query_fleet(fleet, "SELECT count(*) AS boots FROM boots")["boots"].item()
    1
    """
    from firstlight.fleet.layout import open_fleet
    from firstlight.fleet.statement import run_statement

    return run_statement(open_fleet(Path(fleet)), statement)


def boot_of_fleet(fleet: PathLike, digest: str) -> FleetBoot:
    """One boot of a fleet, with all its parts; only the files of its day are read.

    :param digest: its digest or the first characters of that, as the outliers of :func:`ask_fleet` have it.
    :returns: its row, and its parts with times in nanoseconds, the longest first.
    :raises UsageError: when no boot has that digest, or several do.
    :raises FirstlightError: when a file is missing or damaged.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "of-one").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle], {"model": "A"})
    >>> digest = firstlight.query_fleet(fleet, "SELECT digest FROM boots")["digest"].item()
    >>> firstlight.boot_of_fleet(fleet, digest[:12]).row["model"]
    'A'
    """
    from firstlight.fleet.layout import open_fleet
    from firstlight.fleet.one_boot import one_boot

    return one_boot(open_fleet(Path(fleet)), digest)


def explain_fleet(fleet: PathLike, *, where: str = "") -> FleetCauses:
    """The causes of the catalogue over a fleet: how many boots have each, and what it costs them.

    :param where: conditions on attributes.
    :raises UsageError: when no boot was added with its causes.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "explained").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle], causes=True)
    >>> firstlight.explain_fleet(fleet).boots
    1
    """
    from firstlight.fleet.causes import causes_of_fleet
    from firstlight.fleet.layout import open_fleet

    return causes_of_fleet(open_fleet(Path(fleet)), where)


def reproduce_initcall(
    fleet: PathLike,
    initcall: str,
    *,
    where: str = "",
    kernel: PathLike | None = None,
    output: PathLike | None = None,
    progress: bool = False,
) -> Reproduced:
    """Boot the kernel of a fleet in which an initcall is slowest, exactly and with a profile.

    :param where: conditions on attributes: only boots that meet them choose the kernel.
    :param kernel: its file; by default the distribution's package of that release.
    :param output: the bundle (default: `INITCALL.boot`).
    :param progress: show the progress on a terminal.
    :raises UsageError: when no boot of the fleet has the initcall.
    :raises LabError: when the kernel cannot be had or does not boot.

    Example: ``firstlight.reproduce_initcall("boards", "acpi_init").functions["function"][0]``.
    """
    from firstlight.api.record_boots import record
    from firstlight.fleet.layout import open_fleet
    from firstlight.fleet.reproduction import kernel_of_release, slow_initcall
    from firstlight.lab.kernel.kernel import default_kernel

    slow = slow_initcall(open_fleet(Path(fleet)), initcall, where)
    chosen = Path(kernel) if kernel is not None else None
    if chosen is None and default_kernel().release != slow.kernel:
        chosen = kernel_of_release(slow.kernel)
    target = Path(output) if output is not None else Path(f"{initcall}.boot")
    boot = record(target, kernel=chosen, progress=progress)
    return Reproduced(slow, boot, initcall)


@dataclass(frozen=True)
class Reproduced:
    """A slow initcall of a fleet, and an exact boot of its kernel."""

    slow: SlowInitcall
    boot: Boot
    initcall: str

    @property
    def duration_ns(self) -> int | None:
        """What the initcall takes in the exact boot; none where it did not run there."""
        import polars as pl

        rows = self.boot.initcalls().filter(pl.col("function") == self.initcall)["duration_ns"].drop_nulls()
        return None if rows.is_empty() else int(rows.sum())

    @property
    def functions(self) -> pl.DataFrame:
        """The functions that the initcall called, itself among them, the largest own time first.

        :raises BundleError: when the initcall did not run in the exact boot.
        """
        return self.boot.functions(under=self.initcall).sort(["self_ns", "function"], descending=[True, False])


def fleet_page(fleet: PathLike, output: PathLike, *, where: str = "", force: bool = False) -> Path:
    """Write the page of a fleet: quantiles by model and release, distributions, regressed parts, outliers, tails.

    :param output: the HTML file; it loads nothing and runs nothing.
    :param where: conditions on attributes.
    :param force: replace a file that is there.
    :raises FirstlightError: when a file is there already or cannot be written.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "shown").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle])
    >>> firstlight.fleet_page(fleet, bundle.parent / "fleet.html").name
    'fleet.html'
    """
    from firstlight.api.write import check_free
    from firstlight.fleet.layout import open_fleet
    from firstlight.render.page.fleet import fleet_html
    from firstlight.render.page.html import write_page

    target = Path(output)
    check_free(target, force=force)
    write_page(fleet_html(open_fleet(Path(fleet)), where), target)
    return target


def export_fleet(
    fleet: PathLike,
    to: FleetFormat | str,
    output: PathLike | None = None,
    *,
    parts: Sequence[str] = (),
    where: str = "",
    by: Sequence[str] = (),
    between: tuple[str, str] | None = None,
    force: bool = False,
) -> Path:
    """Write the figures of a fleet for Prometheus, or the dashboard of Grafana that shows them.

    :param to: `openmetrics` or `grafana`.
    :param output: the file; by default `FLEET.prom` or `FLEET.grafana.json`, here.
    :param parts: `initcalls`, `units` or `processes`: their quantiles, besides those of the boot and its phases.
    :param where: conditions on attributes.
    :param by: the attributes that become labels; by default `model` and `kernel`, where the fleet has them.
    :param between: two kernels: the parts that changed from the first to the second are exported, too.
    :returns: the file.
    :raises UsageError: for a format, a part or an attribute that is not there, and for an empty fleet.
    :raises FirstlightError: when a file is there already or cannot be written.

    >>> import firstlight
    >>> fleet = firstlight.init_fleet(bundle.parent / "measured").directory
    >>> _ = firstlight.add_to_fleet(fleet, [bundle], {"model": "A"})
    >>> written = firstlight.export_fleet(fleet, "openmetrics", bundle.parent / "fleet.prom", by=["model"])
    >>> [line for line in written.read_text().splitlines() if line.startswith("fleet_boots{")]
    ['fleet_boots{model="A"} 1']
    """
    from firstlight.api.write import check_free
    from firstlight.atomic import atomic_write
    from firstlight.fleet.layout import open_fleet
    from firstlight.fleet.metrics import FleetFormat, fleet_openmetrics, grafana_dashboard
    from firstlight.fleet.questions import groups_of
    from firstlight.suggest import one_of

    if to not in list(FleetFormat):
        raise UsageError(f"a fleet cannot be exported to `{to}`", hint=one_of(to, list(FleetFormat)))
    opened = open_fleet(Path(fleet))
    form = FleetFormat(to)
    suffix = {FleetFormat.OPENMETRICS: ".prom", FleetFormat.GRAFANA: ".grafana.json"}[form]
    target = Path(output) if output is not None else Path(f"{Path(fleet).resolve().name}{suffix}")
    check_free(target, force=force)
    if form is FleetFormat.GRAFANA:
        text = grafana_dashboard(groups_of(opened, by))
    else:
        text = fleet_openmetrics(opened, parts, where=where, by=by, between=between)
    with atomic_write(target, force=force) as written:
        written.write_text(text, encoding="utf-8", newline="\n")
    return target
