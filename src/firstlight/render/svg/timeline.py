"""The timeline of a boot as one SVG, as `systemd-analyze plot` draws units: all tracks of the report page on one axis.

The drawing has no script, loads nothing, and holds texts of a boot only as text. The same boot gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from firstlight.analysis.path.critical import find_path
from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import clock_text
from firstlight.bundle.manifest import BootState
from firstlight.escape import printable
from firstlight.exporters.result import Exported
from firstlight.exporters.svg import ticks, xml_text
from firstlight.quantities import counted, exact_seconds, time_text
from firstlight.render.page.timeline.build import timeline_tracks
from firstlight.render.page.timeline.lanes import Bar, Look, Sign, Track

#: Lanes that a drawing shows; those of the tracks below are counted.
ROWS = 400
#: Lanes of one track.
_TRACK_ROWS = 60
#: Tracks that are counted only: nearly all of their bars go on to the end.
_NOT_DRAWN = frozenset({"Active units"})
_WIDTH, _LEFT, _RIGHT = 1400, 190, 20
_ROW, _BAR = 15, 11
_CHARACTER = 5.4
_NAME = 60
_LABEL = 28
#: In a lane with so many bars each can have its label.
_MOST_LABELS = 200
_LOOKS = Sign.CRITICAL - 1

#: By look: colour, and the pattern over it. The page has the same (`web/src/timeline/palette.ts`).
_COLOURS = (
    *("#d9a5c6", "#f3d35b", "#7fc4ee", "#ffb454", "#7fd3b8", "#a9b8e8", "#f0a58a", "#c9c9c4"),
    *("#e9e5da", "#7fd3b8", "#e08e5a", "#d5d6d9", "#6db3e8", "#b9a6e6", "#cfc3a6", "#e6c3d6"),
)
_CONSOLE, _CRITICAL = "#9a4a00", "#b3341f"
_RISING, _CROSSED, _UPRIGHT = "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6", "M0,8 L8,0 M0,0 L8,8", "M4,0 L4,8"
_PATTERNS = {Look.DEFERRED: _CROSSED, Look.WAITING: _RISING, Look.SYSTEM_CALL: _UPRIGHT}
_LEGEND = (
    (Look.WORK, "work"),
    (Look.RUNNING, "has the processor"),
    (Look.LIFE, "exists"),
    (Look.WAITING, "waits"),
    (Look.DEFERRED, "deferred"),
)
_STYLE = """
text { font: 10px "DejaVu Sans", Verdana, sans-serif; fill: #1d1f24; white-space: pre; }
.title { font-size: 16px; font-weight: bold; } .group { font-size: 11px; font-weight: bold; } .note { fill: #5b606b; }
.axis { stroke: #e4e1d9; } .mark { stroke: #9a4a00; stroke-dasharray: 3 3; opacity: 0.6; }
.open { stroke: #1d1f24; stroke-dasharray: 2 2; }
"""


@dataclass
class _Drawing:
    first: int
    last: int
    width: int
    parts: list[str] = field(default_factory=list)
    y: float = 0.0

    def x(self, time: int) -> float:
        part = (time - self.first) / max(1, self.last - self.first)
        return _LEFT + (self.width - _LEFT - _RIGHT) * min(1.0, max(0.0, part))

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{style}>{xml_text(text)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, fill: str, more: str = "") -> None:
        self.parts.append(
            f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}" fill="{fill}"{more}/>'
        )


def timeline_svg(boot: Boot, *, rows: int = ROWS, width: int = _WIDTH) -> tuple[str, Exported]:
    """Draw the timeline of a boot: phases, critical path, initcalls, probes, units, uevents and processes.

    :param rows: the largest number of lanes; what has no place is counted below the drawing, in the order of the page.
    :param width: in pixels.
    :returns: the document, and what is in it and what is not.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> document, exported = timeline_svg(firstlight.open(bundle))
    >>> document.startswith("<svg "), exported.counts["spans"] > 20
    (True, True)
    """
    first, last, tracks = timeline_tracks(boot, find_path(boot))
    drawing, exported = _Drawing(first, max(last, first + 1), width), Exported()
    _head(drawing, boot)
    top = drawing.y
    _console(drawing, boot)
    left_out = _tracks(drawing, [track for track in tracks if track.parent is None], rows, exported)
    for note in left_out:
        drawing.text(_LEFT, drawing.y + 11, f"({note})", ' class="note"')
        drawing.y += _ROW
    exported.notes += left_out
    _legend(drawing)
    return _document(drawing, boot, top), exported


def _head(drawing: _Drawing, boot: Boot) -> None:
    manifest = boot.manifest
    length = time_text(drawing.last - drawing.first)
    drawing.text(12, 24, boot.directory.resolve().name.removesuffix(".boot"), ' class="title"')
    state = "" if manifest.state == BootState.COMPLETE else f", {manifest.state}"
    drawing.text(12, 42, f"{manifest.mode} mode{state}; {length}, {clock_text(boot)}", ' class="note"')
    drawing.y = 74


def _console(drawing: _Drawing, boot: Boot) -> None:
    """A tick for each pixel of time that has lines of the console."""
    times = [time for time in boot.log()["time_ns"].to_list() if time is not None]
    places = sorted({round(drawing.x(time)) for time in times if drawing.first <= time <= drawing.last})
    if not places:
        return
    drawing.text(12, drawing.y + 9, "Console", ' class="note"')
    for place in places:
        drawing.rect(place, drawing.y + 2, 1, 7, _CONSOLE)
    drawing.y += _ROW


def _tracks(drawing: _Drawing, tracks: Sequence[Track], rows: int, exported: Exported) -> list[str]:
    group, left, notes = "", rows, []
    hidden: dict[str, list[int]] = {}
    for track in tracks:
        lanes = _shown(track)
        shown = [] if track.label in _NOT_DRAWN else lanes[: min(_TRACK_ROWS, left)]
        if shown and track.group != group:
            group = track.group
            drawing.text(12, drawing.y + 13, group, ' class="group"')
            drawing.y += 18
        if shown:
            _track(drawing, track, shown, exported)
            left -= len(shown)
        rest = [bar for lane in lanes[len(shown) :] for bar in lane[-1]]
        if rest or not shown:
            tally = hidden.setdefault(
                f"{track.group}: {track.label}" if track.role != "process" else track.group, [0, 0]
            )
            tally[0] += len(rest)
            tally[1] += sum(bar.end_ns - bar.start_ns for bar in rest)
        if track.left_out:
            tally = hidden.setdefault(f"{track.group}: {track.label}", [0, 0])
            tally[0] += track.left_out
            tally[1] += track.left_out_ns
    for name, (number, length) in hidden.items():
        if number:
            notes.append(f"{name}: {counted(number, 'span')} more, together {time_text(length)}, not drawn")
    return notes


def _shown(track: Track) -> list[list[list[Bar]]]:
    """The rows of a track: the lanes that are drawn over each other, the last one on top."""
    if track.role == "process":
        return [track.lanes] if track.lanes else []
    return [[lane] for lane in track.lanes]


def _track(drawing: _Drawing, track: Track, rows: Sequence[list[list[Bar]]], exported: Exported) -> None:
    label = printable(track.label, _LABEL)
    note = f" {track.note}" if track.note else ""
    drawing.parts.append(f"<g><title>{xml_text(track.label + note, 300)}</title>")
    drawing.text(12, drawing.y + 10, f"{label}{note}")
    drawing.parts.append("</g>")
    if track.role in ("queue", "load"):
        _queue(drawing, track, exported)
        return
    for lanes in rows:
        for depth, lane in enumerate(lanes):
            inset = 3 if depth else 1
            exported.counts["spans"] = exported.counts.get("spans", 0) + len(lane)
            each = (track.beside or track.role == "phases") and len(lane) <= _MOST_LABELS
            _lane(drawing, lane, drawing.y + inset, _BAR + 2 - 2 * inset, track.role != "process", each)
        drawing.y += _ROW
    for from_ns, by_ns in track.unsure:
        x, end = drawing.x(from_ns), drawing.x(by_ns)
        said = f"between {exact_seconds(from_ns)} and {exact_seconds(by_ns)} s one phase ends and the next begins"
        drawing.parts.append(f"<g><title>{said}: no record shows when</title>")
        drawing.rect(x, drawing.y - _ROW + 1, max(2.0, end - x), _BAR, "url(#unsure)")
        drawing.parts.append("</g>")
    drawing.y += 2


def _queue(drawing: _Drawing, track: Track, exported: Exported) -> None:
    """How many wait or how busy something is, as steps; of what is in one pixel, the largest number."""
    bars, top = track.lanes[0], drawing.y + 1
    height, most = 2 * _ROW - 4, 100 if track.role == "load" else max(track.heights)
    tallest: dict[int, int] = {}
    for bar, count in zip(bars, track.heights, strict=True):
        for place in range(
            int(drawing.x(bar.start_ns)), max(int(drawing.x(bar.end_ns)), int(drawing.x(bar.start_ns))) + 1
        ):
            tallest[place] = max(tallest.get(place, 0), count)
    steps: list[str] = []
    before = -2
    for place in sorted(tallest):
        y = top + height - max(1, height * tallest[place] / most)
        if place != before + 1:
            steps.append(f"{f'V{top + height:.1f}' if steps else ''}M{place},{top + height:.1f}")
        steps.append(f"V{y:.1f}H{place + 1}")
        before = place
    shape = "".join(steps) + f"V{top + height:.1f}"
    said = xml_text(f"{track.label}: {track.note}", 300)
    look = bars[0].look & _LOOKS
    drawing.parts.append(f'<g><title>{said}</title><path d="{shape}" fill="{_COLOURS[look]}"/>')
    if look in _PATTERNS:
        drawing.parts.append(f'<path d="{shape}" fill="url(#look-{look})"/>')
    drawing.parts.append("</g>")
    exported.counts["spans"] = exported.counts.get("spans", 0) + len(bars)
    drawing.y += 2 * _ROW + 2


def _lane(drawing: _Drawing, lane: Sequence[Bar], y: float, height: float, labels: bool, each: bool) -> None:
    """Bars of a pixel or more each by itself; those of one pixel together, as opaque as they cover it.

    :param each: every bar by itself.
    """
    thin: dict[tuple[int, int], float] = {}
    wide: list[tuple[float, float, Bar]] = []
    for bar in lane:
        x, end = drawing.x(bar.start_ns), drawing.x(bar.end_ns)
        if end - x >= 1 or each:
            wide.append((x, max(end, x + 1), bar))
        else:
            pixel = (int(x), bar.look)
            thin[pixel] = thin.get(pixel, 0.0) + max(end - x, 0.02)
    for (place, look), covered in thin.items():
        more = f' fill-opacity="{max(0.25, min(1.0, covered)):.2f}"'
        drawing.rect(place, y, 1, height, _COLOURS[look & _LOOKS], more)
        if look & Sign.CRITICAL:
            drawing.rect(place, y + height - 2, 1, 2, _CRITICAL)
    for number, (x, end, bar) in enumerate(wide):
        follows = wide[number + 1][0] if number + 1 < len(wide) else drawing.width
        _bar(drawing, bar, x, end, y, height, follows if labels else 0)


def _bar(drawing: _Drawing, bar: Bar, x: float, end: float, y: float, height: float, follows: float) -> None:
    """A bar with its name in it or right of it, where that is free.

    :param follows: where the next bar begins; 0 for no label.
    """
    look = bar.look & _LOOKS
    length = "no end" if bar.look & Sign.OPEN else time_text(bar.end_ns - bar.start_ns)
    said = f"{printable(bar.name, 200)}, from {time_text(bar.start_ns)}, {length}"
    if bar.look & Sign.CRITICAL:
        said += ", on the critical path"
    drawing.parts.append(f"<g><title>{xml_text(said, 400)}</title>")
    drawing.rect(x, y, end - x, height, _COLOURS[look])
    if look in _PATTERNS:
        drawing.rect(x, y, end - x, height, f"url(#look-{look})")
    if bar.look & Sign.CRITICAL:
        drawing.rect(x, y + height - 2, end - x, 2, _CRITICAL)
    if bar.look & Sign.OPEN:
        drawing.parts.append(f'<line x1="{end:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y + height:.1f}" class="open"/>')
    if follows:
        name = printable(bar.name, _NAME)
        whole, wide = f"{name} {length}", end - x - 6
        if len(whole) * _CHARACTER <= wide:
            drawing.text(x + 3, y + height - 2, whole)
        elif min(follows, drawing.width - _RIGHT) - end >= len(whole) * _CHARACTER + 8:
            drawing.text(end + 3, y + height - 2, whole, ' class="note"')
        elif wide >= 4 * _CHARACTER:
            drawing.text(x + 3, y + height - 2, _cut(bar.name, int(wide / _CHARACTER)))
    drawing.parts.append("</g>")


def _cut(name: str, letters: int) -> str:
    """A name with at most so many letters; of a path, the end of it, which says more than its beginning."""
    whole = printable(name, 2000)
    if whole.startswith("/") and len(whole) > letters:
        return f"…{whole[1 - letters :]}"
    return printable(name, letters)


def _legend(drawing: _Drawing) -> None:
    x, y = float(_LEFT), drawing.y + 8
    for look, said in _LEGEND:
        drawing.rect(x, y, 16, _BAR, _COLOURS[look])
        if look in _PATTERNS:
            drawing.rect(x, y, 16, _BAR, f"url(#look-{int(look)})")
        drawing.text(x + 20, y + 9, said, ' class="note"')
        x += 34 + len(said) * _CHARACTER
    drawing.rect(x, y + _BAR - 3, 16, 2, _CRITICAL)
    drawing.text(x + 20, y + 9, "critical path", ' class="note"')
    drawing.y += 28


def _axis(drawing: _Drawing, boot: Boot, top: float) -> Iterator[str]:
    """The ruler with its lines, and the marks with their names where these do not cover each other."""
    bottom = drawing.y - 24
    for time in ticks(drawing.first, drawing.last):
        x = drawing.x(time)
        yield f'<line x1="{x:.1f}" y1="{top - 4:.0f}" x2="{x:.1f}" y2="{bottom:.0f}" class="axis"/>'
        yield f'<text x="{x:.1f}" y="{top - 7:.0f}" text-anchor="middle">{time_text(time)}</text>'
    for name, time in boot.marks().select("mark", "time_ns").iter_rows():
        if time is not None and drawing.first <= time <= drawing.last:
            x = drawing.x(time)
            said = xml_text(f"mark {printable(name, 200)} at {time_text(time)}", 300)
            yield f'<g><title>{said}</title><line x1="{x:.1f}" y1="{top - 4:.0f}" x2="{x:.1f}" y2="{bottom:.0f}" '
            yield 'class="mark"/></g>'


def _document(drawing: _Drawing, boot: Boot, top: float) -> str:
    width, height = drawing.width, round(drawing.y) + 4
    patterns = "".join(
        f'<pattern id="look-{int(look)}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<path d="{path}" fill="none" stroke="#000" stroke-opacity="0.25" stroke-width="1.2"/></pattern>'
        for look, path in _PATTERNS.items()
    ) + (
        '<pattern id="unsure" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<path d="{_RISING}" fill="none" stroke="#000" stroke-opacity="0.5" stroke-width="2"/></pattern>'
    )
    title = xml_text(f"Timeline of {boot.directory.resolve().name}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img">\n<title>{title}</title>\n<style>{_STYLE}</style>\n<defs>{patterns}</defs>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        + "\n".join([*_axis(drawing, boot, top), *drawing.parts])
        + "\n</svg>\n"
    )
