"""What single records say, from the import to the analyses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from firstlight.analysis.devices import devices
from firstlight.analysis.initcalls import initcalls, levels
from firstlight.analysis.units import units
from firstlight.cli.main import run
from imported_bundle import MS, Spans, write_bundle
from imported_records import imported

CAPTURE = """\
[0.000001 0.000001]
[0.000300 0.000299] U-Boot 2024.01 (Jan 01 2024 - 00:00:00 +0000)
[0.500000 0.499700] Starting kernel ...
[1.200000 0.700000] [    0.000000] Linux version 6.12.1-x (a@b) (gcc 14) #1 SMP PREEMPT
[1.310000 0.110000] [    0.100000] calling  aaa_init+0x0/0x58 @ 1
[1.415000 0.105000] [    0.203100] initcall aaa_init+0x0/0x58 returned 0 after 103098 usecs
[2.210000 0.795000] [    1.000000] Freeing unused kernel image (initmem) memory: 2048K
[2.310000 0.100000] [    1.100000] Run /sbin/init as init process
[5.310000 3.000000] {prompt}
"""


def test_errors_of_imports_have_a_hint_that_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "/dev/null", "-o", str(tmp_path / "a.boot")]) == 2
    assert "hint: give a record as a file, or `-` for standard input" in capsys.readouterr().err
    assert run(["verify", str(imported(tmp_path, {"serial.log": CAPTURE}).directory)]) == 1
    printed = capsys.readouterr().err
    assert "an imported boot cannot be booted again" in printed
    assert "--live" not in printed


@pytest.mark.parametrize("prompt", ["box login: ", "login: "])
def test_what_only_the_capture_has_stamped_is_a_mark_where_its_line_is(prompt: str, tmp_path: Path) -> None:
    boot = imported(tmp_path, {"serial.log": CAPTURE.format(prompt=prompt)})
    lines = dict(boot.log().select("text", "time_ns").iter_rows())
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    assert marks["firmware_start"] == lines["U-Boot 2024.01 (Jan 01 2024 - 00:00:00 +0000)"] == 299_000
    assert marks["kernel_entry"] == lines["Starting kernel ..."] == 499_999_000
    assert marks["login_prompt"] == lines[prompt] == boot.phases()["end_ns"].max() == 5_309_999_000


def test_a_capture_that_goes_on_without_stamps_of_the_kernel_reaches_to_its_last_line(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"serial.log": CAPTURE.format(prompt="starting the application")})
    assert boot.marks().row(-1, named=True)["mark"] == "record_end"
    assert boot.marks()["time_ns"].max() == 5_309_999_000


UNTIMED = """\
Linux version 6.12.1-x (a@b) (gcc 14) #1 SMP PREEMPT
calling  aaa_init+0x0/0x58 @ 1
initcall aaa_init+0x0/0x58 returned -19 after 3098 usecs
calling  slow_init+0x0/0x10 @ 1
probe of 30860000.serial returned 0 after 5000 usecs
probe of 30a20000.i2c:pmic@4b returned -517 after 44 usecs
initcall slow_init+0x0/0x10 returned 0 after 100000 usecs
calling  open_init+0x0/0x10 @ 1
probe of 30a20000.i2c:pmic@4b returned 0 after 2000 usecs
"""


def test_a_log_without_times_tells_what_was_returned_and_what_put_off_tries_cost(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"dmesg.txt": UNTIMED})
    calls = {call["function"]: call for call in initcalls(boot).to_dicts()}
    assert {name: call["returned"] for name, call in calls.items()} == {
        "aaa_init": -19,
        "slow_init": 0,
        "open_init": None,
    }
    found = {device["device"]: device for device in devices(boot).to_dicts()}
    assert found["30860000.serial"]["result"] == "bound"
    late = found["30a20000.i2c:pmic@4b"]
    assert (late["tries"], late["deferrals"], late["deferred_ns"], late["result"]) == (2, 1, 44_000, "bound")


def test_in_which_initcall_a_probe_without_time_ran_is_not_known(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"dmesg.txt": UNTIMED})
    for call in initcalls(boot).to_dicts():
        assert (call["probes"], call["probes_ns"], call["self_ns"]) == (None, None, None)
    assert levels(boot)["probes"].to_list()[0] is None
    stamped = "".join(f"[    0.{number}00000] {line}\n" for number, line in enumerate(UNTIMED.splitlines()))
    known = {call["function"]: call for call in initcalls(imported(tmp_path, {"dmesg.txt": stamped})).to_dicts()}
    assert known["slow_init"]["probes"] == 2
    assert known["aaa_init"]["probes"] == 0


def test_what_says_most_of_the_boot_stands_first_among_its_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = "".join(f"[    0.{number:03}000] line {number}\n" for number in range(1, 40))
    folder = tmp_path / "records"
    (folder / "proc").mkdir(parents=True)
    (folder / "proc" / "cmdline").write_text("console=ttyS0\n")
    (folder / "dmesg.txt").write_text("[    0.000000] Linux version 6.12.1-x (a@b) (gcc 14) #1 SMP\n" + log)
    (folder / "proc" / "modules").write_text("ext4 1 0 - Live 0x0\nmbcache 1 1 ext4, Live 0x0\n")
    (folder / "short.txt").write_text("[    0.000000] Linux version 6.12.1-x (a@b) (gcc 14) #1 SMP\n" + log[:90])
    assert run(["import", str(folder), "-o", str(tmp_path / "a.boot")]) == 0
    captured = capsys.readouterr()
    table = (captured.out + captured.err).split("\nRecord ")[1].split("\n\n")[0].splitlines()[1:]
    assert [row.split()[0].rpartition("/")[2] for row in table] == ["dmesg.txt", "short.txt", "modules", "cmdline"]


@pytest.mark.parametrize("form", [[], ["--gaps"]])
def test_a_line_of_a_recorded_console_is_shown_without_its_colours(
    form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    text = "[\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39ma.service\x1b[0m"
    log: list[tuple[float | None, str, int | None]] = [(10, "[    0.010000] before", None), (90, text, None)]
    write_bundle(tmp_path, "a.boot", spans=Spans(), log=log, length=100)
    assert run(["log", str(tmp_path / "a.boot"), *form]) == 0
    shown = capsys.readouterr().out
    assert "[  OK  ] Started a.service" in shown
    assert "x1b" not in shown
    assert ("[    0.010000]" in shown) is (form == [])


CHAIN = """The time when unit became active or started is printed after the "@" character.
The time the unit took to start is printed after the "+" character.

graphical.target @4.990s
└─gdm.service @4.701s +288ms
  └─basic.target @1.051s
"""

TIME = """Startup finished in 1.754s (kernel) + 2.346s (initrd) + 5.003s (userspace) = 9.103s
graphical.target reached after 4.990s in userspace.
"""


def test_a_chain_lies_where_another_record_says_that_user_space_began(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"chain.txt": CHAIN, "time.txt": TIME})
    starts = dict(units(boot).select("unit", "start_ns").iter_rows())
    assert starts["gdm.service"] == (4100 + 4701) * MS


def test_the_start_of_a_container_counts_from_its_user_space(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"time.txt": "Startup finished in 1.403s (userspace) \n"})
    assert dict(boot.marks().select("mark", "time_ns").iter_rows()) == {
        "userspace_start": 0,
        "startup_finished": 1403 * MS,
    }


WALL = """Nov 03 10:00:04.150000 box kernel: Linux version 6.12.10 (build@box) #1 SMP
Nov 03 10:00:04.150060 box kernel: calling  gizmo_init+0x0/0x58 @ 1
Nov 03 10:00:04.150090 box kernel: initcall gizmo_init+0x0/0x58 returned 0 after 3098 usecs
Nov 03 10:00:04.150180 box kernel: Run /init as init process
Nov 03 10:00:04.160000 box systemd-journald[310]: Journal started
Nov 03 10:00:09.103000 box systemd[1]: Startup finished in 1.754s (kernel) + 2.346s (initrd) + 5.003s (userspace).
"""


def test_the_wall_clock_of_the_kernels_buffer_makes_no_phases(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"journal.txt": WALL})
    phases = boot.phases().filter(pl.col("duration_ns") > 0)
    lengths = dict(phases.select("phase", "duration_ns").iter_rows())
    assert lengths == {"kernel": 1754 * MS, "initramfs": 2346 * MS, "userspace": 5003 * MS}
    assert initcalls(boot)["duration_ns"].to_list() == [3_098_000]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"time.txt": "\ufeff" + TIME})
    assert boot.marks()["mark"].to_list()[-1] == "startup_finished"


def test_text_in_utf_16_is_named_and_how_to_make_it_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "time.txt").write_text(TIME, encoding="utf-16")
    assert run(["import", str(tmp_path / "time.txt"), "-o", str(tmp_path / "a.boot")]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "hint: make it UTF-8: `iconv -f UTF-16" in said
    assert "--as FORMAT" not in said


CALLS_WITHOUT_TIMES = """\
# tracer: function
#
              ls-13      [000] .N.1.    10.000150: vfs_read <-ksys_read
              ls-13      [000] .N.1.    10.000151: vfs_read <-ksys_read
              ls-13      [000] .N.1.    10.000153: fput <-vfs_open
"""

THEIR_TREE = """\
Count  Function
    1  [boot]
    0  │ [task ls]
    0  │ │ ksys_read
    2  │ │ │ vfs_read
    0  │ │ vfs_open
    1  │ │ │ fput
"""

BY_CALLS = """\
Functions, by calls: the record has no times
Function  Count
vfs_read      2
fput          1
"""


def test_calls_of_which_no_times_are_reported_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boot = imported(tmp_path, {"trace.txt": CALLS_WITHOUT_TIMES})
    functions = boot.functions().filter(pl.col("kind") == "function")
    assert functions.select("function", "count", "total_ns", "average_ns", "self_ns").rows() == [
        ("fput", 1, None, None, None),
        ("vfs_read", 2, None, None, None),
    ]
    assert [run(["functions", "--tree", str(boot.directory)]), run(["show", str(boot.directory)])] == [0, 0]
    printed = capsys.readouterr().out
    assert THEIR_TREE in printed
    assert BY_CALLS in printed
