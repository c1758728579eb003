"""Boots of an emulated board by its board file, and by labgrid: power cycles, hooks, and what goes wrong."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path

import pytest

import firstlight
from answers import data_of_answer
from emulated_board import BOOT, Board, emulated
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, UnhealthyBootError


def marks(bundle: Path) -> dict[str, int]:
    return dict(firstlight.open(bundle).marks().select("mark", "time_ns").iter_rows())


def facts(bundle: Path) -> dict[str, str]:
    return firstlight.open(bundle).fact_values()


def labgrid_file(board: Board, path: Path, strategy: str = "BootTimingStrategy", more: str = "") -> Path:
    path.write_text(f"""\
targets:
  main:
    resources:
      RawSerialPort: {{port: {board.port}, speed: 115200}}
      NetworkPowerPort: {{model: rest, host: '{board.url}', index: 1}}
    drivers:
      - NetworkPowerDriver: {{delay: 0.1}}
      - StampedSerialDriver: {{}}
      - {strategy}: {{ready: 'login: ', timeout: 1.0, off_s: 0.05, power_timeout: 1.0,
          marks: {{camera: 'camera [0-9] up'}} {more}}}
""")
    return path


def test_a_board_is_booted_several_times_after_a_boot_that_warms_it_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with emulated(Board()) as board:
        file = board.file(tmp_path / "lab.toml")
        assert run(["record", "--board", str(file), "--repeat", "3", "-o", str(tmp_path / "a.boot"), "--json"]) == 0
        assert not board.powered.is_set()
    said = data_of_answer(capsys.readouterr().out)
    assert said["events"] == []
    assert [Path(boot).name for boot in said["boots"]] == ["1.boot", "2.boot", "3.boot"]
    assert (tmp_path / "a/warm-up/1.boot").is_dir()
    found = marks(tmp_path / "a/2.boot")
    assert (next(iter(found)), list(found)[-1]) == ("power_on", "ready")
    assert 50_000_000 <= found["firmware_start"] <= found["camera"] <= found["ready"]
    about = facts(tmp_path / "a/2.boot")
    assert (about["capture.block"], about["capture.power_cycles"], about["capture.board"]) == ("2", "1", str(file))
    boot = firstlight.open(tmp_path / "a/2.boot")
    assert boot.manifest.completeness.complete
    assert boot.manifest.recipe.model_dump() == {"machine": "lab.toml"}


def test_one_boot_is_one_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with emulated(Board()) as board:
        assert run(["record", "--board", str(board.file(tmp_path / "lab.toml")), "-o", str(tmp_path / "a.boot")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/a.boot\n"
    assert "ready" in marks(tmp_path / "a.boot")


def test_a_hang_costs_a_power_cycle_and_no_boot(tmp_path: Path) -> None:
    with emulated(Board(hangs=frozenset({2}))) as board:
        made = firstlight.record_board(board.file(tmp_path / "lab.toml"), tmp_path / "a", repeat=2, warm_up=0)
    assert len(made.boots) == 2
    assert made.events == ["2.boot: power cycle 1 of 3: the board hung for 1 s"]
    assert facts(made.boots[1])["capture.power_cycles"] == "2"
    assert "ready" in marks(made.boots[1])
    assert (made.boots[1] / "raw/2.capture.bin").read_bytes().count(b"event") == 6


def test_a_board_that_hangs_three_times_is_an_event_and_the_session_goes_on(tmp_path: Path) -> None:
    with emulated(Board(hangs=frozenset({2, 3, 4}))) as board:
        made = firstlight.record_board(board.file(tmp_path / "lab.toml"), tmp_path / "a", repeat=3, warm_up=0)
    assert [boot.name for boot in made.boots] == ["1.boot", "3.boot"]
    hung = firstlight.open(tmp_path / "a/2.boot").manifest.failure
    assert hung is not None
    assert (str(hung.reason), hung.detail) == (
        "never_ready",
        "no line matched `ready` in time (3 power cycles)",
    )
    events = [json.loads(line) for line in (tmp_path / "a/events.jsonl").read_text().splitlines()]
    assert [(event["bundle"], event["came_up"], event["power_cycles"]) for event in events] == [("2.boot", False, 3)]


def test_a_board_that_never_boots_ends_the_session_with_what_was_seen(tmp_path: Path) -> None:
    with emulated(Board(console=b"U-Boot\r\nno kernel\r\n" * 4)) as board:
        file = board.file(tmp_path / "lab.toml", attempts=1, timeout=0.2)
        with pytest.raises(FirstlightError, match=r"did not boot 6 times in a row: .*no line matched `ready`") as error:
            firstlight.record_board(file, tmp_path / "a", repeat=9)
        assert error.value.hint == "check the board; its boots are kept; `--force` replaces them"
        with pytest.raises(UnhealthyBootError, match=r"no boot came up: .*no line matched `ready` in time"):
            firstlight.record_board(file, tmp_path / "b.boot")


def test_a_relay_that_refuses_or_does_not_answer_is_named(tmp_path: Path) -> None:
    with emulated(Board(status=500)) as board:
        file = board.file(tmp_path / "lab.toml", attempts=2)
        with pytest.raises(UnhealthyBootError, match="the power command failed with exit code 1"):
            firstlight.record_board(file, tmp_path / "a.boot")
    with emulated(Board(delay_s=0.6)) as board:
        file = board.file(tmp_path / "lab.toml", attempts=1, **{"power-timeout": 0.2})
        with pytest.raises(UnhealthyBootError, match=r"the power command did not end within 0\.2 s"):
            firstlight.record_board(file, tmp_path / "b.boot")


def test_garbage_is_named_and_kept(tmp_path: Path) -> None:
    garbage = bytes(random.Random(1).choices(range(128, 256), k=400))
    with emulated(Board(console=garbage)) as board:
        file = board.file(tmp_path / "lab.toml", attempts=1, timeout=0.5)
        with pytest.raises(UnhealthyBootError) as error:
            firstlight.record_board(file, tmp_path / "a.boot")
    assert "no boot came up" in error.value.message
    assert garbage[:16] in (tmp_path / "a.lost-1.capture.bin").read_bytes()


def test_a_reset_in_the_middle_of_a_boot_is_an_event(tmp_path: Path) -> None:
    with emulated(Board(console=BOOT[: BOOT.index(b"camera")] + BOOT)) as board:
        made = firstlight.record_board(board.file(tmp_path / "lab.toml"), tmp_path / "a", repeat=1, warm_up=0)
    assert len(made.boots) == 1
    assert made.events[0].startswith("a: the board started again after ")
    assert "ready" in marks(made.boots[0])


def test_a_board_that_boots_by_itself_is_an_event(tmp_path: Path) -> None:
    with emulated(Board(before=b"gizmo: alive\r\n")) as board:
        made = firstlight.record_board(board.file(tmp_path / "lab.toml"), tmp_path / "a.boot")
    assert "before power-on: it was running, or boots by itself" in made.events[0]
    assert "ready" in marks(tmp_path / "a.boot")


def test_a_deploy_hook_has_the_arm_and_its_failure_is_an_event(tmp_path: Path) -> None:
    (tmp_path / "Image").write_bytes(b"kernel")
    deploy = 'echo "$FIRSTLIGHT_ARM $FIRSTLIGHT_APPEND $(cat "$FIRSTLIGHT_KERNEL")" >> deployed'
    with emulated(Board()) as board:
        file = board.file(tmp_path / "lab.toml", deploy=deploy)
        made = firstlight.record_board(
            file, tmp_path / "a", repeat=2, append="quiet", kernel=tmp_path / "Image", arm="new"
        )
        assert (tmp_path / "deployed").read_text() == "new quiet kernel\n"
        recipe = firstlight.open(made.boots[0]).manifest.recipe.model_dump()
        assert recipe == {"machine": "lab.toml", "kernel": str(tmp_path / "Image"), "append": "quiet"}
        failing = board.file(tmp_path / "bad.toml", deploy="echo no card >&2; false")
        with pytest.raises(UnhealthyBootError, match="the deploy command failed with exit code 1: no card"):
            firstlight.record_board(failing, tmp_path / "b.boot")


def test_words_are_typed_at_the_boot_loader(tmp_path: Path) -> None:
    with emulated(Board(loader=True)) as board:
        file = board.file(tmp_path / "lab.toml")
        made = firstlight.record_board(file, tmp_path / "a.boot", append="quiet loglevel=3")
        assert board.typed == b'setenv bootargs "${bootargs} quiet loglevel=3"\nboot\n'
        assert made.events == []
        firstlight.record_board(file, tmp_path / "b.boot")
        assert board.typed.count(b"boot\n") == 1


def test_words_with_quotes_are_typed_in_the_quotes_of_the_boot_loader(tmp_path: Path) -> None:
    with emulated(Board(loader=True)) as board:
        file = board.file(tmp_path / "lab.toml")
        firstlight.record_board(file, tmp_path / "a.boot", append='quiet foo="a b"')
        assert board.typed.splitlines()[0] == b"""setenv bootargs "${bootargs} "'quiet foo="a b"'\"\""""
        with pytest.raises(UnhealthyBootError, match="these words cannot be typed at the boot loader"):
            firstlight.record_board(file, tmp_path / "b.boot", append="a\\b")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (["--append", "quiet"], "no hook for the command line"),
        (["--kernel", "Image"], "no `deploy` hook for the kernel"),
    ],
)
def test_a_change_without_a_hook_is_refused(
    tmp_path: Path, change: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with emulated(Board()) as board:
        assert run(["record", "--board", str(board.file(tmp_path / "lab.toml")), *change]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--board", "none.toml"], "cannot be read"),
        (["--board", "lab.ini"], "not a file of a board"),
        (["--board", "wrong.toml"], "unknown key `reddy`"),
        (["--board", "none.yaml"], "no such file"),
        (["--board", "wrong.yaml"], "no target `main`"),
        (["--board", "no.yaml"], "this is not a labgrid environment"),
        (["--board", "lab.toml", "--cpu", "max"], "`--cpu` is not for boards"),
        (["--board", "lab.toml", "--ready", "x"], "`--ready` is not for boards"),
        (["--repeat", "3"], "`--repeat` needs `--board`"),
    ],
)
def test_what_is_no_board_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text('console = "a"\npower-on = "b"\nready = "c"\nreddy = "d"\n')
    Path("wrong.yaml").write_text("targets: {}\n")
    Path("no.yaml").write_text("targets: [\n")
    assert run(["record", *words]) == 2 or "none" in words[1]
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("ready = 'login: ['", "`ready`: the pattern cannot be read: unclosed character class"),
        ("ready = 'a'\n[marks]\ncamera = 'x['", "`marks`: `camera`: the pattern cannot be read"),
        ("ready = 'a'\n[marks]\ncamera = ''", "it is empty and matches every line"),
        ("ready = 'a'\n[marks]\nkernel_start = 'x'", "`kernel_start` cannot be set"),
        ("ready = 'a'\n[marks]\nready = 'x'", "`ready` cannot be set here"),
        ("ready = 'a'\n[marks]\n'A b' = 'x'", "`A b` is not a name"),
        ("ready = 'a'\ntimeout = inf", "`timeout`: input should be a finite number"),
    ],
)
def test_a_board_file_with_a_mark_that_cannot_be_is_refused_when_it_is_read(
    tmp_path: Path, more: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lab.toml").write_text(f'console = "a"\npower-on = "b"\n{more}\n')
    assert run(["record", "--board", str(tmp_path / "lab.toml"), "-o", str(tmp_path / "a.boot")]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("ready", "'login: ['", "`ready`: the pattern cannot be read"),
        ("marks", "{camera: 'x['}", "`marks`: `camera`: the pattern cannot be read"),
        ("timeout", "-1", "'timeout' must be > 0"),
        ("attempts", "'2'", "'attempts' must be <class 'int'>"),
    ],
)
def test_an_option_of_a_strategy_that_cannot_be_is_refused_when_it_is_read(
    tmp_path: Path, option: str, value: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ", ".join(f"{name}: {said}" for name, said in {"ready": "'a'", option: value}.items())
    (tmp_path / "lab.yaml").write_text(f"""\
targets:
  main:
    resources:
      RawSerialPort: {{port: /dev/none, speed: 115200}}
    drivers:
      - ExternalPowerDriver: {{cmd_on: 'true', cmd_off: 'true'}}
      - StampedSerialDriver: {{}}
      - BootTimingStrategy: {{{options}}}
""")
    assert run(["record", "--board", str(tmp_path / "lab.yaml"), "-o", str(tmp_path / "a.boot")]) in (1, 2)
    assert complaint in capsys.readouterr().err


def test_a_signal_before_the_first_byte_ends_the_session(tmp_path: Path) -> None:
    with emulated(Board()) as board:
        file = board.file(tmp_path / "lab.toml", **{"power-on": "kill -TERM $PPID; sleep 10"})
        with pytest.raises(KeyboardInterrupt):
            firstlight.record_board(file, tmp_path / "a", repeat=2)
    assert not (tmp_path / "a/events.jsonl").exists()


def test_labgrid_boots_a_board(tmp_path: Path) -> None:
    with emulated(Board(hangs=frozenset({2}))) as board:
        file = labgrid_file(board, tmp_path / "lab.yaml")
        made = firstlight.record_board(file, tmp_path / "a", repeat=3)
        assert not board.powered.is_set()
    assert len(made.boots) == 3
    assert made.events == ["warm-up 1: " + made.events[0].partition(": ")[2]] or len(made.events) == 1
    assert "the board hung for 1 s" in made.events[0]
    found = marks(made.boots[0])
    assert found["firmware_start"] >= 50_000_000
    assert {"camera", "ready"} <= found.keys()


def test_the_strategy_of_labgrid_types_at_the_boot_loader(tmp_path: Path) -> None:
    with emulated(Board(loader=True)) as board:
        file = labgrid_file(board, tmp_path / "lab.yaml", more=", loader: {}")
        firstlight.record_board(file, tmp_path / "a.boot", append="quiet")
        assert board.typed == b'setenv bootargs "${bootargs} quiet"\nboot\n'
    assert "ready" in marks(tmp_path / "a.boot")


STRATEGY = """\
import attr
from labgrid import target_factory
from firstlight.lab.board.labgrid_drivers import BootTimingStrategy

@target_factory.reg_driver
@attr.s(eq=False)
class {name}(BootTimingStrategy):
    def deploy(self, arm):
        if arm["FIRSTLIGHT_ARM"] == "bad":
            raise RuntimeError("the card is write-protected")

    def load(self):
        self.console.expect("Starting kernel")
        if self.attempts == 1:
            raise ValueError("no prompt")
"""


def test_a_strategy_that_raises_is_an_event(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(STRATEGY.format(name="OwnStrategy"))
    with emulated(Board()) as board:
        file = labgrid_file(board, tmp_path / "lab.yaml", "OwnStrategy")
        file.write_text(file.read_text() + "imports: [own.py]\n")
        with pytest.raises(UnhealthyBootError, match="RuntimeError: the card is write-protected"):
            firstlight.record_board(file, tmp_path / "a.boot", arm="bad")
        assert firstlight.record_board(file, tmp_path / "b.boot").events == []
    (tmp_path / "own2.py").write_text(STRATEGY.format(name="RaisingStrategy"))
    with emulated(Board()) as board:
        file = labgrid_file(board, tmp_path / "lab2.yaml", "RaisingStrategy", ", attempts: 1")
        file.write_text(file.read_text() + "imports: [own2.py]\n")
        with pytest.raises(UnhealthyBootError, match="failed at the boot loader: ValueError: no prompt"):
            firstlight.record_board(file, tmp_path / "c.boot")
    (tmp_path / "own3.py").write_text(STRATEGY.format(name="ExitingStrategy").replace("ValueError", "SystemExit"))
    with emulated(Board()) as board:
        file = labgrid_file(board, tmp_path / "lab3.yaml", "ExitingStrategy", ", attempts: 1")
        file.write_text(file.read_text() + "imports: [own3.py]\n")
        with pytest.raises(UnhealthyBootError, match="failed at the boot loader: SystemExit: no prompt"):
            firstlight.record_board(file, tmp_path / "d.boot")


def test_a_relay_of_labgrid_that_does_not_answer(tmp_path: Path) -> None:
    with emulated(Board(delay_s=1.5)) as board:
        file = labgrid_file(board, tmp_path / "lab.yaml", more=", attempts: 1")
        with pytest.raises(UnhealthyBootError, match="the relay did not answer within 1 s"):
            firstlight.record_board(file, tmp_path / "a.boot")


def test_a_late_relay_does_not_switch_the_board_on_after_it_was_given_up(tmp_path: Path) -> None:
    with emulated(Board()) as board:
        slow = {"cmd_on": f"sh -c {shlex.quote('sleep 1.6; ' + board.power)}", "cmd_off": board.power_off, "delay": 0.0}
        file = labgrid_file(board, tmp_path / "lab.yaml", more=", attempts: 2")
        lines = file.read_text().splitlines()
        said = [f"      - ExternalPowerDriver: {json.dumps(slow)}" if "NetworkPowerDriver" in each else each
                for each in lines if "NetworkPowerPort" not in each]  # fmt: skip
        file.write_text("\n".join(said) + "\n")
        with pytest.raises(FirstlightError, match="no boot came up"):
            firstlight.record_board(file, tmp_path / "a", repeat=2, warm_up=0)
        assert not board.powered.is_set()
    events = [json.loads(line) for line in (tmp_path / "a/events.jsonl").read_text().splitlines()]
    assert events[0]["power_cycles"] >= 1
    assert events[0]["events"][0].startswith("power cycle 1 of 2: the relay did not answer within 1 s")
