"""The one document that a command prints with `--json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstlight.api.data import DATA
from firstlight.cli.main import run
from reference.commands import Command, read_commands


def with_json(command: Command) -> bool:
    """Whether a command has the option."""
    return any(option.startswith("--json") for option, _ in command.options)


def test_every_command_with_the_option_has_a_schema() -> None:
    verbs = {"-".join(command.path) for command in read_commands().walk() if with_json(command)}
    assert verbs == set(DATA)


def test_data_stand_in_an_envelope(invented_boot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["show", str(invented_boot), "--json"]
    assert run(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["command"]) == ("firstlight.show/1", ["firstlight", *words])
    assert document["data"]["mode"] == "exact"
    assert "error" not in document


def test_an_error_is_data_and_stays_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "no.boot", "--json"]) == 1
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert (error["code"], error["where"], error["exit_code"]) == ("bundle", "no.boot", 1)
    assert said.err == f"error: no.boot: {error['message']}\nhint: {error['hint']}\n"


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (["show", "--json"], "firstlight.show/1"),
        (["history", "add", "--no-such", "--json"], "firstlight.history-add/1"),
        (["shwo", "--json"], "firstlight.shwo/1"),
        (["bless", "--json"], "firstlight.baseline-set/1"),
    ],
)
def test_an_error_of_usage_is_data_too(words: list[str], schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["schema"], document["error"]["code"]) == (schema, "usage")
    assert document["error"]["exit_code"] == 2
    assert said.err.startswith("error: ")


def test_without_the_option_an_error_prints_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "no.boot"]) == 1
    assert capsys.readouterr().out == ""


def test_a_verdict_is_no_error(invented_boot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                               capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["baseline", "set", str(invented_boot), "--because", "first", "--json"]) == 0
    assert run(["gate", str(invented_boot), "--json"]) == 0
    documents = capsys.readouterr().out
    assert documents.count('"data"') == 2
    assert '"error"' not in documents
