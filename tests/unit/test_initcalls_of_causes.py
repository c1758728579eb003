"""Causes whose functions are initcalls: a log with `initcall_debug` shows each of them, at the cost of its span."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firstlight.advise.entry import Entry
from firstlight.advise.read import catalogue
from imported_records import imported

LIST = Path(__file__).parents[1] / "fixtures/initcalls-of-linux-6.1.txt"
INITCALLS = frozenset(
    name for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#") for name in line.split()
)
#: Words that some entries need beside the initcall.
WORDS = "initcall_debug ip=dhcp hugepages=64 8250.nr_uarts=32 trace_event=sched"
SECOND = 1_000_000


def named(entry: Entry) -> list[str]:
    """The initcalls among the functions that an entry counts."""
    items = (*entry.all, *entry.any, *entry.more)
    return sorted({name for item in items for name in item.functions if name in INITCALLS})


NAMED = [(entry, name) for entry in catalogue().entries for name in named(entry)]


def log(name: str, took_us: int, module: str = "") -> str:
    """A log in which an initcall takes so long."""
    start = 500_000
    lines = [
        (0, "Linux version 6.1.0 (x@y) #1 SMP"),
        (0, f"Command line: console=ttyS0 {WORDS}"),
        (400_000, "clocksource: Switched to clocksource tsc"),
        (start, f"calling  {name}+0x0/0x40{module} @ 1"),
        (start + took_us, f"initcall {name}+0x0/0x40{module} returned 0 after {took_us} usecs"),
        (9 * SECOND, "Freeing unused kernel memory: 1024K"),
        (10 * SECOND, "Run /sbin/init as init process"),
    ]
    return "".join(f"[{at // SECOND:5}.{at % SECOND:06}] {text}\n" for at, text in lines)


def test_an_entry_that_names_an_initcall_among_its_functions_has_it_as_an_initcall_as_well() -> None:
    """A log has no functions, and its initcalls are the only sign of them."""
    missing: dict[str, list[str]] = {}
    for entry, name in NAMED:
        patterns = [item.initcall for item in (*entry.all, *entry.any) if item.initcall]
        if not any(re.search(pattern, name) for pattern in patterns):
            missing.setdefault(entry.id, []).append(name)
    assert missing == {}


def test_no_entry_needs_the_function_of_an_initcall_where_the_initcall_alone_shows_it() -> None:
    needed = [entry.id for entry in catalogue().entries for item in entry.all if INITCALLS & set(item.functions)]
    assert needed == []


@pytest.mark.parametrize(("entry", "name"), NAMED, ids=[f"{entry.id}-{name}" for entry, name in NAMED])
def test_a_long_initcall_of_a_log_is_a_cause_at_the_price_of_its_span(entry: Entry, name: str, tmp_path: Path) -> None:
    finding = imported(tmp_path, {"dmesg.txt": log(name, 3 * SECOND)}).explain().finding(entry.id)
    assert finding is not None
    assert (finding.cost.ns, finding.certainty) == (3_000_000_000, "estimated")


def test_a_short_initcall_is_no_cause(tmp_path: Path) -> None:
    for number, name in enumerate(sorted({name for _, name in NAMED})):
        place = tmp_path / str(number)
        place.mkdir()
        found = imported(place, {"dmesg.txt": log(name, 100)}).explain()
        assert [each.entry.id for each in found.findings + found.features if name in named(each.entry)] == []


def test_an_initcall_of_a_similar_name_is_no_cause(tmp_path: Path) -> None:
    for number, name in enumerate(sorted({name for _, name in NAMED})):
        place = tmp_path / str(number)
        place.mkdir()
        found = imported(place, {"dmesg.txt": log(f"my_{name}_too", 3 * SECOND)}).explain()
        assert [each.entry.id for each in found.findings + found.features if name in named(each.entry)] == []


def test_the_initcall_of_a_module_counts_as_well(tmp_path: Path) -> None:
    finding = imported(tmp_path, {"dmesg.txt": log("loop_init", 3 * SECOND, " [loop]")}).explain().finding("STO-15")
    assert finding is not None
    assert finding.cost.ns == 3_000_000_000


def test_the_list_has_initcalls_of_the_kernel_and_of_modules() -> None:
    assert {"i8042_init", "loop_init", "brd_init", "slab_sysfs_init", "hugetlb_init", "inet6_init"} <= INITCALLS
    assert {"start_kernel", "trace_event_init", "smp_init"}.isdisjoint(INITCALLS)
