"""A tuning of the minimal guest with a budget of a few boots."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
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

SHIPPED = "no-crypto-tests no-apic-timer no-timer-check quiet expedited-rcu no-mitigations initcall_blacklist".split()


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
