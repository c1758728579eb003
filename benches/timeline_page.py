"""How large and how fast the report page of a boot is: its file, its first picture, a frame while it zooms.

Usage: timeline_page.py BOOT [--spans N]: with `--spans`, a bundle of that many invented spans is made and shown.
Headless Chromium draws in software, so a machine with a display is faster. Of 150 frames 50 zoom in, 50 move, 50 zoom
out. The page is opened several times, each time by a new browser: the first picture is the median, with the smallest
and the largest. Its processor time is that of the thread that reads, computes and draws; the time of other programs on
the machine is not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

ROOT = Path(__file__).parents[1]
#: What the page must reach.
LARGEST_BYTES, FIRST_PICTURE_MS, FRAME_MS = 3_000_000, 1000, 33
#: How often the page is opened.
TIMES = 5

FRAMES = """async () => {
  const canvas = document.querySelector("#timeline .tl-canvas");
  canvas.focus();
  const answers = document.getElementById("timeline").firstlight;
  const pane = document.querySelector("#timeline .tl-pane");
  pane.scrollTop = pane.scrollHeight / 2;
  const lengths = [];
  const box = canvas.getBoundingClientRect();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const place = { clientX: box.left + box.width * 0.6, clientY: box.top + 120 };
  const at = { ...place, bubbles: true, cancelable: true, view: window };
  const frames = [];
  let last = await frame();
  for (let i = 0; i < 150; i++) {
    if (i < 50 || i >= 100) {
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: i < 50 ? -60 : 60 }));
    } else {
      const moved = { ...at, clientX: at.clientX + (i - 50) * 6, button: 0, buttons: 1 };
      if (i === 50) canvas.dispatchEvent(new MouseEvent("mousedown", moved));
      window.dispatchEvent(new MouseEvent("mousemove", moved));
      if (i === 99) window.dispatchEvent(new MouseEvent("mouseup", moved));
    }
    const now = await frame();
    frames.push(now - last);
    lengths.push(answers.shown()[1] - answers.shown()[0]);
    last = now;
  }
  return [frames, answers.drawn().slice(-150), lengths[0] / Math.min(...lengths)];
}"""


def main() -> int:
    """Measures, prints, and fails when a figure is missed."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("boot", type=Path, nargs="?")
    given.add_argument("--spans", type=int)
    chosen = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        boot = chosen.boot if chosen.spans is None else invented(Path(folder), chosen.spans)
        page = Path(folder) / "page.html"
        before = os.times()
        subprocess.run([sys.executable, "-m", "firstlight", "report", boot, "-o", page], check=True, stdout=sys.stderr)
        after = os.times()
        processor = sum(after[2:4]) - sum(before[2:4])
        print(f"written in          {after.elapsed - before.elapsed:8.2f} s, {processor:.2f} s of the processor")
        return measure(page)


def invented(folder: Path, spans: int) -> Path:
    """A bundle of an imported boot with that many spans of three kinds."""
    sys.path.insert(0, str(ROOT / "tests"))
    from bundles import write_table
    from imported_bundle import make_imported

    chance, bundle = random.Random(1), make_imported(folder)
    few = pl.read_parquet(bundle / "spans.parquet")
    starts = pl.Series("start_ns", [chance.randrange(4_700_000_000) for _ in range(spans)], dtype=pl.Int64)
    lengths = pl.Series("length", [int(chance.expovariate(1e-6)) for _ in range(spans)], dtype=pl.Int64)
    number = pl.int_range(spans, dtype=pl.Int64)
    many = pl.DataFrame([starts, lengths]).select(
        span=number + few.height,
        parent=pl.lit(None, pl.Int64),
        kind=pl.Series(["initcall", "uevent", "function"]).gather(pl.select(number % 3).to_series()),
        name=pl.format("work_{}", number % 5000),
        track=pl.lit(""),
        level=pl.lit(None, pl.String),
        start_ns=pl.col("start_ns"),
        end_ns=pl.col("start_ns") + pl.col("length"),
        instructions=pl.lit(None, pl.Int64),
        idle_ns=pl.lit(None, pl.Int64),
        duration_ns=pl.col("length"),
        grade=pl.lit("good"),
        reason=pl.lit(None, pl.String),
        source=pl.lit("raw/record"),
        attributes=pl.lit(None, pl.String),
    )
    write_table(bundle, "spans", pl.concat([few, many.select(few.columns)]))
    return bundle


def measure(page: Path) -> int:
    """Opens the page and prints its figures."""
    with sync_playwright() as playwright:
        opened = [opening(playwright, page) for _ in range(TIMES)]
        chromium = browser(playwright)
        tab = shown(chromium, page)
        thread_s = thread_clock(tab)
        began = thread_s()
        frames, drawing, zoomed = tab.evaluate(FRAMES)
        thread_ms = (thread_s() - began) * 1000 / len(frames)
        chromium.close()
    size, frame = page.stat().st_size, statistics.quantiles(frames, n=20)[-1]
    drawn, seen, processor, whole = zip(*opened, strict=True)
    first = statistics.median(seen)
    print(f"file                {size:12,} bytes   (at most {LARGEST_BYTES:,})")
    print(f"first picture drawn {spread(drawn)}")
    print(f"first picture seen  {spread(seen)}   (at most {FIRST_PICTURE_MS})")
    print(f"  processor until then {spread(processor)[3:]}")
    print(f"whole page          {spread(whole)}")
    print(f"zoomed in by        {zoomed:8.0f} times")
    print(f"frame, p50          {statistics.median(frames):8.1f} ms")
    print(f"frame, p95          {frame:8.1f} ms          (at most {FRAME_MS})")
    print(f"frame, processor    {thread_ms:8.1f} ms          of the page's thread, mean")
    print(f"own drawing, p95    {statistics.quantiles(drawing, n=20)[-1]:8.1f} ms")
    return int(size > LARGEST_BYTES or first > FIRST_PICTURE_MS or frame > FRAME_MS)


def browser(playwright: Playwright) -> Browser:
    """A new headless Chromium."""
    return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])


def shown(chromium: Browser, page: Path, trace: Path | None = None) -> Page:
    """The page in a tab, when all of it is drawn; the trace begins before it is opened."""
    tab = chromium.new_page(viewport={"width": 1400, "height": 900})
    if trace is not None:
        chromium.start_tracing(page=tab, path=trace, categories=["blink.user_timing", "toplevel"])
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]", timeout=600_000)
    tab.wait_for_timeout(500)
    return tab


def thread_clock(tab: Page) -> Callable[[], float]:
    """What the page's main thread has executed so far, in seconds of the processor."""
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")

    return read


def opening(playwright: Playwright, page: Path) -> tuple[float, float, float, float]:
    """Of one opening in a new browser, in milliseconds: the first picture drawn and seen, the processor time of the
    page's main thread until it was seen, and all sections drawn.
    """
    chromium = browser(playwright)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        tab = shown(chromium, page, trace)
        names = ("first-picture", "first-picture-shown", "page-drawn")
        marks = {name: tab.evaluate(f"performance.getEntriesByName('{name}')[0].startTime") for name in names}
        chromium.stop_tracing()
        chromium.close()
        events = json.loads(trace.read_bytes())["traceEvents"]
    seen = next(event for event in events if event["name"] == "first-picture-shown")
    thread = [event for event in events if (event["pid"], event["tid"]) == (seen["pid"], seen["tid"])]
    opened = seen["ts"] - marks["first-picture-shown"] * 1000
    begun = min(event["tts"] for event in thread if "tts" in event and event["ts"] >= opened)
    processor = (seen["tts"] - begun) / 1000
    return marks["first-picture"], marks["first-picture-shown"], processor, marks["page-drawn"]


def spread(values: tuple[float, ...]) -> str:
    """The median with the smallest and the largest, in milliseconds."""
    return f"{statistics.median(values):8.0f} ms   ({min(values):.0f} to {max(values):.0f})"


if __name__ == "__main__":
    sys.exit(main())
