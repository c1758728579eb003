"""How large and how fast the report page of a boot is: its file, its first picture, a frame while it zooms.

Usage: timeline_page.py BOOT [--spans N]: with `--spans`, a bundle of that many invented spans is made and shown.
Headless Chromium draws in software, so a machine with a display is faster. Of 150 frames 50 zoom in, 50 move, 50 zoom
out.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from playwright.sync_api import sync_playwright

import firstlight

ROOT = Path(__file__).parents[1]
#: What the page must reach.
LARGEST_BYTES, FIRST_PICTURE_MS, FRAME_MS = 3_000_000, 1000, 33

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
        began = time.monotonic()
        firstlight.report(boot, page)
        print(f"written in          {time.monotonic() - began:8.2f} s")
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
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        tab = chromium.new_page(viewport={"width": 1400, "height": 900})
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]", timeout=600_000)
        tab.wait_for_timeout(500)
        first = tab.evaluate("performance.getEntriesByName('first-picture')[0].startTime")
        frames, drawing, zoomed = tab.evaluate(FRAMES)
        chromium.close()
    size, frame = page.stat().st_size, statistics.quantiles(frames, n=20)[-1]
    print(f"file                {size:12,} bytes   (at most {LARGEST_BYTES:,})")
    print(f"first picture       {first:8.0f} ms          (at most {FIRST_PICTURE_MS})")
    print(f"zoomed in by        {zoomed:8.0f} times")
    print(f"frame, p50          {statistics.median(frames):8.1f} ms")
    print(f"frame, p95          {frame:8.1f} ms          (at most {FRAME_MS})")
    print(f"own drawing, p95    {statistics.quantiles(drawing, n=20)[-1]:8.1f} ms")
    return int(size > LARGEST_BYTES or first > FIRST_PICTURE_MS or frame > FRAME_MS)


if __name__ == "__main__":
    sys.exit(main())
