"""The timeline of an open report page: what it answers, and where its bars are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browser.report_page import Report


@dataclass
class TimelineOf:
    """Asks the timeline of a page, and acts on it as a person does."""

    report: Report

    def ask(self, what: str, *values: object) -> Any:
        """What the section's element answers to scripts."""
        script = "([what, values]) => document.getElementById('timeline').firstlight[what](...values)"
        return self.report.page.evaluate(script, [what, list(values)])

    def ask_each(self, what: str, values: list[int]) -> list[Any]:
        """One answer for each value."""
        script = "([what, values]) => values.map((each) => document.getElementById('timeline').firstlight[what](each))"
        answers: list[Any] = self.report.page.evaluate(script, [what, values])
        return answers

    def place(self, name: str, group: str | None = None) -> tuple[float, float]:
        """Where the bar of a name is in the window; the canvas is scrolled into view first."""
        self.report.page.locator("#timeline .tl-canvas").scroll_into_view_if_needed()
        found = self.ask("placeOf", name, group) if group else self.ask("placeOf", name)
        assert found is not None, f"no bar {name}"
        x, y = found
        return x, y

    def click(self, name: str, group: str | None = None) -> None:
        """Clicks the bar of a name."""
        self.report.page.mouse.click(*self.place(name, group))

    def details(self) -> str:
        """What is said of the choice."""
        return self.report.page.locator("#timeline .tl-details").inner_text()

    def focus(self) -> None:
        """Gives the canvas the focus."""
        self.report.page.locator("#timeline .tl-canvas").focus()

    def heads(self) -> list[str]:
        """The labels of groups and tracks from the top."""
        return self.report.page.locator("#timeline .tl-head .tl-label").all_inner_texts()
