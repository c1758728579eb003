"""One table in every form that Firstlight writes: the same values, and nothing in a text that does anything.

The files `table.*` and `narrow.txt` beside this one are the specification; `pytest tests/golden/table --update-golden`
writes them anew.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from firstlight.analysis.window import Window
from firstlight.render.html.table import html_table
from firstlight.render.markdown.table import markdown_table
from firstlight.render.model.pictures import Bar, Interval, Nested, TwoWayBar
from firstlight.render.model.table import Column, Table, Written, table
from firstlight.render.table_csv import table_csv
from firstlight.render.table_json import table_json
from firstlight.render.terminal.console import console
from firstlight.render.terminal.report import print_report

_BOOT = Window("power_on", 0, "ready", 1_000_000_000)
_NAMES = (
    "plain_name",
    "\x1b[31mred\x1b[0m \u202egnp.exe",
    "<script>alert('&amp;')</script>",
    "|*bold*| `code` [link](x) _a_ @everyone",
    '=HYPERLINK("http://example.org")',
)


def every_kind() -> Table:
    """A column of every kind, hostile names, unknown values, remarks, sums, rows that are not shown, and notes."""
    records = [
        {
            "name": name,
            "depth": number // 2,
            "start_ns": 250_000_000 * number,
            "change_ns": Fraction(-1_500_001, 2) if number else 0,
            "count": 10**number,
            "more": number - 1,
            "size": 1536 * 1024**number,
            "part": None if number == 4 else number / 7,
            "relative": 0.08 - number / 100,
            "finely": -0.0005 * number,
            "factor": 1.5 * number,
            "rank": number if number < 3 else "never",
            "host_s": 25.86,
            "note": None,
        }
        for number, name in enumerate(_NAMES)
    ]
    return table(
        "Every kind <b>&</b> \x07",
        [
            Column("Name", value=lambda row: Nested(row["name"], row["depth"], 2)),
            Column("Start", "time", "start_ns"),
            Column("Change", "change", "change_ns"),
            Column("Count", "count", "count", wide=60),
            Column("More", "count_change", "more", wide=70),
            Column("Size", "bytes", "size", wide=80),
            Column("Part", "share", "part"),
            Column("", "picture", lambda row: Bar(row["part"], 8)),
            Column("Relative", "percent", "relative", wide=90),
            Column("Finely", "share_change", "finely", wide=100),
            Column("Factor", "ratio", "factor", wide=110),
            Column("Rank", "number", "rank", wide=120),
            Column("Host", "seconds", "host_s", wide=130),
            Column("Own form", "count", lambda row: Written(row["count"], f"{row['count']} times"), wide=140),
            Column("Note", value="note", optional=True),
            Column("", "picture", lambda row: Interval(row["start_ns"], None, _BOOT, 8, waits_from=0), wide=150),
            Column("", "picture", lambda row: TwoWayBar(row["more"], 4, 4, 8), wide=160),
            Column("", value=lambda row: f"-{row['name']}", name="only_data", shown=False),
        ],
        records,
        left_out={"Name": "(3 more, added up)", "start_ns": 7, "count": 12},
        footer=[{"Name": "all", "count": 11_123, "part": 1.0}],
        notes=["Part: of all. <i>No markup</i>, \x1b[1mno escapes\x1b[0m, _no_ signs."],
    )


def _terminal(width: int, encoding: str) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    out = console(file)
    out.width = width
    print_report([every_kind()], out)
    file.flush()
    return raw.getvalue().decode(encoding)


FORMS: dict[str, Callable[[], str]] = {
    "table.txt": lambda: _terminal(400, "utf-8"),
    "narrow.txt": lambda: _terminal(90, "utf-8"),
    "table.md": lambda: markdown_table(every_kind()) + "\n",
    "table.html": lambda: html_table(every_kind()) + "\n",
    "table.csv": lambda: table_csv(every_kind()),
    "table.json": lambda: json.dumps(table_json(every_kind()), indent=1) + "\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_written_in_every_form(form: str, request: pytest.FixtureRequest) -> None:
    expected = Path(__file__).parent / form
    written = FORMS[form]()
    if request.config.getoption("--update-golden"):
        expected.write_text(written, encoding="utf-8", newline="")
    assert written == expected.read_bytes().decode("utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_a_name_does_anything(form: str) -> None:
    written = FORMS[form]()
    assert "\x1b" not in written
    assert "\u202e" not in written
    if form in ("table.md", "table.html"):
        assert "<script" not in written
        assert "<i>" not in written
    if form == "table.md":
        assert "@everyone" not in written
        assert " _a_" not in written
    if form == "table.csv":
        cells = [cell for line in written.splitlines() for cell in line.split(",")]
        assert not any(cell.startswith(("=", '"=', "-<")) for cell in cells)


def test_a_terminal_without_unicode_is_given_ascii_pictures() -> None:
    table = Table("", [Column("", "picture")], [[Bar(0.5, 8)], [Interval(0, None, _BOOT, 8)], [Nested("f", 2, 2)]])
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    print_report([table], console(file))
    file.flush()
    assert raw.getvalue().decode("ascii").split("\n") == ["", "####", "........", "| | f", ""]


def test_text_and_data_come_from_the_same_values() -> None:
    data = table_json(every_kind())
    starts = data["values"]["start_ns"]
    place = [column["name"] for column in data["columns"]].index("start_ns")
    assert [row[place] for row in data["rows"]] == ["0 ns", "250.000 ms", "500.000 ms", "750.000 ms", "1.000000 s"]
    assert starts == [0, 250_000_000, 500_000_000, 750_000_000, 1_000_000_000]
    assert data["values"]["rank"] == [0, 1, 2, None, None]
