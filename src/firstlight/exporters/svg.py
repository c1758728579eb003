"""SVG: a boot chart for print. Sections of rows on one axis of time; the pattern of a bar shows its grade."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from firstlight.analysis.processes.identity import process_names_of
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.exporters.engine import Lanes, span_lanes
from firstlight.exporters.perfetto import about
from firstlight.exporters.result import Exported
from firstlight.exporters.svg_rows import Bar, rows
from firstlight.quantities import counted, time_text
from firstlight.schema.spans import Grade, SpanKind

#: Of each section, the longest spans only; how many more there are, stands below it.
SECTION_BARS = 300

_WIDTH, _LEFT, _RIGHT = 1200, 20, 20
_ROW, _BAR = 15, 12
_CHARACTER = 5.6
_NAME = 60

#: What is shown, in this order: title, the kinds of spans, colour.
_SECTIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Phases", ("phase",), "#c9a227"),
    ("Firmware and boot loader", ("firmware", "stage"), "#9a7b4f"),
    ("Initcalls", (SpanKind.INITCALL,), "#3b6ea8"),
    ("Probes", (SpanKind.PROBE,), "#2f8f83"),
    ("Asynchronous calls", (SpanKind.ASYNC, SpanKind.ASYNC_WAIT), "#6a5aa8"),
    ("Functions and events", (SpanKind.FUNCTION, SpanKind.EVENT), "#5b7083"),
    ("Console", (SpanKind.CONSOLE,), "#7a7a7a"),
    ("udev", (SpanKind.UEVENT, SpanKind.UEVENT_QUEUED, SpanKind.UEVENT_BLOCKED, SpanKind.UEVENT_SERVICE), "#4f8f3f"),
    ("Units", (SpanKind.UNIT, SpanKind.UNIT_ACTIVE), "#a8487c"),
    ("Mounts", ("mount",), "#8f5f2f"),
    ("Processes", ("process",), "#b5532f"),
)
_GRADES = {
    "exact": "exact: cannot err",
    "good": "good: one reliable figure",
    Grade.COARSE: "coarse: the clock's step",
    Grade.BOUNDED: "bounded: a bound",
    Grade.DOUBTFUL: "doubtful: a known fault",
    "unknown": "unknown",
}


@dataclass
class _Chart:
    """The drawing so far, and the place of its next row."""

    start: int
    end: int
    parts: list[str]
    y: int

    def x(self, time: int) -> float:
        span = max(1, self.end - self.start)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (time - self.start) / span

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{style}>{xml_text(text)}</text>')


def xml_text(text: str, limit: int = 200) -> str:
    r"""Text of a boot for an XML document, without markup, bidirectional controls and characters that XML forbids.

    >>> xml_text("<b>&\x1b[31m\ufffe")
    '&lt;b&gt;&amp;\\x1b[31m\\ufffe'
    """
    return escape(printable(text, limit))


def write_svg(boot: Boot, out: Path) -> Exported:
    """Draw *boot* to the file *out*; the same boot gives the same bytes.

    :raises BundleError: when a table cannot be read.
    """
    exported = Exported()
    lanes = span_lanes(boot.directory)
    exported.leave_out(lanes.left_out)
    times = [time for column in (lanes.start, lanes.end) for time in column if time is not None]
    times += boot.marks()["time_ns"].to_list()
    start = min([0, *times])
    end = max([boot.manifest.totals.virtual_ns or 0, start + 1, *times])
    chart = _Chart(start, end, [], 0)
    _head(chart, boot)
    top = chart.y
    sections = _sections(boot, lanes, end)
    for title, color, bars in sections:
        _section(chart, title, color, bars, exported)
    if not sections:
        chart.text(_LEFT, chart.y + 12, "(no span says when it began)")
        chart.y += 20
    if boot.manifest.completeness.missing:
        missing = "; ".join(boot.manifest.completeness.missing)
        chart.text(_LEFT, chart.y + 14, f"Missing: {missing}", ' class="note"')
        chart.y += 20
    exported.counts["spans"] = sum(len(bars) for _, _, bars in sections)
    out.write_text(_document(chart, boot, top), encoding="utf-8", newline="\n")
    return exported


def _sections(boot: Boot, lanes: Lanes, end: int) -> list[tuple[str, str, list[Bar]]]:
    """The spans that can be drawn, by section and in order of time; other kinds come last."""
    columns = boot.spans().select("kind", "name", "track", "level", "grade", "reason").to_dict(as_series=False)
    known = {kind: number for number, (_, kinds, _) in enumerate(_SECTIONS) for kind in kinds}
    bars: list[list[Bar]] = [[] for _ in range(len(_SECTIONS) + 1)]
    for row, begins in enumerate(lanes.start):
        if begins is None:
            continue
        ends = lanes.end[row]
        said = (columns[name][row] for name in ("name", "kind", "grade", "reason", "track", "level"))
        bar = Bar(begins, end if ends is None else ends, ends is None, *said)
        bars[known.get(bar.kind, len(_SECTIONS))].append(bar)
    bars[known["process"]] += _process_bars(boot, end)
    titles = [(title, color) for title, _, color in _SECTIONS] + [("Other", "#666666")]
    return [(*head, sorted(group, key=lambda bar: (bar.start, -bar.end)))
            for head, group in zip(titles, bars, strict=True) if group]  # fmt: skip


def _process_bars(boot: Boot, end: int) -> list[Bar]:
    """The processes of an exact boot, from their start to their end."""
    if boot.runs().is_empty():
        return []  # The processes of an imported boot are spans.
    names = process_names_of(boot)
    rows = boot.table("processes").select("process", "start_ns", "end_ns")
    return [
        Bar(start, end if ends is None else ends, ends is None, names[process].text, "process", "exact", None, "", None)
        for process, start, ends in rows.iter_rows()
    ]


def _head(chart: _Chart, boot: Boot) -> None:
    chart.text(_LEFT, 24, boot.directory.resolve().name.removesuffix(".boot"), ' class="title"')
    chart.text(_LEFT, 42, about(boot.manifest), ' class="note"')
    x: float = _LEFT
    for grade, said in _GRADES.items():
        chart.parts.append(f'<rect x="{x:.1f}" y="52" width="18" height="{_BAR}" fill="#3b6ea8" class="{grade}"/>')
        _pattern(chart, grade, x, 52, 18)
        chart.text(x + 23, 62, said)
        x += 40 + _CHARACTER * len(said)
    chart.y = 92


def _section(chart: _Chart, title: str, color: str, bars: list[Bar], exported: Exported) -> None:
    chart.text(_LEFT, chart.y + 12, title, ' class="section"')
    chart.y += 18
    shown = bars
    if len(bars) > SECTION_BARS:
        longest = sorted(range(len(bars)), key=lambda number: (bars[number].start - bars[number].end, number))
        shown = [bars[number] for number in sorted(longest[:SECTION_BARS])]
    placed = rows(shown, chart.x, lambda bar: _CHARACTER * len(_label(bar)) + 6, _WIDTH - _RIGHT)
    for bar, row in zip(shown, placed, strict=True):
        _bar(chart, bar, color, chart.y + row * _ROW)
    chart.y += (max(placed) + 1) * _ROW
    if len(bars) > len(shown):
        rest = sum(bar.end - bar.start for bar in bars) - sum(bar.end - bar.start for bar in shown)
        more = f"{counted(len(bars) - len(shown), 'shorter span')}, together {time_text(rest)}"
        chart.text(_LEFT, chart.y + 11, f"({more})", ' class="note"')
        chart.y += _ROW
        exported.notes.append(f"{title}: {more}, not drawn")
    chart.y += 8


def _label(bar: Bar) -> str:
    return f"{printable(bar.name, _NAME)} {'no end' if bar.open else time_text(bar.end - bar.start)}"


def _bar(chart: _Chart, bar: Bar, color: str, y: int) -> None:
    grade = bar.grade if bar.grade in _GRADES else "unknown"
    x = chart.x(bar.start)
    width = max(0.6, chart.x(bar.end) - x)
    parts = [f"{bar.kind} {printable(bar.name, 200)}", f"from {time_text(bar.start)}", f"grade {grade}"]
    parts.insert(2, "no end" if bar.open else f"lasts {time_text(bar.end - bar.start)}")
    parts += [printable(text, 200) for text in (bar.reason, bar.level, bar.track) if text]
    chart.parts.append(f"<g><title>{xml_text(', '.join(parts), 1000)}</title>")
    chart.parts.append(
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" fill={quoteattr(color)} class="{grade}"/>'
    )
    _pattern(chart, grade, x, y, width)
    label = _label(bar)
    length = _CHARACTER * len(label) + 6
    if x + width + length <= _WIDTH - _RIGHT:
        chart.text(x + width + 3, y + 10, label)
    else:
        inside = width >= length
        style = ' class="inside"' if grade in ("exact", "good") else ' class="over"'
        chart.text(x + 3 if inside else max(0, x + 3 - length), y + 10, label, style if inside else "")
    chart.parts.append("</g>")


def _pattern(chart: _Chart, grade: str, x: float, y: int, width: float) -> None:
    """The hatch over a bar, which is visible without colour as well."""
    if grade in (Grade.COARSE, Grade.BOUNDED, Grade.DOUBTFUL):
        chart.parts.append(
            f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" fill="url(#hatch-{grade})"/>'
        )


_STYLE = """
text { font: 10px "DejaVu Sans", Verdana, sans-serif; fill: #111; white-space: pre; }
.title { font-size: 16px; font-weight: bold; } .section { font-size: 11px; font-weight: bold; } .note { fill: #555; }
.inside { fill: #fff; } .axis { stroke: #ccc; stroke-width: 0.5; } .mark { stroke: #b00; stroke-width: 0.7; }
.over { paint-order: stroke; stroke: #fff; stroke-width: 2.5; }
.good { fill-opacity: 0.8; } .coarse, .bounded, .doubtful { fill-opacity: 0.45; }
.unknown { fill-opacity: 0.12; stroke: #555; stroke-dasharray: 2 2; stroke-width: 0.7; }
"""

_HATCHES = """<defs>
<pattern id="hatch-coarse" width="4" height="4" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="0.9"/></pattern>
<pattern id="hatch-bounded" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M0,5 L5,0"
 stroke="#000"/></pattern>
<pattern id="hatch-doubtful" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M0,5 L5,0 M0,0 L5,5"
 stroke="#000"/></pattern>
</defs>
"""


def _document(chart: _Chart, boot: Boot, top: int) -> str:
    """The drawing: the axis behind the bars, and the marks in front of them."""
    height = chart.y + 24
    axis = []
    for time in ticks(chart.start, chart.end):
        x = chart.x(time)
        axis.append(f'<line x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" y2="{chart.y}" class="axis"/>')
        axis.append(f'<text x="{x:.1f}" y="{top - 11}" text-anchor="middle">{time_text(time)}</text>')
    marks = []
    for name, time in boot.marks().select("mark", "time_ns").iter_rows():
        x = chart.x(time)
        title = f"mark {printable(name, 200)} at {time_text(time)}"
        marks.append(f"<g><title>{xml_text(title, 300)}</title>")
        marks.append(f'<line x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" y2="{top - 2}" class="mark"/></g>')
    title = xml_text(boot.directory.resolve().name)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'role="img">\n<title>{title}</title>\n<style>{_STYLE}</style>\n{_HATCHES}'
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n'
        + "\n".join([*axis, *chart.parts, *marks])
        + "\n</svg>\n"
    )


def ticks(start: int, end: int) -> list[int]:
    """Round instants for an axis, 5 to 12 of them.

    >>> ticks(0, 1_000_000_000)[:3]
    [0, 100000000, 200000000]
    """
    steps = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
    step = next(step for step in steps if (end - start) // step <= 12)
    first = -(-start // step) * step
    return list(range(first, end + 1, step))
