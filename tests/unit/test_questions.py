"""Questions about kernel functions, and conditions on their calls."""

from __future__ import annotations

import pytest

from firstlight.errors import UsageError
from firstlight.lab.run.question import parse_question
from firstlight.lab.run.when import parse_condition

COLUMNS = ["comm", "pid", "dfd", "how->flags", "result"]
ROW = {"comm": "udevadm", "pid": 7, "dfd": -100, "how->flags": 32768, "result": None}


def test_a_question_names_a_function_and_values_with_members_and_kinds() -> None:
    question = parse_question(" vfs_read( file->f_path.dentry->d_name.name:string , count:u64 ) ")
    assert question.function == "vfs_read"
    assert [(value.path, value.kind) for value in question.values] == [
        (("file", "f_path", "dentry", "d_name", "name"), "string"),
        (("count",), "u64"),
    ]
    assert parse_question("schedule()").values == parse_question("schedule").values == ()


@pytest.mark.parametrize(
    "text",
    ["", "f(", "f(a", "f)a(", "f(a b)", "f(a:blob)", "f(a->)", "f(a,,b)", "f(a, a)", "f(-1)", "f(a);g(b)", "1f(a)"],
)
def test_what_is_no_question_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_question(text)
    assert "hint: " in caught.value.report()


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ('comm == "udevadm"', True),
        ('comm != "udevadm"', False),
        ("dfd < 0 and pid in 7", False),
        ("dfd == -100 or pid > 9", True),
        ("not pid > 9", True),
        ('"dev" in comm', True),
        ("how_flags >= 32768", True),
        ("result < 0", False),
        ("result != 0", False),
        ("comm < 3", False),
        ("comm != 3", True),
    ],
)
def test_a_condition_compares_columns(text: str, fits: bool) -> None:
    assert parse_condition(text, COLUMNS)(ROW) is fits


@pytest.mark.parametrize(
    "text",
    ["", "comm", "comm ==", "f(comm) == 1", "comm.x == 1", "1 < pid < 9", "pid + 1 == 8", "lambda: 1", "pid == None",
     "nothing == 1", "(" * 500 + "pid" + ")" * 500, "not " * 5000 + "pid == 1", "pid := 1"],
)  # fmt: skip
def test_what_is_no_condition_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition(text, COLUMNS)
    assert "hint: " in caught.value.report()
