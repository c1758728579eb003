"""Two boots that were chosen: which is A, and at which mark their timelines are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import clock_text
from firstlight.escape import escape_html
from firstlight.quantities import signed_time, time_text
from firstlight.ui.folder import Entry
from firstlight.ui.frame import Page, message_page, ui_page


def choice_page(entries: Sequence[Entry], boots: Sequence[Boot]) -> Page:
    """The page before a comparison.

    :param entries: those of the *boots*; a comparison takes two.

    >>> "Compare takes two boots" in choice_page([], [])[0]
    True
    """
    if len(entries) != 2:
        said = (
            "Compare takes two boots; none is ticked."
            if not entries
            else f"Compare takes two boots, not {len(entries)}."
        )
        return message_page("Compare", said, hint="tick two boots in the list")
    (a, b), (first, second) = entries, boots
    known = set(second.marks()["mark"].to_list())
    marks = [mark for mark in first.marks()["mark"].to_list() if mark in known]
    options = "".join(f'<option value="{escape_html(mark)}">{escape_html(mark, 80)}</option>' for mark in marks)
    swap = escape_html("/compare?" + urlencode([("boot", b.id), ("boot", a.id)]))
    rows = "".join(
        f'<tr><th scope="row">{side}</th><td class="code">'
        f'<a href="/boots/{entry.id}">{escape_html(entry.name, 200)}</a></td>'
        f"<td>{escape_html(boot.manifest.mode)}</td><td>{escape_html(clock_text(boot))}</td>"
        f'<td class="number">{time_text(boot.manifest.totals.virtual_ns)}</td></tr>'
        for side, entry, boot in (("A", a, first), ("B", b, second))
    )
    times = [boot.manifest.totals.virtual_ns for boot in boots]
    change = f"<p>B minus A: {signed_time(times[1] - times[0])}</p>" if None not in times else ""  # type: ignore[operator]
    align = (
        f'<label for="align">Align the timelines at</label> <select id="align" name="align">'
        f'<option value="">the first mark that both have</option>{options}</select>'
        if marks
        else '<span class="note">The two boots have no mark in common.</span>'
    )
    return ui_page(
        "Compare two boots",
        '<section><div class="scroll" tabindex="0" role="region" aria-label="The two boots"><table>'
        '<thead><tr><th scope="col">Side</th><th scope="col">Boot</th><th scope="col">Mode</th>'
        '<th scope="col">Clock</th>'
        f'<th scope="col" class="number">Time</th></tr></thead><tbody>{rows}</tbody></table></div>{change}'
        f'<form class="toolbar" method="get" action="/compare/report"><input type="hidden" name="a" value="{a.id}">'
        f'<input type="hidden" name="b" value="{b.id}">{align} <button type="submit">Compare</button></form>'
        f'<p><a href="{swap}">Swap A and B</a></p></section>',
    )
