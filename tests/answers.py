"""What a command prints with `--json`."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from firstlight.cli.main import run

SCHEMAS = Path(__file__).parents[1] / "docs/reference/schemas"


def answer(*arguments: str) -> tuple[int, Any]:
    """Run a command with `--json`; its exit code and its data."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = run([*arguments, "--json"])
    return code, data_of_answer(printed.getvalue())


def check_answer(document: Any, verb: str) -> None:
    """Check a document against the published schema of its command; of none, that it is an error alone."""
    if (SCHEMAS / f"{verb}.json").exists():
        _validator(verb).validate(json.loads(json.dumps(document)))
    else:
        assert document.keys() == {"schema", "command", "error"}


@cache
def _validator(verb: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{verb}.json").read_text()))


def data_of_answer(text: str) -> Any:
    """The data in the one document that a command printed."""
    return json.loads(text)["data"]
