"""What the commands print on invented boots, to the character.

Each case is a directory with `command` and `expected.txt`.
`pytest tests/golden --update-golden` writes the expectations anew; look at what changed before you commit it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from bundles import make_bundle
from experiments import make_experiments
from firstlight.cli.main import run
from imported_bundle import make_bare, make_imported
from invented_processes import make_processes
from varying_boots import noise, session

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/command"))


@pytest.fixture(scope="module")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one boot of every sort."""
    directory = tmp_path_factory.mktemp("boots")
    make_bundle(directory)
    make_bundle(directory, name="bare.boot", profile=False)
    make_bundle(directory, name="changed.boot", seed=2, append="quiet")
    make_bundle(directory, name="failed.boot", failed=True)
    make_bundle(directory, name="hostile.boot", hostile=True)
    make_bundle(directory, name="live.boot", live=True)
    make_imported(directory)
    make_imported(directory, "imported-hostile.boot", hostile=True)
    make_bare(directory)
    make_experiments(directory)
    make_processes(directory)
    make_processes(directory, name="processes-hostile.boot", hostile=True)
    session(directory / "slower", noise(10, change=0.04), phase="initcalls_device", failed=[(3, 1)])
    session(directory / "few", noise(4))
    session(directory / "apart", noise(8), in_turns=False)
    return directory


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_command_prints_what_is_written_down(
    case: Path,
    boots: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    words = shlex.split((case / "command").read_text())
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    monkeypatch.chdir(boots)
    code = run(words[1:])
    said = capsys.readouterr()
    printed = f"{said.out}{said.err}" + (f"[exit code {code}]\n" if code else "")
    if request.config.getoption("--update-golden"):
        (case / "expected.txt").write_text(printed)
    assert printed == (case / "expected.txt").read_text()
