"""Who waited while nothing ran: a comparison names the program that slept, not the one that ran next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from bundles import make_bundle, settle, write_table
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.causes import causes_of
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.comparison.exact.headline import headline
from firstlight.comparison.exact.ledger import Tolerance, ledger_of
from firstlight.comparison.exact.parts import Parts
from firstlight.comparison.exact.waits import Waiting, Waits
from invented_threads import GOES_ON, IDLE, INIT, SHELL, SLEEPS, START, TOOL, WORKER, Turn, Wake, bundle

MS = 1_000_000


def _sleeping(directory: Path, thread: int, naps: Sequence[tuple[int, int]]) -> Boot:
    """A boot whose init waits for a program that naps; init runs soon after each nap, too, for a moment."""
    directory.mkdir()
    turns: list[Turn] = [*START, (INIT, 1700, 1900, SLEEPS, "child"), (thread, 1900, 1910, SLEEPS, "nap")]
    wakes: list[Wake] = []
    idle = []
    at = 1910
    for number, (start, end) in enumerate(naps):
        idle.append((start, end))
        turns.append((IDLE, at, end, GOES_ON, None))
        last = number == len(naps) - 1
        # Others run when the idle time ends; the program sleeps on.
        turns.append((thread, end, end + 10, GOES_ON, None) if last else (INIT, end, end + 10, SLEEPS, "child"))
        wakes.append((end, IDLE, thread if last else INIT, 1))
        at = end + 10
    turns.append((INIT, at, 4800, GOES_ON, None))
    wakes.append((at, thread, INIT, 0))
    return open_boot(bundle(directory, turns, wakes, idle).directory)


def test_idle_time_is_of_the_program_that_slept_through_it_and_not_of_what_ran_next(tmp_path: Path) -> None:
    before = _sleeping(tmp_path / "a", TOOL, [(1915, 1920)])
    after = _sleeping(tmp_path / "b", TOOL, [(1915, 2400), (2420, 2900)])
    waits = Waits(before, after)
    tool = Waiting("tool", "a.service")
    assert waits.changes == {tool: (485 + 480 - 5) * MS}
    assert waits.reason_of(tool) == "a timer in hrtimer_nanosleep"


def test_a_wait_of_a_program_that_the_other_boot_lacks_is_one_sided(tmp_path: Path) -> None:
    before = _sleeping(tmp_path / "a", SHELL, [(1915, 1920)])
    after = _sleeping(tmp_path / "b", TOOL, [(1915, 2400)])
    waits = Waits(before, after)
    assert waits.one_sided_ns(480 * MS) == 480 * MS
    assert waits.one_sided_ns(900 * MS) == 485 * MS
    assert Waits(before, before).one_sided_ns(480 * MS) == 0


def test_idle_time_before_a_worker_of_the_kernel_has_work_is_of_who_waits_for_the_worker(tmp_path: Path) -> None:
    tmp_path.joinpath("a").mkdir()
    turns: list[Turn] = [
        *START,
        (WORKER, 1700, 1710, SLEEPS, "worker"),
        (INIT, 1710, 1720, SLEEPS, "rcu"),
        (IDLE, 1720, 2200, GOES_ON, None),
        (WORKER, 2200, 2210, SLEEPS, "worker"),
        (INIT, 2210, 4800, GOES_ON, None),
    ]
    after = bundle(tmp_path / "a", turns, [(2200, IDLE, WORKER, 1), (2210, WORKER, INIT, 0)], [(1720, 2200)])
    waits = Waits(_sleeping(tmp_path / "b", TOOL, [(1915, 1920)]), open_boot(after.directory))
    assert waits.changes[Waiting("init")] == 480 * MS
    assert waits.reason_of(Waiting("init")) == "an RCU grace period"


class _Slept(Waits):
    """Who waited, as a record of wake-ups would have it."""

    def __init__(self, changes: dict[Waiting, int], one_sided_ns: int) -> None:
        self.known, self.alone_ns = changes, one_sided_ns

    @property
    def changes(self) -> dict[Waiting, int]:
        return self.known

    def one_sided_ns(self, change_ns: int) -> int:
        return self.alone_ns

    def reason_of(self, who: Waiting) -> str | None:
        return "a timer in hrtimer_nanosleep"


SLEEP = Waiting("sleep", "sleepy.service")


def _idler(directory: Path, name: str, idle_ns: int, busy_ns: int) -> Boot:
    path = make_bundle(directory, name=name)
    rows = pl.read_parquet(path / "calls.parquet")
    more = pl.when(pl.col("kind") == "idle").then(idle_ns).when(pl.col("function") == "setup_arch").then(busy_ns)
    executed = pl.when(pl.col("function") == "setup_arch").then(busy_ns).otherwise(0)
    write_table(
        path, "calls",
        rows.with_columns(
            self_ns=pl.col("self_ns") + more.otherwise(0), self_instructions=pl.col("self_instructions") + executed
        ),
    )  # fmt: skip
    return open_boot(settle(path))


def _compared(directory: Path, idle_ns: int, busy_ns: int) -> ExactDifference:
    return exact_difference(
        _idler(directory, "a.boot", 0, 200 * MS), _idler(directory, "b.boot", idle_ns, 200 * MS + busy_ns)
    )


def test_a_new_sleep_is_caused_although_other_work_went(tmp_path: Path) -> None:
    difference = _compared(tmp_path, 250 * MS, -160 * MS)
    assert difference.tree is not None
    waits = _Slept({SLEEP: 250 * MS}, 250 * MS)
    ledger = ledger_of(difference.a, difference.b, difference.tree, Tolerance(), waits)
    assert ledger.total == Parts(caused_ns=90 * MS)
    first = causes_of(difference.a, difference.b, difference.tree, ledger, None, waits)[0]
    assert (first.names, first.caused_ns) == (("sleepy.service", "sleep"), 250 * MS)
    assert first.waits_for == "a timer in hrtimer_nanosleep"


def test_idle_time_that_only_follows_from_less_work_still_moved(tmp_path: Path) -> None:
    difference = _compared(tmp_path, 100 * MS, -160 * MS)
    assert difference.tree is not None
    ledger = ledger_of(difference.a, difference.b, difference.tree, Tolerance(), _Slept({SLEEP: 100 * MS}, 0))
    assert ledger.total == Parts(caused_ns=-160 * MS, moved_ns=100 * MS)


@pytest.mark.parametrize(("own_ns", "named"), [(100 * MS, 100 * MS), (10 * MS, None)])
def test_a_program_is_charged_with_what_it_waited_and_not_with_all_idle_time(
    tmp_path: Path, own_ns: int, named: int | None
) -> None:
    difference = _compared(tmp_path, 250 * MS, 0)
    assert difference.tree is not None
    assert difference.ledger is not None
    waits = _Slept({SLEEP: own_ns}, 0)
    causes = causes_of(difference.a, difference.b, difference.tree, difference.ledger, None, waits)
    assert {each.names: each.caused_ns for each in causes}.get(SLEEP.names) == named


def test_a_first_line_whose_causes_point_the_other_way_says_so(tmp_path: Path) -> None:
    difference = _compared(tmp_path, 250 * MS, -160 * MS)
    # The boots do not record who waited, so idle time absorbs the removed work, and the remainder is caused.
    assert difference.ledger is not None
    assert difference.ledger.total == Parts(-70 * MS, 160 * MS)
    assert headline(difference).startswith("B is slower by 90.000 ms")
    assert "-70.000 ms is caused by" in headline(difference)
    assert "the rest moved or is within the noise band" in headline(difference)
