"""The critical path through units: those of which only the end is known, and those of the initrd."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import find_path
from firstlight.analysis.path.what_if import what_if
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.cli.app import app
from imported_bundle import MS, Spans, write_bundle
from imported_records import imported

#: Targets are printed with the instant at which they were reached, and no length.
CHAIN = """The time when unit became active or started is printed after the "@" character.
The time the unit took to start is printed after the "+" character.

multi-user.target @5.000s
└─b.service @3.000s +1.900s
  └─mid.target @2.900s
    └─a.service @1.000s +1.850s
"""
TIME = "Startup finished in 1.000s (kernel) + 5.100s (userspace) = 6.100s\n"


@pytest.fixture
def chain(tmp_path: Path) -> Boot:
    return imported(tmp_path, {"chain.txt": CHAIN, "time.txt": TIME})


def initrd(directory: Path, units: bool = True) -> Boot:
    """An initrd of 1.1 s that mounts the root for most of it, then user space."""
    spans = Spans()
    for kind, parents in (("phase", (None, None, None)), ("stage", (0, 1, 2))):
        for (name, start, end), parent in zip(
            (("kernel", 0, 1500), ("initrd", 1500, 2600), ("userspace", 2600, 4800)), parents, strict=True
        ):
            spans.add(kind, name, (start, end), track="boot", parent=parent)
    if units:
        spans.add("unit", "udevd.service", (1600, 1700), track="systemd")
        spans.add("unit", "sysroot.mount", (1710, 2310), track="systemd")
    spans.add("unit", "early.service", (2700, 2760), track="systemd")
    spans.add("unit", "slow.service", (2800, 4700), track="systemd")
    # What user space waited for by its order was up early in the initrd, and was not all that it waited for.
    links = [("after", "unit", "early.service", "unit", "udevd.service")]
    marks = {"kernel_start": 0, "startup_finished": 4800}
    return open_boot(write_bundle(directory, "initrd.boot", spans=spans, links=links, marks=marks))


def edges(rows: pl.DataFrame) -> list[tuple[str, str | None]]:
    return rows.filter(pl.col("kind") == "unit").select("name", "edge").rows()


def test_a_unit_of_which_only_the_end_is_known_is_a_point_that_edges_go_through(chain: Boot) -> None:
    rows = find_path(chain).rows
    told = [("a.service", "serial"), ("mid.target", "after"), ("b.service", "after"), ("multi-user.target", "after")]
    assert edges(rows) == told
    assert rows.filter(pl.col("name") == "mid.target").select("start_ns", "end_ns").row(0) == (3900 * MS, 3900 * MS)
    assert rows["duration_ns"].sum() == 6100 * MS


def test_a_target_may_be_the_goal(chain: Boot) -> None:
    found = find_path(chain, "multi-user.target")
    assert (found.goal_ns, found.rows["name"][-1]) == (6000 * MS, "multi-user.target")
    assert what_if(chain, {"a.service": -1000 * MS}, "multi-user.target").goal_ns == 5000 * MS


def test_it_is_said_how_many_are_points(chain: Boot) -> None:
    printed = CliRunner().invoke(app, ["path", str(chain.directory)]).stdout
    assert "Units that are points, because only the time when they were up is known: 2." in printed


def test_what_has_no_start_and_is_no_unit_is_counted(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("initcall", "half_init", (None, 300), track="task 1")
    boot = open_boot(write_bundle(tmp_path, "half.boot", spans=spans))
    assert find_path(boot).without_start == 1
    assert (
        "1 span has no start, so it cannot be on the path"
        in CliRunner().invoke(app, ["path", str(boot.directory)]).stdout
    )


def test_the_initrd_is_the_units_in_it(tmp_path: Path) -> None:
    rows = find_path(initrd(tmp_path)).rows
    assert rows.filter(pl.col("kind") == "stage")["name"].to_list() == ["kernel"]
    names = ["udevd.service", "sysroot.mount", "early.service", "slow.service"]
    assert edges(rows) == [(name, "serial" if name == names[0] else "inferred") for name in names]
    # The end of the initrd divides no wait of which nothing else is known.
    waits = rows.filter(pl.col("name") == UNKNOWN).select("start_ns", "end_ns").rows()
    assert (2310 * MS, 2700 * MS) in waits


def test_what_is_shorter_in_the_initrd_is_shorter_in_the_boot(tmp_path: Path) -> None:
    boot = initrd(tmp_path)
    assert what_if(boot, {"sysroot.mount": -500 * MS}).change_ns == -500 * MS
    assert find_path(boot).steps["slack_ns"].null_count() == 0


def test_an_initrd_without_units_stays_one_step(tmp_path: Path) -> None:
    rows = find_path(initrd(tmp_path, units=False)).rows
    assert rows.filter(pl.col("kind") == "stage")["name"].to_list() == ["kernel", "initrd"]


def test_a_target_alone_does_not_hide_the_stage_that_is_all_that_is_known(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"time.txt": TIME + "multi-user.target reached after 5.000s in userspace.\n"})
    rows = find_path(boot).rows
    assert rows.filter(pl.col("kind") == "stage")["name"].to_list() == ["kernel", "userspace"]
    assert find_path(boot, "multi-user.target").goal_ns == 6000 * MS
