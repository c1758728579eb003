"""The frame of the browser's own pages: the style of the report page and of the browser, no script.

A page comes with its Content-Security-Policy. It names the digest of each style sheet, and allows forms that lead to
this server; nothing else loads or runs.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.errors import FirstlightError, LabError
from firstlight.escape import escape_html

Page = tuple[str, str]
"""The HTML of a page, and its policy."""

_STYLE = Path(__file__).parent / "ui.css"


def ui_page(title: str, body: str, *, path: str = "") -> Page:
    """A page of the browser with its policy.

    :param title: plain text.
    :param body: HTML, escaped.
    :param path: HTML of the way back, beside the link to the list.

    >>> html, policy = ui_page("A <b>", "<p>text</p>")
    >>> "<title>A &lt;b&gt; – Firstlight</title>" in html, "script-src" in policy
    (True, False)
    """
    styles = _styles()
    digests = " ".join(f"'sha256-{_digest(style)}'" for style in styles)
    policy = (
        f"default-src 'none'; style-src {digests}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )
    written = "\n".join(f"<style>{style}</style>" for style in styles)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_html(title)} – Firstlight</title>\n{written}\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the content</a>\n'
        '<header><nav class="ui-path" aria-label="Path"><span class="sun" aria-hidden="true"></span>'
        f'<a href="/">All boots</a>{path}</nav><h1>{escape_html(title)}</h1></header>\n'
        f'<main id="main" tabindex="-1">\n{body}\n</main>\n</body>\n</html>\n',
        policy,
    )


def message_page(title: str, text: str, *, hint: str | None = None, form: str = "") -> Page:
    """A page with a message alone, such as an error.

    >>> "&lt;a&gt;" in message_page("Error", "<a>", hint="look")[0]
    True
    """
    said = f'<p role="alert">{escape_html(text)}</p>'
    said += "" if hint is None else f'<p class="note">Hint: {escape_html(hint)}</p>'
    return ui_page(title, f"<section>{said}{form}</section>")


def error_page(error: FirstlightError, title: str = "This page cannot be shown") -> Page:
    """The page of an error: what is wrong, where, and what to do.

    >>> "no such bundle" in error_page(FirstlightError("no such bundle"))[0]
    True
    """
    return message_page(title, str(error), hint=error.hint)


def report_style() -> str:
    """The style sheet of the report page.

    :raises LabError: when the report page has not been built.
    """
    _, opened, rest = asset_path("page.html").read_text(encoding="utf-8").partition("<style")
    style, closed, _ = rest.partition("</style>")
    if not opened or not closed:
        raise LabError("the built report page has no style of its own", hint="make build")
    return style.partition(">")[2]


@cache
def _styles() -> tuple[str, str]:
    return report_style(), _STYLE.read_text(encoding="utf-8")


def _digest(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
