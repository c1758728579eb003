"""A script of many programs, one of which sleeps: the sleep is not a cost of starting programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from firstlight.advise.findings import Explanation
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot

SLEEP_NS = 400_000_000
SCRIPT = f"usleep {SLEEP_NS // 1000}; i=0; while [ $i -lt 120 ]; do /bin/busybox true; i=$((i + 1)); done"


@pytest.fixture(scope="module")
def explained(boots: Path) -> Explanation:
    bundle = record(short(output=boots / "many.boot", guest_commands=(SCRIPT,)))
    return firstlight.open(bundle).explain()


def test_the_sleep_of_a_program_is_no_cost_of_starting_programs(explained: Explanation) -> None:
    found = explained.finding("SYS-12")
    assert found is not None
    assert found.cost.waits_ns == 0
    assert 0 < found.cost.ns < SLEEP_NS


def test_the_sleep_is_a_finding_of_its_own(explained: Explanation) -> None:
    found = explained.finding("APP-03")
    assert found is not None
    assert found.cost.waits_ns >= SLEEP_NS
