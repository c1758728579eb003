"""A boot predicted without some of its work: its threads are replayed on one processor."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

import firstlight
from bundles import make_bundle, write_table
from firstlight.analysis.replay.predict import Prediction, predict
from firstlight.api import Boot
from firstlight.cli.main import run
from firstlight.errors import BundleError, FirstlightError, UsageError
from imported_bundle import MS
from invented_processes import make_processes
from invented_threads import (
    GOES_ON,
    IDLE,
    INIT,
    NAMES,
    SHELL,
    SLEEPS,
    START,
    TOOL,
    WORKER,
    Turn,
    Wake,
    any_boot,
    bundle,
    frame,
)

#: init starts a shell and waits for it; the shell starts a tool that nobody waits for.
CHILDREN: list[Turn] = [
    *START,
    (INIT, 1700, 1800, SLEEPS, "child"),
    (SHELL, 1800, 3000, GOES_ON, None),
    (TOOL, 3000, 3500, GOES_ON, None),
    (SHELL, 3500, 4000, SLEEPS, "epoll"),
    (INIT, 4000, 4800, GOES_ON, None),
]
#: Threads that are all due take turns of so many milliseconds.
TICK = 4
SHELL_ENDS: list[Wake] = [(4000, SHELL, INIT, 0)]


def goal_ms(prediction: Prediction) -> float:
    return prediction.predicted_ns / MS


def test_work_that_others_ran_behind_moves_the_goal_by_all_of_it(tmp_path: Path) -> None:
    found = predict(bundle(tmp_path, CHILDREN, SHELL_ENDS), ["tool"])
    assert goal_ms(found) == 4300
    (taken,) = found.taken
    assert (taken.part, taken.work_ns, taken.follows_ns) == ("process", 500 * MS, 0)
    assert (found.slack_ns, found.residual_ns, found.idle_ns) == (0, 0, 0)
    assert found.marks.filter(mark="startup_finished")["change_ns"].to_list() == [-500 * MS]
    assert found.marks.filter(mark="userspace_start")["change_ns"].to_list() == [0]


def test_what_a_process_creates_is_taken_out_with_it_and_who_waited_goes_on_at_once(tmp_path: Path) -> None:
    found = predict(bundle(tmp_path, CHILDREN, SHELL_ENDS), ["sh"])
    assert goal_ms(found) == 4800 - 1700 - 500
    assert (found.taken[0].work_ns, found.taken[0].follows_ns) == (1700 * MS, 500 * MS)
    assert "`sh` woke another program" in found.cautions[0]


def test_half_of_the_work_takes_half_of_the_time(tmp_path: Path) -> None:
    boot = bundle(tmp_path, CHILDREN, SHELL_ENDS)
    assert goal_ms(predict(boot, faster={"sh": 0.5})) == pytest.approx(4800 - 850, abs=TICK)
    assert goal_ms(predict(boot, ["tool"], {"sh": 0.1})) == 4800 - 500 - 170


def test_a_unit_is_all_that_runs_in_its_control_group(tmp_path: Path) -> None:
    found = predict(bundle(tmp_path, CHILDREN, SHELL_ENDS), ["a.service"])
    assert (found.taken[0].part, goal_ms(found)) == ("unit", 4300)


def test_an_initcall_is_what_its_thread_did_in_it(tmp_path: Path) -> None:
    found = predict(bundle(tmp_path, CHILDREN, SHELL_ENDS), ["disk_init"])
    assert (found.taken[0].part, goal_ms(found)) == ("initcall", 4700)
    assert found.marks.filter(mark="userspace_start")["change_ns"].to_list() == [-100 * MS]


def test_work_behind_a_timer_is_slack(tmp_path: Path) -> None:
    """While the tool runs, init sleeps for two seconds: without the tool the processor idles."""
    turns: list[Turn] = [
        *START,
        (INIT, 1700, 2000, SLEEPS, "nap"),
        (TOOL, 2000, 3500, SLEEPS, "epoll"),
        (IDLE, 3500, 4000, GOES_ON, None),
        (INIT, 4000, 4800, GOES_ON, None),
    ]
    boot = bundle(tmp_path, turns, [(4000, IDLE, INIT, 1)], [(3500, 4000)])
    found = predict(boot, ["tool"])
    assert (goal_ms(found), found.slack_ns) == (4800, 1500 * MS)
    assert found.idle_ns == 2000 * MS
    assert found.path.filter(name="[idle]")["change_ns"].to_list() == [1500 * MS]


def test_a_timer_runs_from_the_begin_of_the_sleep(tmp_path: Path) -> None:
    turns: list[Turn] = [
        *START,
        (TOOL, 1700, 2700, GOES_ON, None),
        (INIT, 2700, 3000, SLEEPS, "nap"),
        (IDLE, 3000, 4000, GOES_ON, None),
        (INIT, 4000, 4800, GOES_ON, None),
    ]
    boot = bundle(tmp_path, turns, [(4000, IDLE, INIT, 1)], [(3000, 4000)])
    assert goal_ms(predict(boot, ["tool"])) == 3800


def test_an_event_loop_does_not_wait_for_a_timer_when_an_event_comes_first(tmp_path: Path) -> None:
    """init's loop has a timer at 3,000 ms; what it waits for is the end of the shell, which sleeps until 4,000 ms."""
    turns: list[Turn] = [
        *START,
        (INIT, 1700, 1800, SLEEPS, "epoll"),
        (SHELL, 1800, 1900, SLEEPS, "nap"),
        (IDLE, 1900, 3000, GOES_ON, None),
        (INIT, 3000, 3010, SLEEPS, "epoll"),
        (IDLE, 3010, 4000, GOES_ON, None),
        (SHELL, 4000, 4100, SLEEPS, "epoll"),
        (INIT, 4100, 4800, GOES_ON, None),
    ]
    wakes: list[Wake] = [(3000, IDLE, INIT, 1), (4000, IDLE, SHELL, 1), (4100, SHELL, INIT, 0)]
    found = predict(bundle(tmp_path, turns, wakes, [(1900, 3000), (3010, 4000)]), ["sh"])
    assert goal_ms(found) == 1800 + 10 + 700


def test_what_a_thread_of_the_kernel_is_asked_to_do_goes_with_the_one_that_asked(tmp_path: Path) -> None:
    turns: list[Turn] = [
        (IDLE, 100, 300, GOES_ON, None),
        (INIT, 300, 400, GOES_ON, None),
        (WORKER, 400, 450, SLEEPS, "worker"),
        (INIT, 450, 2000, SLEEPS, "child"),
        (SHELL, 2000, 2500, SLEEPS, "rcu"),
        (WORKER, 2500, 3500, SLEEPS, "worker"),
        (SHELL, 3500, 3700, SLEEPS, "epoll"),
        (INIT, 3700, 4800, GOES_ON, None),
    ]
    wakes: list[Wake] = [(2500, SHELL, WORKER, 0), (3500, WORKER, SHELL, 0), (3700, SHELL, INIT, 0)]
    found = predict(bundle(tmp_path, turns, wakes), ["sh"])
    assert goal_ms(found) == 4800 - 500 - 1000 - 200
    assert (found.taken[0].work_ns, found.taken[0].follows_ns) == (700 * MS, 1000 * MS)


def test_threads_that_meet_only_in_the_prediction_share_the_processor(tmp_path: Path) -> None:
    """Without the shell, init and the tool can both run from 2,000 ms on: init is not behind all of the tool's work."""
    turns: list[Turn] = [
        *START,
        (INIT, 1700, 2000, SLEEPS, "child"),
        (SHELL, 2000, 2100, GOES_ON, None),
        (TOOL, 2100, 4100, SLEEPS, "epoll"),
        (SHELL, 4100, 4200, SLEEPS, "epoll"),
        (INIT, 4200, 4800, GOES_ON, None),
    ]
    boot = bundle(tmp_path, turns, [(4200, SHELL, INIT, 0), (2050, SHELL, TOOL, 0)])
    found = predict(boot, faster={"sh": 0.999})
    assert 2600 < goal_ms(found) <= 4800 - 199


def test_the_path_adds_up_to_the_time_from_the_kernels_first_run(tmp_path: Path) -> None:
    found = predict(bundle(tmp_path, CHILDREN, SHELL_ENDS), ["tool"])
    assert found.path["before_ns"].sum() == 4700 * MS
    assert found.path["after_ns"].sum() == 4200 * MS
    assert dict(found.path.filter(name="tool").select("before_ns", "after_ns").iter_rows()) == {500 * MS: 0}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_boot())
def test_the_predicted_path_adds_up_whatever_was_recorded(
    record: tuple[list[Turn], list[Wake], list[tuple[float, float]]],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        boot = bundle(Path(directory), *record)
        try:
            found = predict(boot, faster={"disk_init": 0.000_001})
        except FirstlightError:
            return
        assert found.path["after_ns"].sum() == found.predicted_ns - min(turn[1] for turn in record[0]) * MS


def with_user_code(boot: Boot) -> Boot:
    """The same boot where a shell and its tool executed a linker and a library."""
    linker, library = "/usr/lib/ld-linux-x86-64.so.2", "/usr/lib/libc.so.6"
    rows = [
        (SHELL, linker, "_dl_relocate", 400), (SHELL, library, "malloc", 100), (SHELL, library, "schedule", 100),
        (TOOL, linker, "_dl_relocate", 300), (TOOL, linker, None, 100),
    ]  # fmt: skip
    code = [
        {"row": row, "process": thread, "thread": thread, "image": NAMES[thread], "kind": "file", "file": file,
         "function": function, "source": "symbol_table", "self_instructions": ms * MS}
        for row, (thread, file, function, ms) in enumerate(rows)
    ]  # fmt: skip
    write_table(boot.directory, "user_functions", frame("user_functions", code))
    return firstlight.open(boot.directory)


@pytest.mark.parametrize(
    ("name", "part", "work_ms", "threads"),
    [
        ("ld.so", "file", 800, 2),
        ("ld-linux-x86-64.so.2", "file", 800, 2),
        ("/usr/lib/libc.so.6", "file", 200, 1),
        ("malloc", "user function", 100, 1),
    ],
)
def test_a_file_or_function_of_user_mode_is_its_share_of_what_each_program_ran(
    tmp_path: Path, name: str, part: str, work_ms: int, threads: int
) -> None:
    boot = with_user_code(bundle(tmp_path, CHILDREN, SHELL_ENDS))
    found = predict(boot, faster={name: 0.5})
    (taken,) = found.taken
    assert (str(taken.part), taken.threads) == (part, threads)
    assert taken.work_ns / MS == pytest.approx(work_ms, abs=0.01)
    assert goal_ms(found) == pytest.approx(4800 - work_ms / 2, abs=TICK)
    assert "its share of each program is spread" in " ".join(found.cautions)
    assert goal_ms(predict(boot, [name])) == pytest.approx(4800 - work_ms, abs=TICK)


def test_a_function_of_the_kernel_goes_before_one_of_user_mode(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path, user_code=True))
    name = boot.functions().filter(pl.col("kind") == "function").sort("self_ns")["function"][-1]
    code = boot.table("user_functions").with_columns(function=pl.lit(name))
    assert code.height
    write_table(boot.directory, "user_functions", code)
    assert predict(firstlight.open(boot.directory), faster={name: 0.5}).taken[0].part == "function"


def test_where_user_code_was_not_followed_a_library_is_unknown_and_the_hint_has_the_option(tmp_path: Path) -> None:
    boot = bundle(tmp_path, CHILDREN, SHELL_ENDS)
    with pytest.raises(BundleError) as caught:
        predict(boot, faster={"ld.so": 0.5})
    assert "--user-functions" in (caught.value.hint or "")


def test_the_share_of_a_function_is_spread_over_its_phases(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    functions = boot.functions().filter(pl.col("kind") == "function").sort("self_ns")
    found = predict(boot, faster={functions["function"][-1]: 0.5})
    assert found.change_ns < 0
    assert "spread over all that ran" in found.cautions[0]


def refused(boot: Boot, *without: str, **faster: float) -> FirstlightError:
    with pytest.raises(FirstlightError) as caught:
        predict(boot, without, faster)
    return caught.value


def test_what_cannot_be_predicted_has_a_reason_and_a_hint(tmp_path: Path) -> None:
    boot = bundle(tmp_path, CHILDREN, SHELL_ENDS)
    assert "did you mean `disk_init`?" in refused(boot, "disk_inti").report()
    assert "it does so itself" in str(refused(boot, "init"))
    assert "--faster 'init=50%'" in refused(boot, "init").report()
    assert isinstance(refused(boot, "nothing-of-this"), BundleError)
    for share in (0.0, 1.0, 7.0):
        assert isinstance(refused(boot, sh=share), UsageError)
    assert isinstance(refused(boot), UsageError)
    report = refused(firstlight.open(make_bundle(tmp_path, name="plain.boot")), "dh_init").report()
    assert "has no wake-ups" in report
    assert "hint: " in report


def test_the_command_prints_the_prediction_as_text_and_as_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = str(bundle(tmp_path, CHILDREN, SHELL_ENDS).directory)
    assert run(["whatif", boot, "--without", "tool"]) == 0
    assert "startup_finished at 4.300000 s instead of 4.800000 s" in capsys.readouterr().out
    assert run(["whatif", boot, "--faster", "sh=50%", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["change_ns"] == pytest.approx(-850 * MS, abs=TICK * MS)
    assert data["taken"][0]["less"] == 0.5
    assert data["proof"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--faster", "sh"], "`sh` is not NAME=PERCENT%"),
        (["--faster", "sh=5%", "--faster", "sh=6%"], "`sh` is given twice"),
        (["--faster", "sh=100%"], "`sh`: 100% less is not a speed-up"),
        ([], "nothing is to be changed"),
        (["--without", "sh", "-o", "b.boot"], "`--output` stores the boot of `--prove`"),
    ],
)
def test_a_wrong_question_is_an_error_of_usage_with_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    boot = str(bundle(tmp_path, CHILDREN, SHELL_ENDS).directory)
    assert run(["whatif", boot, *words]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "hint: " in printed


@pytest.mark.parametrize("words", [["--faster", "sh=50%"], ["--without", "tool"]])
def test_what_no_recipe_takes_out_cannot_be_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    boot = str(bundle(tmp_path, CHILDREN, SHELL_ENDS).directory)
    assert run(["whatif", boot, *words, "--prove"]) == 1
    assert "hint: `--prove` boots without units, initcalls and generators" in capsys.readouterr().err
