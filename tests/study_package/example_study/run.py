"""The arms, the table and the finding."""

from __future__ import annotations

from pathlib import Path

from example_study import QUIET_CONSOLE
from firstlight import RecordOptions
from firstlight.study import Boot, Field, Lab, MissingValue, Outcome, StudyArm, Table, derived

ARMS = {"loud": "", "quiet": "quiet"}


def run(lab: Lab) -> Outcome:
    """Boot with and without the console, and compare."""
    arms = [StudyArm(name, RecordOptions(Path(f"{name}.boot"), append=words)) for name, words in ARMS.items()]
    boots = lab.boot_all(arms)
    times = {name: time_of(boot) for name, boot in boots.items()}
    table = Table("times", "The whole boot", (Field("Console"), Field("Time", "time")), tuple(times.items()))
    saved = derived(lambda loud, quiet: loud - quiet, times["loud"], times["quiet"])
    return QUIET_CONSOLE.outcome(lab, recipe=(), tables=[table], figures={"saved": saved})


def time_of(boot: Boot | MissingValue) -> int | MissingValue:
    """Virtual nanoseconds of the whole boot."""
    if isinstance(boot, MissingValue):
        return boot
    return boot.manifest.totals.virtual_ns or MissingValue("the clock is not known")
