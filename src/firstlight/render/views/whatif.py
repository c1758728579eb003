"""A predicted boot, and the boot that proves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from firstlight.analysis.replay.predict import Prediction
from firstlight.bundle.boot import Boot
from firstlight.experiment.prove import Proof
from firstlight.quantities import share, signed_share, signed_time, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading

_ALL = 1_000_000
_BAR = 20


def forecast_data(prediction: Prediction, proof: Proof | None) -> dict[str, Any]:
    """A prediction and its proof as data."""
    return {
        "goal": prediction.goal,
        "recorded_ns": prediction.recorded_ns,
        "predicted_ns": prediction.predicted_ns,
        "change_ns": prediction.change_ns,
        "idle_ns": prediction.idle_ns,
        "slack_ns": prediction.slack_ns,
        "residual_ns": prediction.residual_ns,
        "taken": [{**asdict(each), "less": each.less / _ALL} for each in prediction.taken],
        "marks": prediction.marks.to_dicts(),
        "path": prediction.path.to_dicts(),
        "cautions": list(prediction.cautions),
        "proof": None
        if proof is None
        else {
            "boot": str(proof.boot), "how": list(proof.how), "proved_ns": proof.proved_ns, "error_ns": proof.error_ns,
            "error": proof.error, "baseline_booted": proof.baseline_booted,
        },
    }  # fmt: skip


def forecast_report(boot: Boot, prediction: Prediction, proof: Proof | None, rows: int) -> Iterator[Block]:
    """What was taken out, the new goal and marks, what the path consists of then, and how sure that is.

    :param rows: maximum number of programs of the path.
    """
    yield from heading(boot, "Prediction")
    yield table(
        "",
        [
            Column("Change", value=lambda each: "without" if each.less == _ALL else f"{each.less / _ALL:.0%} less"),
            Column("Name", value="name", style="cyan"),
            Column("Kind", value="part"),
            Column("Work", "time", "work_ns"),
            Column("What follows", "time", "follows_ns"),
            Column("Threads", "count", "threads", wide=80),
        ],
        prediction.taken,
        notes=["Work: its time with the processor before the goal. What follows: work of others that it causes."],
    )
    change = f"{signed_time(prediction.change_ns)}, {signed_share(prediction.change_ns, prediction.recorded_ns)}"
    text = f"{prediction.goal} at {time_text(prediction.predicted_ns)} instead of {time_text(prediction.recorded_ns)}"
    yield Line([(text, "bold"), (f" ({change})", "")], wrap=False)
    if prediction.slack_ns:
        yield Line(f"{time_text(prediction.slack_ns)} of the work is slack: without it, other work takes its place.")
    yield from _path(prediction, rows)
    yield table(
        "Marks",
        [
            Column("Mark", value="mark", style="cyan"),
            Column("Recorded", "time", "recorded_ns"),
            Column("Predicted", "time", "predicted_ns", style="bold"),
            Column("Change", "change", "change_ns"),
        ],
        [row for row in prediction.marks.to_dicts() if row["change_ns"]],
        notes=["Marks that do not move are left out."],
    )
    yield Line("How sure", "bold")
    replayed = "exactly" if not prediction.residual_ns else f"with a difference of {time_text(prediction.residual_ns)}"
    yield Line(f"  The replay of all work gives the record {replayed}.", "dim")
    idle = f"{time_text(prediction.idle_ns)} of the path is idle"
    yield Line(f"  {idle}: timers and devices come as long after a thread went to sleep as in the recording.", "dim")
    for caution in prediction.cautions:
        yield Line(f"  {caution}.", "dim")
    if proof is not None:
        yield from _proof(prediction, proof)


def _path(prediction: Prediction, rows: int) -> Iterator[Block]:
    path = prediction.path
    length = int(path["after_ns"].sum())
    figures = ("before_ns", "after_ns", "change_ns")
    rest = path.slice(rows)
    left_out = {**{name: int(rest[name].sum()) for name in figures}, "service": None,
                "name": f"({rest.height:,} more)", "Share": None}  # fmt: skip
    yield table(
        "The predicted path, by program",
        [
            Column("After", "time", "after_ns", style="bold"),
            Column("Share", "share", lambda row: share(row["after_ns"], length), wide=60),
            Column("", "picture", lambda row: Bar(share(row["after_ns"], length), _BAR), style="blue", wide=110),
            Column("Before", "time", "before_ns"),
            Column("Change", "change", "change_ns"),
            Column("Program", value="name", style="cyan"),
            Column("Service", value="service", wide=90, longest=32),
        ],
        path.head(rows).to_dicts(),
        left_out=left_out if rest.height else None,
        footer=[{**{name: int(path[name].sum()) for name in figures}, "name": "all"}],
        notes=[
            "Executed on the path, or by others while the thread on the path could have run or slept. "
            "`firstlight path` charges a wait to the program that waited, so its figures differ."
        ],
    )


def _proof(prediction: Prediction, proof: Proof) -> Iterator[Block]:
    yield BLANK
    again = (
        " The baseline was booted again: its inputs are no longer the recorded ones." if proof.baseline_booted else ""
    )
    yield Line(f"Proved by a boot with {', '.join(proof.how)}.{again}")
    error = f"{signed_time(proof.error_ns)}, {signed_share(proof.error_ns, proof.proved_ns)}"
    text = f"{prediction.goal} at {time_text(proof.proved_ns)}: the prediction's error is {error}"
    yield Line(text, "bold")
