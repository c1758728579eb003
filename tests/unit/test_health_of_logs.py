"""`firstlight health` of boots with unlike evidence: what one of them cannot show is unknown, and no difference."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight
from firstlight.advise.health.result import HealthCheck
from imported_records import imported
from invented_system import Planted, system

KERNEL = """[    0.000000] Linux version 6.1.0 (x@y) #1 SMP
[    0.000000] Command line: console=ttyS0 root=/dev/pmem0 nokaslr
[    0.000000] tsc: Detected 1000.000 MHz processor
[    0.010000] Memory: 480000K/507904K available (14342K kernel code)
[    0.020000] Unknown kernel command line parameters "nokaslr", will be passed to user space.
[    0.100000] Calibrating delay loop (skipped), value calculated using timer frequency.. 8000.00 BogoMIPS (lpj=4000000)
[    0.200000] clocksource: Switched to clocksource tsc
[    0.300000] random: crng init done
[    0.900000] Freeing unused kernel image (initmem) memory: 2612K
[    1.000000] Run /sbin/init as init process
[    1.100000] systemd[1]: systemd 252 running in system mode
[    1.200000] systemd[1]: Starting cron.service - Regular background program...
[    1.300000] systemd[1]: Started cron.service - Regular background program.
"""
UNREAD = "Unknown kernel command line parameters"


def log(folder: Path, name: str, text: str = KERNEL) -> Path:
    """An import of a kernel's log."""
    place = folder / name
    place.mkdir()
    return imported(place, {"dmesg.txt": text}).directory


def checked(boot: Path, baseline: Path | None) -> dict[str, HealthCheck]:
    return {check.id: check for check in firstlight.health(boot, baseline).checks}


def failed(boot: Path, baseline: Path | None) -> list[str]:
    return [id for id, check in checked(boot, baseline).items() if check.outcome == "fail"]


def test_a_log_does_not_fail_for_what_only_a_recording_shows(tmp_path: Path) -> None:
    found = checked(log(tmp_path, "log"), system(tmp_path, "recorded.boot"))
    assert [id for id, check in found.items() if check.outcome == "fail"] == []
    reasons = {id: check.detail for id, check in found.items() if check.outcome == "unknown"}
    assert "no record that would show" in reasons["HC-BOOT"]
    assert "marks of the baseline" in reasons["HC-BOOT"]
    assert reasons["HC-ACTIVE"] == "1 unit up; the evidence does not show the state of 1 unit of the baseline"
    assert "would show a login by" in reasons["HC-LOGIN"]
    assert "`nokaslr`" in reasons["HC-CMDLINE"]
    assert "does not say what read it" in reasons["HC-CMDLINE"]


def test_a_recording_does_not_fail_for_what_only_a_log_shows(tmp_path: Path) -> None:
    found = checked(system(tmp_path, "recorded.boot"), log(tmp_path, "log"))
    assert [id for id, check in found.items() if check.outcome == "fail"] == []
    assert "marks of the baseline" in found["HC-BOOT"].detail
    assert found["HC-ACTIVE"].outcome == found["HC-LOGIN"].outcome == "pass"


def test_an_argument_that_the_kernel_hands_on_is_not_known_to_be_lost(tmp_path: Path) -> None:
    assert checked(log(tmp_path, "log"), None)["HC-CMDLINE"].outcome == "unknown"


def test_an_argument_that_the_baseline_accounts_for_is_no_difference(tmp_path: Path) -> None:
    words: Planted = {"kernel.command_line.words": "nokaslr\tfirstlight\twants it"}
    found = checked(log(tmp_path, "log"), system(tmp_path, "recorded.boot", words))["HC-CMDLINE"]
    assert (found.outcome, found.detail) == ("pass", "the kernel handed `nokaslr` to userspace, as in the baseline")


def test_an_unread_argument_that_a_log_has_as_well_is_unknown(tmp_path: Path) -> None:
    boot = system(tmp_path, "recorded.boot", {"kernel.command_line.unread": "nokaslr"})
    other = system(tmp_path, "other.boot", {"kernel.command_line.unread": "nokaslr tpyo"})
    assert checked(boot, log(tmp_path, "log"))["HC-CMDLINE"].outcome == "unknown"
    assert failed(other, log(tmp_path, "other")) == ["HC-CMDLINE"]


SAME: dict[str, tuple[str, str, str]] = {
    "a mark is gone": ("Freeing unused kernel image (initmem) memory: 2612K", "something else", "HC-BOOT"),
    "a unit is gone": ("cron.service", "atd.service", "HC-ACTIVE"),
    "a unit is not done": ("[    1.300000] systemd[1]: Started cron.service - Regular background program.\n", "",
                           "HC-ACTIVE"),
    "an argument more": (f'{UNREAD} "nokaslr"', f'{UNREAD} "nokaslr tpyo"', "HC-CMDLINE"),
    "another clock source": ("clocksource tsc", "clocksource hpet", "HC-CLOCK"),
    "less memory": ("480000K/507904K", "230000K/253952K", "HC-MEM"),
    "another lpj": ("lpj=4000000", "lpj=500000", "HC-LPJ"),
    "a stack trace": ("crng init done\n", "crng init done\n[    0.31] WARNING: CPU: 0 PID: 1 at a.c:1 f\n", "HC-DMESG"),
    "an error of a disk": ("crng init done\n", "crng init done\n[    0.31] I/O error, dev sda\n", "HC-FS"),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_logs_of_the_same_kind_that_differ_still_fail(what: str, tmp_path: Path) -> None:
    old, new, check = SAME[what]
    assert old in KERNEL
    before, after = log(tmp_path, "before"), log(tmp_path, "after", KERNEL.replace(old, new))
    assert failed(before, before) == []
    assert failed(after, before) == [check]


def test_a_login_that_a_console_no_longer_shows_fails(tmp_path: Path) -> None:
    prompt = "[    1.400000] systemd[1]: Started serial-getty@ttyS0.service - Serial Getty.\n"
    before, after = log(tmp_path, "before", KERNEL + prompt), log(tmp_path, "after")
    assert failed(after, before) == ["HC-LOGIN"]


def test_a_unit_that_failed_in_a_log_is_not_up(tmp_path: Path) -> None:
    broken = KERNEL.replace("Started cron.service", "Failed to start cron.service")
    assert set(failed(log(tmp_path, "log", broken), system(tmp_path, "recorded.boot"))) == {"HC-UNITS", "HC-ACTIVE"}


def test_descriptions_are_no_names_of_units(tmp_path: Path) -> None:
    described = KERNEL.replace("cron.service - Regular", "Regular")
    found = checked(system(tmp_path, "recorded.boot"), log(tmp_path, "described", described))["HC-ACTIVE"]
    assert (found.outcome, found.detail) == (
        "unknown", "2 units up; the evidence does not show the state of 1 unit of the baseline",
    )  # fmt: skip
    assert "HC-ACTIVE" not in failed(log(tmp_path, "named"), tmp_path / "described" / "a.boot")
    assert "HC-ACTIVE" not in failed(tmp_path / "described" / "a.boot", tmp_path / "named" / "a.boot")


def test_a_head_that_was_cut_off_is_no_breakage(tmp_path: Path) -> None:
    cut = KERNEL[KERNEL.index("[    0.100000]") :]
    assert failed(log(tmp_path, "whole"), log(tmp_path, "cut", cut)) == []
    assert failed(tmp_path / "cut" / "a.boot", tmp_path / "whole" / "a.boot") == []


def test_levels_are_compared_with_levels_alone(tmp_path: Path) -> None:
    trace = KERNEL + "[    2.000000] Call Trace:\n"
    recorded = system(tmp_path, "recorded.boot", log=["Call Trace:"])
    found = checked(recorded, log(tmp_path, "log", trace))["HC-DMESG"]
    assert found.outcome == "unknown"
    assert failed(recorded, log(tmp_path, "other")) == ["HC-DMESG"]


def test_messages_of_programs_are_none_of_the_kernel(tmp_path: Path) -> None:
    from invented_records import InventedBoot

    boot = InventedBoot()
    journal = boot.journal()
    complaint = journal.replace('"PRIORITY": "6", "UNIT"', '"PRIORITY": "3", "UNIT"')
    assert complaint != journal
    for name, text in (("before", journal), ("after", complaint)):
        (tmp_path / name).mkdir()
        imported(tmp_path / name, {"journal.json": text})
    assert failed(tmp_path / "after" / "a.boot", tmp_path / "before" / "a.boot") == []


def test_a_listing_of_units_says_which_are_not_up(tmp_path: Path) -> None:
    show = (
        "Version=252\n\nId={}\nActiveState=active\nInactiveExitTimestampMonotonic=1\nActiveEnterTimestampMonotonic=2\n"
    )
    (tmp_path / "show").mkdir()
    listed = imported(tmp_path / "show", {"dmesg.txt": KERNEL, "show.txt": show.format("cron.service")}).directory
    found = checked(listed, system(tmp_path, "recorded.boot"))["HC-ACTIVE"]
    assert [each.subject for each in found.differences] == ["ssh.service"]


def test_an_unstable_clock_says_nothing_of_the_source(tmp_path: Path) -> None:
    unstable = KERNEL.replace(
        "Switched to clocksource tsc", "Marking clocksource 'tsc' as unstable because of a watchdog"
    )
    found = checked(log(tmp_path, "log", unstable), system(tmp_path, "recorded.boot"))["HC-CLOCK"]
    assert found.outcome == "fail"
    assert [each.subject for each in found.differences if "clocksource.current" in each.subject] == []


def test_an_early_reader_says_nothing_of_whether_the_generator_is_ready_later(tmp_path: Path) -> None:
    early = KERNEL.replace("random: crng init done", "random: systemd: uninitialized urandom read (16 bytes read)")
    found = checked(log(tmp_path, "log", early), system(tmp_path, "recorded.boot"))["HC-ENTROPY"]
    assert [each.subject for each in found.differences] == [
        "random: systemd: uninitialized urandom read (16 bytes read)"
    ]


def test_memory_is_compared_where_both_give_the_same_size(tmp_path: Path) -> None:
    recorded = system(tmp_path, "recorded.boot", {"memory.present_bytes": str(507904 << 10)})
    assert checked(recorded, log(tmp_path, "log"))["HC-MEM"].outcome == "pass"
    little = system(tmp_path, "little.boot", {"memory.available_bytes": "40000000"})
    unsaid = system(tmp_path, "unsaid.boot", {"memory.available_bytes": None})
    assert checked(little, unsaid)["HC-MEM"].outcome == "unknown"


def test_a_log_counts_the_processors_that_came_up(tmp_path: Path) -> None:
    four = KERNEL + "[    0.150000] smp: Brought up 1 node, 4 CPUs\n"
    one, other = log(tmp_path, "four", four), log(tmp_path, "two", four.replace("4 CPUs", "2 CPUs"))
    assert failed(other, one) == ["HC-CPU"]
    assert checked(one, other)["HC-CPU"].outcome == "pass"
    assert checked(one, log(tmp_path, "none"))["HC-CPU"].outcome == "unknown"


def test_the_taint_in_a_call_trace_of_a_log_is_seen(tmp_path: Path) -> None:
    trace = "[    0.5] CPU: 0 PID: 1 Comm: swapper/0 Tainted: G        W          6.1.0-1 #1\n"
    warned, sound = log(tmp_path, "warned", KERNEL + trace), log(tmp_path, "sound")
    assert "HC-TAINT" in failed(warned, None)
    assert "HC-TAINT" in failed(warned, sound)
    assert "HC-TAINT" not in failed(warned, warned)
    assert checked(sound, None)["HC-TAINT"].outcome == "unknown"
    only_proprietary = log(tmp_path, "driver", KERNEL + trace.replace("G        W  ", "P        O  "))
    assert "HC-TAINT" not in failed(only_proprietary, None)
