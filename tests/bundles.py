"""Small synthetic bundles, written with Polars alone from `docs/reference/formats/boot-bundle.md`.

They hold what a real bundle holds: phases that partition the boot, a tree whose totals add up, the same by phase.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from boot_tree import PHASES, Tree, boot_tree
from firstlight.errors import FirstlightError
from firstlight.quantities import parse_size
from firstlight.recipe.choices import read_choices
from firstlight.recipe.command import repeat_command

#: Names that attack whatever shows them: HTML, a script's end, terminal escapes, a formula, control characters.
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\x1b]0;owned\x07\x1b[31mred",
    '=cmd|"/c calc"!A1',
    "[bold red]markup[/]",
    "two\nlines\ttabbed\x00nul\u202egnp.exe",
    "a" * 4000,
]

SCHEMA: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    "marks": {"mark": pl.String, "time_ns": pl.Int64, "instructions": pl.Int64, "idle_ns": pl.Int64,
              "source": pl.String, "detail": pl.String},
    "spans": {"span": pl.Int64, "parent": pl.Int64, "kind": pl.String, "name": pl.String, "track": pl.String,
              "level": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64, "instructions": pl.Int64,
              "idle_ns": pl.Int64, "duration_ns": pl.Int64, "grade": pl.String, "reason": pl.String,
              "source": pl.String, "attributes": pl.String},
    "calls": {"node": pl.Int64, "parent": pl.Int64, "function": pl.String, "module": pl.String, "kind": pl.String,
              "calls": pl.Int64, "self_instructions": pl.Int64, "total_instructions": pl.Int64, "self_ns": pl.Int64,
              "total_ns": pl.Int64, "doubtful_calls": pl.Int64},
    "phase_calls": {"node": pl.Int64, "phase": pl.String, "calls": pl.Int64, "self_instructions": pl.Int64,
                    "self_ns": pl.Int64},
    "slices": dict.fromkeys(("slice", "start_ns", "end_ns", "instructions", "idle_ns"), pl.Int64),
    "slice_calls": dict.fromkeys(("slice", "node", "calls", "self_instructions"), pl.Int64),
    "slice_threads": dict.fromkeys(("slice", "thread", "user_instructions", "kernel_instructions",
                                    "interrupt_instructions", "idle_ns"), pl.Int64),
    "slice_system_calls": dict.fromkeys(("slice", "call", "kernel_instructions"), pl.Int64),
    "slice_user_functions": dict.fromkeys(("slice", "row", "self_instructions"), pl.Int64),
    "log": {"line": pl.Int64, "time_ns": pl.Int64, "source": pl.String, "text": pl.String, "host_ns": pl.Int64,
            "level": pl.Int64, "caller": pl.String, "channel": pl.String},
    "counters": {"counter": pl.String, "time_ns": pl.Int64, "value": pl.Int64},
    "facts": {"fact": pl.String, "value": pl.String},
    "links": dict.fromkeys(("kind", "from_kind", "from_name", "to_kind", "to_name", "source"), pl.String),
    "kd": {"function": pl.String, "count": pl.Int64, "time_us": pl.Int64, "average_us": pl.Int64, "min_us": pl.Int64,
           "max_us": pl.Int64, "sub_time_us": pl.Int64, "local_us": pl.Int64, "max_sub": pl.String,
           "max_sub_count": pl.Int64, "sub_list": pl.String, "source": pl.String},
    "threads": {"thread": pl.Int64, "kind": pl.String, "first_name": pl.String, "name": pl.String,
                **dict.fromkeys(("start_ns", "end_ns", "user_start_ns", "run_ns", "idle_ns", "instructions",
                                "runs", "pid", "process", "user_instructions", "interrupt_instructions"), pl.Int64)},
    "thread_names": {"thread": pl.Int64, "time_ns": pl.Int64, "name": pl.String},
    "runs": dict.fromkeys(("thread", "start_ns", "end_ns", "instructions", "idle_ns", "user_instructions",
                           "interrupt_instructions", "state", "node", "cpu"), pl.Int64),
    "processes": {"process": pl.Int64, "pid": pl.Int64, "parent": pl.Int64,
                  **dict.fromkeys(("name", "image", "arguments", "cgroup"), pl.String),
                  **dict.fromkeys(("start_ns", "end_ns", "status", "threads", "user_instructions",
                                   "kernel_instructions", "interrupt_instructions", "idle_ns"), pl.Int64)},
    "images": {"process": pl.Int64, "thread": pl.Int64, "start_ns": pl.Int64,
               **dict.fromkeys(("image", "arguments", "cgroup"), pl.String)},
    "wakeups": dict.fromkeys(("time_ns", "waker", "wakee", "interrupt"), pl.Int64),
    "system_calls": {"call": pl.Int64, "thread": pl.Int64, "name": pl.String,
                     **dict.fromkeys(("start_ns", "end_ns", "kernel_instructions", "interrupt_instructions",
                                      "result"), pl.Int64),
                     "path": pl.String,
                     **dict.fromkeys(("argument_0", "argument_1", "argument_2", "user_function"), pl.Int64)},
    "user_functions": {**dict.fromkeys(("row", "process", "thread"), pl.Int64),
                       **dict.fromkeys(("image", "kind", "file", "build_id", "function", "source"), pl.String),
                       **dict.fromkeys(("offset", "address", "self_instructions"), pl.Int64)},
    "packages": dict.fromkeys(("path", "package", "version"), pl.String),
}  # fmt: skip

Row = tuple[Any, ...]


def make_bundle(
    directory: Path,
    *,
    name: str = "a.boot",
    hostile: bool = False,
    failed: bool = False,
    profile: bool = True,
    live: bool = False,
    seed: int = 1,
    shift: int = 0,
    schema_version: int = 3,
    append: str = "",
    broken: dict[str, dict[str, Any]] | None = None,
    doubtful: dict[str, int] | None = None,
    more: tuple[str, int] | None = None,
) -> Path:
    """Write a bundle of an invented boot of about 300 tree nodes below *directory*; returns its path.

    :param hostile: names, console lines and facts that attack whatever shows them.
    :param failed: the boot panicked in its last phase, which has no end.
    :param profile: with a calling-context tree; without, `calls` and `phase_calls` have no rows.
    :param live: recorded in live mode: no instructions, no idle, no profile.
    :param append: words at the end of the command line; they change nothing else.
    :param broken: invariants that do not hold, by name, each with further fields of it.
    :param doubtful: how many entries of a function were followed by inference, by its name; of the others none was.
    :param more: a phase, and how many ns its largest function takes more.
    """
    profile = profile and not live
    tree, initcalls = boot_tree(seed, shift)
    if more is not None:
        here = [number for number, node in enumerate(tree.nodes) if node.kind == "function" and more[0] in node.ns]
        tree.spend(max(here, key=lambda number: tree.nodes[number].ns[more[0]]), more[0], more[1] >> shift)
    if hostile:
        for number, bad in enumerate(HOSTILE):
            node = tree.add(bad, 0, PHASES[-1], 20_000_000 + number, module=bad)
            tree.add(bad, node, PHASES[-1], 1_000 + number)
    marks, spans, counters = _timeline(tree, initcalls, live=live, failed=failed)
    text = _console(failed) + (HOSTILE if hostile else [])
    rows: dict[str, list[Row]] = {
        "marks": marks,
        "spans": spans,
        "calls": _calls(tree, doubtful) if profile else [],
        "phase_calls": _phase_calls(tree) if profile else [],
        **(_slices(tree) if profile else {"slices": [], "slice_calls": []}),
        "log": [(i, 1_000_000 * i if i % 3 else None, "console", line, *[None] * 4) for i, line in enumerate(text)],
        "counters": counters,
        "links": [],
        "kd": [],
        **(thread_tables(_turns(tree)) if profile else {"threads": [], "thread_names": [], "runs": []}),
        # Processes were not followed.
        **{table: [] for table in ("processes", "images", "wakeups", "system_calls", "user_functions", "packages")},
        **{table: [] for table in ("slice_threads", "slice_system_calls", "slice_user_functions")},
        "facts": sorted(_facts() + ([(f"device.pci/{bad}", bad) for bad in HOSTILE] if hostile else [])),
    }
    path = directory / name
    (path / "raw").mkdir(parents=True)
    (path / "raw" / "console.log").write_text("\n".join(text), encoding="utf-8")
    for table, schema in SCHEMA.items():
        frame = pl.DataFrame(rows[table], schema=schema, orient="row")
        frame.write_parquet(path / f"{table}.parquet", compression="zstd", metadata={"firstlight.schema": "3"})
    manifest = _manifest(path, rows, tree, live=live, failed=failed, profile=profile, shift=shift)
    manifest["schema_version"] = schema_version
    for invariant, fields in (broken or {}).items():
        manifest["invariants"][invariant] = {"holds": False, "value": 3, "limit": 0, "functions": [], **fields}
    if append:
        manifest["recipe"] |= {"append": append, "command_line": f"{manifest['recipe']['command_line']} {append}"}
    if hostile:
        manifest["recipe"]["append"] = manifest["recipe"]["command_line"] = HOSTILE[0] + HOSTILE[2]
    (path / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return path


def make_recorded(bundle: Path, *, files: dict[str, Any] | None = None, **chosen: Any) -> Path:
    """Let an invented boot be one that Firstlight recorded: its manifest has the whole recipe, with these choices.

    :param files: the paths of the files that were used.
    """
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    recipe = manifest["recipe"]
    made = ("architecture", "machine", "cpu", "memory", "command_line", "modules")
    manifest["recipe"] = {name: recipe[name] for name in made if name in recipe}
    manifest["recipe"] |= {"chosen": chosen, "files": {"kernel": "/boot/vmlinuz", **(files or {})}}
    settle_recipe(manifest)
    path.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return bundle


def settle_recipe(manifest: dict[str, Any]) -> None:
    """Let what was made of the choices in a manifest follow them, as far as they can be."""
    recipe, chosen = manifest["recipe"], manifest["recipe"]["chosen"]
    recipe |= {name: chosen[name] for name in ("cpu", "machine") if chosen.get(name)}
    with suppress(FirstlightError, TypeError, AttributeError):
        recipe |= {"memory": f"{parse_size(chosen['memory']) >> 20}M"} if chosen.get("memory") else {}
    append = str(chosen.get("append", "")).strip()
    if append and not recipe["command_line"].endswith(append):
        recipe["command_line"] += f" {append}"
    with suppress(ValueError):
        manifest["reproduce"] = repeat_command(read_choices(chosen), Path("a.boot"))


def thread_tables(turns: list[tuple[int, str, int, int, int, int]]) -> dict[str, list[Row]]:
    """The three tables of who had the processor.

    :param turns: thread, its name then, start and end in ns, instructions, idle ns; in order of time. Thread 0 is the
        idle one; a name with a `k` in front is a kernel thread's.
    """
    threads: dict[int, list[Any]] = {}
    names: list[Row] = []
    for thread, name, start, end, instructions, idle in turns:
        kind = "idle" if thread == 0 else "kernel" if name.startswith("k") else "user"
        row = threads.setdefault(thread, [thread, kind, name, None, start, end, None, 0, 0, 0, 0])
        if row[3] != name:
            names.append((thread, start, name))
        row[3], row[5] = name, end
        if kind == "user" and row[6] is None:
            row[6] = start
        for place, figure in zip(range(7, 11), (end - start - idle, idle, instructions, 1), strict=True):
            row[place] += figure
    return {
        "threads": [(*threads[thread], *[None] * 4) for thread in sorted(threads)],
        "thread_names": names,
        "runs": [
            (thread, start, end, instructions, idle, *[None] * 4, 0)
            for thread, _, start, end, instructions, idle in turns
        ],
    }


def _turns(tree: Tree) -> list[tuple[int, str, int, int, int, int]]:
    """First the first task runs, then the first process; at the end of a phase the processor may idle."""
    turns = []
    now = 0
    for phase in PHASES:
        executes = sum(node.instructions.get(phase, 0) for node in tree.nodes)
        lasts = sum(node.ns.get(phase, 0) for node in tree.nodes)
        idles = sum(node.ns.get(phase, 0) for node in tree.nodes if node.kind == "idle")
        early = PHASES.index(phase) < PHASES.index("smp_init")
        ran, who = now + lasts - idles, (0, "swapper/0") if early else (1, "init")
        if phase not in ("firmware", "decompression"):
            turns.append((*who, now, ran, executes, 0))
            if idles:
                turns.append((0, "swapper/0", ran, ran + idles, 0, idles))
        now += lasts
    return turns


def write_table(bundle: Path, table: str, frame: pl.DataFrame) -> None:
    """Write another table into a bundle, and promise it in the manifest."""
    path = bundle / f"{table}.parquet"
    frame.write_parquet(path, metadata={"firstlight.schema": "1"})
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    manifest["tables"][table] = {"rows": frame.height, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def settle(bundle: Path) -> Path:
    """Let all that promises to add up follow from the trees that a test put into `calls` and `phase_calls`.

    What a node did in no phase it did in the last one. Who had the processor is not told any more, nor what
    ran in slices.
    """
    names = ("marks", "spans", "calls", "phase_calls", "threads", "thread_names", "runs", "slices", "slice_calls")
    marks, spans, calls, by_phase, *tasks = (pl.read_parquet(bundle / f"{name}.parquet").to_dicts() for name in names)
    figures = ("calls", "self_instructions", "self_ns")
    for node in reversed(calls):
        for unit in ("instructions", "ns"):
            node[f"self_{unit}"] = node[f"self_{unit}"] or 0
            below = node.pop(f"below_{unit}", 0)
            node[f"total_{unit}"] = node[f"self_{unit}"] + below
            if node["parent"] is not None:
                above = calls[node["parent"]]
                above[f"below_{unit}"] = above.get(f"below_{unit}", 0) + node[f"total_{unit}"]
    phases = [span for span in spans if span["kind"] == "phase"]
    left = {node["node"]: {name: node[name] for name in figures} for node in calls}
    by_phase = [row for row in by_phase if row["node"] in left]
    for row in by_phase:
        left[row["node"]] = {name: left[row["node"]][name] - row[name] for name in figures}
    last = phases[-1]["name"]
    by_phase += [{"node": node, "phase": last, **more} for node, more in left.items() if any(more.values())]
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    shift = manifest["clock"]["icount_shift"]
    now = executed = idled = 0
    for phase in phases:
        there = [row for row in by_phase if row["phase"] == phase["name"]]
        executes, lasts = (sum(row[name] for row in there) for name in figures[1:])
        idles = lasts - (executes << shift)
        for mark in marks:
            if mark["time_ns"] == phase["start_ns"]:
                mark["moved"] = {"time_ns": now, "instructions": executed, "idle_ns": idled}
        phase |= {"start_ns": now, "end_ns": now + lasts, "duration_ns": lasts}
        phase |= {"instructions": executes, "idle_ns": idles}
        now, executed, idled = now + lasts, executed + executes, idled + idles
    for mark in marks:
        mark |= mark.pop("moved", {"time_ns": now, "instructions": executed, "idle_ns": idled})
    for name, rows in zip(names, (marks, spans, calls, by_phase, *([] for _ in tasks)), strict=True):
        write_table(bundle, name, pl.DataFrame(rows, schema=SCHEMA[name]))
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    manifest["totals"] = {"instructions": executed, "virtual_ns": now, "idle_ns": idled}
    invariants = manifest["invariants"]
    invariants["self_sums_to_executed"] |= {"value": executed, "executed": executed}
    for name in ("runs_partition_the_kernel", "tasks_confirmed", "slices_sum_to_tree", "slices_sum_to_phases"):
        invariants.pop(name, None)
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return bundle


def _timeline(
    tree: Tree, initcalls: dict[str, list[tuple[str, int]]], *, live: bool, failed: bool
) -> tuple[list[Row], list[Row], list[Row]]:
    """Marks, spans and counters: each phase is as long as what the tree spent in it."""
    marks: list[Row] = []
    spans: list[Row] = []
    counters: list[Row] = []
    now = executed = idled = 0
    subtree = _totals(tree)
    for phase in PHASES:
        executes = sum(node.instructions.get(phase, 0) for node in tree.nodes)
        lasts = sum(node.ns.get(phase, 0) for node in tree.nodes)
        idles = sum(node.ns.get(phase, 0) for node in tree.nodes if node.kind == "idle")
        figures = (None, None) if live else (executed, idled)
        source, mark = ("reset", "power_on") if phase == "firmware" else ("function", f"{phase}_start")
        marks.append((mark, now, *figures, source, ""))
        open_ended = failed and phase == PHASES[-1]
        figures = (None, None) if live or open_ended else (executes, idles)
        number = len(spans)
        grade = ("unknown", "it did not end") if open_ended else ("good" if live else "exact", None)
        times = (now, None, *figures, None) if open_ended else (now, now + lasts, *figures, lasts)
        spans.append((number, None, "phase", phase, "boot", None, *times, *grade, "profile", None))
        start = now
        for function, node in initcalls.get(phase.removeprefix("initcalls_"), []):
            instructions, took = subtree[node]
            figures = (None, None) if live else (instructions, 0)
            level = phase.removeprefix("initcalls_")
            times = (start, start + took, *figures, took)
            trust = ("good" if live else "exact", None, "profile", None)
            spans.append((len(spans), number, "initcall", function, "task 1", level, *times, *trust))
            start += took
        now, executed, idled = now + lasts, executed + executes, idled + idles
        if idles and not live:
            counters.append(("idle_ns", now, idled))
    if not failed:
        marks.append(("ready", now, *((None, None) if live else (executed, idled)), "instruction", ""))
    return marks, spans, counters


def _totals(tree: Tree) -> list[tuple[int, int]]:
    """Instructions and nanoseconds of every node with all below it."""
    totals = [[sum(node.instructions.values()), sum(node.ns.values())] for node in tree.nodes]
    for number in range(len(tree.nodes) - 1, 0, -1):
        parent = tree.nodes[number].parent
        assert parent is not None
        for unit in (0, 1):
            totals[parent][unit] += totals[number][unit]
    return [(instructions, ns) for instructions, ns in totals]


def _calls(tree: Tree, doubtful: dict[str, int] | None) -> list[Row]:
    """Doubtful entries stand at the first node of their function; nothing is told of them where none are given."""
    left = dict(doubtful or {})
    return [
        (number, node.parent, node.function, node.module, node.kind, sum(node.calls.values()),
         sum(node.instructions.values()), instructions, sum(node.ns.values()), ns,
         None if doubtful is None else left.pop(node.function, 0))
        for (number, node), (instructions, ns) in zip(enumerate(tree.nodes), _totals(tree), strict=True)
    ]  # fmt: skip


def _phase_calls(tree: Tree) -> list[Row]:
    rows = []
    for number, node in enumerate(tree.nodes):
        for phase in PHASES:
            row = tuple(table.get(phase, 0) for table in (node.calls, node.instructions, node.ns))
            if any(row):
                rows.append((number, phase, *row))
    return rows


def _slices(tree: Tree) -> dict[str, list[Row]]:
    """Two slices of each phase: the first one has each node's entries and half of its instructions, rounded down."""
    slices: list[Row] = []
    rows: list[Row] = []
    now = 0
    for phase in PHASES:
        for half in (0, 1):
            executed = idle = 0
            for number, node in enumerate(tree.nodes):
                first = node.instructions.get(phase, 0) // 2
                row = (node.calls.get(phase, 0), first) if half == 0 else (0, node.instructions.get(phase, 0) - first)
                if any(row):
                    rows.append((len(slices), number, *row))
                executed += row[1]
                idle += node.ns.get(phase, 0) if node.kind == "idle" and half == 1 else 0
            lasts = (executed << tree.shift) + idle
            slices.append((len(slices), now, now + lasts, executed, idle))
            now += lasts
    return {"slices": slices, "slice_calls": rows}


def _console(failed: bool) -> list[str]:
    lines = [
        "Linux version 6.1.0-56-cloud-amd64 (debian-kernel@lists.debian.org)",
        "Command line: console=ttyS0 nokaslr",
        "BIOS-provided physical RAM map:",
        "tsc: Fast TSC calibration using PIT",
        "Run /init as init process",
    ]
    panic = ["Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)", "---[ end Kernel panic"]
    return lines + (panic if failed else [])


def _facts() -> list[tuple[str, str]]:
    return [
        ("clocksource.current", "tsc"),
        ("device.pci/0000:00:00.0", ""),
        ("device.platform/serial8250", "serial8250"),
        ("kernel.command_line", "console=ttyS0 nokaslr"),
        ("kernel.lpj", "4000000"),
        ("kernel.release", "6.1.0-56-cloud-amd64"),
        ("kernel.tainted", "0"),
        ("kernel.warnings", "0"),
        ("memory.total_bytes", "520093696"),
        ("module.ext4", "987136"),
        ("mount./", "rootfs rootfs rw"),
    ]


def _invariants(executed: int, rows: dict[str, list[Row]]) -> dict[str, Any]:
    """Every invariant with its figures; they hold."""
    calls = sum(row[5] for row in rows["calls"])
    runs = rows["runs"]
    ran = sum(row[3] for row in runs)

    def at_most(per: int, concerns: str = "functions") -> dict[str, Any]:
        return {"holds": True, "value": 0, "limit": calls // per, "concerns": concerns, "calls": calls}

    zero = {"holds": True, "value": 0, "limit": 0}
    return {
        "self_sums_to_executed": {"holds": True, "value": executed, "executed": executed},
        "phases_sum_to_tree": zero,
        "stacks_accounted": {"holds": True, "value": 3, "concerns": "functions", "pushed": calls,
                             "popped": calls - 5, "abandoned_frames": 2},
        "returns_matched": at_most(10_000),
        "frames_returned": at_most(10_000),
        "calls_reach_functions": at_most(10_000),
        "circles_kept": at_most(100_000),
        "clock_goes_forward": at_most(1_000_000),
        "clock_is_qemus": zero,
        "thunks_are_no_functions": {**zero, "concerns": "functions", "unknown_transfers": 0},
        "entries_counted": {**zero, "concerns": "functions"},
        "initcalls_entered": {**zero, "concerns": "initcalls"},
        "slices_sum_to_tree": {**zero, "concerns": "functions", "slices": len(rows["slices"])},
        "slices_sum_to_phases": {**zero, "concerns": "functions", "slices": len(rows["slices"])},
        "runs_partition_the_kernel": {"holds": True, "value": ran, "executed": executed,
                                      "before_the_kernel": executed - ran, "runs": len(runs),
                                      "switches": len(runs) - 1, "apart": 0},
        "tasks_confirmed": {"holds": True, "value": 0},
    }  # fmt: skip


def _manifest(
    path: Path, rows: dict[str, list[Row]], tree: Tree, *, live: bool, failed: bool, profile: bool, shift: int
) -> dict[str, Any]:
    executed, took = _totals(tree)[0]
    idle = sum(sum(node.ns.values()) for node in tree.nodes if node.kind == "idle")
    failure = {"reason": "panic", "detail": "Kernel panic - not syncing: VFS: Unable to mount root fs",
               "console_tail": _console(failed)[-3:]}  # fmt: skip
    return {
        "schema_version": 3,
        "tool": {"name": "firstlight", "version": "0.1.0"},
        "mode": "live" if live else "exact",
        "status": "failed" if failed else "complete",
        "failure": failure if failed else None,
        "clock": {"kind": "host", "unit": "ns", "origin": "power_on", "icount_shift": None} if live else
                 {"kind": "virtual", "unit": "ns", "origin": "power_on", "icount_shift": shift},
        "recipe": {
            "architecture": "x86_64", "machine": "pc-i440fx-7.2", "cpu": "Nehalem", "memory": "512M",
            "kernel": "vmlinuz-6.1.0-56-cloud-amd64", "initrd": None, "rootfs": None, "append": "",
            "command_line": "console=ttyS0 nokaslr", "modules": [], "icount_shift": None if live else shift,
            "rtc": None if live else "2024-01-01T00:00:00", "seed": 1, "profile": profile,
        },
        "digests": {"kernel": hashlib.sha256(b"kernel").hexdigest(), "qemu": hashlib.sha256(b"qemu").hexdigest()},
        "versions": {"qemu": "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", "plugin_api": 1},
        "completeness": {"complete": not failed, "missing": ["the report of the guest"] if failed else []},
        "invariants": _invariants(executed, rows) if profile else {},
        "totals": {"instructions": None if live else executed, "virtual_ns": took, "idle_ns": None if live else idle},
        "tables": {table: {"rows": len(rows[table]),
                           "sha256": hashlib.sha256((path / f"{table}.parquet").read_bytes()).hexdigest()}
                   for table in SCHEMA},
        "reproduce": "firstlight record -o a.boot",
        "recorded_at": "2024-05-01T12:00:00Z",
        "host": {"cpu": "invented", "cores": 2},
    }  # fmt: skip
