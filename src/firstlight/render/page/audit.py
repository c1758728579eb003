"""The page of an audit: one file that loads nothing and runs nothing, in the style of the report page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from firstlight.assets import asset_path
from firstlight.audit.agreement import LIMITS, Share
from firstlight.audit.boot import Audit
from firstlight.errors import LabError
from firstlight.escape import printable
from firstlight.render.page.text import sound
from firstlight.render.views.audit import WHAT, exceptions_text, share_percent

_LOWEST = 0.99
"""Where the bars of agreement begin: shares below it are all the same, and disagree."""


def audit_html(name: str, found: Audit) -> str:
    """The page of an audit: the agreement with bars, then every exception with its cause.

    :param name: the bundle's.
    :raises LabError: when the report page, whose style this one has, has not been built.
    """
    verdict = "agrees with" if found.agreement.reached else "disagrees with"
    about = ", ".join(part for part in (found.kernel, found.processor, found.qemu) if part)
    unknown = sum(cause is None for _, cause in found.causes)
    parts = [
        '<header><p class="brand"><span class="sun" aria-hidden="true"></span>Firstlight audit</p>',
        f"<h1>{_text(name)}: the profile {verdict} the second observer</h1>",
        f'<p class="note">{_text(about)}</p></header><main id="main">',
        "<section><h2>Agreement</h2>",
        f"<p>The bars begin at {_LOWEST * 100:g} %.</p>",
        _table(
            ["Agreement", "", "Equal", "Of", "Share", "At least", "Verdict"],
            [_share_cells(share) for share in found.agreement.shares.values()],
        ),
        f"</section><section><h2>Exceptions</h2><p>{_text(exceptions_text(len(found.causes), unknown))}</p>",
    ]
    for measure in LIMITS:
        rows = [
            [_text(each.what), f"{each.recorded:,}", f"{each.observed:,}", _text(cause or "not known")]
            for each, cause in found.causes
            if each.measure is measure
        ]
        if rows:
            parts.append(f"<h3>{_text(measure.value)}</h3>")
            parts.append(_table(["What", "Recorded", "Observed", "Cause"], rows))
    return _framed(f"{name} – Firstlight audit", "\n".join([*parts, "</section></main>"]))


def _share_cells(share: Share) -> list[str]:
    limit = LIMITS[share.measure]
    label = share_percent(share.share)
    bar = (
        f'<meter min="{_LOWEST}" max="1" low="{limit:g}" optimum="1" value="{max(share.share, _LOWEST):.6f}">'
        f"{label}</meter>"
    )
    said = "reached" if share.reached else "below"
    return [_text(WHAT[share.measure]), bar, f"{share.equal:,}", f"{share.of:,}", label, f"{limit * 100:g} %", said]


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(words: str) -> str:
    return escape(printable(str(sound(words))))


def _framed(title: str, body: str) -> str:
    """A page with the style of the report page, which its policy names by digest; no script is allowed."""
    form = asset_path("page.html").read_text(encoding="utf-8")
    _, opened, rest = form.partition("<style")
    style, closed, _ = rest.partition("</style>")
    policy = form.partition("style-src ")[2].partition(";")[0]
    if not opened or not closed or not policy.startswith("'sha256-"):
        raise LabError("the built report page has no style of its own", hint="make build")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src {policy}; '
        "base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n<style{style}</style>\n</head>\n<body>\n"
        f'<div id="page">{body}</div>\n</body>\n</html>\n'
    )
