"""A real boot with systemd: its packages, its units and its devices, as processes and system calls show them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.analysis.unit_work import Doer
from firstlight.api import Boot, GroupBill

pytestmark = pytest.mark.boot


@pytest.fixture(scope="module")
def systemd(debian_boot: Path) -> Boot:
    return firstlight.open(debian_boot)


@pytest.mark.parametrize("by", GroupBill)
def test_every_instruction_is_billed_once(systemd: Boot, by: GroupBill) -> None:
    rows = systemd.packages(by=by)
    assert rows["instructions"].sum() == systemd.processes()["instructions"].sum()
    assert {"systemd", "udev", "kmod"} <= set(rows["package"])
    # Only Firstlight's own helper belongs to no package.
    files = systemd.packages(by=GroupBill.FILE).filter(pl.col("payer") == "no package")["file"].to_list()
    assert set(files) <= {"/init", "/run/firstlight/guest"}


def test_the_activation_of_every_unit_is_divided_without_a_rest(systemd: Boot) -> None:
    rows = systemd.unit_work().filter(pl.col("duration_ns").is_not_null())
    parts = rows.select(pl.sum_horizontal("own_ns", "manager_ns", "others_ns", "idle_ns")).to_series()
    assert parts.to_list() == rows["duration_ns"].to_list()
    assert rows.select(pl.col("own_ns", "manager_ns", "others_ns", "idle_ns").min()).min_horizontal().item() >= 0
    udevd = rows.filter(pl.col("unit") == "systemd-udevd.service").row(0, named=True)
    assert udevd["processes"] > 1
    assert 0 < udevd["before_exec_instructions"] < udevd["instructions"]


def test_the_managers_time_runs_from_its_exec_to_the_end(systemd: Boot) -> None:
    found = systemd.manager()
    assert found is not None
    assert found.parts["part"].to_list()[0] == "start"
    assert found.parts["start_ns"].to_list()[1:] == found.parts["end_ns"].to_list()[:-1]
    assert found.parts["end_ns"].to_list()[-1] == systemd.manifest.totals.virtual_ns
    assert found.generators["image"].str.contains("fstab-generator").any()
    assert set(found.sums["doer"]) == set(Doer)
    assert found.sums["instructions"].sum() == systemd.processes()["instructions"].sum()


def test_udev_handled_the_devices_of_the_kernel(systemd: Boot) -> None:
    rows = systemd.device_costs()
    service = systemd.processes().filter(pl.col("service") == "systemd-udevd.service")
    assert systemd.udev_sums()["instructions"].sum() == service["instructions"].sum()
    names = set(rows["device"])
    assert "/devices/virtual/tty/tty0" in names or any("ttyS0" in name for name in names)
    # devtmpfs makes the nodes.
    assert rows["mknods"].sum() == 0
    assert rows["opens"].sum() > 4 * rows.height
    assert rows.filter(pl.col("instructions") <= 0).is_empty()
