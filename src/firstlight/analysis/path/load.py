"""What limited a boot whose processor and disks were sampled: processor, disk, or nothing that ran."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from itertools import islice, pairwise

import polars as pl

from firstlight.analysis.path.processor import ran_text
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

LOAD = columns("bound start_ns:int end_ns:int duration_ns:int cpu_ns:int disk_ns:int idle_ns:int")

_BUSY = ("cpu_user_ns", "cpu_system_ns")
#: Time in which processors idled while a task waited for a disk; where it was not sampled, when disks were at work.
_DISK = ("cpu_iowait_ns", "disk_busy_ns")


class Bound(StrEnum):
    """What most of an interval was spent on."""

    CPU = "CPU"
    DISK = "disk"
    IDLE = "idle"
    UNSAMPLED = "not sampled"


class SampledLoad:
    """The samples of a boot's processors and disks as time; a boot without them has no interval.

    Of each interval between two samples `cpu_ns` is the time in which processors executed, at most the interval;
    `disk_ns` that in which they waited for a disk, at most the rest; `idle_ns` what remains.
    """

    def __init__(self, boot: Boot) -> None:
        whole = window(boot)
        self._first_ns, self._last_ns = whole.first_ns, whole.last_ns
        named = boot.counters().filter(pl.col("counter").is_in([*_BUSY, *_DISK]))
        times = named.sort("time_ns").unique(["counter", "time_ns"], keep="last").sort("time_ns")
        wide = times.pivot("counter", index="time_ns", values="value") if times.height else times
        disk = next((name for name in _DISK if name in wide.columns), None)
        if not set(_BUSY) <= set(wide.columns):
            self._samples: list[tuple[int, int, int]] = []
            return
        wait = pl.lit(0) if disk is None else pl.col(disk).forward_fill().fill_null(0)
        rows = wide.with_columns(wait.alias("disk")).drop_nulls(list(_BUSY)).sort("time_ns")
        # Processor time within an interval is at most the interval: of several processors it counts that one ran.
        self._samples = rows.select("time_ns", pl.sum_horizontal(_BUSY), "disk").rows()

    @property
    def intervals(self) -> pl.DataFrame:
        """Intervals with the same limit, in order of time; they are a partition of the boot's time.

        Columns: `bound` (what took most of the interval: `CPU`, `disk`, `idle`; `not sampled` before the first sample
        and after the last), `start_ns`, `end_ns`, `duration_ns`, `cpu_ns`, `disk_ns`, `idle_ns`.
        """
        if len(self._samples) < 2:
            return pl.DataFrame(schema=LOAD)
        rows = [
            (low, high, *self.between(low, high))
            for low, high in pairwise(
                sorted({self._first_ns, self._last_ns, *(self._clip(time) for time, _, _ in self._samples)})
            )
        ]
        schema = {name: LOAD[name] for name in ("start_ns", "end_ns", "cpu_ns", "disk_ns", "idle_ns")}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        cpu, disk, idle = pl.col("cpu_ns"), pl.col("disk_ns"), pl.col("idle_ns")
        bound = (
            pl.when(cpu + disk + idle == 0).then(pl.lit(Bound.UNSAMPLED))
            .when((cpu >= disk) & (cpu >= idle)).then(pl.lit(Bound.CPU))
            .when(disk >= idle).then(pl.lit(Bound.DISK))
            .otherwise(pl.lit(Bound.IDLE))
        )  # fmt: skip
        return (
            frame.with_columns(bound.alias("bound"))
            .group_by(pl.col("bound").rle_id().alias("run"), maintain_order=True)
            .agg(
                pl.col("bound", "start_ns").first(),
                pl.col("end_ns").last(),
                (pl.col("end_ns").last() - pl.col("start_ns").first()).alias("duration_ns"),
                pl.col("cpu_ns", "disk_ns", "idle_ns").sum(),
            )
            .select(*LOAD)
        )

    @property
    def samples(self) -> list[tuple[int, int, int, int]]:
        """Of each interval between two samples: start, end, and `cpu_ns` and `disk_ns` in it."""
        times = [time for time, _, _ in self._samples]
        return [(low, high, *self.between(low, high)[:2]) for low, high in pairwise(times)]

    def between(self, start: int, end: int) -> tuple[int, int, int]:
        """Nanoseconds of processor, disk and idleness between two instants; what was not sampled counts as none."""
        cpu = disk = idle = 0
        place = max(0, bisect_right(self._samples, start, key=lambda sample: sample[0]) - 1)
        for (low, busy, wait), (high, busy_after, wait_after) in pairwise(islice(self._samples, place, None)):
            if low >= end:
                break
            length, part = high - low, min(high, end) - max(low, start)
            if part <= 0:
                continue
            ran = min(max(busy_after - busy, 0), length)
            waited = min(max(wait_after - wait, 0), length - ran)
            took, held = ran * part // length, waited * part // length
            cpu, disk, idle = cpu + took, disk + held, idle + part - took - held
        return cpu, disk, idle

    def text(self, start: int, end: int) -> str | None:
        """What limited the time between two instants, as one text; null where it was not sampled."""
        took = dict(zip((Bound.CPU, Bound.DISK, Bound.IDLE), self.between(start, end), strict=True))
        shares = sorted(((str(name), ns) for name, ns in took.items() if ns > 0), key=lambda entry: -entry[1])
        return ran_text({(name, ""): ns for name, ns in shares})

    def _clip(self, time: int) -> int:
        return min(max(time, self._first_ns), self._last_ns)
