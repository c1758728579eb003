"""The page of a fleet in a browser: it shows what was asked, loads nothing, and hostile attributes do nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog

import firstlight
from bundles import HOSTILE
from invented_fleet import Group, make_fleet


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_groups_and_what_changed(browser: Browser, tmp_path: Path, scheme: str) -> None:
    models = ["A", *HOSTILE[:3]]
    groups = [
        Group({"model": model, "kernel": kernel}, 30, factors)
        for model in models
        for kernel, factors in (("6.6", {}), ("6.12", {"probe_4": 2.0}))
    ]
    fleet = make_fleet(tmp_path / "fleet", groups)
    file = firstlight.fleet_page(fleet.directory, tmp_path / "fleet.html")
    page = browser.new_page(
        viewport={"width": 390, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    )
    said: list[str] = []
    requests: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", dismiss)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    assert page.locator("h1").inner_text() == "240 boots"
    assert page.locator("polyline").count() == 2 * len(models)
    changed = page.locator("section", has_text="Parts that changed").inner_text()
    assert changed.count("probe_4") == len(models)
    assert changed.count("slower") == len(models)
    assert page.locator("main script, main img, main iframe").count() == 0
    page.wait_for_timeout(100)
    assert (said, requests) == ([], [file.as_uri()])
    page.close()
