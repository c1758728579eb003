"""What a study leaves: its folder with data, tables and pages, and what a terminal shows of it."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from firstlight.cli.main import run
from firstlight.errors import FirstlightError, UsageError
from firstlight.render.markdown.study import outcome_markdown
from firstlight.render.study_folder import study_folder
from firstlight.render.table_csv import table_csv
from firstlight.render.terminal.report import print_report
from firstlight.render.views.study import study_report, study_table
from firstlight.study.catalogue import find_study, studies
from firstlight.study.historical import historical_tables
from firstlight.study.outcome import Finding, Verdict
from firstlight.study.table import Chart, Field, MissingValue, Series, Table
from invented_study import NO_TOOL, invented_outcome


def printed(width: int = 120) -> str:
    out = StringIO()
    print_report(study_report(invented_outcome()), Console(file=out, width=width))
    return out.getvalue()


def test_the_terminal_shows_every_verdict_on_one_screen_and_names_the_tables() -> None:
    text = printed()
    assert "Claims: 1 holds, 1 no longer holds, 1 is not testable here" in text
    assert "holds: execute in place wins" in text
    assert "then 0.76 s; here 0.70 s" in text
    assert "not testable here: an LED turns red" in text
    assert f"romfs: {NO_TOOL}" in text.split("Not measured")[1]
    assert "Tables as CSV: findings, boot, then-then" in text
    assert len(text.splitlines()) < 30


def test_a_gap_is_shown_where_it_is_and_named_with_its_reason_once() -> None:
    table = study_table(invented_outcome().tables[0])
    assert table.notes[-1] == f"none: romfs, Boot; romfs, Change: {NO_TOOL}"


def test_a_change_inside_the_noise_band_is_in_parentheses_and_exact_in_data() -> None:
    made = Table("t", "T", (Field("a"), Field("b", "change")), (("x", 900), ("y", 1_100)), band_ns=1_000)
    shown = study_table(made)
    assert shown.texts(shown.rows) == [["x", "(+900 ns)"], ["y", "+1.100 us"]]
    assert "inside the noise band of ±1.000 us" in shown.notes[-1]
    assert table_csv(shown).splitlines()[1] == "x,900"


def test_a_page_has_the_verdicts_a_picture_and_then_beside_now() -> None:
    text = outcome_markdown(invented_outcome())
    assert "Of 3 claims, 1 holds, 1 no longer holds, 1 is not testable here." in text
    assert "    cramfs  #####" in text
    assert "| execute in place wins | 0.76 s | 0.70 s | holds |" in text
    assert "`tables/then-then.csv`: Then" in text
    assert len(text.splitlines()) < 60


def test_a_picture_of_few_columns_has_their_parts_and_one_of_many_bars_says_what_it_leaves_out() -> None:
    columns = Series("tests", (("stock", 3e6), ("lab", 1e6))), Series("memory", (("stock", 6e6), ("lab", 2e6)))
    stacked = Chart("s", "Parts", "stacked", "kernel", "time", "time", (*columns, Series("root", (("lab", 1e6),))))
    text = outcome_markdown(replace(invented_outcome(), charts=(stacked,)))
    assert f"Parts (stock):\n\n    memory  {'#' * 40}  6.000 ms\n    tests   {'#' * 20}" in text
    many = Chart("b", "Bars", "bars", "n", "time", "time", (Series("", tuple((n, 1e6) for n in range(30))),))
    text = outcome_markdown(replace(invented_outcome(), charts=(many,)))
    assert text.count("#" * 40) == 24
    assert "    and 6 more in study.html" in text


def test_the_same_outcome_leaves_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with study_folder(tmp_path / name, force=False) as folder:
            folder.write(invented_outcome())
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert [str(path) for path in files] == [
        "study.html", "study.json", "study.md", "tables/boot.csv", "tables/findings.csv", "tables/then-then.csv",
    ]  # fmt: skip
    assert all((tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes() for path in files)


def test_the_data_have_every_figure_in_full_and_the_reason_of_a_hole(tmp_path: Path) -> None:
    with study_folder(tmp_path / "s", force=False) as folder:
        folder.write(invented_outcome())
    data = json.loads((tmp_path / "s" / "study.json").read_text())
    assert data["tables"][0]["rows"][0][:3] == ["cramfs", 842_789_100, 0]
    assert data["tables"][0]["rows"][2][1] == {"missing": NO_TOOL}
    assert [finding["verdict"] for finding in data["findings"]] == ["holds", "no longer holds", "not testable here"]
    lines = (tmp_path / "s" / "tables" / "boot.csv").read_text().splitlines()
    assert lines[0] == "arm,boot_ns,change_ns,image_bytes,share,slower,files"
    assert lines[1].startswith("cramfs,842789100,0,3145728,0.5,")


def test_markdown_escapes_what_would_be_markdown() -> None:
    hostile = Finding("<script>|*x*", "", "", Verdict.HOLDS)
    text = outcome_markdown(replace(invented_outcome("<script>|*x*"), findings=(hostile,)))
    assert "&lt;script&gt;\\|\\*x\\*" in text
    # The picture is an indented block, in which nothing is markup.
    assert all(line.startswith("    ") for line in text.splitlines() if "<script>" in line)


def test_a_finished_study_is_replaced_only_by_force_and_anything_else_never(tmp_path: Path) -> None:
    with study_folder(tmp_path / "s", force=False) as folder:
        folder.write(invented_outcome())
    with pytest.raises(FirstlightError, match="a study is already there"), study_folder(tmp_path / "s", force=False):
        pass
    with study_folder(tmp_path / "s", force=True) as folder:
        folder.write(invented_outcome())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(FirstlightError, match="this is not a study"), study_folder(tmp_path / "other", force=True):
        pass
    assert (tmp_path / "other" / "letter.txt").read_text() == "dear"


def test_a_study_that_is_replaced_stays_until_the_new_one_is_written(tmp_path: Path) -> None:
    with study_folder(tmp_path / "s", force=False) as folder:
        folder.write(invented_outcome())
    files = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    with pytest.raises(UsageError), study_folder(tmp_path / "s", force=True):
        raise UsageError("a claim is wrong")
    assert {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()} == files


def test_a_study_that_was_interrupted_while_it_was_written_is_written_again(tmp_path: Path) -> None:
    with study_folder(tmp_path / "s", force=False) as folder:
        folder.write(invented_outcome())
    (tmp_path / "s" / "study.json").unlink()
    with study_folder(tmp_path / "s", force=False) as folder:
        folder.write(invented_outcome())
    assert (tmp_path / "s" / "study.json").is_file()


def test_a_study_that_makes_nothing_leaves_no_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError), study_folder(tmp_path / "s", force=False):
        raise UsageError("a claim is wrong")
    assert not (tmp_path / "s").exists()


def test_an_interrupted_study_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "s" / "boots").mkdir(parents=True)
    with study_folder(tmp_path / "s", force=False) as folder:
        assert folder.path == tmp_path / "s"


def test_a_row_has_a_value_for_each_column() -> None:
    with pytest.raises(ValueError, match="a row of 1 values for 2 columns"):
        Table("t", "T", (Field("a"), Field("b")), ((MissingValue("x"),),))


@pytest.mark.parametrize("study", [study.name for study in studies()])
def test_every_study_has_the_tables_of_then(study: str) -> None:
    tables = historical_tables(find_study(study).package)
    assert tables
    assert all(table.below[0].startswith("Source: ") and table.rows for table in tables)


def test_the_list_names_every_study_and_another_name_is_refused_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["study", "list"]) == 0
    said = capsys.readouterr().out
    assert all(study.name in said for study in studies())
    assert run(["study", "run", "tree-wolk"]) == 2
    assert "did you mean `tree-walk`?" in capsys.readouterr().err
    assert run(["study", "tree-walk", "--quick", "--full"]) == 2
