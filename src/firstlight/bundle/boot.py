"""A boot: its manifest and its tables as Polars frames."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from firstlight.bundle.command_line import FACT, CommandLineWord, read_words
from firstlight.bundle.contents import read_regular
from firstlight.bundle.digests import check_digest
from firstlight.bundle.folding import SHARED_NAME, Folding
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.older import phase_among
from firstlight.bundle.once import once
from firstlight.bundle.phase_bounds import unsure_ns
from firstlight.bundle.slices import Interval, interval_calls, snapped
from firstlight.bundle.sums import SUMMED, check_sums
from firstlight.bundle.tables import read_table
from firstlight.errors import BundleError, UsageError
from firstlight.recipe.isa import architectures
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import Grade
from firstlight.suggest import unknown_name

_LARGEST_KEPT = 1 << 30
"""Bytes of a file that a guest left."""


class Boot:
    """One recorded boot; :func:`firstlight.open` makes it. A table is read when it is first asked for.

    Times are nanoseconds of the clock that ``manifest.clock`` names, from the first mark.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> boot.manifest.mode.value, boot.phases()["phase"][0]
    ('exact', 'firmware')
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self.manifest = manifest
        self.is_part = False
        """Whether this is the part of a boot between two marks."""
        self._frames: dict[str, pl.DataFrame] = {}
        self._folding: Folding | None = None
        self.results: dict[tuple[Any, ...], Any] = {}
        """What :func:`firstlight.bundle.once.once` keeps."""

    def __repr__(self) -> str:
        return f"<Boot {str(self.directory)!r}: {self.manifest.mode}, {self.manifest.status}>"

    def kept(self, name: str) -> bytes | None:
        """What a program in the guest left in ``/run/firstlight/export/NAME``; nothing where it left no such file.

        :raises BundleError: when the file is there and cannot be read.

        >>> import firstlight
        >>> firstlight.open(bundle).kept("no-such-file") is None
        True
        """
        folder = self.directory / "raw" / "guest-files"
        if not folder.exists():
            folder = self.directory / "raw" / "kept"  # its name up to schema 2
        path = folder / name
        if "/" in name or not name.strip("."):
            return None
        try:
            return read_regular(path, _LARGEST_KEPT)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BundleError(f"cannot read: {error.strerror}", where=str(path)) from error

    def table(self, table: str) -> pl.DataFrame:
        """A table by its name, checked; columns as the format has them.

        :raises BundleError: when it is missing, damaged or changed.
        """
        if table not in self._frames:
            promised = self.manifest.tables.get(table)
            frame = read_table(self.directory, table, promised.rows if promised else None)
            if promised is not None:
                check_digest(self.directory, table, promised.sha256)
            check_sums(self.directory, self.manifest, table, frame, self.table)
            self._frames[table] = frame
        return self._frames[table]

    def replace_tables(self, **frames: pl.DataFrame) -> None:
        """Use other frames in place of stored tables, as a part of a boot does."""
        self._frames.update(frames)
        self.results.clear()

    def check_tables(self, tables: Iterable[str]) -> None:
        """Read tables that the engine reads by itself, so that they are checked: each is the one that was recorded,
        and adds up.

        :raises BundleError: when one is missing, damaged or changed.

        >>> import firstlight
        >>> firstlight.open(bundle).check_tables(["marks", "spans"])
        """
        for table in tables:
            self.table(table)

    def check_sums(self) -> None:
        """Check everything that must add up, including tables that were not read yet.

        :raises BundleError: when a table is missing, damaged or changed.

        >>> import firstlight
        >>> firstlight.open(bundle).check_sums()
        """
        if self.manifest.mode == RecordMode.EXACT:
            self.check_tables(SUMMED)

    def marks(self) -> pl.DataFrame:
        """The named instants in order of time; columns as the format has them."""
        return self.table("marks")

    def spans(self) -> pl.DataFrame:
        """Every interval: phases and initcalls; columns as the format has them."""
        return self.table("spans")

    def phases(self) -> pl.DataFrame:
        """The phases in order; they partition the boot.

        Columns: `phase`, `start_ns`, `end_ns`, `duration_ns`, `instructions`, `idle_ns`, `ended`, `grade`, `reason`,
        `unsure_ns`. A phase that the boot never left ends at the freeze, and has what the others leave of the totals:
        `ended` is false. `unsure_ns` is how far the duration may be off because a record does not show when a mark at
        either end was reached: null where nothing bounds it.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.phases()["duration_ns"].sum() == boot.manifest.totals.virtual_ns
        True
        """
        totals = self.manifest.totals
        open_ended = pl.col("end_ns").is_null()
        end = pl.coalesce(pl.col("end_ns"), pl.lit(totals.virtual_ns, dtype=pl.Int64))
        usual = Grade.EXACT if self.manifest.mode == RecordMode.EXACT else Grade.GOOD
        return (
            self.spans()
            .filter(pl.col("kind") == "phase")
            .sort("start_ns", "span")
            .select(
                pl.col("name").alias("phase"),
                "start_ns",
                end.alias("end_ns"),
                (end - pl.col("start_ns")).alias("duration_ns"),
                *(
                    pl.when(open_ended)
                    .then(pl.lit(whole, dtype=pl.Int64) - pl.col(column).filter(~open_ended).sum())
                    .otherwise(pl.col(column))
                    .alias(column)
                    for column, whole in (("instructions", totals.instructions), ("idle_ns", totals.idle_ns))
                ),
                (~open_ended).alias("ended"),
                pl.col("grade").fill_null(usual.value),
                "reason",
                unsure_ns(),
            )
        )

    def calls(self, raw_names: bool = False) -> pl.DataFrame:
        """The calling-context tree, parents before children; columns as the format has them.

        What a compiler split off a function (`f.cold`) is a part of the function: what it did is done there, and
        entering it is not a call. So bundles of every age are shown alike, while the table keeps what was recorded.

        :param raw_names: the table as it is recorded, with such parts apart.
        :raises BundleError: when the table cannot be read.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.calls()["self_ns"].sum() == boot.calls(raw_names=True)["self_ns"].sum()
        True
        """
        raw = self.table("calls")
        return raw if raw_names else self._folded(raw).calls(raw)

    def phase_calls(self, raw_names: bool = False) -> pl.DataFrame:
        """What each node of the tree did by itself in each phase; columns as the format has them.

        :param raw_names: for the nodes of the tree as it is recorded, see :meth:`calls`.
        """
        return self.table("phase_calls") if raw_names else self._part_calls("phase_calls")

    @once
    def _part_calls(self, table: str) -> pl.DataFrame:
        return self._folded(self.table("calls")).part_calls(self.table(table))

    def slices(self) -> pl.DataFrame:
        """The slices of time that the tree is recorded for; they partition the boot. Columns as the format has them.

        No rows where there are none: of imported boots, of live ones, without a profile, and of older bundles.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.slices()["instructions"].sum() == boot.manifest.totals.instructions
        True
        """
        return self.table("slices")

    def slice_calls(self, raw_names: bool = False) -> pl.DataFrame:
        """What each node of the tree did by itself in each slice of time; columns as the format has them.

        :param raw_names: for the nodes of the tree as it is recorded, see :meth:`calls`.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.slice_calls()["calls"].sum() == boot.calls()["calls"].sum()
        True
        """
        return self.table("slice_calls") if raw_names else self._part_calls("slice_calls")

    def interval(self, start_ns: int, end_ns: int) -> Interval:
        """The slices between the edges nearest to two instants: what figures of a selection of time count.

        It has `start_ns`, `end_ns`, `instructions` and `idle_ns`, exactly, and `first`, `last` and `slices`: which
        slices it consists of, and how many.

        :param start_ns: an instant, in nanoseconds of the boot's clock.
        :param end_ns: a later one.
        :raises UsageError: when the second instant is not after the first, or both lie outside the boot.
        :raises BundleError: when the boot has no slices.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> chosen = boot.interval(0, 50_000_000)
        >>> chosen.end_ns - chosen.start_ns == chosen.instructions + chosen.idle_ns
        True
        """
        if self.slices().is_empty():
            self.check_profile()
            hint = "record it again with this version; `--phase` works with every profile"
            raise BundleError("this boot has no time slices", where=str(self.directory), hint=hint)
        return snapped(self.slices(), start_ns, end_ns)

    def interval_calls(self, start_ns: int, end_ns: int, raw_names: bool = False) -> pl.DataFrame:
        """What each node of the tree did by itself in :meth:`interval`.

        Columns: `node`, `calls` (entries in the interval; a call that began before has none), `self_instructions`,
        `self_ns`. Their sums are those of the interval.

        :param start_ns: an instant, in nanoseconds of the boot's clock.
        :param end_ns: a later one.
        :param raw_names: for the nodes of the tree as it is recorded, see :meth:`calls`.
        :raises UsageError: when the second instant is not after the first.
        :raises BundleError: when the boot has no slices.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> there = boot.interval_calls(0, 50_000_000)
        >>> there["self_instructions"].sum() == boot.interval(0, 50_000_000).instructions
        True
        """
        chosen = self.interval(start_ns, end_ns)
        calls = self.table("calls")
        sums = interval_calls(self.table("slice_calls"), calls, chosen, self.manifest.clock.icount_shift or 0)
        return sums if raw_names else self._folded(calls).part_calls(sums).sort("node")

    def _folded(self, calls: pl.DataFrame) -> Folding:
        if self._folding is None:
            self._folding = Folding(self.directory, calls)
        return self._folding

    def log(self) -> pl.DataFrame:
        """The lines of the console; columns as the format has them."""
        return self.table("log")

    def counters(self) -> pl.DataFrame:
        """Figures that change over time; columns as the format has them."""
        return self.table("counters")

    def facts(self) -> pl.DataFrame:
        """What was true of the system once it was up; columns as the format has them."""
        return self.table("facts")

    def fact_values(self) -> dict[str, str]:
        """The values of the facts by their names.

        >>> import firstlight
        >>> firstlight.open(bundle).fact_values()["kernel.release"]
        '6.1.0-56-cloud-amd64'
        """
        return dict(self.facts().select("fact", "value").iter_rows())

    def command_line_words(self) -> list[CommandLineWord]:
        """Every word of the kernel's command line with who read it; empty where that was not recorded."""
        text = self.fact_values().get(FACT)
        return [] if text is None else read_words(text)

    def links(self) -> pl.DataFrame:
        """What waits for what, by the names of spans; columns as the format has them."""
        return self.table("links")

    def kd(self) -> pl.DataFrame:
        """The table that the tool `kd` gives for an imported function log, in its own terms and microseconds."""
        return self.table("kd")

    def threads(self) -> pl.DataFrame:
        """The kernel's tasks that ran, in the order in which they ran first; columns as the format has them.

        `run_ns` and `idle_ns` of all of them add up to the time from the kernel's first instruction on. No rows where
        the recorder did not follow the switches: of imported boots, of live ones, without a profile.

        >>> import firstlight
        >>> threads = firstlight.open(bundle).threads()
        >>> threads.select("thread", "kind", "name").row(0)
        (0, 'idle', 'swapper/0')
        """
        return self.table("threads")

    def thread_names(self) -> pl.DataFrame:
        """The names of threads over time: each from `time_ns` on; columns as the format has them."""
        return self.table("thread_names")

    def runs(self) -> pl.DataFrame:
        """Who had the processor: a row for every stretch between two switches, in order of time, without holes.

        Columns as the format has them; `thread` is that of :meth:`threads`.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.runs()["idle_ns"].sum() == boot.manifest.totals.idle_ns
        True
        """
        return self.table("runs")

    def functions(
        self,
        phase: str | None = None,
        under: str | None = None,
        per_caller: bool = False,
        raw_names: bool = False,
        between: tuple[int, int] | None = None,
    ) -> pl.DataFrame:
        """The kd table: one row for every function, the largest total first.

        Columns: `function`, `module`, `kind`, `count`, `total_instructions`, `total_ns`, `average_ns`,
        `self_instructions`, `self_ns`, `max_sub` (the direct callee with the largest total of its own) and
        `max_sub_count` (its calls from this function). Self adds up to the whole; total counts a recursion once.

        :param phase: only what ran in this phase.
        :param under: only what this function did, itself and everything it called.
        :param per_caller: `max_sub` is the callee that took the most time under its caller instead.
        :param raw_names: split-off parts of functions (`f.cold`) are rows of their own.
        :param between: only what ran between two instants, in nanoseconds: in the slices of :meth:`interval`.
        :raises UsageError: when the second instant is not after the first, or a phase was given, too.
        :raises BundleError: when the boot has no profile or no slices, or does not know the phase or the function.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> there = boot.functions(between=(0, 50_000_000))
        >>> there["self_instructions"].sum() == boot.interval(0, 50_000_000).instructions
        True
        """
        from firstlight.bundle.functions import kd_table, part_kd_table  # the engine is only loaded where it is needed

        self.check_profile()
        if phase is not None:
            phase = self.check_phase(phase)
        if under is not None:
            self.check_function(under, raw_names)
        if between is not None:
            if phase is not None:
                raise UsageError("a phase and an interval cannot be combined", hint="leave out one of them")
            rows = self.interval_calls(*between, raw_names=True)
            return part_kd_table(self.directory, rows, under, per_caller, raw_names)
        if phase is not None:
            self.table("phase_calls")  # the engine reads it by itself: checked here
        return kd_table(self.directory, phase, under, per_caller, raw_names)

    def phase_functions(self, raw_names: bool = False) -> dict[str, pl.DataFrame]:
        """The kd table of every phase, as :meth:`functions` gives it for one; much faster than asking for each.

        :param raw_names: split-off parts of functions (`f.cold`) are rows of their own.
        :raises BundleError: when the boot has no profile.

        >>> import firstlight
        >>> boot = firstlight.open(bundle)
        >>> boot.phase_functions()["early_init"].equals(boot.functions(phase="early_init"))
        True
        """
        from firstlight.bundle.functions import KD_SCHEMA, phase_kd_tables

        self.check_profile()
        self.table("phase_calls")
        tables = phase_kd_tables(self.directory, raw_names)
        nothing = pl.DataFrame(schema=KD_SCHEMA)
        return {phase: tables.get(phase, nothing) for phase in self.phases()["phase"].to_list()}

    def check_profile(self) -> None:
        """Check that the boot has a calling-context tree.

        :raises BundleError: when it was recorded without a profile.
        """
        if self.table("calls").is_empty():
            why, hint = self.why_no_profile()
            raise BundleError(f"this boot has no profile: {why}", where=str(self.directory), hint=hint)

    def why_no_profile(self) -> tuple[str, str]:
        """Why a boot without calls has none, and what to do about it."""
        manifest = self.manifest
        if self.is_part:
            return "the tree of calls counts the entire boot, not a part of it", "leave out `--from` and `--to`"
        if manifest.mode == RecordMode.LIVE:
            return "a live recording counts no instructions", "record in exact mode, without `--live`"
        if manifest.mode == RecordMode.IMPORTED and self.facts()["fact"].str.starts_with("hist.").any():
            return "its histograms are facts (`hist.…`), no calls", "`firstlight show` shows them"
        if manifest.mode == RecordMode.IMPORTED:
            return "the imported records have no calls", "`firstlight record` makes one"
        known = architectures().get(manifest.recipe_text("architecture") or "")
        if known is not None and not known.has_profile:
            return f"guests of {known.name} have none", "marks, phases and the log are exact all the same"
        if manifest.recipe.profile is False:
            return "it was recorded with `--no-profile`", "record it again without `--no-profile`"
        if manifest.failure is not None:
            why = f"the recording died ({manifest.failure.reason}) before the first copy of its profile was written"
            return why, "record it again; what the guest printed until then is in `raw/console.log`"
        return "its table of calls has no rows", "record it again"

    def check_phase(self, phase: str) -> str:
        """The boot's phase of this name, which may be that of an earlier schema version.

        :raises BundleError: when it has none; the hint names the nearest.

        >>> import firstlight
        >>> firstlight.open(bundle).check_phase("early_init")
        'early_init'
        """
        known = self.phases()["phase"].to_list()
        found = phase_among(phase, known)
        unknown_name("phase", found, known, str(self.directory))
        return found

    def check_function(self, function: str, raw_names: bool = False) -> None:
        """Check that a function of this name was called in the boot.

        :param raw_names: whether split-off parts count as functions.
        :raises BundleError: when it was not; the hint names the nearest.
        """
        names = self.calls(raw_names)["function"].unique()
        plain = names.str.replace(SHARED_NAME, "").unique()
        unknown_name("function", function, sorted({*names, *plain}), str(self.directory))
