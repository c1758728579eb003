"""Headless Chromium, and a fixture that shows a report page in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import firstlight
from browser.report_page import Misdeeds, Report, Show
from bundles import make_bundle
from firstlight.render.page.html import write_html

CHROMIUM = Path("/usr/bin/chromium")
#: Root in a container has no user namespaces for the sandbox; the small /dev/shm of one is not enough for the pages.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium as the distribution packs it."""
    assert CHROMIUM.exists(), "Chromium is missing: apt-get install --no-install-recommends chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Write the report of a bundle and open it; in the end nothing may have gone wrong in the page."""
    shown: list[Report] = []

    def shower(bundle: Path | None = None, *, html: str | None = None, width: int = 1300, dark: bool = False) -> Report:
        file = tmp_path / f"report-{len(shown)}.html"
        if html is not None:
            file.write_text(html, encoding="utf-8")
        else:
            write_html(firstlight.open(bundle or make_bundle(tmp_path)), file)
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
        report = Report(page, file, Misdeeds())
        page.on("console", lambda message: report.misdeeds.console.append(message.text))
        # Some errors reach neither the console's interface nor `pageerror`, but the log of the browser and this event.
        page.add_init_script("addEventListener('error', (event) => console.error(`error: ${event.message}`))")
        page.on("pageerror", lambda error: report.misdeeds.console.append(str(error)))
        page.on("request", lambda request: report.misdeeds.requests.append(request.url))
        page.on("dialog", report.misdeeds.dismiss)
        shown.append(report)
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=120_000)
        page.wait_for_timeout(100)
        return report

    yield shower
    for report in shown:
        report.page.wait_for_timeout(100)
        assert report.misdeeds == Misdeeds(requests=[report.file.as_uri()])
        report.page.close()
