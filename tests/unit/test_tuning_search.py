"""The search of `firstlight tune`, in invented spaces of remedies that interact."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from firstlight.advise.tuning.search import Choice, Found, Measured, SearchStep, search
from firstlight.advise.tuning.shares import remedy_shares

Space = Callable[[Choice], int | str]
"""The time of a choice in ns, or why it does not count."""


def find(names: str, space: Space, budget: int = 100, waits: dict[str, list[str]] | None = None) -> Found:
    def measure(choices: Sequence[Choice]) -> list[Measured]:
        results = (space(choice) for choice in choices)
        return [Measured(None, each) if isinstance(each, str) else Measured(each) for each in results]

    return search(names.split(), measure, budget, waits or {})


def additive(gains: dict[str, int]) -> Space:
    return lambda choice: 10_000 - sum(gains[name] for name in choice)


def test_independent_remedies_that_give_something_are_kept() -> None:
    found = find("a b useless", additive({"a": 3000, "b": 500, "useless": 0}))
    assert found.kept == {"a", "b"}
    assert found.complete
    assert found.rejected == {"useless": "no effect: the boot took exactly as long"}


def test_a_remedy_that_harms_alone_is_kept_where_it_pays_with_another() -> None:
    def space(choice: Choice) -> int:
        # The mask exposes the wait for entropy, until that is gone.
        return (
            10_000
            - (2000 if "fast" in choice else 0)
            + (
                -700
                if {"mask", "entropy"} <= choice
                else 128
                if "mask" in choice
                else -20
                if "entropy" in choice
                else 0
            )
        )

    found = find("fast mask entropy", space, waits={"mask": ["entropy"], "entropy": ["entropy"]})
    assert found.kept == {"fast", "mask", "entropy"}


def test_a_pair_is_taken_back_when_each_of_it_was_left_out() -> None:
    def space(choice: Choice) -> int:
        # Two substitutes look useless among each other: without either the other does the work.
        return 10_000 - (1000 if choice & {"a", "b"} else 0) - (300 if {"c", "d"} <= choice else 0)

    found = find("a b c d", space, waits={"c": ["w"], "d": ["w"]})
    assert len(found.kept & {"a", "b"}) == 1
    assert found.kept >= {"c", "d"}


def test_a_remedy_that_gains_alone_and_costs_among_the_others_is_left_out() -> None:
    def space(choice: Choice) -> int:
        return (
            10_000 - (5000 if "big" in choice else 0) + ((400 if "big" in choice else -100) if "timer" in choice else 0)
        )

    found = find("big timer", space)
    assert found.kept == {"big"}
    assert found.rejected["timer"] == "among the others it makes the boot slower"


def test_a_boot_that_fails_is_a_result_and_the_search_goes_on_without_it() -> None:
    def space(choice: Choice) -> int | str:
        return "the boot failed (panic): no root" if "fatal" in choice else 10_000 - 1000 * len(choice)

    found = find("a fatal b", space)
    assert found.kept == {"a", "b"}
    assert found.rejected == {"fatal": "the boot failed (panic): no root"}


def test_remedies_that_are_unhealthy_only_together_are_separated() -> None:
    def space(choice: Choice) -> int | str:
        if {"a", "b"} <= choice:
            return "unhealthy: HC-UNITS x.service: failed"
        return 10_000 - sum({"a": 1000, "b": 2000, "c": 300}[name] for name in choice)

    found = find("a b c", space)
    assert found.kept == {"b", "c"}
    assert "unhealthy: HC-UNITS" in found.rejected["a"]


@pytest.mark.parametrize("budget", range(1, 12))
def test_a_budget_is_never_exceeded_and_the_best_so_far_is_the_result(budget: int) -> None:
    found = find("a b c", additive({"a": 3000, "b": 2000, "c": 1000}), budget)
    assert len(found.trials) <= budget
    assert found.trials[0].step is SearchStep.BASELINE
    # The most promising one is tried first.
    assert found.kept >= (set() if budget == 1 else {"a"})
    if not found.complete:
        assert all(name in found.rejected for name in {"a", "b", "c"} - found.kept)


def test_a_small_budget_keeps_boots_for_the_remedies_together() -> None:
    gains = {f"r{number:02}": 900 - 40 * number for number in range(20)}
    found = find(" ".join(gains), additive(gains), budget=12)
    # Six are tried alone, the most promising first, then together.
    assert found.kept == {f"r{number:02}" for number in range(6)}
    assert not found.complete
    assert found.rejected["r19"] == "the budget ended before it was tried"


def test_useless_remedies_leave_the_budget_to_later_rounds() -> None:
    gains = {**{f"r{number:02}": 0 for number in range(12)}, "late": 3000, "later": 2000}
    found = find(" ".join(gains), additive(gains), budget=19)
    assert found.kept == {"late", "later"}
    assert found.complete


def test_the_search_measures_nothing_twice() -> None:
    asked: list[Choice] = []

    def space(choice: Choice) -> int:
        asked.append(choice)
        return 10_000 - 1000 * len(choice)

    find("a b c", space)
    assert len(asked) == len(set(asked))


def test_shares_of_pairs_that_interact_add_up_exactly() -> None:
    times = {"": 1001, "a": 900, "b": 800, "c": 950, "ab": 650, "ac": 850, "bc": 749, "abc": 600}
    found = remedy_shares("abc", lambda choice: times["".join(sorted(choice))])
    assert found is not None
    assert found.exact
    assert sum(each.share_ns or 0 for each in found.shares) == found.total_ns == -401
    assert found.together_ns == 0


def test_without_every_combination_what_more_than_pairs_do_is_a_row_of_its_own() -> None:
    times = {"": 1000, "a": 900, "b": 800, "ac": 850, "bc": 740, "abc": 600}
    found = remedy_shares("abc", lambda choice: times.get("".join(sorted(choice))))
    assert found is not None
    assert not found.exact
    assert sum(each.share_ns or 0 for each in found.shares) + found.together_ns == found.total_ns
