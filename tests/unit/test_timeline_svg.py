"""The timeline as SVG: what is in it, what it leaves out, and that hostile names are text."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import firstlight
from bundles import HOSTILE, make_bundle
from firstlight.render.svg.timeline import timeline_svg
from imported_bundle import make_bare, make_imported
from imported_records import imported
from invented_processes import make_processes

_SVG = "{http://www.w3.org/2000/svg}"


def texts(document: str, tag: str = "text") -> list[str]:
    """The texts of all elements of a kind."""
    return [each.text or "" for each in ElementTree.fromstring(document).iter(f"{_SVG}{tag}")]


def spans_of(note: str) -> int:
    """The number of spans that a note counts."""
    found = re.search(r": ([\d,]+) span", note)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_every_span_with_a_time_is_drawn_or_counted(tmp_path: Path) -> None:
    for bundle in (make_bundle(tmp_path), make_imported(tmp_path), make_processes(tmp_path)):
        document, exported = timeline_svg(firstlight.open(bundle))
        titles = texts(document, "title")
        for phase in firstlight.open(bundle).phases()["phase"].to_list():
            assert any(title.startswith(f"{phase}, from ") for title in titles), phase
        assert exported.counts["spans"] > 20


def test_the_parts_of_an_imported_boot(tmp_path: Path) -> None:
    document, exported = timeline_svg(firstlight.open(make_imported(tmp_path)))
    said = texts(document)
    assert {"Boot", "Kernel", "Services", "udev", "Phases", "Initcalls", "Probes", "Units", "Uevents"} <= set(said)
    assert any("app.service" in each for each in said)
    assert any("on the critical path" in each for each in texts(document, "title"))
    assert all("not drawn" in note for note in exported.notes)


def test_what_has_no_place_is_counted(tmp_path: Path) -> None:
    boot = firstlight.open(make_imported(tmp_path))
    every, full = timeline_svg(boot)
    few, exported = timeline_svg(boot, rows=3)
    assert len(few) < len(every)
    left_out, before = (sum(map(spans_of, each.notes)) for each in (exported, full))
    assert exported.counts["spans"] + left_out == full.counts["spans"] + before
    assert [note for note in exported.notes if note[:-1] in few or note in few]


def test_the_same_boot_gives_the_same_bytes(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    out = tmp_path / "a.svg"
    firstlight.export(bundle, "timeline-svg", out)
    assert out.read_text() == timeline_svg(firstlight.open(bundle))[0]


def test_a_boot_with_nothing_but_marks(tmp_path: Path) -> None:
    document, _ = timeline_svg(firstlight.open(make_bare(tmp_path)))
    assert texts(document, "title")[0] == "Timeline of stages.boot"


@pytest.mark.parametrize("make", [make_bundle, make_imported])
def test_it_loads_and_runs_nothing_and_hostile_names_are_text(tmp_path: Path, make: object) -> None:
    bundle = make(tmp_path, hostile=True).rename(tmp_path / f"{HOSTILE[0]}.boot")  # type: ignore[operator]
    document, _ = timeline_svg(firstlight.open(bundle))
    root = ElementTree.fromstring(document)
    kinds = {element.tag.removeprefix(_SVG) for element in root.iter()}
    assert kinds <= {"svg", "title", "style", "defs", "pattern", "path", "rect", "text", "line", "g"}
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert not value.startswith(("http:", "https:", "javascript:", "data:"))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", document)
    assert "url(http" not in document
    assert "@import" not in document


def test_a_notebook_shows_a_boot_as_its_timeline(tmp_path: Path) -> None:
    boot = firstlight.open(make_imported(tmp_path, hostile=True))
    html = boot._repr_html_()
    packed = re.search(r'<img alt="[^"<>]*" style="max-width: 100%" src="data:image/svg\+xml;base64,([^"]+)">', html)
    assert packed is not None
    drawn = base64.b64decode(packed[1]).decode()
    assert drawn == boot._repr_svg_()
    ElementTree.fromstring(drawn)
    assert HOSTILE[0] not in html


def test_a_graph_of_samples_is_as_high_as_its_percentage(tmp_path: Path) -> None:
    busy = [2 * i if i < 10 else 6 * i - 40 for i in range(20)]
    processors = "".join(f"{100 + 10 * i}\ncpu  {ran} 0 0 {10 * i - ran} 0 0 0\n\n" for i, ran in enumerate(busy))
    document, _ = timeline_svg(imported(tmp_path, {"proc_stat.log": processors}))
    [graph] = [
        each
        for each in ElementTree.fromstring(document).iter(f"{_SVG}g")
        if (each.findtext(f"{_SVG}title") or "").startswith("Processors busy, sampled: ")
    ]
    shape = graph.find(f"{_SVG}path")
    assert shape is not None
    heights = sorted({float(each) for each in re.findall(r"V([\d.]+)", shape.get("d", ""))})
    top, middle, bottom = heights[0], heights[-2], heights[-1]
    assert bottom - top == pytest.approx(3 * (bottom - middle), abs=0.2)
