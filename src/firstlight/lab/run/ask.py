"""Boots a bundle's recipe again and records the arguments of a kernel function at each of its calls."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.tables import columns
from firstlight.errors import FirstlightError, LabError, UnhealthyBootError
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.question import Question
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.lab.run.when import Condition, parse_condition
from firstlight.recipe.mode import RecordMode
from firstlight.schema.records import FailureReason
from firstlight.suggest import unknown_name

#: What every call has.
BASE = columns("call:int start_ns:int instructions:int tgid:int pid:int comm")
#: What a call has whose result was asked for.
RESULT = columns("end_ns:int duration_ns:int")
MOST = 1_000_000
"""Maximum number of calls that are recorded."""
_WATCHERS = ("plugin",)


@dataclass(frozen=True)
class Answers:
    """The calls of a function, and whether the boot was the recorded one."""

    question: Question
    rows: pl.DataFrame
    """The calls that fit the condition: `call` (number), `start_ns`, `instructions` (executed before it), `tgid`,
    `pid`, `comm`, a column for each value, and with results `end_ns`, `duration_ns` and `result`. A value that could
    not be read is null."""
    calls: int
    """All calls up to the end of the recording, also those that do not fit."""
    recorded: int
    """Calls that were recorded, at most :data:`MOST`."""
    profile_calls: int | None
    """How often the profile of the boot counts the function."""
    unaffected: bool
    """Console, report, totals and tables are those of the bundle."""
    differences: tuple[str, ...]
    """What differs; nothing when *unaffected*."""


def ask(
    bundle: Path,
    question: Question,
    *,
    results: bool = False,
    when: str | None = None,
    progress: Progress | None = None,
    trust: bool = False,
) -> Answers:
    """Boot the recipe of a bundle again and record a function's arguments at each call.

    :param results: record what the function returns, too.
    :param when: a condition that a call has to fit, see :func:`~firstlight.lab.run.when.parse_condition`.
    :param trust: use what a bundle names that was not recorded here.
    :raises UsageError: when the condition is none.
    :raises BundleError: when the bundle is not a recording, or the kernel has no such function.
    :raises FirstlightError: when the boot is not exact, an input changed, or the kernel's types say no.
    :raises LabError: when an input is missing.
    """
    progress = progress or SilentProgress()
    boot = open_boot(bundle)
    schema = _schema(question, results)
    condition = None if when is None else parse_condition(when, schema)
    _check(boot.manifest, str(bundle))
    with tempfile.TemporaryDirectory(prefix="firstlight-ask-") as directory:
        again = Path(directory) / "again.boot"
        options = options_from_manifest(boot.manifest, again, str(bundle), trust=trust)
        inputs = resolve(options, progress)
        _check_inputs(boot.manifest, inputs, str(bundle))
        _check_function(inputs, question.function, str(bundle))
        try:
            record(options, progress, asks=plugin_questions(question, results=results))
        except UnhealthyBootError as error:
            _explain(again, error, str(bundle))
        files = RunFiles(again / "raw")
        calls, rows = _rows(files.answers, question)
        differences = tuple(_differences(bundle, again))
    fitting = list(_fitting(rows, condition))
    types = {name: kind or _type_of([row[name] for row in rows]) for name, kind in schema.items()}
    frame = pl.DataFrame([{name: row[name] for name in schema} for row in fitting], schema=types, orient="row")
    counted = boot.functions().filter(pl.col("function") == question.function)["count"].to_list()
    number = counted[0] if counted else None
    return Answers(question, frame, calls, len(rows), number, not differences, differences)


def plugin_questions(question: Question, *, results: bool) -> dict[str, Any]:
    """A question as the plugin reads it (docs/reference/formats/plugin.md), without where the answers go."""
    values = [{"path": list(value.path), "kind": value.kind} for value in question.values]
    return {"most": MOST, "questions": [{"function": question.function, "returns": results, "values": values}]}


def _type_of(values: list[Any]) -> pl.DataType:
    """Text, or whole numbers: those of the kernel's addresses need all of 64 bits."""
    if any(isinstance(value, str) for value in values):
        return pl.String()
    return pl.UInt64() if any(value is not None and value >= 1 << 63 for value in values) else pl.Int64()


def _schema(question: Question, results: bool) -> dict[str, Any]:
    schema: dict[str, Any] = {**BASE, **{value.name: None for value in question.values}}
    return {**schema, **RESULT, "result": None} if results else schema


def _check(manifest: Manifest, where: str) -> None:
    if manifest.mode != RecordMode.EXACT:
        raise FirstlightError(
            f"a boot in {manifest.mode} mode cannot be asked again: it never repeats exactly",
            where=where, hint="record it with `firstlight record`, without `--live`",
        )  # fmt: skip


def _check_inputs(manifest: Manifest, inputs: Inputs, where: str) -> None:
    changed = [name for name, digest in sorted(manifest.digests.items())
               if name not in _WATCHERS and digest != inputs.digests.get(name)]  # fmt: skip
    if changed:
        names = ", ".join(f"`{name}`" for name in changed)
        raise FirstlightError(
            f"it cannot be booted again: {names} differs from the recording", where=where,
            hint="record the boot again, and ask the new boot",
        )  # fmt: skip
    if inputs.symbols is None:
        raise FirstlightError(
            "it was recorded without a profile, so it has no functions", where=where,
            hint="record it without `--no-profile`",
        )  # fmt: skip


def _check_function(inputs: Inputs, function: str, where: str) -> None:
    assert inputs.symbols is not None
    with inputs.symbols.open(encoding="utf-8", errors="replace") as lines:
        fields = (line.split() for line in lines)
        known = {each[2] for each in fields if len(each) == 3 and each[1] in "tTwW"}
    if function in known:
        return
    if parts := sorted(name for name in known if name.startswith(f"{function}.")):
        raise FirstlightError(
            f"the compiler changed the arguments of `{function}`, or split it", where=where,
            hint=f"the kernel has {', '.join(f'`{name}`' for name in parts[:4])}; ask for a function that calls it",
        )  # fmt: skip
    try:
        unknown_name("function", function, known, where, "functions")
    except FirstlightError as error:
        raise FirstlightError(
            f"the kernel has no function `{function}`", where=where,
            hint=f"{error.hint}\na static or small function may be inlined: ask for one that calls it",
        ) from error  # fmt: skip


def _explain(again: Path, error: UnhealthyBootError, where: str) -> None:
    """Raise what is wrong with a question, where that ended the boot; a boot that failed as recorded is an answer."""
    failure = open_boot(again).manifest.failure
    if failure is not None and failure.reason == FailureReason.PLUGIN:
        message, _, hint = failure.detail.partition("\n")
        raise FirstlightError(message, where=where, hint=hint or None) from error


def _rows(answers: Path, question: Question) -> tuple[int, list[dict[str, Any]]]:
    """How many calls there were, and those that were recorded."""
    rows: dict[int, dict[str, Any]] = {}
    calls: int | None = None
    try:
        lines = answers.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LabError("the plugin left no answers", hint="run `firstlight doctor`") from error
    others = 0
    for line in lines:
        data = json.loads(line)
        if "calls" in data:
            calls = data["calls"] - others
        elif data.get("question"):
            # What `record --devices` asks besides.
            others += 1
        elif "end_ns" in data:
            if (row := rows.get(data["call"])) is None:
                continue
            row |= {"end_ns": data["end_ns"], "duration_ns": data["end_ns"] - row["start_ns"], "result": data["result"]}
        else:
            values = dict(zip((value.name for value in question.values), data.pop("values"), strict=True))
            base = {name: data.get("task" if name == "comm" else name) for name in BASE}
            rows[data["call"]] = base | values | {"end_ns": None, "duration_ns": None, "result": None}
    if calls is None:
        raise LabError("the plugin's answers are truncated", hint="is the disk full?")
    return calls, list(rows.values())


def _fitting(rows: list[dict[str, Any]], condition: Condition | None) -> Iterator[dict[str, Any]]:
    return (row for row in rows if condition is None or condition(row))


def _differences(bundle: Path, again: Path) -> Iterator[str]:
    """What differs between a boot and the one that was asked: nothing, because reading changes nothing."""
    first, second = open_boot(bundle).manifest, open_boot(again).manifest
    for name, before in first.totals.model_dump().items():
        if (now := second.totals.model_dump().get(name)) != before:
            yield f"the total `{name}` is {now} instead of {before}"
    for what in ("console", "report"):
        one, other = (getattr(RunFiles(each / "raw"), what) for each in (bundle, again))
        if one.is_file() and other.is_file() and one.read_bytes() != other.read_bytes():
            yield f"the {what} differs"
    for table, recorded in first.tables.items():
        repeated = second.tables.get(table)
        same_plugin = first.digests.get("plugin") == second.digests.get("plugin")
        if same_plugin and (repeated is None or repeated.sha256 != recorded.sha256):
            yield f"the table `{table}` differs"
