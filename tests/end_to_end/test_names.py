"""What ran has the name that it had when it ran: modules, their initialisation, code that the kernel generates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import firstlight
from firstlight.analysis.initcalls import initcalls
from firstlight.analysis.nameless import nameless_modules
from firstlight.cli.app import app
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.kernel.modules import modules_for
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.run.record import record
from firstlight.recipe.isa.x86_64 import X86_64
from short_boots import short

pytestmark = pytest.mark.boot

UP = "the shell is up"

#: The modules of a root in memory, and the functions that begin their initialisation.
INITIALISERS = {
    "libnvdimm": "libnvdimm_init",
    "nfit": "nfit_init",
    "nd_btt": "nd_btt_init",
    "nd_pmem": "nd_pmem_driver_init",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user land of a shell that says when it is up; there is no report, so what has a name got it while it ran."""
    folder = tmp_path_factory.mktemp("root")
    for name in ("bin/sh", "bin/busybox", "bin/sleep"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(static_busybox(), folder / name)
    (folder / "sbin").mkdir()
    (folder / "sbin/init").write_text(f"#!/bin/sh\necho {UP} >/dev/console\nexec sleep 9\n")
    (folder / "sbin/init").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def boot(boots: Path, root: Path) -> firstlight.Boot:
    """A boot that loads modules."""
    return firstlight.open(record(short(output=boots / "modules.boot", rootfs=str(root), ready=UP)))


def own_of(boot: firstlight.Boot, function: str) -> int:
    """Instructions of its own of a function or row."""
    return int(boot.functions().filter(pl.col("function") == function)["self_instructions"].sum())


def test_modules_initcalls_have_names_though_their_code_is_freed(boot: firstlight.Boot) -> None:
    calls = initcalls(boot).filter(pl.col("level") == "module")
    assert dict(calls.select("module", "function").iter_rows()) == INITIALISERS
    entered = boot.functions().filter(pl.col("function").is_in(list(INITIALISERS.values())))
    assert dict(entered.select("module", "function").iter_rows()) == INITIALISERS
    assert entered["count"].to_list() == [1] * len(INITIALISERS)


def test_no_instruction_of_the_kernel_is_without_a_name(boot: firstlight.Boot) -> None:
    assert own_of(boot, "[kernel without symbol]") == 0
    assert nameless_modules(boot) == {}


def test_a_module_without_symbols_is_a_row_by_its_name_and_is_reported(boots: Path, root: Path, tmp_path: Path) -> None:
    kernel = default_kernel()
    assert kernel.modules is not None
    modules = tmp_path / "lib/modules" / str(kernel.release)
    modules.mkdir(parents=True)
    for index in kernel.modules.glob("modules.builtin*"):
        shutil.copy(index, modules)
    for module in modules_for(kernel, X86_64.pmem_modules):
        (modules / f"{module.name}.ko").write_bytes(module.content)
    subprocess.run(["strip", "--strip-unneeded", modules / "nd_pmem.ko"], check=True)
    image = tmp_path / "boot" / f"vmlinuz-{kernel.release}"
    image.parent.mkdir()
    shutil.copy(kernel.path, image)
    bundle = record(short(output=boots / "stripped.boot", rootfs=str(root), kernel=image, ready=UP))
    boot = firstlight.open(bundle)
    assert own_of(boot, "[kernel without symbol]") == 0
    assert list(nameless_modules(boot)) == ["nd_pmem"]
    assert nameless_modules(boot)["nd_pmem"] == own_of(boot, "[nd_pmem]") > 0
    assert all(invariant.holds for invariant in boot.manifest.invariants.values())
    shown = CliRunner().invoke(app, ["show", str(bundle)])
    assert shown.exit_code == 0
    assert "module `nd_pmem` has no symbols for" in " ".join(shown.stdout.split())
