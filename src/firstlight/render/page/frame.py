"""A page that loads nothing and runs nothing, in the style of the report page."""

from __future__ import annotations

from firstlight.assets import asset_path
from firstlight.errors import LabError
from firstlight.escape import escape_html


def framed(title: str, body: str) -> str:
    """A page with the style of the report page, which its policy names by digest; no script is allowed.

    :param body: HTML, escaped.
    :raises LabError: when the report page has not been built.
    """
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
        f"<title>{escape_html(title)}</title>\n<style{style}</style>\n</head>\n<body>\n"
        f'<div id="page">{body}</div>\n</body>\n</html>\n'
    )
