"""Text from a boot can do nothing to a terminal."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bundles import HOSTILE
from firstlight.escape import printable
from firstlight.render.model.table import Column, Table
from firstlight.render.terminal.console import console
from firstlight.render.terminal.table import print_table

texts = st.text(st.characters(exclude_categories=[])) | st.sampled_from(HOSTILE)


@given(texts)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not {unicodedata.category(each) for each in printable(text)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(texts)
def test_what_was_written_safely_stays_as_it_is(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(texts, st.integers(1, 50))
def test_a_limit_is_kept(text: str, limit: int) -> None:
    assert len(printable(text, limit)) <= limit


@given(st.lists(st.lists(texts, min_size=3, max_size=3), max_size=5), st.integers(20, 120))
def test_a_table_has_a_line_for_each_row_and_keeps_to_the_width(rows: list[list[str]], width: int) -> None:
    file = io.StringIO()
    out = console(file)
    out.width = width
    print_table(out, Table("", [Column("A"), Column("B"), Column("C")], rows))
    lines = file.getvalue().split("\n")
    assert len(lines) == len(rows) + 2
    assert lines[-1] == ""
    # Three columns are never cut below twelve characters each.
    assert all(cell_len(line) <= max(width, 3 * 12 + 4) for line in lines)


def test_figures_are_never_cut_and_names_are() -> None:
    file = io.StringIO()
    out = console(file)
    out.width = 30
    print_table(out, Table("", [Column("Name"), Column("Figure", "count")], [["n" * 60, 123_456_789_012]]))
    assert file.getvalue().splitlines()[1] == "n" * 12 + "…  123,456,789,012"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_gets_bars_and_rules_it_can_show(encoding: str) -> None:
    raw = io.BytesIO()
    out = console(io.TextIOWrapper(raw, encoding=encoding, errors="strict"))
    print_table(out, Table("", [Column("A")], [["x"]], [["y"]]))
    out.file.flush()
    assert raw.getvalue() == b"A\nx\n-\ny\n"
