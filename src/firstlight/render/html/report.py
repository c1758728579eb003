"""A report as HTML that loads and runs nothing: headings, lines, tables, and pictures as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from firstlight.escape import escape_html
from firstlight.render.html.table import html_table
from firstlight.render.model.report import Block, Drawing, Heading, Line
from firstlight.render.model.table import Table

_COLUMNS = 100


def html_report(blocks: Iterable[Block]) -> str:
    """Blocks of a report as HTML, in their order.

    >>> from firstlight.render.model.report import BLANK
    >>> html_report([Heading("A <b>"), Line("x & y"), BLANK])
    '<h3>A &lt;b&gt;</h3>\\n<p>x &amp; y</p>'
    """
    return "\n".join(filter(None, map(_block, blocks)))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h3>{escape_html(block.text)}</h3>"
    if isinstance(block, Line):
        text = f"{block.head.lstrip()}{block.plain}"
        return f"<p>{escape_html(text)}</p>" if text.strip() else ""
    if isinstance(block, Drawing):
        drawn = "\n".join(escape_html(line) for line in block.draw(_COLUMNS, True))
        return f'<pre class="scroll" tabindex="0">{drawn}</pre>' if drawn.strip() else ""
    assert isinstance(block, Table)
    head = f"<h3>{escape_html(block.title)}</h3>" if block.title else ""
    return head + html_table(replace(block, title=""))
