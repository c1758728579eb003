"""Draws the report page for the docs: `timeline.png`, `udev-queue.png`, `flame-chart.png` and `timeline-two-boots.png`.

`make page-pictures` records the boots into `.build/page-pictures` where they are not there yet: one of Debian with
systemd, and two of the minimal guest, the second without the tests of the crypto code. Chromium shows their pages.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".build" / "page-pictures"
ASSETS = ROOT / "docs" / "assets"
BOOTS = {
    "debian": ("--rootfs", "debian"),
    "a": (),
    "b": ("--append", "cryptomgr.notests"),
}
#: A picture of the docs is no larger than this.
LARGEST = 150_000


def main() -> None:
    """Records the boots that are not there yet, and draws their pages."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, options in BOOTS.items():
        if not (PLACE / f"{name}.boot").exists():
            _firstlight("record", *options, "-o", PLACE / f"{name}.boot")
    _firstlight("report", PLACE / "debian.boot", "-o", PLACE / "debian.html", "--force")
    _firstlight("report", PLACE / "a.boot", PLACE / "b.boot", "-o", PLACE / "both.html", "--force")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        drawn = {
            "timeline": timeline(browser, "debian", 860),
            "timeline-two-boots": timeline(browser, "both", 700),
            "udev-queue": udev_queue(browser),
            "flame-chart": flame_chart(browser),
        }
        browser.close()
    for name, picture in drawn.items():
        assert len(picture) < LARGEST, f"{name} is too large"
        (ASSETS / f"{name}.png").write_bytes(picture)
        print(f"docs/assets/{name}.png: {len(picture):,} bytes")


def timeline(browser: Browser, name: str, height: int) -> bytes:
    """A window at the tools above the timeline."""
    page = _page(browser, name, height)
    below = "(tools) => scrollBy(0, tools.getBoundingClientRect().top - document.querySelector('nav').offsetHeight - 8)"
    page.locator("#timeline .tl-tools").evaluate(below)
    page.wait_for_timeout(500)
    return page.screenshot()


def udev_queue(browser: Browser) -> bytes:
    """The timeline with the group of udev alone unfolded."""
    page = _page(browser, "debian", 860)
    for group in ("Boot", "Kernel", "Services", "Processes"):
        page.locator("#timeline .tl-head.level-1", has_text=group).click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    return page.locator("#timeline .tl-frame").screenshot()


def flame_chart(browser: Browser) -> bytes:
    """The flame graph of the kernel in the order of time."""
    page = _page(browser, "debian", 970)
    page.get_by_label("Order of the frames").select_option("time")
    page.wait_for_timeout(1000)
    return page.locator("#flame-chart .tl-frame").screenshot()


def _page(browser: Browser, name: str, height: int) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": height})
    page.goto((PLACE / f"{name}.html").as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    return page


def _firstlight(*arguments: str | Path) -> None:
    subprocess.run(["firstlight", *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
