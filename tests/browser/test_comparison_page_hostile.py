"""What compared boots bring along is text in the comparison page, whatever it says."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

from browser.report_page import Report, Show, assert_only_text, rewrite
from bundles import HOSTILE, make_bundle
from firstlight.cli.main import run

BAD = ["</script><script>alert(1)</script>", "&lt;b&gt;&amp;", "\x1b[31mred\x1b]0;owned\x07", "‮gnp.exe", "__proto__",
       "constructor", "\ud800lone", "x" * 10_000]  # fmt: skip


def _compared(tmp_path: Path) -> str:
    arms = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", hostile=True, seed=2)
    page = tmp_path / "compared.html"
    assert run(["compare", *map(str, arms), "--html", str(page), "--force"]) == 0
    return page.read_text(encoding="utf-8")


def _search(report: Report, term: str) -> str:
    report.page.get_by_label("Search the graph of changes").fill(term)
    return report.section("tree")


def test_hostile_names_are_shown_and_do_nothing(show: Show, tmp_path: Path) -> None:
    report = show(html=_compared(tmp_path))
    assert_only_text(report)
    for attack in HOSTILE[:2]:
        assert "match" in _search(report, attack)
        report.page.locator(f"#tree g.frame[name*='{attack[:6]}']").first.hover()
        assert attack in report.page.locator(".card").first.inner_text()
    for view in ("Vanished", "New"):
        report.page.locator("#tree .units span", has_text=view).click()
    names = "\n".join(report.column("tree", "function"))
    assert "</script><script>alert(2)</script>" in names
    assert "‹U+202E›gnp.exe" in names
    assert_only_text(report)


def test_names_of_any_sort_everywhere_harm_nothing(show: Show, tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        found = data["comparisons"][0]
        found["a"]["boot"] = found["b"]["boot"] = data["baseline"] = BAD[0]
        found["levels"] = {
            BAD[4]: found["levels"]["initcalls"],
            BAD[5]: found["levels"]["functions"],
            **found["levels"],
        }
        for rows in (found["levels"]["phases"]["rows"], found["levels"]["functions"]["rows"], found["tree"]["rows"]):
            for number, name in enumerate(BAD):
                rows[number % len(rows)] |= {"name": name, "module": BAD[-number], "kind": BAD[4]}
        found["moved"] = [{"caller": name, "node": 1, "lost": [[name, -5]], "gained": [[name, 5]], "moved_ns": 5,
                           "net_ns": 0} for name in BAD]  # fmt: skip
        found["renamed"] = [{"old": name, "new": name, "why": name, "total_a_ns": 1, "total_b_ns": 1} for name in BAD]
        found["facts"] = [{"fact": name, "a": name, "b": None} for name in BAD]
        data["said"][0] |= {"word": "__proto__", "sentence": BAD[0], "lines": [["flag", name, name] for name in BAD]}

    report = show(html=rewrite(_compared(tmp_path), change))
    assert_only_text(report)
    assert BAD[0] in report.page.locator("header").inner_text()
    assert "‹U+202E›gnp.exe" in report.section("facts")
    assert "(10,000 characters)" in report.section("facts")
    for radio in report.page.locator("main input[type='radio']").all():
        radio.dispatch_event("click")
    assert_only_text(report)


def test_nothing_of_the_boots_is_in_the_file_as_markup(tmp_path: Path) -> None:
    html = _compared(tmp_path)
    before, rest = html.split('id="firstlight-data">', 1)
    packed, after = rest.split("<", 1)
    assert (
        packed.translate(str.maketrans("", "", string.ascii_letters + string.digits + "!#$%.()*+-;:=,?@^_`{|}~")) == ""
    )
    assert all(attack not in before + after for attack in HOSTILE)


def test_damaged_or_foreign_data_are_reported_in_words(show: Show, tmp_path: Path) -> None:
    html = _compared(tmp_path)
    newer = show(html=rewrite(html, lambda data: data.update(version=99)))
    assert "version 99" in newer.page.get_by_role("alert").inner_text()
    other = show(html=rewrite(html, lambda data: data.update(format=json.dumps("another"))))
    assert "cannot be shown" in other.page.get_by_role("alert").inner_text()
