"""Boots with a device tree of the user are exact, and the kernel runs by it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from device_trees import cells, flatten
from equal_boots import assert_equal, assert_undisturbed
from firstlight.errors import UsageError
from firstlight.lab.kernel.device_tree import Node, read_tree
from firstlight.lab.qemu.device_tree import own_tree
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from other_guests import lacking

pytestmark = pytest.mark.boot


def machine_tree(architecture: str) -> Node:
    """The tree of the default machine."""
    known = architecture_of(architecture)
    return read_tree(own_tree(find_qemu(known), known.machine, known.cpu, 512 << 20))


@pytest.mark.parametrize("architecture", ["aarch64", "riscv64", "arm"])
def test_the_kernel_runs_by_the_given_tree_and_equally_each_time(tmp_path: Path, architecture: str) -> None:
    if (why := lacking(architecture)) is not None:
        pytest.skip(why)
    known = architecture_of(architecture)
    root = machine_tree(architecture)
    root.properties["model"] = b"Acme Gadget\0"
    root.properties["compatible"] = b"acme,gadget\0" + root.properties["compatible"]
    dtb = tmp_path / "board.dtb"
    dtb.write_bytes(flatten(root))
    boots = [
        firstlight.record_with(
            RecordOptions(tmp_path / f"{name}.boot", arch=known.distribution_name, dtb=dtb, profile=known.has_profile)
        )
        for name in ("a", "b")
    ]
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    first = boots[0]
    assert first.manifest.completeness.complete
    assert first.manifest.digests["device tree"]
    assert "ready" in first.marks()["mark"].to_list()
    model = first.log().filter(pl.col("text").str.contains("Machine model: Acme Gadget"))
    assert model.height == 1
    assert f"--dtb {dtb}" in first.manifest.reproduce


@pytest.mark.skipif(lacking("aarch64") is not None, reason="QEMU for arm64 is missing")
def test_a_tree_without_the_console_is_not_booted(tmp_path: Path) -> None:
    root = machine_tree("aarch64")
    del root.children["pl011@9000000"]
    dtb = tmp_path / "board.dtb"
    dtb.write_bytes(flatten(root))
    with pytest.raises(UsageError, match=r"has no serial port \(`arm,pl011` at 0x9000000\) of QEMU's machine"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="arm64", dtb=dtb))
    assert not (tmp_path / "a.boot").exists()


@pytest.mark.skipif(lacking("aarch64") is not None, reason="QEMU for arm64 is missing")
def test_devices_are_deferred_for_their_suppliers_and_that_is_seen_from_outside(tmp_path: Path) -> None:
    root = machine_tree("aarch64")
    # The driver of this supplier comes later, and nothing drives that one.
    root.children["pcie@10000000"].properties["phandle"] = cells(0x9000)
    root.children["pl061@9030000"].properties["acme-supply"] = cells(0x9000)
    root.children["acme"] = Node({"compatible": b"acme,regulator\0", "phandle": cells(0x9001)})
    root.children["pl031@9010000"].properties["acme-supply"] = cells(0x9001)
    dtb = tmp_path / "board.dtb"
    dtb.write_bytes(flatten(root))
    boot, *_ = (
        firstlight.record_with(
            RecordOptions(tmp_path / f"{name}.boot", arch="arm64", dtb=dtb, devices=devices, append=append)
        )
        for name, devices, append in (
            ("a", True, ""), ("b", True, ""), ("plain", False, ""), ("said", False, "initcall_debug"),
        )
    )  # fmt: skip
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    assert_undisturbed(tmp_path / "a.boot", tmp_path / "plain.boot")
    rows = {row["device"]: row for row in boot.devices().iter_rows(named=True)}
    late, never = rows["9030000.pl061"], rows["9010000.pl031"]
    assert (late["tries"], late["deferrals"], late["result"], late["driver"]) == (2, 1, "bound", "pl061_gpio")
    assert late["supplier"] == "4010000000.pcie"
    assert late["deferral"].endswith("supplier 4010000000.pcie not ready")
    assert "9030000.pl061" in rows["4010000000.pcie"]["consumers"].split(", ")
    assert late["waited_ns"] > late["deferred_ns"] > 0
    assert late["grade"] == "exact"
    assert never["result"] == "deferred"
    assert never["deferrals"] == never["tries"] > 0
    assert never["deferral"].endswith("supplier acme not ready")
    facts = dict(boot.facts().select("fact", "value").iter_rows())
    assert facts["kernel.deferred_probe.9010000.pl031"] == never["deferral"]
    assert rows["4010000000.pcie"]["initcall"] == "gen_pci_driver_init"
    # What the kernel itself logs of its probes is the same, as far as it goes.
    said = {row["device"]: row for row in firstlight.open(tmp_path / "said.boot").devices().iter_rows(named=True)}
    logged = {device for device, row in said.items() if row["tries"]}
    assert logged
    assert logged <= rows.keys()
    for device in logged:
        assert said[device]["tries"] == rows[device]["tries"]
        assert said[device]["result"] == rows[device]["result"]
    # A question of the user does not mix with them.
    answers = firstlight.ask(tmp_path / "a.boot", "really_probe(dev->kobj.name:string)")
    assert answers.unaffected, answers.differences
    assert answers.calls == answers.rows.height == sum(row["tries"] for row in rows.values())
