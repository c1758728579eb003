"""The comparison page does for a person what it says it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from browser.report_page import Report, Show
from bundles import make_bundle
from firstlight.cli.main import run
from firstlight.comparison.compare import compare_arms
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.sides.arms import read_arms
from firstlight.comparison.statistical.comparison import NoisyComparison
from varying_boots import noise, session


def _page(*words: str | Path) -> str:
    """What `firstlight compare` writes for these arguments."""
    page = Path(words[0]).parent / "compared.html"
    assert run(["compare", *map(str, words), "--html", str(page), "--force"]) == 0
    return page.read_text(encoding="utf-8")


def _difference(a: Path, b: Path) -> ExactDifference:
    found = compare_arms(*read_arms([a, b]))
    assert isinstance(found, ExactDifference)
    return found


@pytest.fixture
def arms(tmp_path: Path) -> tuple[Path, Path]:
    """Two exact boots; the second has another tree and one more word on its command line."""
    return make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=2, append="quiet")


def _frames(report: Report, section: str = "tree") -> list[str]:
    names = report.page.locator(f"#{section} g.frame").evaluate_all("all => all.map(e => e.getAttribute('name'))")
    return [str(name) for name in names]


def _view(report: Report, title: str) -> None:
    report.page.locator("#tree .units span", has_text=title).click()
    report.page.wait_for_timeout(500)


def test_says_who_is_compared_and_the_answer_in_one_sentence(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    whole = _difference(*arms).whole
    head = report.page.locator("header").inner_text()
    assert whole.a is not None
    assert whole.b is not None
    answer = "B is slower by 7.625 ms (0.919 %); caused by init (+3.452 ms); by function: init_idle (+3.702 ms)."
    assert answer in head
    assert f"+{whole.change_ns:,} ns" in head
    assert f"A {whole.a.instructions:,} → B {whole.b.instructions:,}" in head
    assert "command line: + quiet" in head
    assert report.page.title() == "a.boot → b.boot – Firstlight"


@pytest.mark.parametrize("level", ["phases", "initcalls", "functions"])
def test_the_steps_of_the_bridge_add_up_to_the_change(show: Show, arms: tuple[Path, Path], level: str) -> None:
    report = show(html=_page(*arms))
    difference = _difference(*arms)
    report.page.locator(f"#bridge input[value='{level}']").dispatch_event("click")
    report.page.wait_for_selector("#bridge .step")
    steps = report.page.locator("#bridge .step[data-scaled]")
    changes = [int(each) for each in steps.evaluate_all("all => all.map(e => e.dataset.scaled)")]
    changed = next(each for each in difference.levels if each.name == level).changed
    largest = [row.change_ns for row in changed if row.change_ns]
    assert changes[:12] == largest[:12]
    assert sum(changes) == difference.whole.change_ns
    assert f"add up to +{difference.whole.change_ns:,} ns, exactly B less A" in report.section("bridge")


def test_each_step_begins_where_the_one_before_ended(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    boxes = report.page.locator("#bridge .step").evaluate_all(
        """all => all.map(group => {
          const box = group.querySelector("rect");
          const [left, width] = [Number(box.getAttribute("x")), Number(box.getAttribute("width"))];
          const falls = group.classList.contains("faster");
          return falls ? [left + width, left] : [left, left + width];
        })"""
    )
    at = boxes[0][1]
    for begins, ends in boxes[1:-1]:
        assert begins == pytest.approx(at, abs=1.6)
        at = ends
    assert boxes[-1][1] == pytest.approx(at, abs=1.6)


def test_frames_are_as_wide_as_their_changes_and_coloured_by_sign(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    tree = _difference(*arms).tree
    assert tree is not None
    rows = [row for row in tree.walk(0.01) if row.depth == 1 and not row.pruned]
    drawn = report.page.locator("#tree g.frame").evaluate_all(
        "all => all.map(e => [e.getAttribute('name'), Number(e.getAttribute('width')), "
        "e.querySelector('rect').getAttribute('fill')])"
    )
    whole = drawn[0][1]
    for row in rows:
        name, width, fill = next(each for each in drawn[1:] if each[0].split(" ")[1] == row.row.name)
        assert width / whole == pytest.approx(row.gross_ns / tree.nodes["gross_ns"][0], abs=0.01)
        assert name[0] == ("▲" if row.change_ns > 0 else "▼")
        assert abs(row.change_ns) < 0.1 * row.gross_ns or ("slower" in fill) == (row.change_ns > 0)


def test_search_finds_a_function_and_tells_by_how_much_it_changed(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    box = report.page.get_by_label("Search the graph of changes")
    report.page.keyboard.press("/")
    assert box.evaluate("e => e === document.activeElement")
    box.fill("SETUP_arch")
    tree = _difference(*arms).tree
    assert tree is not None
    row = next(row for row in tree.walk(0.0002) if row.row.name == "setup_arch")
    share = 100 * row.gross_ns / tree.nodes["gross_ns"][0]
    told = f"1 frame matches: −{-row.change_ns / 1000:.3f} µs together, {share:.1f} % of all changes"
    assert told in report.section("tree")
    hits = report.page.locator("#tree g.frame:has(rect[fill='var(--hit)'])")
    assert [name.split(" ")[1] for name in hits.evaluate_all("all => all.map(e => e.getAttribute('name'))")] == [
        "setup_arch"
    ]
    box.fill("no such function")
    assert "Nothing matches" in report.section("tree")


def test_the_view_of_what_vanished_shows_what_is_only_in_a(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    tree = _difference(*arms).tree
    assert tree is not None
    for title, side in (("Vanished", "a"), ("New", "b")):
        _view(report, title)
        only = tree.only(side)
        took = sum(row.total_a_ns if side == "a" else row.total_b_ns for row in only)
        assert {re.sub(r" \[.*", "", name) for name in report.column("tree", "function")} == {
            row.row.name for row in only
        }
        functions = _difference(*arms).functions
        assert functions is not None
        gone = {row.name for row in functions.rows if row.presence == f"only_{side}"}
        told = dict(zip(report.column("tree", "function"), report.column("tree", "elsewhere"), strict=True))
        assert {name for name, text in told.items() if text in ("is gone", "is new")} == gone & set(told)
        assert f"{len(only):,} call paths are only in {side.upper()}" in report.section("tree")
        coloured = report.page.locator(f"#tree g.frame:has(rect[fill='url(#change-only-{side})'])")
        names = coloured.evaluate_all("all => all.map(e => e.getAttribute('name').split(' ')[1])")
        there = {row.row.name for row in tree.walk(0.0) if row.row.presence == f"only_{side}"}
        assert names
        assert set(names) <= there | {row.row.name for row in only}
        assert _frames(report)[0].split(" ", 1)[1].startswith("[boot]")
        assert f"{took / 1e6:.3f} ms; 100.0 % of what" in report.section("tree")


def test_a_click_zooms_and_escape_shows_all_again(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    frame = report.page.locator("#tree g.frame[name*=' do_initcalls ']")
    before = float(frame.get_attribute("width") or 0)
    frame.click()
    report.page.wait_for_timeout(500)
    assert float(frame.get_attribute("width") or 0) > before
    assert report.page.locator("#tree .crumbs button").all_inner_texts()[-1].endswith("do_initcalls")
    report.page.get_by_role("button", name="Reset zoom").click()
    report.page.wait_for_timeout(500)
    assert float(frame.get_attribute("width") or 0) == before


def test_a_frame_tells_both_sides_and_more_calls_from_dearer_ones(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    report.page.locator("#tree g.frame[name*=' start_kernel ']").first.hover()
    card = report.page.locator(".card").first.inner_text()
    assert all(word in card for word in ("With callees", "By itself", "Calls", "Change"))


def test_the_tables_sort_and_split_more_calls_from_the_cost_of_each(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    functions = _difference(*arms).functions
    assert functions is not None
    changed = functions.changed
    assert report.column("changes", "name")[0].startswith(changed[0].name)
    heads = [text.strip("▼▲ ") for text in report.page.locator("#changes thead th").all_inner_texts()]
    assert heads == [
        "Function",
        "Size",
        "Change",
        "of A",
        "A",
        "B",
        "Caused",
        "Moved",
        "Accident",
        "Calls",
        "gone paths",
        "new paths",
        "more calls",
        "cost each",
    ]
    report.page.locator("#changes th[data-column='calls'] button").click()
    calls = [int(text.replace(",", "").replace("−", "-")) for text in report.column("changes", "calls") if text != "–"]
    assert calls[0] == max(row.change_calls or 0 for row in changed)
    assert calls == sorted(calls, reverse=True)
    report.page.get_by_label("Filter functions").fill(changed[0].name)
    assert report.column("changes", "name")[0].startswith(changed[0].name)


def test_every_table_says_that_it_adds_up(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    whole = _difference(*arms).whole.change_ns
    for level in ("functions", "phases", "initcalls"):
        report.page.locator(f"#changes input[value='{level}']").dispatch_event("click")
        assert f"Together +{whole:,} ns, all of the change." in report.section("changes")


def test_rows_that_were_asked_to_be_left_out_are_added_up(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms, "-n", "3"))
    whole = _difference(*arms).whole.change_ns
    assert len(report.column("changes", "name")) == 3
    assert "smaller ones that have no row here" in report.section("changes")
    assert f"Together +{whole:,} ns, all of the change." in report.section("changes")
    steps = report.page.locator("#bridge .step[data-scaled]").evaluate_all("all => all.map(e => +e.dataset.scaled)")
    assert sum(steps) == whole


def test_moved_cost_is_named_and_its_caller_is_shown_on_demand(show: Show, arms: tuple[Path, Path]) -> None:
    report = show(html=_page(*arms))
    moved = _difference(*arms).moved[0]
    told = report.section("moved")
    assert f"under {moved.caller}: from {moved.lost[0][0]}" in told
    report.page.locator("#moved .link").first.click()
    report.page.wait_for_timeout(500)
    assert report.page.locator("#tree .crumbs button").all_inner_texts()[-1].startswith(moved.caller)


def test_equal_boots_are_called_equal(show: Show, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    report = show(html=_page(bundle, bundle))
    assert "Equal: all tables of both boots are equal." in report.page.locator("header").inner_text()
    assert report.page.locator("section").count() == 0


def test_boots_without_profile_have_a_bridge_and_say_why_no_function_is_known(show: Show, tmp_path: Path) -> None:
    bundles = make_bundle(tmp_path, profile=False), make_bundle(tmp_path, name="b.boot", seed=2, profile=False)
    report = show(html=_page(*bundles))
    assert "functions are not compared" in report.page.locator("header").inner_text()
    assert "recorded with a profile" in report.section("tree")
    assert report.page.locator("#bridge .step[data-scaled]").count() > 0


def test_several_arms_have_a_part_each_and_a_table_of_all(show: Show, arms: tuple[Path, Path], tmp_path: Path) -> None:
    third = make_bundle(tmp_path, name="c.boot", seed=3)
    report = show(html=_page(*arms, third))
    assert report.column("arms", "arm") == ["b.boot", "c.boot"]
    assert report.page.locator("article").count() == 2
    for number, other in ((1, arms[1]), (2, third)):
        steps = report.page.locator(f"#arm-{number} .step[data-scaled]")
        changes = steps.evaluate_all("all => all.map(e => +e.dataset.scaled)")
        assert sum(changes) == _difference(arms[0], other).whole.change_ns
    identifiers = report.page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(identifiers) == len(set(identifiers))


def test_noisy_arms_have_a_verdict_an_interval_and_a_picture_of_their_pairs(show: Show, tmp_path: Path) -> None:
    a, b = session(tmp_path, noise(10, change=0.04), phase="initcalls_device", failed=[(3, 1)])
    report = show(html=_page(a, b, "--describe"))
    found = compare_arms(*read_arms([a, b]))
    assert isinstance(found, NoisyComparison)
    head = report.page.locator("header").inner_text()
    assert "regression" in head
    assert "B is slower by 2.65 % (2.47 to 2.77 %)." in head
    assert "the boot failed (panic): no root file system" in head
    assert report.page.locator("#spread .pair-change").count() == len(found.a_ns) == 9
    assert report.page.locator("#spread circle.boot").count() == 18
    assert report.page.locator("#spread .interval").count() == 2
    level = found.levels[0]
    steps = report.page.locator("#bridge .step[data-scaled]").evaluate_all("all => all.map(e => +e.dataset.scaled)")
    assert sum(steps) == level.whole.change_scaled
    assert report.column("changes", "name")[0] == "initcalls device"
    assert "median" in report.section("changes")


def test_boots_that_do_not_tell_are_not_called_a_change(show: Show, tmp_path: Path) -> None:
    a, b = session(tmp_path, noise(4))
    report = show(html=_page(a, b))
    head = report.page.locator("header").inner_text()
    assert "These boots are not enough to decide" in head
    assert report.page.locator(".answer.unsure").count() == 1
    assert "Pale steps cannot be told from noise" in report.section("bridge")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_any_width_and_is_readable_by_day_and_by_night(
    show: Show, arms: tuple[Path, Path], width: int, dark: bool
) -> None:
    report = show(html=_page(*arms), width=width, dark=dark)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= width
    parts = ("h2", ".lead", ".sum", "td", "td .slower", "td .faster", ".figure-of", ".step.slower .figure-of")
    assert report.least_contrast(*parts) >= 4.5  # WCAG 2.2, level AA
    texts = report.page.locator("#bridge .step text").evaluate_all(
        "all => all.map(e => e.getBBox()).map(b => [b.x, b.x + b.width])"
    )
    room = report.page.locator("#bridge svg").evaluate("e => e.clientWidth")
    assert all(left >= -1 and right <= room + 1 for left, right in texts)
