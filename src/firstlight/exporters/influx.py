"""InfluxDB's line protocol: https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.exporters.figures import Figures, figures_of
from firstlight.exporters.result import Exported
from firstlight.quantities import exact_seconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write_influx(boot: Boot, out: Path) -> Exported:
    """Write the figures of *boot* to *out*, each with the instant of its recording.

    :raises BundleError: when a table cannot be read.
    """
    figures = figures_of(boot)
    exported = Exported({"phases": len(figures.phases), "marks": len(figures.marks)})
    if figures.recorded_at is None:
        exported.notes.append("lines without a time: the bundle has no recording time")
    out.write_text("".join(f"{line}\n" for line in _lines(figures)), encoding="utf-8")
    return exported


def _lines(figures: Figures) -> Iterator[str]:
    tags = f"boot={_tag(figures.name)},clock={_tag(figures.clock)},mode={_tag(figures.mode)}"
    if figures.kernel:
        tags += f",kernel={_tag(figures.kernel)}"
    when = figures.recorded_at
    end = "" if when is None else f" {(when - _EPOCH) // timedelta(microseconds=1) * 1000}"
    fields = [f"up={'true' if figures.came_up else 'false'}"]
    if figures.came_up:
        fields.append(f"seconds={exact_seconds(figures.total_ns)}")
    if figures.instructions is not None:
        fields.append(f"instructions={figures.instructions}i")
    if figures.idle_ns is not None:
        fields.append(f"idle_seconds={exact_seconds(figures.idle_ns)}")
    yield f"boot,{tags} {','.join(fields)}{end}"
    for kind, values in (("phase", figures.phases), ("mark", figures.marks)):
        for name, ns in values.items():
            yield f"boot_{kind},{tags},{kind}={_tag(name)} seconds={exact_seconds(ns)}{end}"


def _tag(text: str) -> str:
    r"""The value of a tag: never empty, and without a backslash before a separator, which would be an escape.

    >>> _tag("a b,c=d"), _tag(""), _tag("a\\")
    ('a\\ b\\,c\\=d', '-', 'a/')
    """
    kept = printable(text, 250).replace("\\", "/") or "-"
    return "".join(f"\\{each}" if each in ", =" else each for each in kept)
