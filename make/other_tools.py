"""Draws one boot of Debian with other programs, as the pictures of `docs/guides/timeline.md`.

`make pictures` puts the programs into `.build/other-tools`, records a boot in which `systemd-analyze plot` runs after
its end, and writes `docs/assets/other-*.webp`. All pictures are of this boot: `systemd-analyze plot` drew it in the
guest, pm-graph reads the kernel's log of it, bootchart2 and the Firefox Profiler read what `firstlight export` wrote.
"""

from __future__ import annotations

import base64
import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / ".build" / "other-tools"
ASSETS = ROOT / "docs" / "assets"
WIDTH = 1400
QUALITY = 0.7
#: A picture of the docs is no larger than this.
LARGEST = 150_000

_WEBP = """async ([source, width, height, quality]) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.min(width, image.width), Math.min(height, image.height)];
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality);
}"""


def main() -> None:
    """Records the boot where it is not there yet, and draws it."""
    boot = TOOLS / "debian.boot"
    if not boot.exists():
        _firstlight(
            "record", "--rootfs", "debian", "--overlay", ROOT / "make" / "other-tools",
            "--append", "initcall_debug log_buf_len=8M", "-o", boot,
        )  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, draw in DRAWN.items():
            if len(sys.argv) == 1 or name in sys.argv[1:]:
                picture = draw(boot, browser)
                out = ASSETS / f"other-{name}.webp"
                out.write_bytes(_webp(browser, picture, WIDTH, HEIGHTS.get(name, 900)))
                assert out.stat().st_size < LARGEST, f"{out} is too large"
                print(f"{out.relative_to(ROOT)}: {out.stat().st_size:,} bytes")
        browser.close()


def systemd_plot(boot: Path, browser: Browser) -> bytes:
    """`systemd-analyze plot`, as the guest drew it."""
    page = _page(browser)
    page.goto((boot / "raw" / "guest-files" / "plot.svg").as_uri())
    return page.screenshot()


def pm_graph(boot: Path, browser: Browser) -> bytes:
    """pm-graph's bootgraph, of the kernel's log."""
    # It writes `bootgraph.html` to the folder that it runs in.
    _run("python3", TOOLS / "pm-graph" / "bootgraph.py", "-dmesg", boot / "raw" / "guest-files" / "dmesg")
    page = _page(browser)
    page.goto((TOOLS / "bootgraph.html").as_uri())
    page.wait_for_timeout(1000)
    return page.screenshot()


def bootchart2(boot: Path, browser: Browser) -> bytes:
    """bootchart2's pybootchartgui, of the archive that is exported."""
    archive, picture = TOOLS / "debian.bootchart.tgz", TOOLS / "bootchart.png"
    _firstlight("export", boot, "--to", "bootchart", "-o", archive, "--force")
    path = TOOLS / "cairo" / "usr" / "lib" / "python3" / "dist-packages"
    program = TOOLS / "bootchart" / "pybootchartgui.py"
    _run("env", f"PYTHONPATH={path}", "/usr/bin/python3", program, "-f", "png", "-o", picture, archive)
    return picture.read_bytes()


def firefox_profiler(boot: Path, browser: Browser) -> bytes:
    """The Firefox Profiler, of the profile that is exported."""
    profile = TOOLS / "profiler" / "dist" / "debian.json"
    _firstlight("export", boot, "--to", "firefox", "-o", profile, "--force")
    with _served(TOOLS / "profiler" / "dist") as address:
        page = _page(browser)
        page.goto(f"{address}/from-url/{quote(f'{address}/debian.json', safe='')}")
        page.get_by_text("Invert call stack").wait_for(timeout=120_000)
        page.wait_for_timeout(5000)
        return page.screenshot()


def firstlight_page(boot: Path, browser: Browser) -> bytes:
    """Firstlight's own page."""
    html = TOOLS / "debian.html"
    _firstlight("report", boot, "-o", html, "--force")
    page = _page(browser)
    page.goto(html.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    page.locator("#timeline .tl-tools").evaluate("(tools) => scrollBy(0, tools.getBoundingClientRect().top - 100)")
    page.wait_for_timeout(500)
    return page.screenshot()


DRAWN = {
    "systemd-plot": systemd_plot,
    "pm-graph": pm_graph,
    "bootchart": bootchart2,
    "firefox-profiler": firefox_profiler,
    "firstlight": firstlight_page,
}
#: How much of a picture is shown, in pixels from its top; of the others, a window.
HEIGHTS = {"bootchart": 1000}


def _page(browser: Browser) -> Page:
    return browser.new_page(viewport={"width": WIDTH, "height": 900})


def _webp(browser: Browser, picture: bytes, width: int, height: int) -> bytes:
    page = browser.new_page()
    source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    made: str = page.evaluate(_WEBP, [source, width, height, QUALITY])
    page.close()
    return base64.b64decode(made.partition(",")[2])


def _firstlight(*words: object) -> None:
    _run(sys.executable, "-m", "firstlight", *words)


def _run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, stdout=sys.stderr, cwd=TOOLS)


class _Site(http.server.SimpleHTTPRequestHandler):
    """A site whose every other address is its start page."""

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        return found if Path(found).is_file() else super().translate_path("/index.html")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Site, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    main()
