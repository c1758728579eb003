"""The list: every boot of the folder with a filter and an order, and what else lies there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from firstlight.bundle.manifest import BootState
from firstlight.escape import escape_html
from firstlight.quantities import time_text
from firstlight.ui.filters import read_filter
from firstlight.ui.folder import MOST_ENTRIES, Entry, Folder, Sort
from firstlight.ui.frame import Page, ui_page
from firstlight.ui.summary import Summaries, Summary

#: Boots on one page.
ROWS = 200
FIELDS = ("name", "folder", "mode", "status", "kernel", "time", "recorded")
_TITLES = {
    "name": "Boot",
    "mode": "Mode",
    "status": "Status",
    "kernel": "Kernel",
    "time": "Time",
    "recorded": "Recorded",
}
_SECTIONS = (
    (Sort.HISTORY, "Histories", "histories"),
    (Sort.EXPERIMENT, "Experiments", "experiments"),
    (Sort.STUDY, "Studies", "studies"),
    (Sort.FLEET, "Fleets", "fleets"),
)
_NAME = 200


def listing_page(folder: Folder, summaries: Summaries, query: Mapping[str, str]) -> Page:
    """The list of a folder.

    :param query: `filter`; `sort`, the name of a column, with `-` in front for the largest first;
        `from`, the first row.

    >>> html, _ = listing_page(Folder(bundle.parent), Summaries(), {"filter": "mode:exact"})
    >>> bundle.name in html
    True
    """
    entries = folder.entries()
    parts = [_boots([summaries.of(each) for each in entries if each.sort is Sort.BOOT], query)]
    for sort, title, place in _SECTIONS:
        found = [each for each in entries if each.sort is sort]
        if found:
            parts.append(_section(title, place, found))
    if folder.truncated:
        parts.append(
            f'<p class="note">The folder is larger than this list: it ends after {MOST_ENTRIES:,} entries.</p>'
        )
    return ui_page(folder.path.name or "/", "\n".join(parts))


def _boots(boots: Sequence[Summary], query: Mapping[str, str]) -> str:
    if not boots:
        return (
            '<section id="boots"><h2>Boots</h2><p>There are no boots here. <code>firstlight record</code> and '
            "<code>firstlight import</code> make one.</p></section>"
        )
    wanted, order = query.get("filter", "")[:500], _order(query.get("sort", ""))
    reader = read_filter(wanted, list(FIELDS))
    rows = [each for each in boots if reader.matches(_fields(each))]
    rows.sort(key=_key(order[0]), reverse=order[1])
    first = _first(query.get("from", ""), len(rows))
    shown = rows[first : first + ROWS]
    every = "1 boot" if len(boots) == 1 else f"{len(boots):,} boots"
    count = every if len(rows) == len(boots) else f"{len(rows):,} of {every}"
    wrong = "".join(f'<p class="missing">{escape_html(term, 80)} is not a filter term.</p>' for term in reader.wrong)
    state = {"filter": wanted, "sort": query.get("sort", "")}
    heads = '<th scope="col">Compare</th>' + "".join(_head(name, order, wanted) for name in _TITLES)
    lines = (
        "\n".join(_row(each) for each in shown)
        or f'<tr><td colspan="{len(_TITLES) + 2}" class="empty">No boot matches.</td></tr>'
    )
    return (
        f'<section id="boots"><h2>Boots</h2>\n<form class="toolbar" method="get" action="/" role="search">'
        '<label for="filter">Filter</label> '
        f'<input type="search" id="filter" name="filter" value="{escape_html(wanted)}" maxlength="500" '
        'placeholder="name~debian mode:exact time&gt;2s -failed" aria-describedby="filter-help">'
        f'{_hidden("sort", state["sort"])} <button type="submit">Filter</button> '
        f'<span class="count" role="status">{count}</span></form>\n'
        '<p class="note" id="filter-help">Words, <code>-word</code>, <code>field:text</code>, <code>field=text</code> '
        f"and comparisons such as <code>time&gt;2s</code>. Fields: {', '.join(FIELDS)}.</p>{wrong}\n"
        '<form method="get" action="/compare"><div class="scroll" tabindex="0" role="region" aria-label="Boots">'
        f'<table><caption class="unseen">Boots</caption><thead><tr>{heads}<th scope="col">Look</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>\n"
        '<p><button type="submit">Compare the two that are ticked</button></p></form>'
        f"{_pages(first, len(rows), state)}</section>"
    )


def _row(boot: Summary) -> str:
    name, within = escape_html(boot.entry.name, _NAME), escape_html(boot.entry.within, _NAME)
    folder = f'<br><span class="note">{within}</span>' if within else ""
    if boot.problem is not None:
        why = escape_html(boot.problem, _NAME)
        return (
            f'<tr><td></td><th scope="row" class="code">{name}{folder}</th>'
            f'<td colspan="{len(_TITLES)}" class="missing">cannot be opened: {why}</td></tr>'
        )
    address = f"/boots/{boot.entry.id}"
    state = ' class="missing"' if boot.status != BootState.COMPLETE else ""
    return (
        f'<tr><td><input type="checkbox" name="boot" value="{boot.entry.id}" aria-label="Compare {name}"></td>'
        f'<th scope="row" class="code"><a href="{address}">{name}</a>{folder}</th>'
        f"<td>{escape_html(boot.mode)}</td><td{state}>{escape_html(boot.status)}</td>"
        f"<td>{escape_html(boot.kernel, 60)}</td>"
        f'<td class="number" title="{escape_html(boot.clock)}">{time_text(boot.time_ns)}</td>'
        f"<td>{escape_html(boot.recorded_at[:16].replace('T', ' '))}</td>"
        f'<td><a href="{address}/query" aria-label="SQL: {name}">SQL</a></td></tr>'
    )


def _head(name: str, order: tuple[str, bool], wanted: str) -> str:
    own = order[0] == name
    direction = ("descending" if order[1] else "ascending") if own else "none"
    # Figures begin with the largest, texts with the first.
    backwards = not order[1] if own else name in ("time", "recorded")
    address = "/?" + urlencode({"filter": wanted, "sort": f"-{name}" if backwards else name})
    mark = (" ▼" if order[1] else " ▲") if own else ""
    kind = ' class="number"' if name == "time" else ""
    return (
        f'<th scope="col" aria-sort="{direction}"{kind}><a href="{escape_html(address)}">{_TITLES[name]}</a>'
        f'<span aria-hidden="true">{mark}</span></th>'
    )


def _pages(first: int, number: int, state: Mapping[str, str]) -> str:
    if number <= ROWS:
        return ""

    def link(text: str, start: int, there: bool) -> str:
        address = escape_html("/?" + urlencode({**state, "from": str(start)}))
        return f'<a href="{address}">{text}</a>' if there else f"<span>{text}</span>"

    return (
        '<nav class="places" aria-label="Pages of the list">'
        + link("Previous", max(0, first - ROWS), first > 0)
        + f"<span>{first + 1:,} to {min(number, first + ROWS):,} of {number:,}</span>"
        + link("Next", first + ROWS, first + ROWS < number)
        + "</nav>"
    )


def _section(title: str, place: str, entries: Sequence[Entry]) -> str:
    lines = "".join(
        f'<li><a class="code" href="/{place}/{each.id}">{escape_html(each.name, _NAME)}</a>'
        + (f' <span class="note">{escape_html(each.within, _NAME)}</span>' if each.within else "")
        + "</li>"
        for each in entries
    )
    return f'<section id="{place}"><h2>{title}</h2><ul>{lines}</ul></section>'


def _fields(boot: Summary) -> dict[str, str | int | None]:
    return {
        "name": boot.entry.name,
        "folder": boot.entry.within,
        "mode": boot.mode,
        "status": boot.status if boot.problem is None else f"unreadable {boot.problem}",
        "kernel": boot.kernel,
        "time": boot.time_ns,
        "recorded": boot.recorded_at,
    }


def _order(text: str) -> tuple[str, bool]:
    name = text.removeprefix("-")
    return (name, text.startswith("-")) if name in _TITLES else ("name", False)


def _key(name: str) -> Callable[[Summary], tuple[bool, int | str, str]]:
    def key(boot: Summary) -> tuple[bool, int | str, str]:
        value = _fields(boot)[name]
        figure = value if isinstance(value, int) else -1
        return boot.problem is None, figure if name == "time" else str(value or "").lower(), boot.entry.name

    return key


def _first(text: str, number: int) -> int:
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    return wanted // ROWS * ROWS if wanted < number else 0


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape_html(value)}">' if value else ""
