"""The manners of the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import firstlight
from answers import data_of_answer
from bundles import HOSTILE, make_bundle, write_table
from firstlight.cli.app import COMMANDS
from firstlight.cli.envelope import GROUPS
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError, UnhealthyBootError, UsageError
from gate_boots import slower

VERBS = sorted(name for commands in COMMANDS.values() for name, _, _ in commands if name not in GROUPS)


def command(*words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Firstlight as a person does, in a process of its own."""
    arguments = [sys.executable, "-m", "firstlight", *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, env={**os.environ, **more})


def test_the_verbs() -> None:
    # One a line.
    assert VERBS == [
        "apply",
        "ask",
        "audit",
        "calibrate",
        "capture",
        "collector",
        "compare",
        "completion",
        "devices",
        "doctor",
        "explain",
        "export",
        "files",
        "functions",
        "gate",
        "health",
        "import",
        "initcalls",
        "log",
        "packages",
        "path",
        "predict",
        "processes",
        "record",
        "report",
        "scale",
        "show",
        "syscalls",
        "try",
        "ui",
        "units",
        "verify",
        "whatif",
        "work",
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert f"  firstlight {verb}" in said
    # The one prints a script, the other serves pages.
    assert "--json" in said or verb in ("completion", "ui")


def test_the_limit_of_virtual_time_says_when_it_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "at the next check (kernel entries, every 65,536 events)" in said
    page = (Path(__file__).parents[2] / "docs" / "reference" / "commands" / "record.md").read_text(encoding="utf-8")
    assert "every 65,536 events, so a recording ends at the first check after it" in page


def test_bless_is_still_baseline_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_bundle(tmp_path)
    for words in (["bless"], ["baseline", "set"]):
        assert run([*words, str(bundle), "--because", "first", "--as", words[-1], "--in", str(tmp_path / "in")]) == 0
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["bless.json", "set.json"]
    assert "bless" not in capsys.readouterr().err


def test_no_verb_and_an_unknown_verb_are_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["boil"]) == 2
    assert (
        capsys.readouterr().err
        == "error: no such command 'boil'\nhint: `firstlight --help` lists the commands and options\n"
    )


def test_a_missing_choice_lists_what_there_is_in_one_line(
    invented_boot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(invented_boot)]) == 2
    assert capsys.readouterr().err.startswith(
        "error: missing option '--to'. Choose from: perfetto, firefox, speedscope"
    )


def test_firstlight_alone_shows_what_there_is_as_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Usage: firstlight ")
    assert "record" in captured.err
    assert "error" not in captured.err


def test_a_report_may_go_to_standard_output(invented_boot: Path, tmp_path: Path) -> None:
    result = command("report", invented_boot, "-o", "-")
    assert result.returncode == 0
    assert result.stdout.startswith("<!doctype html>")
    assert run(["report", str(invented_boot), "-o", str(tmp_path / "a.html")]) == 0
    assert (tmp_path / "a.html").read_text() == result.stdout
    assert run(["report", str(invented_boot), "-o", "-", "--json"]) == 2


def test_show_says_nothing_of_a_boot_with_a_damaged_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_bundle(tmp_path)
    (bundle / "calls.parquet").write_bytes(b"PAR1")
    assert run(["show", str(bundle)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "calls.parquet" in captured.err


@pytest.mark.parametrize("columns", ["60", "40"])
@pytest.mark.parametrize("words", [["show", "BOOT"], ["functions", "BOOT", "-n", "9"], ["doctor"]])
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, columns: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = make_bundle(tmp_path, hostile=True, failed=True)
    monkeypatch.setenv("COLUMNS", columns)
    run([str(bundle) if word == "BOOT" else word for word in words])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > int(columns)] == []


def test_a_function_that_is_entered_in_several_ways_is_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    bundle = make_bundle(tmp_path)
    calls = firstlight.open(bundle).calls()
    name = pl.when(pl.col("node").is_in([5, 6])).then(pl.lit("__switch_to_asm")).otherwise(pl.col("function"))
    kind = pl.when(pl.col("node") == 6).then(pl.lit("task")).otherwise(pl.col("kind"))
    write_table(bundle, "calls", calls.with_columns(function=name, kind=kind))
    assert run(["functions", str(bundle), "-n", "1000"]) == 0
    shown = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    assert shown.count("__switch_to_asm") == 1
    assert shown.count("__switch_to_asm (task)") == 0


FULL = "No space left on device\nhint: free some space where it goes\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("two roots", hint="leave one out"), 2, "error: two roots\nhint: leave one out\n"),
        (LabError("no QEMU", where="/bin/q"), 1, "error: /bin/q: no QEMU\n"),
        (UnhealthyBootError("it panicked"), 4, "error: it panicked\n"),
        (FirstlightError("slower", exit_code=3), 3, "error: slower\n"),
        (LabError("\x1b[31mred\nand more", hint="\x07"), 1, "error: \\x1b[31mred\n  and more\nhint: \\x07\n"),
        (KeyboardInterrupt(), 130, ""),
        (OSError(28, "No space left on device", "/disk"), 1, f"error: /disk: {FULL}"),
    ],
)
def test_errors_have_their_exit_codes(
    error: BaseException,
    code: int,
    said: str,
    invented_boot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(boot: firstlight.Boot) -> None:
        raise error

    monkeypatch.setattr(firstlight.Boot, "phases", fail)
    assert run(["show", str(invented_boot), "--json"]) == code
    captured = capsys.readouterr()
    assert captured.err == said
    assert [json.loads(text)["error"]["exit_code"] for text in [captured.out] if text] == [code] * bool(said)


def test_show_as_data_says_what_the_tables_say(invented_boot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(invented_boot), "--json", "-n", "3"]) == 0
    data = data_of_answer(capsys.readouterr().out)
    boot = firstlight.open(invented_boot)
    assert data["phases"] == boot.phases().to_dicts()
    assert data["totals"] == boot.manifest.totals.model_dump()
    assert len(data["functions"]) == 3
    kinds = {row["function"]: row["self_ns"] for row in data["no_functions"]}
    assert kinds["[idle]"] == boot.manifest.totals.idle_ns


def test_functions_as_csv_are_the_whole_table(invented_boot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["functions", str(invented_boot), "--csv"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode())
    boot = firstlight.open(invented_boot)
    assert table["self_ns"].sum() == boot.manifest.totals.virtual_ns
    assert table["self_instructions"].sum() == boot.manifest.totals.instructions


@pytest.mark.parametrize("words", [["show"], ["functions"], ["functions", "--tree", "--min-percent", "0"]])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_hostile_names_reach_no_terminal(
    words: list[str], form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = make_bundle(tmp_path, hostile=True, failed=True)
    assert run([words[0], str(boot), *words[1:], *form]) == 0
    said = capsys.readouterr().out
    assert all(character.isprintable() or character == "\n" for character in said)
    if form:
        assert HOSTILE[2] in json.dumps(json.loads(said), ensure_ascii=False).encode().decode("unicode_escape")


@pytest.mark.parametrize(
    ("surroundings", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_is_for_terminals(surroundings: Mapping[str, str], coloured: bool, invented_boot: Path) -> None:
    said = command("show", invented_boot, **surroundings)
    assert ("\x1b[3" in said.stdout) is coloured


def test_a_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    said = command("show", make_bundle(tmp_path, profile=False), PYTHONIOENCODING="ascii")
    assert said.returncode == 0
    assert said.stdout.isascii()
    assert "###" in said.stdout


def test_a_reader_that_goes_away_is_no_error(invented_boot: Path) -> None:
    words = [sys.executable, "-m", "firstlight", "functions", str(invented_boot), "--tree", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_verdict_outlives_its_reader(tmp_path: Path) -> None:
    make_bundle(tmp_path)
    slower(tmp_path, "b.boot", "initcalls_device", 90_000_000)
    assert command("bless", tmp_path / "a.boot", "--because", "first", "--in", tmp_path).returncode == 0
    words = ["gate", str(tmp_path / "b.boot"), "--in", str(tmp_path)]
    with subprocess.Popen([sys.executable, "-m", "firstlight", *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 3


def test_output_that_cannot_be_written_is_an_error(invented_boot: Path) -> None:
    words = [sys.executable, "-m", "firstlight", "show", str(invented_boot)]
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert said.returncode == 1
    assert said.stderr == f"error: the output: {FULL}"


def test_closed_streams_are_no_crash(invented_boot: Path) -> None:
    words = f"exec {sys.executable} -m firstlight show {invented_boot} >&- 2>&-"
    assert subprocess.run(["sh", "-c", words]).returncode == 0


def test_reading_tables_is_left_to_the_verbs_that_do() -> None:
    code = "import sys, firstlight.cli; print([name for name in ('polars', 'pydantic') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_a_page_that_is_there_is_only_replaced_by_force(invented_boot: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("mine")
    said = command("report", invented_boot, "-o", page)
    assert said.returncode == 1
    assert said.stderr.splitlines()[1] == "hint: `--force` replaces it"
    assert page.read_text() == "mine"


def test_record_hands_every_choice_to_the_laboratory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from firstlight import api
    from firstlight.recipe.options import RecordOptions

    taken: list[RecordOptions] = []

    def take(options: RecordOptions, *, progress: bool) -> SimpleNamespace:
        taken.append(options)
        return SimpleNamespace(directory=options.output)

    monkeypatch.setattr(api, "record_with", take)
    words = (
        "--kernel K --initrd I --rootfs debian --overlay O --initramfs-files F --guest-command G --append quiet "
        "--memory 1G --cpu C --machine M --shift 2 --ready R "
        "--no-profile --live --timeout 5 --virtual-timeout 0 --qemu Q --qemu-option=-device --qemu-option=x --force"
    )
    output = tmp_path / "a.boot"
    assert run(["record", "-o", str(output), *words.split()]) == 0
    assert taken == [
        RecordOptions(
            output=output, force=True, kernel=Path("K"), initrd=Path("I"), rootfs="debian", overlay=Path("O"),
            initramfs_files=Path("F"), guest_commands=("G",), append="quiet", memory="1G",
            cpu="C", machine="M", shift=2, ready="R", profile=False, live=True, timeout_wall_s=5.0,
            timeout_virtual_s=None, qemu=Path("Q"), qemu_options=("-device", "x"),
        )
    ]  # fmt: skip


def test_what_repeats_a_boot_is_a_command_that_record_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import shlex

    from firstlight import api
    from firstlight.recipe.command import repeat_command
    from firstlight.recipe.options import RecordOptions

    options = RecordOptions(output=tmp_path / "b.boot", kernel=Path("K"), append="-x 'y'", shift=3, ready="a|b",
                            timeout_wall_s=7.5, timeout_virtual_s=9.0, qemu_options=("-smbios", "type=0"))  # fmt: skip
    taken: list[RecordOptions] = []

    def take(given: RecordOptions, *, progress: bool) -> SimpleNamespace:
        taken.append(given)
        return SimpleNamespace(directory=given.output)

    monkeypatch.setattr(api, "record_with", take)
    assert run(shlex.split(repeat_command(options.choices, options.output))[1:]) == 0
    assert taken == [options]


def test_ctrl_c_ends_with_130_and_no_words() -> None:
    code = (
        "import os, firstlight.bundle.open as opening; from firstlight.cli.main import run\n"
        f"opening.read_manifest = lambda path: os.kill(os.getpid(), {signal.SIGINT.value})\n"
        "raise SystemExit(run(['show', 'a.boot']))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (130, "")


def test_report_of_two_boots_is_one_page(invented_boot: Path, tmp_path: Path) -> None:
    page = tmp_path / "ab.html"
    result = command("report", invented_boot, invented_boot, "-o", page, "--align", "ready", "--json")
    said = json.loads(result.stdout)["data"]
    assert said == {
        "boot": str(invented_boot),
        "other": str(invented_boot),
        "page": str(page),
        "bytes": page.stat().st_size,
    }
    assert "no mark `raedy`" in command("report", invented_boot, invented_boot, "-o", "-", "--align", "raedy").stderr
    assert run(["report", str(invented_boot), "--align", "ready"]) == 2
    assert run(["report", *[str(invented_boot)] * 3]) == 2
