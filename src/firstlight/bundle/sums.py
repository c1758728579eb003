"""Whether the tables of an exact boot with a profile add up: to one another, and to the totals of the manifest.

What an invariant says to be broken is not asked for once more: such a boot is shown as not reliable.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from firstlight.bundle.invariants import missing_invariant
from firstlight.bundle.manifest import BootState, Manifest
from firstlight.errors import BundleError
from firstlight.recipe.mode import RecordMode

HINT = "the bundle was changed or damaged: copy it again, or record the boot again"
_MOST = float(1 << 62)
"""A sum of more does not fit into a column."""

Read = Callable[[str], pl.DataFrame]


def check_sums(bundle: Path, manifest: Manifest, table: str, frame: pl.DataFrame, read: Read) -> None:
    """Check one table of a bundle; only those of an exact boot with a profile promise to add up.

    :param frame: the table.
    :param read: reads another table of the bundle.
    :raises BundleError: when it does not add up; it names the file and the figure.

    >>> boot = firstlight.open(bundle)
    >>> check_sums(bundle, boot.manifest, "calls", boot.calls(raw_names=True), boot.table)
    """
    check = _CHECKS.get(table)
    if check is None or manifest.mode != RecordMode.EXACT:
        return
    if table == "calls" and not frame.is_empty() and (name := missing_invariant(manifest)) is not None:
        where = str(bundle / "manifest.json")
        raise BundleError(f"the invariant `{name}` is missing, and the boot has a profile", where=where, hint=HINT)
    if manifest.totals.instructions is None or manifest.clock.icount_shift is None:
        return
    fault = check(manifest, frame, read)
    if fault is not None:
        raise BundleError(f"the table does not add up: {fault}", where=str(bundle / f"{table}.parquet"), hint=HINT)


def _holds(manifest: Manifest, *names: str) -> bool:
    invariants = (manifest.invariants.get(name) for name in names)
    return all(invariant is None or invariant.holds for invariant in invariants)


def _calls(manifest: Manifest, calls: pl.DataFrame, read: Read) -> str | None:
    """Every total is what the node did by itself and what was done below it; together they are the boot."""
    if calls.is_empty():
        return None
    columns = ["calls", "self_instructions", "total_instructions", "self_ns", "total_ns", "doubtful_calls"]
    fault = _negative(calls, columns, "node")
    if fault is None and _holds(manifest, "self_sums_to_executed"):
        totals = manifest.totals
        fault = _sums(calls, {"self_instructions": totals.instructions, "self_ns": totals.virtual_ns})
    if fault is not None:
        return fault
    units = ("instructions", "ns")
    below = calls.group_by("parent").agg(pl.col(f"total_{unit}").sum().alias(f"below_{unit}") for unit in units)
    tree = calls.join(below, left_on="node", right_on="parent", how="left", maintain_order="left")
    for unit in units:
        summed = pl.col(f"self_{unit}").fill_null(0) + pl.col(f"below_{unit}").fill_null(0)
        wrong = tree.filter(pl.col(f"total_{unit}").fill_null(0) != summed)
        if not wrong.is_empty():
            node, total = wrong.select("node", f"total_{unit}").row(0)
            made = wrong.select(summed)[0, 0]
            return f"`total_{unit}` of node {node} is {_text(total)}, and itself and all below it make {_text(made)}"
    return None


def _phase_calls(manifest: Manifest, rows: pl.DataFrame, read: Read) -> str | None:
    """What a node did in all phases is what it did."""
    columns = ["calls", "self_instructions", "self_ns"]
    calls = read("calls")
    if calls.is_empty() and rows.is_empty():
        return None
    fault = _negative(rows, columns, "node")
    if fault is not None or not _holds(manifest, "phases_sum_to_tree"):
        return fault
    by_node = rows.group_by("node").agg(pl.col(columns).sum())
    both = calls.select("node", *columns).join(by_node, on="node", how="full", suffix="_phases", coalesce=True)
    for column in columns:
        # Three phases with half of all that fits would wrap around to a figure that looks right.
        if (fault := _sums(rows, {column: None})) is not None:
            return fault
        wrong = both.filter(pl.col(column).fill_null(0) != pl.col(f"{column}_phases").fill_null(0)).sort("node")
        if not wrong.is_empty():
            node, whole, made = wrong.select("node", column, f"{column}_phases").row(0)
            return f"`{column}` of node {node} is {_text(made or 0)} in all phases, and {_text(whole)} in `calls`"
    return None if _never_ran(manifest) else _by_phase(rows, read("spans"))


def _never_ran(manifest: Manifest) -> bool:
    """The boot failed before its first instruction was counted, so it has no phases."""
    return manifest.status == BootState.FAILED and not manifest.totals.virtual_ns


def _by_phase(rows: pl.DataFrame, spans: pl.DataFrame) -> str | None:
    """What all nodes did in a phase is what the phase did, where that is known."""
    by_phase = rows.group_by("phase").agg(pl.col("self_instructions").sum().alias("made"))
    phases = spans.filter(pl.col("kind") == "phase")
    strange = by_phase.filter(~pl.col("phase").is_in(phases["name"].implode())).sort("phase")
    if not strange.is_empty():
        return f"there is no phase {strange['phase'][0]!r:.60}"
    both = phases.select("name", "instructions").join(by_phase, left_on="name", right_on="phase", how="left")
    wrong = both.filter(pl.col("instructions") != pl.col("made").fill_null(0))
    if wrong.is_empty():
        return None
    phase, said, made = wrong.row(0)
    return f"the nodes executed {_text(made or 0)} in the phase {phase!r:.60}, and the phase {_text(said)}"


def _slices(manifest: Manifest, slices: pl.DataFrame, read: Read) -> str | None:
    """The slices follow one another from power-on to the end."""
    if slices.is_empty() or not _holds(manifest, "slices_sum_to_tree"):
        return None
    totals = manifest.totals
    if slices["slice"].to_list() != list(range(slices.height)):
        return "its slices are not numbered from 0"
    if slices["start_ns"][0] != 0:
        return f"the first slice begins at {_text(slices['start_ns'][0])} ns instead of 0"
    if slices["end_ns"][-1] != totals.virtual_ns:
        return f"the slices end at {_text(slices['end_ns'][-1])} ns instead of {_text(totals.virtual_ns)}"
    fault = _chained(slices, slices, "slice") or _negative(slices, ["instructions", "idle_ns"], "slice")
    return fault or _lengths(manifest, slices, "slice")


def _slice_calls(manifest: Manifest, rows: pl.DataFrame, read: Read) -> str | None:
    """What a node did in all slices is what it did, and what all nodes did in a slice is what was executed in it."""
    slices = read("slices")
    if slices.is_empty() and rows.is_empty():
        return None
    columns = ["calls", "self_instructions"]
    fault = _negative(rows, columns, "node") or _sums(rows, dict.fromkeys(columns))
    if fault is not None or not _holds(manifest, "slices_sum_to_tree", "self_sums_to_executed"):
        return fault
    by_node = rows.group_by("node").agg(pl.col(columns).sum())
    both = read("calls").select("node", *columns).join(by_node, on="node", how="full", suffix="_slices", coalesce=True)
    for column in columns:
        wrong = both.filter(pl.col(column).fill_null(0) != pl.col(f"{column}_slices").fill_null(0)).sort("node")
        if not wrong.is_empty():
            node, whole, made = wrong.select("node", column, f"{column}_slices").row(0)
            return f"`{column}` of node {node} is {_text(made or 0)} in all slices, and {_text(whole)} in `calls`"
    by_slice = rows.group_by("slice").agg(pl.col("self_instructions").sum().alias("made"))
    each = slices.select("slice", "instructions").join(by_slice, on="slice", how="full", coalesce=True)
    wrong = each.filter(pl.col("instructions").fill_null(-1) != pl.col("made").fill_null(0)).sort("slice")
    if wrong.is_empty():
        return None
    number, said, made = wrong.row(0)
    return f"the nodes executed {_text(made or 0)} in slice {number}, and the slice {_text(said)}"


def _slice_threads(manifest: Manifest, rows: pl.DataFrame, read: Read) -> str | None:
    """What a thread did in all slices is what it did."""
    followed = "modes_partition_the_runs" in manifest.invariants
    held = _holds(manifest, "runs_partition_the_kernel", "modes_partition_the_runs")
    if rows.is_empty() or not followed or not held:
        return None
    kernel = pl.col("instructions") - pl.col("user_instructions") - pl.col("interrupt_instructions")
    threads = read("threads").with_columns(kernel_instructions=kernel)
    columns = ["user_instructions", "kernel_instructions", "interrupt_instructions", "idle_ns"]
    return _parts(rows, threads, read, "thread", columns)


def _slice_system_calls(manifest: Manifest, rows: pl.DataFrame, read: Read) -> str | None:
    """What the kernel did in a system call in all slices is what it did in it."""
    if rows.is_empty():
        return None
    return _parts(rows, read("system_calls"), read, "call", ["kernel_instructions"])


def _slice_user_functions(manifest: Manifest, rows: pl.DataFrame, read: Read) -> str | None:
    """What was executed of a function of user mode in all slices is what was executed of it."""
    if rows.is_empty() or not _holds(manifest, "user_functions_partition_user_mode"):
        return None
    return _parts(rows, read("user_functions"), read, "row", ["self_instructions"])


def _parts(rows: pl.DataFrame, wholes: pl.DataFrame, read: Read, key: str, columns: list[str]) -> str | None:
    """The figures of each key over all slices are those of the table that has it once."""
    fault = _negative(rows, columns, key) or _sums(rows, dict.fromkeys(columns))
    if fault is not None:
        return fault
    strange = rows.join(read("slices"), on="slice", how="anti").sort("slice")
    if not strange.is_empty():
        return f"there is no slice {_text(strange['slice'][0])}"
    made = rows.group_by(key).agg(pl.col(columns).sum())
    both = wholes.select(key, *columns).join(made, on=key, how="full", suffix="_slices", coalesce=True)
    for column in columns:
        wrong = both.filter(pl.col(column).fill_null(0) != pl.col(f"{column}_slices").fill_null(0)).sort(key)
        if not wrong.is_empty():
            number, whole, summed = wrong.select(key, column, f"{column}_slices").row(0)
            return f"`{column}` of {key} {number} is {_text(summed or 0)} in all slices, and {_text(whole)} altogether"
    return None


def _marks(manifest: Manifest, marks: pl.DataFrame, read: Read) -> str | None:
    """The marks come in order of time, from power-on."""
    times = marks["time_ns"]
    if times.null_count() or not times.is_sorted():
        return "the marks are not in order of time"
    if marks.height and times[0] < 0:
        return f"the mark {marks['mark'][0]!r:.60} is at {_text(times[0])} ns, before power-on"
    return None


def _phases(manifest: Manifest, spans: pl.DataFrame, read: Read) -> str | None:
    """The phases follow one another from power-on to the end; only the last one may not have ended."""
    phases = spans.filter(pl.col("kind") == "phase").sort("start_ns", "span")
    totals = manifest.totals
    if phases.is_empty():
        return None if _never_ran(manifest) else "it has no phases"
    ended = phases.filter(pl.col("end_ns").is_not_null())
    fault = _chained(phases, ended, "phase") or _negative(phases, ["instructions", "idle_ns"], "name")
    if fault is not None:
        return fault
    if phases["start_ns"][0] != 0:
        return f"the first phase begins at {_text(phases['start_ns'][0])} ns instead of 0"
    if ended.height == phases.height:
        if ended["end_ns"][-1] != totals.virtual_ns:
            return f"the phases end at {_text(ended['end_ns'][-1])} ns instead of {_text(totals.virtual_ns)}"
        fault = _sums(phases, {"instructions": totals.instructions, "idle_ns": totals.idle_ns})
    elif phases["start_ns"][-1] > (totals.virtual_ns or 0):
        return f"the last phase begins at {_text(phases['start_ns'][-1])} ns, after {_text(totals.virtual_ns)}"
    return fault or _lengths(manifest, ended, "name")


def _runs(manifest: Manifest, runs: pl.DataFrame, read: Read) -> str | None:
    """The runs follow one another without holes to the end, as many as the recorder counted."""
    invariant = manifest.invariants.get("runs_partition_the_kernel")
    if invariant is None or not invariant.holds:
        return None
    if runs.height != (invariant.model_extra or {}).get("runs", runs.height):
        return f"it has {runs.height} runs, and {(invariant.model_extra or {}).get('runs')} were recorded"
    fault = _chained(runs, runs, "run") or _negative(runs, ["instructions", "idle_ns"], "thread")
    if fault is not None or runs.is_empty():
        return fault
    if runs["end_ns"][-1] != manifest.totals.virtual_ns:
        return f"the runs end at {_text(runs['end_ns'][-1])} ns instead of {_text(manifest.totals.virtual_ns)}"
    executed = invariant.value if type(invariant.value) is int else None
    return _lengths(manifest, runs, "thread") or _sums(runs, {"instructions": executed})


def _threads(manifest: Manifest, threads: pl.DataFrame, read: Read) -> str | None:
    """What a thread did is what it did in its runs."""
    if not _holds(manifest, "runs_partition_the_kernel"):
        return None
    lasts = pl.col("end_ns") - pl.col("start_ns")
    by_thread = (
        read("runs")
        .group_by("thread")
        .agg(
            (lasts - pl.col("idle_ns")).sum().alias("run_ns"),
            pl.col("idle_ns").sum(),
            pl.col("instructions").sum(),
            pl.len().cast(pl.Int64).alias("runs"),
        )
    )
    columns = ["run_ns", "idle_ns", "instructions", "runs"]
    both = threads.select("thread", *columns).join(by_thread, on="thread", how="full", suffix="_runs", coalesce=True)
    for column in columns:
        wrong = both.filter(pl.col(column).ne_missing(pl.col(f"{column}_runs"))).sort("thread")
        if not wrong.is_empty():
            thread, said, made = wrong.select("thread", column, f"{column}_runs").row(0)
            return f"`{column}` of thread {thread} is {_text(said)}, and its runs make {_text(made)}"
    return None


def _processes(manifest: Manifest, processes: pl.DataFrame, read: Read) -> str | None:
    """What a process did is what its threads did."""
    if processes.is_empty() or not _holds(manifest, "runs_partition_the_kernel", "modes_partition_the_runs"):
        return None
    kernel = pl.col("instructions") - pl.col("user_instructions") - pl.col("interrupt_instructions")
    by_process = read("threads").with_columns(kernel_instructions=kernel).group_by("process")
    columns = ["user_instructions", "kernel_instructions", "interrupt_instructions", "idle_ns"]
    made = by_process.agg(pl.col(columns).sum(), pl.len().cast(pl.Int64).alias("threads"))
    both = processes.join(made, on="process", how="left", suffix="_made").fill_null(0)
    for column in (*columns, "threads"):
        wrong = both.filter(pl.col(column) != pl.col(f"{column}_made"))
        if not wrong.is_empty():
            process, stated, summed = wrong.select("process", column, f"{column}_made").row(0)
            return f"`{column}` of process {process} is {_text(stated)}, and its threads make {_text(summed)}"
    return None


def _user_functions(manifest: Manifest, functions: pl.DataFrame, read: Read) -> str | None:
    """A thread's functions in user mode are all that it did there."""
    held = ("runs_partition_the_kernel", "modes_partition_the_runs", "user_functions_partition_user_mode")
    if functions.is_empty() or not _holds(manifest, *held):
        return None
    fault = _negative(functions, ["self_instructions"], "row")
    made = functions.group_by("thread").agg(pl.col("self_instructions").sum())
    threads = read("threads").select("thread", "user_instructions")
    both = threads.join(made, on="thread", how="full", coalesce=True).fill_null(0)
    wrong = both.filter(pl.col("user_instructions") != pl.col("self_instructions")).sort("thread")
    if fault is None and not wrong.is_empty():
        thread, said, summed = wrong.row(0)
        fault = f"`user_instructions` of thread {thread} is {_text(said)}, and its functions make {_text(summed)}"
    return fault


def _chained(rows: pl.DataFrame, ended: pl.DataFrame, what: str) -> str | None:
    """Each begins where the one before it ends, and ends no sooner than it begins."""
    previous = pl.col("end_ns").shift(1)
    first = pl.int_range(pl.len()) == 0
    apart = rows.filter(pl.col("start_ns").is_null() | (~first & pl.col("start_ns").ne_missing(previous)))
    if not apart.is_empty():
        return f"no {what} ends where one begins, at {_text(apart['start_ns'][0])} ns"
    back = ended.filter(pl.col("end_ns") < pl.col("start_ns"))
    return None if back.is_empty() else f"a {what} ends at {_text(back['end_ns'][0])} ns, before it begins"


def _lengths(manifest: Manifest, rows: pl.DataFrame, key: str) -> str | None:
    """Each lasts as long as its instructions and its idle time take."""
    step = 1 << (manifest.clock.icount_shift or 0)
    takes = pl.col("instructions").fill_null(0) * step + pl.col("idle_ns").fill_null(0)
    wrong = rows.filter(pl.col("end_ns") - pl.col("start_ns") != takes)
    if wrong.is_empty():
        return None
    made = wrong.select(takes)[0, 0]
    lasts = wrong["end_ns"][0] - wrong["start_ns"][0]
    return f"{key} {wrong[key][0]!r:.60} lasts {_text(lasts)} ns, and its instructions and idle time {_text(made)}"


def _negative(rows: pl.DataFrame, columns: list[str], key: str) -> str | None:
    for column in columns:
        wrong = rows.filter(pl.col(column) < 0)
        if not wrong.is_empty():
            return f"`{column}` of {key} {wrong[key][0]!r:.60} is {_text(wrong[column][0])}, less than nothing"
    return None


def _sums(rows: pl.DataFrame, wholes: dict[str, int | None]) -> str | None:
    for column, whole in wholes.items():
        if rows[column].cast(pl.Float64).sum() > _MOST:
            return f"`{column}` sums to more than a boot can have"
        summed = int(rows[column].sum())
        if whole is not None and summed != whole:
            return f"`{column}` sums to {_text(summed)} instead of {_text(whole)}"
    return None


def _text(figure: int | None) -> str:
    return "nothing" if figure is None else f"{figure:,}"


_CHECKS: dict[str, Callable[[Manifest, pl.DataFrame, Read], str | None]] = {
    "marks": _marks,
    "spans": _phases,
    "calls": _calls,
    "phase_calls": _phase_calls,
    "slices": _slices,
    "slice_calls": _slice_calls,
    "slice_threads": _slice_threads,
    "slice_system_calls": _slice_system_calls,
    "slice_user_functions": _slice_user_functions,
    "runs": _runs,
    "threads": _threads,
    "processes": _processes,
    "user_functions": _user_functions,
}

#: The tables of an exact boot with a profile that promise to add up.
SUMMED = tuple(_CHECKS)
