"""The formats of exports: the names of their files, and the options that they take."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class To(enum.StrEnum):
    """A format."""

    perfetto = "perfetto"
    firefox = "firefox"
    speedscope = "speedscope"
    folded = "folded"
    uftrace = "uftrace"
    bootchart = "bootchart"
    csv = "csv"
    json = "json"
    svg = "svg"
    timeline_svg = "timeline-svg"
    lava = "lava"
    kcidb = "kcidb"
    openmetrics = "openmetrics"
    influx = "influx"

    @property
    def form(self) -> Format:
        """How it is written, and which options it takes."""
        return FORMATS[self]


@dataclass(frozen=True)
class Format:
    """What the command line needs of a format."""

    suffix: str
    """The suffix of the file where none is named."""
    binary: bool = False
    """It is binary: not for a terminal."""
    directory: bool = False
    """It is a directory, which no pipe can hold."""
    unit: bool = False
    """It takes `--unit`."""


FORMATS = {
    To.perfetto: Format(".pftrace", binary=True),
    To.firefox: Format(".firefox.json.gz", binary=True, unit=True),
    To.speedscope: Format(".speedscope.json", unit=True),
    To.folded: Format(".folded", unit=True),
    To.uftrace: Format(".uftrace", directory=True),
    To.bootchart: Format(".bootchart.tgz", binary=True),
    To.csv: Format(".csv.zip", binary=True),
    To.json: Format(".json"),
    To.svg: Format(".svg"),
    To.timeline_svg: Format(".timeline.svg"),
    To.lava: Format(".lava.sh"),
    To.kcidb: Format(".kcidb.json"),
    To.openmetrics: Format(".prom"),
    To.influx: Format(".influx"),
}
