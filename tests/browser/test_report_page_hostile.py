"""What a boot brings along is text in the page, whatever it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import firstlight
from browser.report_page import Show, assert_only_text, rewrite
from bundles import HOSTILE, make_bundle, settle, write_table
from firstlight.render.page.html import page_html
from firstlight.render.page.tree import FOLD_DEPTH


def test_hostile_names_are_shown_and_do_nothing(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path, hostile=True))
    assert_only_text(report)
    report.page.locator("#functions .more button").last.click()
    names = report.column("functions", "function")
    assert any(name.startswith("<img src=x onerror=alert(1)>") for name in names)
    assert any(name.startswith("</script><script>alert(2)</script>") for name in names)
    assert any(name.startswith("two‹U+000A›lines‹U+0009›tabbed‹U+0000›nul‹U+202E›gnp.exe") for name in names)
    for attack in HOSTILE[:2]:
        report.page.get_by_label("Search the flame graph").fill(attack)
        assert "match" in report.section("flame")
        report.page.locator(f"#flame g.frame[name^='{attack[:6]}']").first.hover()
        assert attack in report.page.locator(".card").inner_text()
    assert_only_text(report)


def test_terminal_escapes_on_the_console_are_taken_out(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path, hostile=True))
    lines = report.column("log", "text")
    assert "red" in lines
    assert not any("\x1b" in line for line in lines)


def test_names_of_any_length_and_brokenness_harm_nothing(show: Show, tmp_path: Path) -> None:
    bad = ["\ud800lone", "x" * 10_000, "__proto__", "constructor", "‮", "&lt;b&gt;", "' onload='alert(3)", "\u2028"]

    def change(data: dict[str, Any]) -> None:
        tree = data["tree"]
        for number, name in enumerate(bad):
            data["strings"].append(name)
            tree["name"][number + 1] = len(data["strings"]) - 1
            data["phases"]["name"][number] = name
            data["log"]["text"][number % 5] = name
        data["boot"]["name"] = bad[6]
        data["boot"]["failure"] = {"reason": bad[2], "detail": bad[0], "console_tail": bad}
        data["boot"]["status"] = "failed"
        data["facts"]["value"][0] = data["marks"]["detail"][0] = data["invariants"][0]["name"] = bad[5]

    report = show(html=rewrite(page_html(firstlight.open(make_bundle(tmp_path))), change))
    assert_only_text(report)
    assert "&lt;b&gt;" in report.section("facts")
    assert "(10,000 characters)" in report.page.get_by_role("alert").inner_text() + report.section("phases")
    for phase in range(len(bad)):
        report.page.locator("#phase").select_option(value=str(phase))
    assert_only_text(report)


def test_nothing_of_a_boot_is_in_the_file_as_markup(tmp_path: Path) -> None:
    clean = page_html(firstlight.open(make_bundle(tmp_path)))
    hostile = page_html(firstlight.open(make_bundle(tmp_path, name="b.boot", hostile=True)))
    for markup in ("<", ">", "<script", "alert("):
        assert hostile.count(markup) == clean.count(markup)


def test_an_inline_handler_or_script_in_the_page_would_not_run(show: Show) -> None:
    """The policy holds on its own, should text ever become markup; checked on a page of its own."""
    report = show()
    policy = report.page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "data:" not in policy
    refused = report.page.evaluate("() => { try { document.body.innerHTML = '<b>'; } catch (e) { return e.name; } }")
    assert refused == "TypeError"
    assert report.page.locator("h1").count() == 1
    report.misdeeds.console.clear()  # the refusal is told on the console


def test_damaged_or_foreign_data_are_reported_in_words(show: Show, tmp_path: Path) -> None:
    html = page_html(firstlight.open(make_bundle(tmp_path)))
    newer = show(html=rewrite(html, lambda data: data.update(version=99)))
    assert "version 99" in newer.page.get_by_role("alert").inner_text()
    before, rest = html.split('id="firstlight-data">', 1)
    cut = show(html=f'{before}id="firstlight-data">{rest[: len(rest) // 3 // 4 * 4]}</script>')
    assert "cannot be shown" in cut.page.get_by_role("alert").inner_text()


def test_a_deep_chain_of_calls_opens(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    size = 5_000
    chain = pl.DataFrame(
        {
            "node": range(size),
            "parent": [None, *range(size - 1)],
            "function": ["[boot]", *(f"recurse_{i}" for i in range(1, size))],
            "module": [None] * size,
            "kind": ["root", *["function"] * (size - 1)],
            "calls": [1] * size,
            "self_instructions": [10] * size,
            "total_instructions": [10 * (size - i) for i in range(size)],
            "self_ns": [10] * size,
            "total_ns": [10 * (size - i) for i in range(size)],
            "doubtful_calls": [0] * size,
        },
        schema=firstlight.open(bundle).calls().schema,
    )
    write_table(bundle, "calls", chain)
    write_table(bundle, "phase_calls", pl.read_parquet(bundle / "phase_calls.parquet").clear())
    report = show(settle(bundle))
    assert len(report.frames()) == FOLD_DEPTH + 2
    assert report.frames()[-1] == "(1 smaller)"
    report.page.locator("#flame g.frame[name='recurse_300']").click()
    report.page.wait_for_timeout(500)
    assert report.page.locator(".crumbs button").count() == 301
