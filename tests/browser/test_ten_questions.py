"""The questions of docs/guides/timeline.md, each answered within five actions on a page that was just opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import firstlight
from browser.report_page import Report, Show
from browser.timeline_page import TimelineOf
from bundles import make_bundle
from firstlight.render.page.pair import pair_html
from imported_bundle import make_imported

MOST = 5


class Person:
    """Acts on a page, and counts."""

    def __init__(self, report: Report) -> None:
        self.page, self.timeline, self.actions = report.page, TimelineOf(report), 0

    def act(self, act: Callable[[], object]) -> None:
        """Anything."""
        self.actions += 1
        assert self.actions <= MOST
        act()

    def press(self, key: str) -> None:
        """A key."""
        self.act(lambda: self.page.keyboard.press(key))

    def type(self, text: str) -> None:
        """A text."""
        self.act(lambda: self.page.keyboard.type(text))

    def click(self, name: str, group: str | None = None, *, shift: bool = False, double: bool = False) -> None:
        """A bar of the timeline."""

        def act() -> None:
            if shift:
                self.page.keyboard.down("Shift")
            self.page.mouse.click(*self.timeline.place(name, group), click_count=2 if double else 1)
            if shift:
                self.page.keyboard.up("Shift")

        self.act(act)

    def button(self, name: str) -> None:
        """A button."""
        self.act(lambda: self.page.get_by_role("button", name=name, exact=True).first.click())


def text_of(person: Person, selector: str) -> str:
    """What a part of the page says."""
    return person.page.locator(selector).first.inner_text()


def test_1_where_did_the_time_go(show: Show) -> None:
    person = Person(show())
    assert "local APIC timer calibrated by waiting" in text_of(person, "#timeline .tl-answers")
    assert "the emulated machine’s own" in text_of(person, "#timeline .tl-answers")


def test_2_what_ran_at_an_instant(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    person.press("/")
    person.type("at:0.8s")
    said = person.timeline.details()
    assert "What ran at 0.800000 s" in said
    for _, _, name, _, _ in person.timeline.ask("ranAt", 800_000_000):
        assert name in said


def test_3_what_is_on_the_critical_path_and_its_gain(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    assert "Critical path" in person.timeline.heads()
    person.click("app.service", "Units")
    assert "without it the boot ends at most" in person.timeline.details()


def test_4_what_fills_the_gap(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    person.button("Next gap")
    gaps = firstlight.open(tmp_path / "imported.boot").gaps()
    longest = gaps.sort("gap_ns", descending=True).row(0, named=True)
    assert person.timeline.ask("selection") == [longest["start_ns"], longest["end_ns"]]
    assert "What ran at" in person.timeline.details()
    assert "Sums of the selection" in person.page.content()


def test_5_what_happens_inside_a_phase(show: Show) -> None:
    person = Person(show())
    person.click("initcalls_device", "Phases", double=True)
    start, end = person.timeline.ask("shown")
    [bar] = [each for each in person.timeline.ask("ranAt", (start + end) / 2) if each[1] == "Phases"]
    assert bar[2] == "initcalls_device"
    assert (end - start) < 1.2 * (bar[4] - bar[3])


def test_6_what_do_all_initcalls_cost(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    person = Person(show(bundle))
    person.press("/")
    person.type("kind:initcalls")
    count = firstlight.open(bundle).initcalls().height
    assert f"{count} bars" in text_of(person, "#timeline .tl-find .count")


def test_7_how_long_from_one_event_to_another(show: Show, tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    person = Person(show(bundle))
    person.click("initcalls", "Phases")
    person.click("userspace_start", "Phases", shift=True)
    assert person.timeline.ask("selection") == [400_000_000, 4_800_000_000]
    assert "Selection: 0.400000 to 4.800000 s" in person.timeline.details()


def test_8_how_much_of_a_kind_in_a_stretch(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    person.click("userspace_start", "Phases")
    person.press("m")
    heads = person.page.locator("#timeline [data-part='selection'] th").all_inner_texts()
    assert [head.strip(" ▼▲\n") for head in heads] == ["Kind", "Name", "Time in it", "Share", "Bars", "Longest", "Mean"]
    person.act(lambda: person.page.get_by_label("Filter the sums").fill("app.service"))
    assert person.page.locator("#timeline [data-part='selection'] tbody tr").count() >= 1


def test_9_all_occurrences_of_a_name(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    person.press("/")
    person.type("disk")
    said = text_of(person, "#timeline .tl-find .count")
    assert "together" in said
    person.press("Enter")
    first = person.timeline.ask("picked")
    person.press("Enter")
    assert "disk" in first
    assert "2 of" in text_of(person, "#timeline .tl-find .count")


def test_10_why_a_service_started_late(show: Show, tmp_path: Path) -> None:
    person = Person(show(make_imported(tmp_path)))
    person.click("app.service", "Units")
    assert "It waited" in person.timeline.details()
    person.button("Go there")
    assert person.timeline.ask("picked") != "app.service"
    person.button("What ran then")
    assert "What ran at" in person.timeline.details()


def test_11_what_changed_between_two_boots(show: Show, tmp_path: Path) -> None:
    a, b = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=9)
    person = Person(show(html=pair_html(firstlight.open(a), firstlight.open(b))))
    first = person.page.locator("#timeline table button.link").first
    name = first.inner_text()
    person.act(first.click)
    assert person.timeline.ask("picked") == name


def test_12_a_colleague_sees_the_same(show: Show, tmp_path: Path) -> None:
    report = show(make_imported(tmp_path))
    person = Person(report)
    person.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    person.click("app.service", "Units")
    person.button("Copy link")
    person.page.wait_for_timeout(100)
    assert "&p=" in person.page.evaluate("window.copied")
