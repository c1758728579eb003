"""The page of two boots: both timelines on one axis, and what the comparison of the two comes to."""

from __future__ import annotations

from typing import Any

from firstlight.analysis.path.critical import find_path
from firstlight.bundle.boot import Boot
from firstlight.comparison.compare import compare_arms
from firstlight.comparison.sides.arms import CompareError, read_arm
from firstlight.errors import UsageError
from firstlight.render.page.boot import NAME, page_log
from firstlight.render.page.comparison import comparison_page_data, empty_page_data
from firstlight.render.page.html import filled
from firstlight.render.page.text import columns_of, shortened
from firstlight.render.page.timeline.build import page_timeline
from firstlight.render.page.timing import page_gaps
from firstlight.suggest import one_of

Json = dict[str, Any]


def pair_html(a: Boot, b: Boot, align: str | None = None) -> str:
    """The page of two boots as HTML text: both timelines on one axis, and their comparison.

    :param align: the mark that aligns them.
    :raises UsageError: when one of the boots has no such mark.
    :raises BundleError: when a table of a bundle cannot be read.
    :raises LabError: when the page has not been built.
    """
    return filled(*pair_page_data(a, b, align))


def pair_page_data(a: Boot, b: Boot, align: str | None = None) -> tuple[Json, bytes]:
    """The comparison of two boots as its page carries it, with both timelines; their columns as bytes, first those
    of *a*.

    Boots that cannot be compared have their timelines alone, and the reason as text.

    :param align: the mark that has the same place on both axes; the first that both have when not given.
    :raises UsageError: when one of the boots has no such mark.
    :raises BundleError: when a table of a bundle cannot be read.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> data, columns = pair_page_data(boot, boot, align="ready")
    >>> [side["timeline"]["bytes"] for side in data["timelines"]] == [len(columns) // 2] * 2
    True
    """
    for boot in (a, b):
        marks = boot.marks()["mark"].to_list()
        if align is not None and align not in marks:
            name = shortened(boot.directory.name, NAME)
            raise UsageError(f"{name} has no mark `{align}`", hint=one_of(align, marks))
    try:
        found = compare_arms(read_arm(a.directory), read_arm(b.directory))
        data = comparison_page_data(a.directory.name, [(found, None)])
    except CompareError as error:
        data = empty_page_data(a.directory.name, str(error))
    sides, columns = zip(*(_side(boot) for boot in (a, b)), strict=True)
    return {**data, "timelines": list(sides), "align": align}, b"".join(columns)


def _side(boot: Boot) -> tuple[Json, bytes]:
    timeline, columns = page_timeline(boot, find_path(boot))
    return {
        "name": shortened(boot.directory.name, NAME),
        "timeline": timeline,
        "marks": columns_of(boot.marks(), ("mark", "time_ns"), NAME),
        "log": page_log(boot.log()),
        "gaps": page_gaps(boot),
    }, columns
