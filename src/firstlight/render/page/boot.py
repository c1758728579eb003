"""What the report page carries: a boot as one JSON document; `docs/design/report-page.md` is its specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from firstlight.analysis.ledger.costs import machine_costs
from firstlight.analysis.path.critical import CriticalPath, find_path
from firstlight.bundle.boot import Boot
from firstlight.bundle.command_line import unread
from firstlight.bundle.describe import CLOCKS
from firstlight.bundle.machine import cpu_text
from firstlight.bundle.manifest import Invariant
from firstlight.bundle.reliability import CONCERNED, HINT, broken, broken_text, invariant_text
from firstlight.recipe.mode import RecordMode
from firstlight.render.page.findings import page_findings
from firstlight.render.page.parts import parts, with_timeline
from firstlight.render.page.process_slices import page_process_slices
from firstlight.render.page.process_tree import folded_processes, function_share, page_user_functions, process_tree
from firstlight.render.page.processes import page_processes
from firstlight.render.page.records import page_records
from firstlight.render.page.slices import page_slices
from firstlight.render.page.text import TEXT, columns_of, shortened
from firstlight.render.page.timeline.build import compressed, page_timeline
from firstlight.render.page.timing import page_timing
from firstlight.render.page.tree import FOLD_DEPTH, FOLD_SHARE, NO_SHARE, PageTree, fold, fold_phases
from firstlight.render.table_json import table_json
from firstlight.render.views.machine_costs import machine_costs_table
from firstlight.schema.records import ClockKind
from firstlight.schema.spans import SpanKind

#: The version of the data; the page refuses any other.
DATA_VERSION = 1

#: No more console lines (first and last), facts and characters of a name than this go into a page.
LOG_LINES = 20_000
#: No more initcalls, the longest.
INITCALLS = 20_000
FACTS = 5_000
NAME = 300
#: A page is no larger than this: what its timeline may have is what the rest leaves, but always something.
PAGE_BYTES = 3_000_000
#: No more than this is the page without its data.
FRAME_BYTES = 350_000

Json = dict[str, Any]


class Strings:
    """The names of a page, each once.

    >>> strings = Strings()
    >>> strings.number("schedule"), strings.number(None), strings.number("schedule"), strings.all
    (0, -1, 0, ['schedule'])
    """

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """The place of *text* in the list; -1 for none."""
        if text is None:
            return -1
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(shortened(text, NAME))
        return self._numbers[text]


def page_data(boot: Boot) -> tuple[Json, bytes]:
    """Everything of *boot* that the report page shows, as plain lists, numbers and strings, and the columns of its
    timeline and its slices as bytes.

    Long columns stay columns. The calling-context tree is folded by :func:`firstlight.render.page.tree.fold`: sums
    are kept at every level.

    :raises BundleError: when a table of the bundle cannot be read.

    >>> data, columns = page_data(firstlight.open(bundle))
    >>> data["phases"]["name"][0]
    'firmware'
    """
    data, sliced, path = _all_but_timeline(boot)
    timeline, columns = page_timeline(boot, path, _left(parts(data, sliced)))
    return data | {"timeline": timeline}, columns + sliced


def page_parts(boot: Boot, *, all_paths: bool = False) -> dict[str, bytes]:
    """What each element of the report page of *boot* takes: :func:`page_data`, written once.

    :param all_paths: put no call paths together; the page may then be larger than :data:`PAGE_BYTES`.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> boot = firstlight.open(bundle)
    >>> data, columns = page_data(boot)
    >>> whole = parts(data, columns)
    >>> {name: len(content) for name, content in page_parts(boot).items()} == {n: len(c) for n, c in whole.items()}
    True
    """
    data, sliced, path = _all_but_timeline(boot, NO_SHARE if all_paths else FOLD_SHARE)
    written = parts(data, sliced)
    left = _gzip_bytes(PAGE_BYTES // 2) if all_paths else _left(written)
    return with_timeline(written, *page_timeline(boot, path, left))


def _all_but_timeline(boot: Boot, share: float = FOLD_SHARE) -> tuple[Json, bytes, CriticalPath]:
    """The data of a page without its timeline, the columns of its slices, and the critical path."""
    strings = Strings()
    calls = boot.calls()
    tree = fold(calls, share)
    process_calls = process_tree(boot, share=share if share < 0 else function_share(share))
    processes = folded_processes(process_calls, share)
    phases = _phases(boot)
    profiled = not calls.is_empty()
    costs = machine_costs(boot)
    marks = costs.marks if costs else {}
    path = find_path(boot)
    functions = boot.functions() if profiled else None
    slices, sliced = page_slices(boot, tree, functions)
    if slices is not None:
        slices["processes"], of_processes = page_process_slices(boot, process_calls, processes)
        slices["bytes"] += len(of_processes)
        sliced += of_processes
    data = {
        "format": "firstlight-page",
        "version": DATA_VERSION,
        "boot": _boot(boot),
        "records": page_records(boot.manifest),
        "marks": columns_of(boot.marks(), boot.marks().columns, NAME),
        "phases": phases,
        "initcalls": _initcalls(boot),
        "tree": _tree(tree, strings),
        "phase_tree": fold_phases(boot.phase_calls(), calls, tree),
        "slices": slices,
        "functions": _functions(functions, strings, marks),
        "phase_functions": {
            shortened(phase, NAME): _functions(table, strings, marks)
            for phase, table in (boot.phase_functions() if profiled else {}).items()
        },
        "machine": None if costs is None else table_json(machine_costs_table(costs, CLOCKS[boot.manifest.clock.kind])),
        "pruning": _pruning(tree, share),
        "process_tree": _tree(processes, strings)
        | {"pruning": _pruning(processes, share) | {"function_share": function_share(share)}},
        "user_functions": page_user_functions(boot),
        "findings": page_findings(boot, path),
        "timing": page_timing(boot, path),
        "processes": page_processes(boot),
        "log": page_log(boot.log()),
        "facts": _facts(boot.facts()),
        "invariants": [_invariant(name, check) for name, check in boot.manifest.invariants.items()],
        "strings": strings.all,
    }
    return data, sliced, path


def _left(written: Mapping[str, bytes]) -> int:
    """How many bytes of gzip the timeline of a page may have, so that the file stays below :data:`PAGE_BYTES`.

    :param written: the parts of the page without its timeline.
    """
    return _gzip_bytes(PAGE_BYTES - FRAME_BYTES) - sum(compressed(part) for part in written.values())


def _gzip_bytes(letters: int) -> int:
    """The bytes of gzip that so many letters of a page hold: base 85 writes four bytes as five letters."""
    return letters * 4 // 5


def _boot(boot: Boot) -> Json:
    manifest = boot.manifest
    facts = dict(boot.facts().filter(pl.col("fact").is_in(["kernel.release", "kernel.command_line"])).iter_rows())
    recipe = manifest.recipe_text
    shift = manifest.clock.icount_shift
    imported = manifest.mode == RecordMode.IMPORTED
    about = [
        ("Kernel", facts.get("kernel.release") or manifest.versions.get("kernel") or recipe("kernel")),
        ("Machine", ", ".join(filter(None, (recipe("architecture"), recipe("machine"), cpu_text(boot))))),
        ("Memory", recipe("memory")),
        ("Userspace", None if imported else recipe("rootfs") or recipe("initrd") or "Firstlight's own initramfs"),
        ("Command line", recipe("command_line") or recipe("append") or facts.get("kernel.command_line")),
        ("Unread parameters", "; ".join(f"{each.text}: {each.detail}" for each in unread(boot.command_line_words()))),
        ("Clock", manifest.clock.kind if shift is None else f"virtual, {2**shift} ns per instruction"),
        ("Emulator", manifest.versions.get("qemu")),
        (
            "Imported" if imported else "Recorded",
            f"{manifest.recorded_at} by {manifest.tool.name} {manifest.tool.version}",
        ),
    ]
    return {
        "name": shortened(boot.directory.name, NAME),
        "mode": manifest.mode,
        "status": manifest.status,
        "failure": None if manifest.failure is None else _failure(manifest.failure.model_dump()),
        "clock": manifest.clock.kind,
        "virtual": manifest.clock.kind == ClockKind.VIRTUAL,
        "about": [[name, shortened(str(value), TEXT)] for name, value in about if value],
        "totals": manifest.totals.model_dump(),
        "missing": [shortened(reason, NAME) for reason in manifest.completeness.missing],
        "unreliable": _unreliable(boot),
        "repeat": shortened(manifest.reproduce, TEXT),
    }


def _unreliable(boot: Boot) -> Json | None:
    """What a broken invariant concerns; none where all hold."""
    text = broken_text(boot.manifest)
    if text is None:
        return None
    found = [shortened(invariant_text(*each), TEXT) for each in broken(boot.manifest).items()]
    return {"text": text, "broken": found, "hint": HINT}


def _invariant(name: str, check: Invariant) -> Json:
    """An invariant as the section of checks shows it; what is concerned matters where it does not hold."""
    return {
        "name": shortened(name, NAME),
        "holds": check.holds,
        "value": _value(check.value, check.model_extra),
        "limit": check.limit,
        "concerns": CONCERNED[check.concerns],
        "functions": [shortened(function, NAME) for function in check.functions],
    }


def _failure(failure: Json) -> Json:
    tail = [shortened(line, TEXT) for line in failure["console_tail"][-60:]]
    return {"reason": failure["reason"], "detail": shortened(failure["detail"], TEXT), "console_tail": tail}


def _phases(boot: Boot) -> Json:
    """The phases; what one that never ended holds is what the others leave of the boot."""
    frame = boot.phases()
    ended = frame["ended"].to_list()
    columns = {
        "name": [shortened(name, NAME) for name in frame["phase"].to_list()],
        "start_ns": frame["start_ns"].to_list(),
        "end_ns": frame["end_ns"].to_list(),
        "ended": ended,
        "unsure_ns": frame["unsure_ns"].to_list(),
    }
    totals = boot.manifest.totals
    for column, whole in (("instructions", totals.instructions), ("idle_ns", totals.idle_ns)):
        values = frame[column].to_list()
        unknown = [row for row, value in enumerate(values) if value is None]
        if whole is not None and len(unknown) == 1 and not ended[unknown[0]]:
            values[unknown[0]] = max(0, whole - sum(value for value in values if value is not None))
        columns[column] = values
    return columns


def _initcalls(boot: Boot) -> Json:
    frame = boot.spans().filter(pl.col("kind") == SpanKind.INITCALL).sort("start_ns", "span")
    wanted = ("name", "level", "track", "start_ns", "end_ns", "instructions", "idle_ns")
    rows = frame.height
    if rows > INITCALLS:
        frame = frame.top_k(INITCALLS, by="duration_ns").sort("start_ns", "span")
    return columns_of(frame, wanted, NAME) | {"rows": rows}


def _pruning(tree: PageTree, share: float) -> Json:
    return {"share": max(0.0, share), "depth": FOLD_DEPTH, "nodes": tree.nodes, "kept": len(tree.parent)}


def _tree(tree: PageTree, strings: Strings) -> Json:
    return {
        "parent": tree.parent,
        "name": [strings.number(name) for name in tree.function],
        "module": [strings.number(module) for module in tree.module],
        "kind": [strings.number(kind) for kind in tree.kind],
        "calls": tree.calls,
        "self_instructions": tree.self_instructions,
        "self_ns": tree.self_ns,
        "folded": tree.folded,
    }


def _functions(frame: pl.DataFrame | None, strings: Strings, marks: Mapping[str, str]) -> Json:
    """The kd table as columns, names as numbers; the average is left to the page."""
    named = {"name": "function", "module": "module", "kind": "kind", "max_sub": "max_sub"}
    figures = ("count", "total_instructions", "total_ns", "self_instructions", "self_ns", "max_sub_count")
    if frame is None:
        return {name: [] for name in (*named, *figures, "machine")}
    columns = {name: [strings.number(text) for text in frame[source].to_list()] for name, source in named.items()}
    machine = [strings.number(marks.get(function)) for function in frame["function"].to_list()]
    return {**columns, **{figure: frame[figure].to_list() for figure in figures}, "machine": machine}


def page_log(frame: pl.DataFrame) -> Json:
    """The lines of a log; of very many the first and the last."""
    lines = frame.height
    if lines > LOG_LINES:
        frame = pl.concat([frame.head(LOG_LINES // 2), frame.tail(LOG_LINES // 2)])
    text = [shortened(line, TEXT) for line in frame["text"].to_list()]
    return {"time_ns": frame["time_ns"].to_list(), "text": text, "lines": lines}


def _facts(frame: pl.DataFrame) -> Json:
    head = frame.head(FACTS)
    fact = [shortened(name, NAME) for name in head["fact"].to_list()]
    value = [shortened(text, TEXT) for text in head["value"].to_list()]
    return {"fact": fact, "value": value, "facts": frame.height}


def _value(value: object, extra: dict[str, Any] | None) -> str:
    """A checked figure and what explains it, in one line."""
    parts = [_figure(value)] if value is not None else []
    parts += [f"{name.replace('_', ' ')} {_figure(more)}" for name, more in (extra or {}).items()]
    return shortened(", ".join(parts), TEXT)


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
