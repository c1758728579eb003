"""The boot chart in a browser: it is drawn, and nothing of a hostile boot runs or is fetched."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Dialog

from bundles import make_bundle
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export


def test_a_hostile_boot_is_drawn_and_does_nothing(browser: Browser, tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    write_export(make_bundle(tmp_path, hostile=True), To.svg, chart)
    page = browser.new_page(viewport={"width": 1240, "height": 900})
    misdeeds: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        misdeeds.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.on("console", lambda message: misdeeds.append(message.text))
    page.on("request", lambda request: misdeeds.append(request.url))
    page.goto(chart.as_uri())
    boxes = page.evaluate("[...document.querySelectorAll('rect.exact, rect.good')].map(r => r.getBBox().width)")
    assert len(boxes) > 40
    assert max(boxes) > 500
    left, right = page.evaluate(
        "(() => { const x = [...document.querySelectorAll('text')].map(t => t.getBBox());"
        " return [Math.min(...x.map(b => b.x)), Math.max(...x.map(b => b.x + b.width))] })()"
    )
    assert left >= -20
    assert right <= 1240
    assert misdeeds == [chart.as_uri()]
    page.close()
