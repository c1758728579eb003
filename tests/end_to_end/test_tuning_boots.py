"""A tuning of the minimal guest with a budget of a few boots."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import firstlight
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

pytestmark = pytest.mark.boot

OWN = """
[[remedy]]
id = "a-typo"
title = "a word that no kernel knows"
layer = "cmdline"
change = { append = "tpyo=1" }
risk = "low"
takes-away = "Nothing."
waits = ["nothing"]

[[remedy]]
id = "no-root"
title = "a boot that fails"
layer = "machine"
change = { memory = "64M" }
risk = "high"
takes-away = "Everything."

[[remedy]]
id = "no-tests"
title = "no self-tests"
layer = "cmdline"
change = { append = "cryptomgr.notests" }
risk = "low"
takes-away = "Self-tests."
"""

SHIPPED = """no-crypto-tests no-apic-timer no-timer-check quiet expedited-rcu no-mitigations initcall_blacklist
    no-pm-timer small-percpu-pages no-slab-files keep-lock-prefixes no-hpet-device
    simple-chipset memory-512m memory-256m""".split()


def test_a_quick_tuning_keeps_what_helps_and_names_what_does_not(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    found = firstlight.tune(
        "minimal", goal="kernel", allow=["cmdline", "machine"], budget=8, output=tmp_path / "tuned",
        remedies=[tmp_path / "own.toml"], without=SHIPPED,
    )  # fmt: skip
    assert found.kept == ("no-tests",)
    assert "does not know `tpyo=1`" in found.rejected["a-typo"]
    assert "no-root" in found.rejected
    assert all(check.outcome != "fail" for check in found.health)
    again = firstlight.tune(
        "minimal", goal="kernel", allow=["cmdline", "machine"], budget=8, output=tmp_path / "again",
        remedies=[tmp_path / "own.toml"], without=SHIPPED,
    )  # fmt: skip
    assert again == found


def test_the_result_boots_as_the_tuning_measured_it(tmp_path: Path) -> None:
    found = firstlight.tune("minimal", goal="ready", allow=["cmdline"], budget=2, output=tmp_path / "tuned")
    words = firstlight.files_to_apply(found)["command-line"].strip()
    boot = firstlight.open(record(RecordOptions(output=tmp_path / "b.boot", append=words)))
    assert boot.manifest.totals.virtual_ns == found.after_ns


class SameKernel:
    """A builder whose every kernel is the distribution's own, under another name."""

    def __init__(self, source: Path | None, *_: object) -> None:
        assert source is not None
        self.source = source

    def root(self) -> Path:
        return self.source

    def configure(self, wanted: Mapping[str, str]) -> dict[str, str]:
        return dict(wanted)

    def build(self, config: Mapping[str, str]) -> Path:
        built = self.source / "boot/vmlinuz"
        built.parent.mkdir(exist_ok=True)
        shutil.copyfile(default_kernel().path, built)
        return built


def test_a_kernel_that_was_found_is_a_remedy_from_which_the_search_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "linux"
    (source / "drivers/char").mkdir(parents=True)
    (source / "Kconfig").touch()
    (source / "drivers/Makefile").write_text("obj-y += char/\n")
    (source / "drivers/char/Makefile").write_text("obj-$(CONFIG_TCG_TPM) += never.o\n")
    (source / "drivers/char/never.c").write_text("static int __init no_boot_calls_this(void)\n{\n}\n")
    monkeypatch.setattr("firstlight.advise.tuning.run.KernelTree", SameKernel)
    found = firstlight.tune(
        "minimal", goal="kernel", allow=["kconfig", "cmdline"], budget=5, output=tmp_path / "tuned", keep=["ext4"],
        kernel_source=source, without=[*SHIPPED[1:], "no-ftrace-check", "no-trace-enums"],
    )  # fmt: skip
    assert found.kept == ("kernel-configuration", "no-crypto-tests")
    assert found.kernel is not None
    assert [each.why for each in found.kernel.tried] == [""]
    assert found.kernel.without[0].startswith("TCG_TPM of drivers/char")
    # It is the same kernel, so the other remedy gives everything.
    assert found.time(("kernel-configuration",)) == found.before_ns
    assert found.time(("no-crypto-tests",)) == found.after_ns
    assert "# CONFIG_TCG_TPM is not set" in firstlight.files_to_apply(found)["kernel.config"]
