"""Device trees that are given: what is one, and which fits QEMU's machine."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from device_trees import assembled, cells, flatten
from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel.device_tree import DeviceTreeError, Node, devices_of, memory_of, read_tree
from firstlight.lab.qemu.given_tree import Machine, processors_of, read_given
from firstlight.lab.qemu.untrusted import questionable
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import DEFAULT, architecture_of
from firstlight.recipe.options import RecordOptions

ARM, RISCV = architecture_of("aarch64"), architecture_of("riscv64")


def board(compatible: str = "linux,dummy-virt") -> Node:
    """A small tree with all that the machine of the tests has."""
    return Node(
        {"compatible": compatible.encode() + b"\0", "#address-cells": cells(2), "#size-cells": cells(2)},
        {
            "memory@40000000": Node({"device_type": b"memory\0", "reg": cells(0, 0x4000_0000, 0, 512 << 20)}),
            "intc@8000000": Node(
                {"compatible": b"arm,gic-v3\0", "reg": cells(0, 0x800_0000, 0, 0x1_0000), "interrupt-controller": b""}
            ),
            "timer": Node({"compatible": b"arm,armv8-timer\0arm,armv7-timer\0"}),
            "pl011@9000000": Node(
                {"compatible": b"arm,pl011\0arm,primecell\0", "reg": cells(0, 0x900_0000, 0, 0x1000)}
            ),
            "fw-cfg@9020000": Node({"compatible": b"qemu,fw-cfg-mmio\0", "reg": cells(0, 0x902_0000, 0, 0x18)}),
            "pcie@10000000": Node(
                {
                    "compatible": b"pci-host-ecam-generic\0",
                    "device_type": b"pci\0",
                    "reg": cells(0x40, 0x1000_0000, 0, 1),
                }
            ),
            "cpus": Node(
                {"#address-cells": cells(1), "#size-cells": cells(0)},
                {"cpu@0": Node({"device_type": b"cpu\0", "reg": cells(0)})},
            ),
            "chosen": Node({"stdout-path": b"/pl011@9000000\0", "rng-seed": bytes(32)}),
        },
    )


def machine(architecture=ARM) -> Machine:  # type: ignore[no-untyped-def]
    return Machine(architecture, "virt-7.2,gic-version=3", "cortex-a57", 512 << 20, flatten(board()))


def write(folder: Path, content: bytes) -> Path:
    path = folder / "board.dtb"
    path.write_bytes(content)
    return path


def given(folder: Path, tree: Node, architecture=ARM, *, reports: bool = True, loader: bool = True) -> list[str]:  # type: ignore[no-untyped-def]
    """What is said of a tree."""
    content, notes = read_given(write(folder, flatten(tree)), machine(architecture), reports=reports, loader=loader)
    assert content == flatten(tree)
    return notes


def test_a_tree_of_the_machine_is_taken(tmp_path: Path) -> None:
    assert given(tmp_path, board()) == []
    root = read_tree(flatten(board()))
    assert root == board()
    assert processors_of(root) == 1
    assert memory_of(root) == [(0x4000_0000, 512 << 20)]
    assert ("/pl011@9000000", 0x900_0000) in [(device.path, device.address) for device in devices_of(root)]


def test_a_tree_with_free_bytes_is_taken_without_them(tmp_path: Path) -> None:
    tree = flatten(board())
    roomy = tree[:4] + cells(1 << 20) + tree[8:] + bytes((1 << 20) - len(tree))
    content, _ = read_given(write(tmp_path, roomy), machine(), reports=True, loader=False)
    assert content == tree
    assert read_tree(content) == board()


def test_a_board_of_another_name_is_taken_when_the_machine_is_in_it(tmp_path: Path) -> None:
    tree = board("acme,gadget")
    tree.children["soc"] = Node(
        {"compatible": b"simple-bus\0", "#address-cells": cells(2), "#size-cells": cells(2), "ranges": b""},
        {name: tree.children.pop(name) for name in ("intc@8000000", "pl011@9000000", "pcie@10000000")},
    )
    assert given(tmp_path, tree) == []


def test_a_tree_without_seeds_is_taken_and_that_is_said(tmp_path: Path) -> None:
    tree = board()
    del tree.children["chosen"]
    assert [note.partition(" in ")[0] for note in given(tmp_path, tree)] == ["this device tree has no `rng-seed`"]


@pytest.mark.parametrize(
    ("node", "missing"),
    [
        ("pl011@9000000", r"no serial port \(`arm,pl011` at 0x9000000\)"),
        ("intc@8000000", r"no interrupt controller \(`arm,gic-v3` at 0x8000000\)"),
        ("timer", r"no timer \(`arm,armv8-timer`\)"),
        ("pcie@10000000", r"no PCI host for the guest's report \(`pci-host-ecam-generic`"),
        ("fw-cfg@9020000", r"no firmware interface \(`qemu,fw-cfg-mmio` at 0x9020000\)"),
    ],
    ids="uart interrupts timer pci firmware".split(),
)
def test_what_the_machine_has_has_to_be_in_the_tree(tmp_path: Path, node: str, missing: str) -> None:
    without, disabled, elsewhere = board(), board(), board()
    del without.children[node]
    disabled.children[node].properties["status"] = b"disabled\0"
    elsewhere.children[node].properties["reg"] = cells(0, 0xFE20_1000, 0, 0x1000)
    for tree in (without, disabled, *([] if node == "timer" else [elsewhere])):
        with pytest.raises(UsageError, match=missing) as caught:
            given(tmp_path, tree)
        assert "dumpdtb=own.dtb -cpu cortex-a57 -m 512M" in str(caught.value.hint)


def test_another_board_is_named(tmp_path: Path) -> None:
    tree = board("raspberrypi,4-model-b")
    for name in ("pl011@9000000", "intc@8000000"):
        del tree.children[name]
    with pytest.raises(UsageError, match="is of another board, `raspberrypi,4-model-b`: it has no interrupt contr"):
        given(tmp_path, tree)


def test_only_who_needs_them_has_to_have_the_card_and_the_interface(tmp_path: Path) -> None:
    tree = board()
    del tree.children["pcie@10000000"], tree.children["fw-cfg@9020000"]
    assert given(tmp_path, tree, reports=False, loader=False) == []


def test_processors_that_the_machine_lacks_are_named(tmp_path: Path) -> None:
    tree = board()
    tree.children["cpus"].children["cpu@1"] = Node({"device_type": b"cpu\0", "reg": cells(1)})
    with pytest.raises(UsageError, match="has 2 processors, but the machine has 1"):
        given(tmp_path, tree)
    tree.children["cpus"].children["cpu@1"].properties["status"] = b"disabled\0"
    assert given(tmp_path, tree) == []


def test_memory_counts_where_qemu_does_not_write_it(tmp_path: Path) -> None:
    without, large, small = board(), board(), deepcopy(board())
    del without.children["memory@40000000"]
    large.children["memory@40000000"].properties["reg"] = cells(0, 0x4000_0000, 0, 1 << 30)
    small.children["memory@40000000"].properties["reg"] = cells(0, 0x4000_0000, 0, 256 << 20)
    for tree in (without, large, small):
        assert given(tmp_path, tree) == []
    with pytest.raises(UsageError, match="has no memory: a node"):
        given(tmp_path, without, RISCV)
    with pytest.raises(UsageError, match=r"has memory of 1 GiB at 0x40000000, and the machine has 512") as caught:
        given(tmp_path, large, RISCV)
    assert "`--memory 1024M`" in str(caught.value.hint)
    assert "uses 256" in given(tmp_path, small, RISCV)[0]


DAMAGED = {
    "empty": (b"", "this is not a device tree"),
    "source": (b"/dts-v1/;\n/ {};\n", "this is the source of a device tree"),
    "zeros": (bytes(100), "this is not a device tree"),
    "short": (flatten(board())[:20], "is truncated: 20 bytes"),
    "truncated": (flatten(board())[:-1], r"is truncated: [\d,]+ of [\d,]+ bytes"),
    "old": (flatten(board(), version=3), "has format version 3"),
    "new": (flatten(board(), oldest=18), "has format version 17"),
    "large": (flatten(Node({"fill": bytes(1 << 20)}, board().children)), "is too large: 1,0"),
    "huge": (flatten(board()) + bytes(16 << 20), "is not a device tree: it has 16"),
    "ends": (assembled(cells(1, 0, 2, 2, 9), b""), "more nodes end than begin"),
    "open": (assembled(cells(1, 0, 9), b""), "no complete root"),
    "token": (assembled(cells(1, 0, 7), b""), "an unknown token"),
    "long": (assembled(cells(1, 0, 3, 1 << 30, 0), b"a\0"), "longer than the file"),
    "name": (assembled(cells(1, 0, 3, 0, 1 << 20), b""), "a name has no end"),
    "deep": (assembled(cells(1, 0) * 80 + cells(2) * 80 + cells(9), b""), "nest too deep"),
    "overlay": (flatten(Node(children={"fragment@0": Node(children={"__overlay__": Node()})})), "this is an overlay"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_another_file_is_named_with_a_remedy(tmp_path: Path, name: str) -> None:
    content, message = DAMAGED[name]
    with pytest.raises(UsageError, match=message) as caught:
        read_given(write(tmp_path, content), machine(), reports=True, loader=False)
    assert caught.value.hint
    assert caught.value.exit_code == 2


def test_a_tree_that_is_cut_anywhere_is_an_error_of_its_own() -> None:
    whole = flatten(board())
    for size in range(len(whole)):
        with pytest.raises(DeviceTreeError):
            read_tree(whole[:size])


def test_a_missing_file_is_a_missing_input(tmp_path: Path) -> None:
    for path in (tmp_path / "no.dtb", tmp_path):
        with pytest.raises(LabError) as caught:
            read_given(path, machine(), reports=True, loader=False)
        assert caught.value.exit_code == 2


def test_only_machines_with_a_device_tree_take_one(tmp_path: Path) -> None:
    options = RecordOptions(tmp_path / "a.boot", dtb=tmp_path / "board.dtb")
    with pytest.raises(UsageError, match="has no device tree") as caught:
        check_choices(options, DEFAULT)
    assert "--arch arm64" in str(caught.value.hint)
    check_choices(options, ARM)
    both = RecordOptions(tmp_path / "a.boot", dtb=tmp_path / "board.dtb", qemu_options=("-dtb", "other.dtb"))
    with pytest.raises(UsageError, match="cannot be combined"):
        check_choices(both, ARM)


def test_a_tree_of_a_stranger_is_not_opened() -> None:
    assert questionable(Choices(dtb=Path("/home/a/b.dtb"))) == ["`--dtb /home/a/b.dtb`"]
