"""systemd from inside: what units, generators and the manager itself made the processor do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from answers import answer
from bundles import make_bundle, write_table
from firstlight.analysis.unit_work import Doer
from firstlight.api import Boot
from firstlight.cli.main import run
from invented_processes import make_processes

SYSTEMD = "/usr/lib/systemd/systemd"
GENERATOR = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
PARTS = ("manager_ns", "generators_ns", "units_ns", "programs_ns", "kernel_ns", "idle_ns")


def make_systemd(directory: Path, *, hostile: str = "") -> Path:
    """An invented boot whose first process becomes systemd, with a generator and two units.

    The shell of :func:`make_processes` is the manager's child, which becomes the generator; `svc` is a service that
    starts twice.
    """
    bundle = make_processes(directory)
    images = pl.read_parquet(bundle / "images.parquet")
    starts = images["start_ns"].to_list()
    begin, child, _, service, _ = starts
    marks = pl.read_parquet(bundle / "marks.parquet")
    end = marks["time_ns"].max()
    first = images.filter(pl.col("thread") == 1).with_columns(
        image=pl.lit(SYSTEMD), start_ns=pl.lit(begin + 600_000, pl.Int64), cgroup=pl.lit("/init.scope")
    )
    runs = {"/bin/sh": SYSTEMD, "/usr/bin/udevadm": GENERATOR + hostile, "/usr/lib/svc": "/usr/lib/svc" + hostile}
    named = images.with_columns(
        image=pl.col("image").replace(runs),
        cgroup=pl.col("cgroup").str.replace("/system.slice/udev-settle.service", "/init.scope", literal=True),
    )
    write_table(bundle, "images", pl.concat([named, first]).sort("start_ns", maintain_order=True))
    processes = pl.read_parquet(bundle / "processes.parquet")
    write_table(bundle, "processes", processes.with_columns(
        image=pl.col("image").replace(runs),
        cgroup=pl.when(pl.col("pid") == 10).then(pl.lit("/init.scope")).otherwise("cgroup"),
        parent=pl.when(pl.col("pid") == 20).then(1).otherwise("parent"),
    ))  # fmt: skip
    spans = pl.read_parquet(bundle / "spans.parquet")
    number = int(spans["span"].max()) + 1  # type: ignore[arg-type]

    def span(
        place: int, kind: str, name: str, start: int, stop: int | None, parent: int | None = None
    ) -> dict[str, Any]:
        row = dict.fromkeys(spans.columns) | {"span": number + place, "kind": kind, "name": name, "track": "systemd"}
        lasts = None if stop is None else stop - start
        return row | {"start_ns": start, "end_ns": stop, "duration_ns": lasts, "parent": parent, "grade": "good",
                      "source": "systemd"}  # fmt: skip

    added = [
        span(0, "stage", "userspace", begin + 800_000, None),
        span(1, "stage", "generators", child - 100, service - 100, number),
        span(2, "unit", "svc.service", service - 600, service + 450_000),
        span(3, "unit", f"dev-disk{hostile}.device", begin + 900_000, service + 100_000),
        span(4, "unit", "svc.service", service + 600_000, service + 700_000),
        span(5, "unit", "later.service", int(end) - 10, None),  # type: ignore[arg-type]
    ]
    write_table(bundle, "spans", pl.concat([spans, pl.DataFrame(added, schema=spans.schema)]))
    return bundle


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_systemd(tmp_path_factory.mktemp("systemd")))


def test_an_activation_is_divided_among_those_who_had_the_processor(boot: Boot) -> None:
    rows = boot.unit_work()
    known = rows.filter(pl.col("duration_ns").is_not_null())
    parts = known.select(pl.sum_horizontal("own_ns", "manager_ns", "others_ns", "idle_ns")).to_series()
    assert parts.to_list() == known["duration_ns"].to_list()
    first = known.filter(pl.col("unit") == "svc.service").row(0, named=True)
    assert first["own_ns"] == 450_000
    assert rows.filter(pl.col("end_ns").is_null()).select("own_ns", "idle_ns").rows() == [(None, None)]


def test_a_unit_has_the_processes_of_its_control_group_once(boot: Boot) -> None:
    rows = boot.unit_work(kind="service")
    svc = rows.filter(pl.col("unit") == "svc.service")
    assert svc["processes"].to_list() == [1, 0]
    assert svc["instructions"].to_list() == [500_000, 0]
    assert boot.unit_work(kind="device")["processes"].to_list() == [0]


def test_the_managers_own_time_is_a_partition_from_its_exec_on(boot: Boot) -> None:
    found = boot.manager()
    assert found is not None
    assert found.parts["part"].to_list() == ["start", "set-up", "generators", "jobs"]
    assert found.parts["start_ns"].to_list()[1:] == found.parts["end_ns"].to_list()[:-1]
    assert found.parts.select(pl.sum_horizontal(PARTS)).to_series().to_list() == found.parts["duration_ns"].to_list()
    start = found.parts.row(0, named=True)
    assert start["manager_ns"] == start["duration_ns"] == 200_000


def test_a_generator_stands_apart_from_the_manager_with_the_child_that_ran_it(boot: Boot) -> None:
    found = boot.manager()
    assert found is not None
    assert found.generators.select("pid", "image").rows() == [(10, GENERATOR)]
    sums = dict(found.sums.select("doer", "instructions").iter_rows())
    assert sums[Doer.GENERATORS] == 500_000
    assert sums[Doer.UNITS] == 500_000
    assert sum(sums.values()) == boot.processes()["instructions"].sum()


def test_the_kernels_start_in_what_becomes_the_idle_task_is_not_idle(boot: Boot) -> None:
    runs = boot.runs().sort("start_ns").select("thread", "instructions").rows()
    place = next(number for number, (thread, _) in enumerate(runs) if thread != 0)
    early = sum(instructions for _, instructions in runs[:place])
    later = sum(instructions for thread, instructions in runs[place:] if thread == 0)
    found = boot.manager()
    assert found is not None
    sums = dict(found.sums.select("doer", "instructions").iter_rows())
    assert sums[Doer.KERNEL] >= early > 0
    assert sums.get(Doer.IDLE, 0) == later
    assert sum(sums.values()) == boot.processes()["instructions"].sum()


def test_a_boot_without_processes_has_units_and_no_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_systemd(tmp_path)
    for table in ("processes", "images", "system_calls", "wakeups", "packages"):
        write_table(bundle, table, pl.read_parquet(bundle / f"{table}.parquet").clear())
    bare = firstlight.open(bundle)
    assert bare.unit_work()["own_ns"].null_count() == bare.units().height == 4
    assert bare.manager() is None
    assert run(["units", str(bundle), "--work"]) == 0
    assert "note: " in capsys.readouterr().err


def test_a_stage_without_an_end_says_why_it_has_no_duration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["units", str(make_systemd(tmp_path))]) == 0
    assert "userspace: its end is not in the record, so there are no shares." in capsys.readouterr().out


def test_a_boot_without_systemd_has_no_manager(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_processes(tmp_path)
    assert firstlight.open(bundle).manager() is None
    assert run(["units", str(bundle), "--manager"]) == 0
    assert "systemd is not the first process" in capsys.readouterr().err
    assert answer("units", str(bundle), "--manager")[1]["manager"] is None
    assert firstlight.open(make_bundle(tmp_path / "bare")).unit_work().is_empty()


@pytest.mark.parametrize("option", ["--work", "--manager"])
def test_what_is_printed_of_hostile_names_is_escaped(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = str(make_systemd(tmp_path, hostile="\x1b[31m\n"))
    assert run(["units", bundle, option]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out
    assert run(["units", bundle, option, "--json"]) == 0
    assert run(["units", bundle, option, "--csv"]) == 0
