"""The query box of a boot: SQL over its tables, the result as a table and as CSV."""

from __future__ import annotations

import csv
import io
from urllib.parse import urlencode

from firstlight.bundle.manifest import Manifest
from firstlight.bundle.tables import SCHEMAS
from firstlight.errors import FirstlightError
from firstlight.escape import escape_html
from firstlight.ui.folder import Entry
from firstlight.ui.frame import Page, ui_page
from firstlight.ui.query import LONGEST_STATEMENT, ROWS, SECONDS, Found

EXAMPLES = (
    ("Longest initcalls", "SELECT name, level, duration_ns / 1e6 AS ms\nFROM spans\nWHERE kind = 'initcall'\n"
     "ORDER BY ms DESC\nLIMIT 20"),
    ("Time by kind of span", "SELECT kind, count(*) AS spans, sum(end_ns - start_ns) / 1e6 AS ms\nFROM spans\n"
     "GROUP BY kind\nORDER BY ms DESC"),
    ("Functions by own time", "SELECT function, module, count, self_ns / 1e6 AS ms\nFROM functions\nORDER BY ms DESC\n"
     "LIMIT 20"),
    ("System calls", "SELECT name, count(*) AS calls, sum(end_ns - start_ns) / 1e6 AS ms\nFROM system_calls\n"
     "GROUP BY name\nORDER BY ms DESC"),
)  # fmt: skip
#: What is made by the analyses of Firstlight, beside the tables of the bundle.
ANALYSES = ("phases", "functions", "initcalls", "devices", "uevents", "units")


def query_page(
    entry: Entry, manifest: Manifest, statement: str, found: Found | None, error: FirstlightError | None
) -> Page:
    """The query box, and below it what the last query yields or why it does not run.

    :param statement: as it was entered; empty at first.
    """
    address = f"/boots/{entry.id}/query"
    examples = "".join(
        f'<li><a href="{escape_html(address + "?" + urlencode({"sql": sql}))}">{title}</a></li>'
        for title, sql in EXAMPLES
    )
    answer = ""
    if error is not None:
        hint = "" if error.hint is None else f'<p class="note">Hint: {escape_html(error.hint)}</p>'
        answer = (
            f'<section role="alert"><h2>The query does not run</h2><pre>{_lines(error.message)}</pre>{hint}</section>'
        )
    elif found is not None:
        answer = _answer(found, f"{address}.csv?" + urlencode({"sql": statement}))
    body = (
        f'<section><form method="get" action="{address}"><label for="sql">SQL</label>'
        f'<textarea id="sql" name="sql" rows="7" spellcheck="false" autocomplete="off" required '
        f'maxlength="{LONGEST_STATEMENT}" aria-describedby="limits">{escape_html_lines(statement)}</textarea>'
        f'<p><button type="submit">Run</button> <span class="note" id="limits">One DuckDB SELECT; at most '
        f"{ROWS:,} rows and {SECONDS:g} s. It reads only this boot's tables.</span></p></form></section>"
        f"\n{answer}"
        f"<section><h2>Examples</h2><ul>{examples}</ul></section>\n"
        f"<section><h2>Tables</h2>{_tables(manifest)}</section>"
    )
    name = escape_html(entry.name, 200)
    return ui_page(f"Query {entry.name}", body, path=f' › <a class="code" href="/boots/{entry.id}">{name}</a>')


def escape_html_lines(text: str) -> str:
    r"""A text with its line ends and tabs for an element that keeps them.

    >>> escape_html_lines("a\n\t<b>")
    'a\n\t&lt;b&gt;'
    """
    return "\n".join("\t".join(map(escape_html, line.split("\t"))) for line in text.splitlines())


def as_csv(found: Found) -> str:
    """The rows of a query as CSV; a text that a spreadsheet would evaluate gets an apostrophe.

    >>> print(as_csv(Found((("a", "VARCHAR"), ("b", "INTEGER")), (("=1", None),), False, 0.1)).splitlines())
    ['a,b', "'=1,"]
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_plain(name) for name, _ in found.columns])
    writer.writerows([["" if value is None else _plain(value) for value in row] for row in found.rows])
    return out.getvalue()


def _plain(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _lines(text: str) -> str:
    return "\n".join(escape_html(line) for line in text.splitlines())


def _answer(found: Found, csv_address: str) -> str:
    number = [kind not in ("VARCHAR", "BOOLEAN") and _is_figure(kind) for _, kind in found.columns]

    def cell(place: int, value: object) -> str:
        kind = ' class="number"' if number[place] else ""
        if value is None:
            return f'<td{kind}><span class="note">NULL</span></td>'
        if isinstance(value, bool):
            return f"<td>{str(value).lower()}</td>"
        return f"<td{kind}>{escape_html(_figure(value))}</td>"

    def number_class(place: int) -> str:
        return ' class="number"' if number[place] else ""

    heads = "".join(
        f'<th scope="col" title="{escape_html(kind, 200)}"{number_class(place)}>{escape_html(name, 100)}</th>'
        for place, (name, kind) in enumerate(found.columns)
    )
    lines = "\n".join(
        f"<tr>{''.join(cell(place, value) for place, value in enumerate(row))}</tr>" for row in found.rows
    )
    rows = f"The first {len(found.rows):,} rows; there are more" if found.more else _counted(len(found.rows))
    return (
        f'<section id="result"><h2>Result</h2><p role="status" class="count">{rows}, {found.seconds:.1f} s. '
        f'<a href="{escape_html(csv_address)}" download>Save as CSV</a></p>'
        '<div class="scroll tall-result" tabindex="0" role="region" aria-label="Result"><table>'
        f'<caption class="unseen">Result of the query</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table>"
        "</div></section>"
    )


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _is_figure(kind: str) -> bool:
    return any(word in kind for word in ("INT", "DOUBLE", "FLOAT", "DECIMAL"))


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 0.001 else f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _tables(manifest: Manifest) -> str:
    parts = []
    for name, columns in SCHEMAS.items():
        rows = manifest.tables[name].rows if name in manifest.tables else 0
        listed = ", ".join(
            f"{column} {'BIGINT' if str(kind) == 'Int64' else 'VARCHAR'}" for column, kind in columns.items()
        )
        parts.append(
            f"<details><summary><code>{name}</code>, {_counted(rows)}</summary><p>{escape_html(listed)}</p></details>"
        )
    made = ", ".join(f"<code>{name}</code>" for name in ANALYSES)
    return (
        "".join(parts)
        + f'<p class="note">Made from them by the analyses: {made}; <code>DESCRIBE phases</code> lists columns.</p>'
    )
