"""A report page that is open in a browser, and what it did that it must not do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Dialog, Locator, Page

from firstlight.render.page.html import packed, unpacked
from firstlight.render.page.parts import DATA, LATER, parts


@dataclass
class Misdeeds:
    """What a page did that a report must not do."""

    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def dismiss(self, dialog: Dialog) -> None:
        """Note a dialog and close it, or the page would wait for ever."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@dataclass
class Report:
    """An open report page."""

    page: Page
    file: Path
    misdeeds: Misdeeds

    def section(self, name: str) -> str:
        """The text of a section as a person sees it."""
        return self.page.locator(f"#{name}").inner_text()

    def column(self, section: str, column: str) -> list[str]:
        """The cells of a column, from the top."""
        heads = self.page.locator(f"#{section} th[data-column]").evaluate_all("all => all.map(e => e.dataset.column)")
        place = heads.index(column) + 1
        return self.page.locator(f"#{section} tbody tr td:nth-child({place})").all_inner_texts()

    def frames(self) -> list[str]:
        """The names of the frames that the flame graph draws."""
        names = self.page.locator("#flame g.frame").evaluate_all("all => all.map(e => e.getAttribute('name'))")
        return [str(name) for name in names]

    def frame_width(self, name: str) -> float:
        """The width of the first frame of this name, in pixels; 0 when there is none."""
        found = self.page.locator("#flame g.frame").evaluate_all(
            "(all, name) => all.filter(e => e.getAttribute('name') === name).map(e => e.getAttribute('width'))", name
        )
        return float(found[0]) if found else 0.0

    def show_sandwich(self, function: str) -> Locator:
        """Show the callers and callees of a function; the two drawings."""
        self.page.get_by_label("Order of the frames").select_option("sandwich")
        box = self.page.get_by_label("Function of the sandwich")
        box.fill(function)
        box.press("Enter")
        return self.page.locator("#flame .sandwich .flame")

    def least_contrast(self, *parts: str) -> float:
        """The least contrast of some elements with the ground of their section, by the formula of WCAG 2.2."""
        found: list[float] = self.page.evaluate(_CONTRAST, parts)
        return min(found)


_CONTRAST = """(parts) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      const c = v / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.querySelector("section")).backgroundColor);
  return parts.map((what) => {
    const style = getComputedStyle(document.querySelector(what));
    const ink = light(what.includes("figure-of") ? style.fill : style.color);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
}"""

Show = Callable[..., Report]


def data_of(html: str) -> dict[str, Any]:
    """What a page carries, all parts of its data together."""
    return part_of(html, DATA) | part_of(html, LATER)


def part_of(html: str, element: str) -> dict[str, Any]:
    """What one element of a page carries; nothing where it is empty."""
    text = html.split(f'id="{element}">', 1)[1].split("<", 1)[0]
    data: dict[str, Any] = json.loads(unpacked(text)) if text else {}
    return data


def rewrite(html: str, change: Callable[[dict[str, Any]], None]) -> str:
    """The page with other data in it, in parts as a page has them."""
    data = data_of(html)
    change(data)
    found = parts(data)
    for element in (DATA, LATER):
        before, rest = html.split(f'id="{element}">', 1)
        after = rest.split("<", 1)[1]
        html = f'{before}id="{element}">{packed(found[element]) if element in found else ""}<{after}'
    return html


def assert_only_text(report: Report) -> None:
    """No element came from the data: nothing that loads, frames, links out or runs."""
    assert report.page.locator("img, iframe, object, embed, link, form, video, audio, base").count() == 0
    assert report.page.locator("a:not([href^='#'])").count() == 0
    assert report.page.locator("script").count() == 1
